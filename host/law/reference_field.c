#include "law/reference_field.h"

#include "expression/check.h"
#include "expression/slope.h"
#include "numerics/lattice_sum.h"

#include <math.h>

typedef struct field_sum {
    const reference_terms *terms;
    reference_value *field;
} field_sum;

/* What an atom adds along its way to the point; `may_not`: or does not. */
static void add_way(const field_sum *s, const double way_A[3], double r_A, ley_term slope, bool counts, bool may_not)
{
    for (int axis = 0; axis < 3; axis++) {
        reference_value *f = &s->field[axis];
        const double along = s->terms->constant * slope.value * way_A[axis] / r_A, change = counts ? -along : along;
        f->value += counts ? along : 0;
        f->absolute += fabs(s->terms->constant) * slope.absolute;
        if (may_not)
            *(change < 0 ? &f->lower : &f->higher) += change;
    }
}

/* Whether it is rounding that decides if a distance counts as r_min: places are off by this many
 * A. */
static bool is_at_r_min(const reference_terms *t, double r_A, double place_A)
{
    return fabs(r_A - t->r_min_A) <= 1e-5 * t->r_min_A + place_A;
}

/* ---- Direct summation ------------------------------------------------------------------------ */

static void add_direct(const field_sum *s, const double point_A[3])
{
    const reference_terms *t = s->terms;
    for (size_t j = 0; j < ley_atoms_count(t->atoms); j++) {
        const double *atom_A = ley_atoms_positions_A(t->atoms) + 3 * j;
        const double way_A[3] = {point_A[0] - atom_A[0], point_A[1] - atom_A[1], point_A[2] - atom_A[2]};
        const double r_A = sqrt(way_A[0] * way_A[0] + way_A[1] * way_A[1] + way_A[2] * way_A[2]);
        const bool counts = r_A >= t->r_min_A, is_edge = is_at_r_min(t, r_A, 0);
        if (r_A > 0 && (counts || is_edge) && !(t->excluded_count > 0 && reference_excludes(t, j)))
            add_way(s, way_A, r_A, ley_single_term(ley_atoms_charges_e(t->atoms)[j] / (r_A * r_A)), counts, is_edge);
    }
}

/* ---- Pairs within a cutoff ------------------------------------------------------------------- */

/* As of values: what floats cannot but be off by counts for as much as makes half of what is
 * promised. */
static ley_term expression_slope_term(const reference_terms *t, double r_A, double q_e)
{
    const double promised_share = 5e-6, off = expression_float_error(t->slope, r_A, q_e);
    ley_term term = ley_single_term(-expression_evaluate_slope(t->formula, r_A, q_e));
    if (isfinite(off))
        term.absolute = fmax(term.absolute, off / promised_share);
    return term;
}

ley_term reference_slope_term(const reference_terms *t, size_t j, double r_A)
{
    const ley_short_range *s = t->range;
    const double q_e = ley_atoms_charges_e(t->atoms)[j], R_A = ley_atoms_radii_A(t->atoms)[j] + s->probe_radius_A;
    if (s->pair == LEY_PAIR_EXPRESSION)
        return expression_slope_term(t, r_A, q_e);
    return ley_pair_slope_term((int)s->pair, r_A, s->cutoff_A, q_e, R_A, reference_eps(s, j), reference_parameter(s));
}

/* Next to the cutoff a function that vanishes there changes by much of itself within a distance's
 * rounding, and so does its slope. */
static void allow_place(const field_sum *s, size_t j, const double way_A[3], double r_A, double place)
{
    const reference_terms *t = s->terms;
    const double a_A = t->range->cutoff_A, here = r_A < a_A ? reference_slope_term(t, j, r_A).value : 0;
    for (int side = -1; side <= 1; side += 2) {
        const double there_A = r_A * (1 + side * place),
                     there = there_A < a_A ? reference_slope_term(t, j, there_A).value : 0;
        for (int axis = 0; axis < 3; axis++) {
            const double change = t->constant * (there - here) * way_A[axis] / r_A;
            *(change < 0 ? &s->field[axis].lower : &s->field[axis].higher) += change;
        }
    }
}

static void add_pair(void *context, size_t j, const double way_A[3], double r_A)
{
    const field_sum *s = context;
    const reference_terms *t = s->terms;
    const double a_A = t->range->cutoff_A, place = reference_place(t);
    const bool vanishes = LEY_VANISHES((int)t->range->pair), is_at_cutoff = ley_may_not_count(r_A, a_A, place),
               is_edge = (is_at_cutoff && !vanishes) || is_at_r_min(t, r_A, 5 * place * a_A),
               counts = r_A < a_A && r_A >= t->r_min_A;
    if (r_A > 0 && (counts || is_edge))
        add_way(s, way_A, r_A, reference_slope_term(t, j, r_A), counts, is_edge);
    if (vanishes && ley_is_next_to_cutoff(r_A, a_A, place))
        allow_place(s, j, way_A, r_A, place);
}

