/* The judge of the kernels: any law's sum, in plain double precision. */
#ifndef LEY_LAW_REFERENCE_H
#define LEY_LAW_REFERENCE_H

#include "law/law.h"

#include <math.h>
#include <stdatomic.h>

/* Before the first sum, and after the last one: makes what sums over all images take, for about so
 * many points. Errors: those of periodic_sum_create(), when there is nothing to end. */
ley_status reference_begin(reference_terms *terms, size_t points, const atomic_bool *cancelled, ley_error *error);
void reference_end(reference_terms *terms);

/* About how long a core takes for so many points of a sum over all images, in s. */
double reference_images_seconds(const reference_terms *terms, size_t points);

/* The sum at a point; and at several ones. */
reference_value reference_sum(const reference_terms *terms, const double point_A[3]);
void reference_sums(const reference_terms *terms, size_t n, const double (*point_A)[3], reference_value *values);

/* The field at a point, E = -grad phi along x, y and z, in the potential's unit per A, from the
 * derivative of the law's formula. What is absolute, of each component, is the sum of the whole
 * lengths of what atoms add. Atoms nearer than r_min add nothing, as the potential does not change
 * there; where rounding decides which those are, or which are within the cutoff, that is between
 * lower and higher. Of a long-range sum what is absolute is what its terms allow a component to be
 * off by: field_per_A times the root of the sum of (q/r)^2, in layers and lines also times the
 * potential less its mean, and field_share times the root of the sum of (q/r^2)^2 and the field.
 * Not a number where the law has no field. */
void reference_field(const reference_terms *terms, const double point_A[3], reference_value field[3]);

/* What errors are judged against, of a sum of values and of what is summed beside them, without the
 * constant: of a long-range sum these are squares. */
double reference_scale(const reference_terms *terms, double value, double absolute);

/* Whether the nearest image of an atom does not count. */
bool reference_excludes(const reference_terms *terms, size_t atom);

/* Whether rounding decides if a distance counts as r_min: places are off by this many A. */
bool reference_is_at_r_min(const reference_terms *terms, double r_A, double place_A);

/* Adds a term to a sum; and to a field what an atom adds along its way to the point. `may_not`: or
 * does not. */
static inline void reference_add(reference_value *sum, double constant, ley_term term)
{
    sum->value += constant * term.value;
    sum->absolute += fabs(constant) * term.absolute;
}
void reference_add_way(const reference_terms *terms, reference_value field[3], const double way_A[3], double r_A,
                       ley_term slope, bool counts, bool may_not);

/* Whether two double-precision sums at one point are the same but for rounding. */
bool reference_agrees(const reference_value *a, const reference_value *b);

#endif
