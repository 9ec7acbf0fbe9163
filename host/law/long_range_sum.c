#include "law/long_range_sum.h"

#include "law/long_range_block.h"
#include "law/reference.h"
#include "laws/long_range.h"
#include "numerics/lattice_sum.h"

#include <math.h>

static reference_value long_range_value(const reference_terms *t, double value, double squares)
{
    return (reference_value){.value = t->constant * value,
                             .absolute = fabs(t->constant) * reference_scale(t, value, squares)};
}

/* Of the nearest image of an atom; its way to the point. */
static ley_term nearest_term(const reference_terms *t, size_t j, const double point_A[3], double way_A[3], double *r_A)
{
    const double *atom_A = ley_atoms_positions_A(t->atoms) + 3 * j;
    const double x_A[3] = {point_A[0] - atom_A[0], point_A[1] - atom_A[1], point_A[2] - atom_A[2]};
    *r_A = cell_nearest(t->cell, x_A, way_A);
    return ley_long_range_term(ley_atoms_charges_e(t->atoms)[j], *r_A, t->r_min_A, t->kappa_per_A, t->shares);
}

/* The square that an excluded atom is allowed, whose nearest image is that far: meshes have
 * brought its smooth part all the same, which is off as that of others is. It counts as one that is
 * half a cutoff away. */
static double excluded_squares(const reference_terms *t, size_t j, double r_A)
{
    const double smooth_A = fmax(r_A, t->near_A / 4);
    return pow(t->shares.mesh * ley_atoms_charges_e(t->atoms)[j] / smooth_A, 2);
}

/* In units of the constant: takes the nearest images of excluded atoms from a value and a field,
 * which may be NULL; what that changes the squares by, and what it may leave of each by rounding,
 * where hardly anything else counts. */
static double exclude(const reference_terms *t, const double point_A[3], double *value, double field[3],
                      double *value_rounding, double *field_rounding)
{
    static const double digits = 1e-12; /* of sums over all images */
    double squares = 0;
    *value_rounding = *field_rounding = 0;
    for (size_t k = 0; k < t->excluded_count; k++) {
        const size_t j = (size_t)t->excluded[k];
        double way_A[3], r_A;
        const ley_term term = nearest_term(t, j, point_A, way_A, &r_A);
        const double kappa_r = t->kappa_per_A * r_A,
                     slope = ley_atoms_charges_e(t->atoms)[j] * exp(-kappa_r) * (1 + kappa_r) / (r_A * r_A * r_A);
        *value -= term.value;
        *value_rounding += digits * fabs(term.value);
        squares += excluded_squares(t, j, r_A) - term.absolute;
        for (int axis = 0; field != NULL && axis < 3 && r_A >= t->r_min_A; axis++)
            field[axis] -= slope * way_A[axis];
        *field_rounding += r_A >= t->r_min_A ? digits * fabs(slope) * r_A : 0;
    }
    return squares;
}

static reference_value long_range_sum(const reference_terms *t, const double point_A[3])
{
    if (t->images != NULL) {
        periodic_value all = periodic_sum_at(t->images, point_A);
        double rounding, of_field;
        all.squares = fmax(0, all.squares + exclude(t, point_A, &all.value, NULL, &rounding, &of_field));
        reference_value sum = long_range_value(t, all.value, all.squares);
        sum.lower = -fabs(t->constant) * rounding;
        sum.higher = fabs(t->constant) * rounding;
        return sum;
    }
    const size_t n = ley_atoms_count(t->atoms);
    const double *position_A = ley_atoms_positions_A(t->atoms), *charge_e = ley_atoms_charges_e(t->atoms);
    ley_term sum = {0, 0};
    for (size_t j = 0; j < n; j++) {
        const double dx = point_A[0] - position_A[3 * j], dy = point_A[1] - position_A[3 * j + 1],
                     dz = point_A[2] - position_A[3 * j + 2];
        const double r_A = sqrt(dx * dx + dy * dy + dz * dz);
        if (t->excluded_count > 0 && reference_excludes(t, j)) {
            sum.absolute += excluded_squares(t, j, r_A);
            continue;
        }
        const ley_term term = ley_long_range_term(charge_e[j], r_A, t->r_min_A, t->kappa_per_A, t->shares);
        sum.value += term.value;
        sum.absolute += term.absolute;
    }
    return long_range_value(t, sum.value, sum.absolute);
}