/* ---- Long-range sums ------------------------------------------------------------------------- */

static periodic_gradient open_gradient(const reference_terms *t, const double point_A[3])
{
    const double *position_A = ley_atoms_positions_A(t->atoms), *charge_e = ley_atoms_charges_e(t->atoms);
    periodic_gradient g = {.squares = 0};
    for (size_t j = 0; j < ley_atoms_count(t->atoms); j++) {
        double way_A[3], r2 = 0;
        for (size_t axis = 0; axis < 3; axis++) {
            way_A[axis] = point_A[axis] - position_A[3 * j + axis];
            r2 += way_A[axis] * way_A[axis];
        }
        const double r_A = sqrt(r2), safe_A = fmax(r_A, t->r_min_A), kappa_r = t->kappa_per_A * r_A;
        if (t->excluded_count > 0 && reference_excludes(t, j)) {
            g.squares += reference_excluded_squares(t, j, r_A);
            continue;
        }
        g.squares += ley_long_range_term(charge_e[j], r_A, t->r_min_A, t->kappa_per_A, t->shares).absolute;
        g.field_squares += pow(charge_e[j] / (safe_A * safe_A), 2);
        for (int axis = 0; axis < 3 && r_A > 0; axis++) {
            const double along = charge_e[j] * exp(-kappa_r) * (1 + kappa_r) / r2 * way_A[axis] / r_A;
            g.field[axis] += r_A >= t->r_min_A ? along : 0;
        }
        periodic_allow_step(charge_e[j], way_A, r_A, t->r_min_A, t->kappa_per_A, &g);
    }
    return g;
}

/* Of the nearest images of excluded atoms. */
static double excluded_field_squares(const reference_terms *t, const double point_A[3])
{
    double squares = 0;
    for (size_t k = 0; k < t->excluded_count; k++) {
        const double *atom_A = ley_atoms_positions_A(t->atoms) + 3 * t->excluded[k];
        const double x_A[3] = {point_A[0] - atom_A[0], point_A[1] - atom_A[1], point_A[2] - atom_A[2]};
        double way_A[3];
        const double r_A = cell_nearest(t->cell, x_A, way_A), safe_A = fmax(r_A, t->r_min_A);
        squares += pow(ley_atoms_charges_e(t->atoms)[t->excluded[k]] / (safe_A * safe_A), 2);
    }
    return squares;
}

/* Potentials of layers and lines, less their mean: they grow with the distance from a net charge
 * and are rounded as floats before their slopes are taken. Those of other cells are no larger than
 * their terms. */
static double potential_far_away(const reference_terms *t, const double point_A[3])
{
    double net_e = 0;
    if (t->images == NULL || t->cell->dimensions == 3)
        return 0;
    for (size_t j = 0; j < ley_atoms_count(t->atoms); j++)
        net_e += ley_atoms_charges_e(t->atoms)[j];
    return fabs(periodic_sum_at(t->images, point_A).value - net_e * lattice_sum_mean(t->cell, t->kappa_per_A));
}

static periodic_gradient cell_gradient(const reference_terms *t, const double point_A[3])
{
    periodic_gradient g = periodic_sum_field(t->images, point_A);
    double value = 0;
    g.squares = fmax(0, g.squares + reference_exclude(t, point_A, &value, g.field));
    g.field_squares = fmax(0, g.field_squares - excluded_field_squares(t, point_A));
    return g;
}

static void add_long_range(const reference_terms *t, const double point_A[3], reference_value field[3])
{
    periodic_gradient g = t->images != NULL ? cell_gradient(t, point_A) : open_gradient(t, point_A);
    const double potential = potential_far_away(t, point_A);
    for (int axis = 0; axis < 3; axis++) {
        field[axis].value = t->constant * g.field[axis];
        field[axis].lower = t->constant * g.lower[axis];
        field[axis].higher = t->constant * g.higher[axis];
        field[axis].absolute = fabs(t->constant) * (t->field_per_A * (sqrt(g.squares) + potential) +
                                                    t->field_share * (sqrt(g.field_squares) + fabs(g.field[axis])));
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

void reference_field(const reference_terms *t, const double point_A[3], reference_value field[3])
{
    field_sum s = {t, field};
    bool is_known = true;
    for (int axis = 0; axis < 3; axis++)
        field[axis] = (reference_value){0};
    if (t->term == LEY_TERM_DCS)
        add_direct(&s, point_A);
    else if (t->term == LEY_TERM_LONG_RANGE)
        add_long_range(t, point_A, field);
    else
        is_known = t->range != NULL && reference_pairs(t, point_A, add_pair, &s);
    for (int axis = 0; axis < 3 && !is_known; axis++)
        field[axis] = (reference_value){.value = NAN, .absolute = NAN};
}
