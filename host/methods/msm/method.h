/* Long-range potentials on lattices as a method. */
#ifndef LEY_MSM_METHOD_H
#define LEY_MSM_METHOD_H

#include "run/method.h"

extern const method method_msm;

#endif
