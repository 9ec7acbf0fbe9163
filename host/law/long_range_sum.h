/* Charges in open space or with all their images, q/max(r, r_min) exp(-kappa max(r, r_min)), of a
 * sum that is computed on meshes and is off as these are. */
#ifndef LEY_LAW_LONG_RANGE_SUM_H
#define LEY_LAW_LONG_RANGE_SUM_H

#include "law/law.h"

extern const law law_long_range;

#endif
