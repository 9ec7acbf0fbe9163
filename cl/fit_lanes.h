/* What kernels of densities of atoms do with lanes: PICK(condition, a, b), a where it holds; and a
 * number's sum over them. */
#ifndef LEY_FIT_LANES_H
#define LEY_FIT_LANES_H

#if LEY_WIDTH == 1
#define PICK(condition, a, b) ((condition) ? (a) : (b))
#define SUM_OF_LANES(x) (x)
#else
#include "fit_lanes_vectors.h"
#endif

#endif
