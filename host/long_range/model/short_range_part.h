/* The half of a long-range sum that pairs within the cutoff make: the short-range sum that goes
 * with the meshes. */
#ifndef LEY_LONG_RANGE_MODEL_SHORT_RANGE_PART_H
#define LEY_LONG_RANGE_MODEL_SHORT_RANGE_PART_H

#include "leyden.h"
#include "numerics/splitting.h"

/* Text and numbers of a pair function that the kernel does not have by itself. */
typedef struct pairs_formula {
    char text[1024];
    char names[SPLITTING_MOST_DEGREE + 3][16];
    ley_named_number numbers[SPLITTING_MOST_DEGREE + 3];
} pairs_formula;

/* The short-range sum: one of the pair functions that the kernel has, or an expression of the
 * splitting's polynomial, which is put into `formula`; without meshes (NULL) screened charges
 * alone. Distances below r_min count as r_min in 1/r alone: an r_min that is not small beside the
 * cutoff stands in the formula, and the sum's own one is smaller. */
ley_short_range pairs_of(const ley_long_range *r, const splitting *meshes, pairs_formula *formula);

/* Whether that is one of the pair functions that the kernel has. */
bool pairs_are_named(const ley_long_range *r, const splitting *meshes);

/* The number of the kernel that does the sum, for plans. Kernels differ by degree, by whether there
 * is screening, whether the formula knows r_min, and whether sums are plain floats. All degrees
 * behind those that plans take have one number together. */
enum { PAIRS_DEGREES = 10, PAIRS_KERNELS = 2 * 5 * PAIRS_DEGREES };
int pairs_kernel(const ley_long_range *r, const splitting *meshes, bool is_float);

/* Which is allowed where the options say nothing of it: what floats are off by anyway. */
#define PAIRS_CONTACT_ERROR 3e-5

/* What points that are nearer to a charge than r_min may be off by, as a share of its 1/r_min,
 * where the splitting takes distances below clamped_A for clamped_A. */
double pairs_contact_error(const splitting *s, double cutoff_A, double r_min_A, double clamped_A);

#endif
