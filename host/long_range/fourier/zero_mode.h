/* Wave 0 along periodic axes: the potential's mean over these axes, in double precision. Without
 * screening its kernels, -2 ln rho and -2 pi |z|, grow with the distance, and neutral charges make
 * them cancel; far from the charges floats would have nothing but what rounding leaves of them.
 * With weak screening the kernel is large everywhere, 4 pi / (kappa^2 V) where all axes are
 * periodic, and so is what floats would make of charges that sum to next to nothing. Without
 * screening a cell has no mean. */
#ifndef LEY_LONG_RANGE_FOURIER_ZERO_MODE_H
#define LEY_LONG_RANGE_FOURIER_ZERO_MODE_H

#include "long_range/mesh/spread.h"

#include <stdbool.h>

typedef struct zero_mode {
    int64_t waves[3]; /* along open axes as many as the transform has, n_x / 2 + 1 along x; else 1 */
    float (*values)[2];
} zero_mode;

/* Whether meshes have one. */
bool zero_mode_is_needed(const hierarchy *h);

/* [z][y][x] of the product of charges and influence function, of a transform of n nodes, as
 * spectrum.h scales it: of the top level where there are several. The charges' sum is that of their
 * doubles, whatever floats make of it. Errors: LEY_ERROR_MEMORY. On failure there is nothing to
 * clear. */
ley_status zero_mode_make(const hierarchy *h, const int64_t n[3], const spread *atoms, zero_mode *made,
                          ley_error *error);
void zero_mode_clear(zero_mode *m);

#endif
