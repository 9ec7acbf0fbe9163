/* Real three-dimensional Fourier transforms in plain C and double precision, of any size, in the
 * layout of platform/fft_plan.h: what libraries are compared with, and what fake ones do. */
#ifndef LEY_PLAIN_FFT_H
#define LEY_PLAIN_FFT_H

#include <stdbool.h>
#include <stddef.h>

/* There: from the mesh [n[2]][n[1]][pitch] to the spectrum; back: from the spectrum, whose
 * missing half follows from the other one. May be in place. */
void plain_fft_there(const size_t n[3], size_t pitch, const float *grid, float *spectrum);
void plain_fft_back(const size_t n[3], size_t pitch, const float *spectrum, float *grid);

/* `count` columns of n complex values beside each other, in place; sign -1: there. */
void plain_fft_columns(size_t count, size_t n, int sign, float *values);

/* A grid's way there in doubles, without padding. */
void plain_fft_exact(const size_t n[3], const double *grid, double *spectrum);

#endif
