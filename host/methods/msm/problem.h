/* What a long-range job sums: which options make sense, and what follows from them: the lattices,
 * and the short-range sum beside them. */
#ifndef LEY_MSM_PROBLEM_H
#define LEY_MSM_PROBLEM_H

#include "leyden.h"
#include "numerics/hierarchy.h"

/* The lattices around the charges and the map's points. Errors: LEY_ERROR_USAGE for options out of
 * the range that leyden.h gives and for what does not combine; LEY_ERROR_INPUT for lattices that
 * are too large. Units, dielectric, temperature and r_min are taken as they are. */
ley_status msm_lattices(const ley_long_range *r, const ley_atoms *atoms, const ley_lattice *points, hierarchy *made,
                        ley_error *error);

/* The short-range sum that goes with them: one of the pair functions that the kernel has, or an
 * expression of the same polynomial, whose text and numbers are put into `formula`. */
typedef struct msm_formula {
    char text[1024];
    char names[SPLITTING_MOST_DEGREE + 2][16];
    ley_named_number numbers[SPLITTING_MOST_DEGREE + 2];
} msm_formula;

ley_short_range msm_near(const ley_long_range *r, const hierarchy *h, msm_formula *formula);

/* Bytes of the host's memory that so many atoms take in the finest lattice's bins. */
double msm_bytes(const hierarchy *h, size_t atoms);

#endif
