/* Fourier's transform in plain double precision, of any size; quick where that has small prime
 * factors. */
#ifndef LEY_LAW_FOURIER_H
#define LEY_LAW_FOURIER_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct fourier_number {
    double real, imaginary;
} fourier_number;

/* Transforms values[n[2]][n[1]][n[0]] in place along the axes that are asked for: sum of v_j exp(-2
 * pi i j k / n), or its inverse, divided by n. Errors: LEY_ERROR_MEMORY. */
ley_status fourier_transform(fourier_number *values, const int64_t n[3], const bool along[3], bool inverse,
                             ley_error *error);

#endif
