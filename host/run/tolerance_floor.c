#include "run/tolerance_floor.h"

#include "core/atoms.h"
#include "numerics/cell.h"
#include "parallel.h"

#include <math.h>

/* However many cores there are, the sum is the same. */
enum { PARTS = 64 };

typedef struct floor_sum {
    const reference_terms *terms;
    size_t n;
    const tolerance_place *places;
    double squares[PARTS], weights[PARTS];
} floor_sum;

/* Of the squared terms at one place, without the constant. */
static double squares_at(const reference_terms *t, const double place_A[3])
{
    const size_t atoms = ley_atoms_count(t->atoms);
    const double *position_A = ley_atoms_positions_A(t->atoms), *charge_e = ley_atoms_charges_e(t->atoms);
    double sum = 0;
    for (size_t j = 0; j < atoms; j++) {
        double d_A[3];
        if (t->excluded_count > 0 && reference_excludes(t, j))
            continue;
        for (int axis = 0; axis < 3; axis++)
            d_A[axis] = place_A[axis] - position_A[3 * j + (size_t)axis];
        if (t->cell != NULL)
            cell_bring_near(t->cell, d_A);
        const double r_A = fmax(cell_length(d_A), t->r_min_A),
                     screened = t->kappa_per_A > 0 ? exp(-t->kappa_per_A * r_A) : 1,
                     term = charge_e[j] * screened / r_A;
        sum += term * term;
    }
    return sum;
}

static void sum_parts(void *context, size_t first, size_t last)
{
    floor_sum *f = context;
    for (size_t part = first; part < last; part++)
        for (size_t i = parallel_first(f->n, PARTS, part); i < parallel_first(f->n, PARTS, part + 1); i++) {
            reference_terms terms = *f->terms;
            terms.excluded = f->places[i].excluded;
            terms.excluded_count = f->places[i].excluded_count;
            f->squares[part] += f->places[i].weight * squares_at(&terms, f->places[i].place_A);
            f->weights[part] += f->places[i].weight;
        }
}

double tolerance_floor_share(double tolerance)
{
    return fmax(LEY_TOLERANCE_FLOOR, LEY_TOLERANCE_DIGITS / tolerance);
}

double tolerance_floor(const reference_terms *terms, double tolerance, size_t n, const tolerance_place *places)
{
    floor_sum f = {.terms = terms, .n = n, .places = places};
    double squares = 0, weights = 0;
    parallel_ranges(PARTS, sum_parts, &f);
    for (size_t part = 0; part < PARTS; part++) {
        squares += f.squares[part];
        weights += f.weights[part];
    }
    return weights > 0 ? tolerance_floor_share(tolerance) * terms->constant * sqrt(squares / weights) : 0;
}

double tolerance_share(const ley_accuracy *a, double tolerance, double floor_rms)
{
    const double of_values = a->relative_rms / tolerance;
    if (a->points == 0 || !(tolerance > 0))
        return 0;
    return floor_rms > 0 ? fmin(of_values, a->absolute_rms / (tolerance * floor_rms)) : of_values;
}
