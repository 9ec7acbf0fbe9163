#include "law/reference.h"

#include <math.h>

bool reference_excludes(const reference_terms *t, size_t atom)
{
    for (size_t k = 0; k < t->excluded_count; k++)
        if (t->excluded[k] == (int64_t)atom)
            return true;
    return false;
}

void reference_add_way(const reference_terms *t, reference_value field[3], const double way_A[3], double r_A,
                       ley_term slope, bool counts, bool may_not)
{
    for (int axis = 0; axis < 3; axis++) {
        reference_value *f = &field[axis];
        const double along = t->constant * slope.value * way_A[axis] / r_A, change = counts ? -along : along;
        f->value += counts ? along : 0;
        f->absolute += fabs(t->constant) * slope.absolute;
        if (may_not)
            *(change < 0 ? &f->lower : &f->higher) += change;
    }
}

bool reference_is_at_r_min(const reference_terms *t, double r_A, double place_A)
{
    return fabs(r_A - t->r_min_A) <= 1e-5 * t->r_min_A + place_A;
}

double reference_scale(const reference_terms *t, double value, double absolute)
{
    return t->law->sums_squares ? sqrt(absolute) + fabs(value) : absolute;
}

reference_value reference_sum(const reference_terms *t, const double point_A[3])
{
    return t->law->value(t, point_A);
}

void reference_sums(const reference_terms *t, size_t n, const double (*point_A)[3], reference_value *values)
{
    if (t->law->values != NULL)
        t->law->values(t, n, point_A, values);
    else
        for (size_t i = 0; i < n; i++)
            values[i] = reference_sum(t, point_A[i]);
}

void reference_field(const reference_terms *t, const double point_A[3], reference_value field[3])
{
    const double start = t->law->field != NULL ? 0 : NAN;
    for (int axis = 0; axis < 3; axis++)
        field[axis] = (reference_value){.value = start, .absolute = start};
    if (t->law->field != NULL)
        t->law->field(t, point_A, field);
}

static periodic_options images_of_all(const reference_terms *t, size_t points, const atomic_bool *cancelled)
{
    return (periodic_options){.cell = *t->cell,
                              .kappa_per_A = t->kappa_per_A,
                              .r_min_A = t->r_min_A,
                              .shares = t->shares,
                              .near_A = t->near_A,
                              .n = ley_atoms_count(t->atoms),
                              .position_A = ley_atoms_positions_A(t->atoms),
                              .charge_e = ley_atoms_charges_e(t->atoms),
                              .points = points,
                              .cancelled = cancelled};
}

double reference_images_seconds(const reference_terms *t, size_t points)
{
    const periodic_options options = images_of_all(t, points, NULL);
    return periodic_sum_seconds(&options);
}

ley_status reference_begin(reference_terms *t, size_t points, const atomic_bool *cancelled, ley_error *error)
{
    if (t->cell == NULL || t->cell->dimensions == 0)
        return LEY_OK;
    const periodic_options options = images_of_all(t, points, cancelled);
    return periodic_sum_create(&options, &t->images, error);
}

void reference_end(reference_terms *t)
{
    periodic_sum_destroy(t->images);
    t->images = NULL;
}

/* Rounding is 1e-16 of the terms; functions of a user's may be steep. */
bool reference_agrees(const reference_value *a, const reference_value *b)
{
    const double rounding = 1e-8 * fmin(a->absolute, b->absolute) + 1e-290, off = a->value - b->value;
    return off >= b->lower - rounding && off <= b->higher + rounding &&
           fabs(a->absolute - b->absolute) <= rounding + 2 * (b->higher - b->lower);
}
