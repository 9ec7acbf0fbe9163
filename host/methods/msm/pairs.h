/* The half of a long-range sum that pairs within the cutoff make: the short-range sum that goes
 * with the lattices. */
#ifndef LEY_MSM_PAIRS_H
#define LEY_MSM_PAIRS_H

#include "leyden.h"
#include "numerics/splitting.h"

/* Text and numbers of a pair function that the kernel does not have by itself. */
typedef struct pairs_formula {
    char text[1024];
    char names[SPLITTING_MOST_DEGREE + 2][16];
    ley_named_number numbers[SPLITTING_MOST_DEGREE + 2];
} pairs_formula;

/* The short-range sum: one of the pair functions that the kernel has, or an expression of the
 * splitting's polynomial, which is put into `formula`; without lattices (NULL) screened charges
 * alone. */
ley_short_range pairs_of(const ley_long_range *r, const splitting *lattices, pairs_formula *formula);

#endif
