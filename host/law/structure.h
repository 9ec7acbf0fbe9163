/* Structure factors of many charges in plain double precision, of waves in a cell that is periodic
 * along three axes:
 *
 *   S(i, k, l) = sum_j q_j exp(2 pi i (i a_j + k b_j + l c_j)), a, b, c: components of a place
 *
 * Charges go to the nodes of a mesh by a window that is known with its transform, that of Kaiser
 * and Bessel; the mesh is transformed by sums along one axis after the other, of no more waves than
 * are asked for; and each is divided by the window's transform. Waves that are weighted by exp(-x^2
 * (k / longest)^2), x about 5.5, are then exact to 1e-13 of the charges. On all cores; how many
 * there are changes none of the digits. */
#ifndef LEY_LAW_STRUCTURE_H
#define LEY_LAW_STRUCTURE_H

#include "law/neighbours.h"

#include <stdatomic.h>
#include <stdint.h>

typedef struct structure_options {
    const neighbours *charges;
    cell cell;       /* its vectors have the directions of the charges' cell; those of open axes are longer than all
                        charges by a dozen nodes at least */
    int64_t most[3]; /* of |i|, |k|, |l| */
    int64_t (*most_first)(const void *context, int64_t k, int64_t l); /* of |i| where k and l are these; -1: none */
    /* Takes a wave that is asked for, l >= 0; called from several threads. */
    void (*take)(void *context, const int64_t wave[3], double real, double imaginary);
    void *context;
    const atomic_bool *cancelled; /* may be NULL */
} structure_options;

/* Errors: LEY_ERROR_MEMORY, LEY_CANCELLED. */
ley_status structure_sum(const structure_options *options, ley_error *error);

/* Nanoseconds of one core that it takes, about, for so many charges that take so large a share of
 * the cell along each axis. */
double structure_time(const int64_t most[3], const double share[3], double charges);

#endif
