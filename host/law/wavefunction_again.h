/* The second way of an orbital or a density (law.again), against which values
 * are held that the host has made by law/wavefunction.h. */
#ifndef LEY_LAW_WAVEFUNCTION_AGAIN_H
#define LEY_LAW_WAVEFUNCTION_AGAIN_H

#include "law/law.h"

/* law.again, in atomic units. */
long double wavefunction_again(const reference_terms *terms, const double point_A[3]);

#endif
