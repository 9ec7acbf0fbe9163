/* Places in bins, for who asks what is near. */
#ifndef LEY_IONS_BINS_H
#define LEY_IONS_BINS_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct bins bins;

/* Of n places at_A[axis][i], which must outlive it, for distances of about reach_A. Errors:
 * LEY_ERROR_MEMORY. */
ley_status bins_create(size_t n, const double *const at_A[3], double reach_A, bins **made, ley_error *error);
void bins_destroy(bins *b);

/* Whether one of them is at this distance or less. */
bool bins_has_within(const bins *b, const double place_A[3], double reach_A);

/* Those in a box, by their numbers and perhaps some beside it, in which[]; how many there are, of
 * which no more than `most` are told. */
size_t bins_in_box(const bins *b, const double low_A[3], const double high_A[3], size_t most, size_t *which);

#endif
