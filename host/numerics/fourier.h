/* Real three-dimensional Fourier transforms there and back on the host, in double precision, on all
 * its cores: of meshes of any size, but quick for those that have small prime factors alone.
 *
 *   mesh      double[n[2]][n[1]][n[0]], x fastest
 *   spectrum  double[n[2]][n[1]][n[0] / 2 + 1][2]: real and imaginary parts
 *   there     F[k] = sum over r of f[r] exp(-2 pi i (k_x r_x / n[0] + k_y r_y / n[1] + k_z r_z /
 *             n[2]))
 *   back      the same with + in the exponent, of all k, the missing half of which is F[-k] = conj
 *             F[k]
 *
 * Nothing is divided: there and back multiplies by n[0] n[1] n[2]. The same bytes on any number of
 * cores. */
#ifndef LEY_NUMERICS_FOURIER_H
#define LEY_NUMERICS_FOURIER_H

#include "leyden_status.h"

#include <stdint.h>

/* Complex values of a spectrum. */
int64_t fourier_waves(const int64_t n[3]);

/* Errors: LEY_ERROR_MEMORY; then what was to be made is not. The way back spoils the spectrum. */
ley_status fourier_forward(const int64_t n[3], const double *mesh, double *spectrum, ley_error *error);
ley_status fourier_back(const int64_t n[3], double *spectrum, double *mesh, ley_error *error);

#endif
