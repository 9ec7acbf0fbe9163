/* What the lists of kernels' specifications share: names for files, and calibrations that are made
 * up so that every recipe has its turn. */
#ifndef LEY_ENGINE_SPECIFICATIONS_H
#define LEY_ENGINE_SPECIFICATIONS_H

#include "calibrate.h"

/* An extent of grids that are large: padding does not matter. */
enum { SPECIFICATIONS_LARGE = 4096 };

/* "float", "compensated", "double" of LEY_SPEC_SUM_... */
const char *specifications_sum(int sum);

/* Every recipe is good enough, and these are the fastest ones. `fast_fma`: multiply-adds are fast
 * enough to take a share of the roots, or of the exponentials. */
calibration specifications_facts(int root, int exp, bool fast_fma);

#endif