static void long_range_sums(const reference_terms *t, size_t n, const double (*point_A)[3], reference_value *values)
{
    const bool is_plain = t->images == NULL && t->excluded_count == 0 && !(t->kappa_per_A > 0);
    for (size_t i = 0, part; i < n; i += part) {
        part = n - i < LONG_RANGE_BLOCK ? n - i : LONG_RANGE_BLOCK;
        if (is_plain && part >= LONG_RANGE_FEWEST)
            long_range_block(t, part, point_A + i, values + i);
        else
            for (size_t k = i; k < i + part; k++)
                values[k] = long_range_sum(t, point_A[k]);
    }
}

/* ---- The field ------------------------------------------------------------------------------- */

static void add_open_atom(const reference_terms *t, const double point_A[3], size_t j, periodic_gradient *g)
{
    const double *atom_A = ley_atoms_positions_A(t->atoms) + 3 * j, q_e = ley_atoms_charges_e(t->atoms)[j];
    double way_A[3], r2 = 0;
    for (size_t axis = 0; axis < 3; axis++) {
        way_A[axis] = point_A[axis] - atom_A[axis];
        r2 += way_A[axis] * way_A[axis];
    }
    const double r_A = sqrt(r2), safe_A = fmax(r_A, t->r_min_A), kappa_r = t->kappa_per_A * r_A;
    if (t->excluded_count > 0 && reference_excludes(t, j)) {
        g->squares += excluded_squares(t, j, r_A);
        return;
    }
    g->squares += ley_long_range_term(q_e, r_A, t->r_min_A, t->kappa_per_A, t->shares).absolute;
    g->field_squares += pow(q_e / (safe_A * safe_A), 2);
    for (int axis = 0; axis < 3 && r_A > 0; axis++) {
        const double along = q_e * exp(-kappa_r) * (1 + kappa_r) / r2 * way_A[axis] / r_A;
        g->field[axis] += r_A >= t->r_min_A ? along : 0;
    }
    periodic_allow_step(q_e, way_A, r_A, t->r_min_A, t->kappa_per_A, g);
}

/* Where nothing is screened or left out, of stretches of atoms at once, but for near ones. */
static periodic_gradient open_gradient(const reference_terms *t, const double point_A[3])
{
    const size_t n = ley_atoms_count(t->atoms);
    const bool is_plain = t->excluded_count == 0 && !(t->kappa_per_A > 0);
    const double least_A = 2 * fmax(t->r_min_A, LEY_CONTACT);
    long_range_lanes far = {.squares = {0}};
    periodic_gradient g = {.squares = 0};
    for (size_t j = 0, count; j < n; j += count) {
        count = n - j < LONG_RANGE_BLOCK ? n - j : LONG_RANGE_BLOCK;
        const bool is_far = is_plain && count == LONG_RANGE_BLOCK &&
                            long_range_add_lanes(ley_atoms_positions_A(t->atoms) + 3 * j,
                                                 ley_atoms_charges_e(t->atoms) + j, point_A, least_A, &far);
        for (size_t k = j; k < j + count && !is_far; k++)
            add_open_atom(t, point_A, k, &g);
    }
    for (int i = 0; i < LONG_RANGE_BLOCK; i++) {
        for (int axis = 0; axis < 3; axis++)
            g.field[axis] += far.field[axis][i];
        g.squares += far.squares[i];
        g.field_squares += far.field_squares[i];
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
    double value = 0, of_value, rounding;
    g.squares = fmax(0, g.squares + exclude(t, point_A, &value, g.field, &of_value, &rounding));
    for (int axis = 0; axis < 3; axis++) {
        g.lower[axis] -= rounding;
        g.higher[axis] += rounding;
    }
    g.field_squares = fmax(0, g.field_squares - excluded_field_squares(t, point_A));
    return g;
}

static void long_range_field(const reference_terms *t, const double point_A[3], reference_value field[3])
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

/* ---- The law --------------------------------------------------------------------------------- */

static long double second(const reference_terms *t, size_t atom, long double r_A)
{
    const long double kappa = t->kappa_per_A, safe_A = fmaxl(r_A, t->r_min_A);
    return ley_atoms_charges_e(t->atoms)[atom] * expl(-kappa * safe_A) / safe_A;
}

static void numbers(const reference_terms *t, double to[4])
{
    to[0] = t->r_min_A;
    to[1] = t->shares.mesh;
    to[2] = t->kappa_per_A;
    to[3] = t->shares.place_A;
}

const law law_long_range = {.name = "long-range",
                            .number = LEY_LAW_LONG_RANGE,
                            .value = long_range_sum,
                            .values = long_range_sums,
                            .field = long_range_field,
                            .sums_squares = true,
                            .numbers = numbers,
                            .second = second,
                            .is_coulomb = true,
                            .is_screened = true};
