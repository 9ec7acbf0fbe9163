/* Places in bins, for who asks what is near. */
#ifndef LEY_IONS_BINS_H
#define LEY_IONS_BINS_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The places of a bin follow those of the bin before it, along x, then y, then z. */
typedef struct bins {
    double low_A[3], edge_A; /* the first bin's corner; all have this edge */
    int64_t count[3];        /* of bins along x, y and z */
    size_t n;                /* places */
    double *at_A[3];         /* [n] each */
    int32_t *first;          /* [bins + 1]: the first place of each */
} bins;

/* Of n places from_A[axis][i], for distances of about reach_A. Errors: LEY_ERROR_MEMORY;
 * LEY_ERROR_INPUT for more places than have numbers. */
ley_status bins_create(size_t n, const double *const from_A[3], double reach_A, bins **made, ley_error *error);
void bins_destroy(bins *b);

/* Whether one of them is at this distance or less. */
bool bins_has_within(const bins *b, const double place_A[3], double reach_A);

/* Those in a box, by their numbers in at_A, in which[]; how many there are, of which no more than
 * `most` are told. */
size_t bins_in_box(const bins *b, const double low_A[3], const double high_A[3], size_t most, size_t *which);

#endif
