/* The charges of a molecule that are far larger than its others, next to which most of a sum's
 * error may be. */
#ifndef LEY_SOURCE_LARGE_CHARGES_H
#define LEY_SOURCE_LARGE_CHARGES_H

#include <stddef.h>

enum { LARGE_CHARGES = 64, LARGE_CHARGES_SAMPLE = 1024 };

typedef struct large_charge {
    double place_A[3], charge_e;
} large_charge;

/* The largest ones of those that were added, of `least_e` or more. */
typedef struct large_charges {
    double least_e;
    size_t count, smallest; /* of the list, the smallest one's index */
    large_charge list[LARGE_CHARGES];
} large_charges;

/* Of none yet. Large are charges that are 8 times as large as the median of these, which are up to
 * LARGE_CHARGES_SAMPLE of the molecule's, zeros left out; their sizes are put in order. */
void large_charges_begin(large_charges *l, size_t n, double *charge_e);
void large_charges_add(large_charges *l, size_t n, const double *position_A, const double *charge_e);

/* Those of another list, which began with the same ones. */
void large_charges_join(large_charges *l, const large_charges *other);

#endif
