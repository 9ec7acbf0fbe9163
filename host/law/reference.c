#include "law/reference.h"

#include "expression/check.h"

#include <math.h>
#include <string.h>

static void add_term(reference_value *sum, double constant, ley_term term)
{
    sum->value += constant * term.value;
    sum->absolute += fabs(constant) * term.absolute;
}

bool reference_excludes(const reference_terms *t, size_t atom)
{
    for (size_t k = 0; k < t->excluded_count; k++)
        if (t->excluded[k] == (int64_t)atom)
            return true;
    return false;
}

reference_value reference_dcs(const ley_atoms *atoms, const double point_A[3], double coulomb_constant, double r_min_A)
{
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    reference_value sum = {0};
    for (size_t j = 0; j < n; j++) {
        const double dx = point_A[0] - position_A[3 * j], dy = point_A[1] - position_A[3 * j + 1],
                     dz = point_A[2] - position_A[3 * j + 2];
        add_term(&sum, coulomb_constant, ley_dcs_term(charge_e[j], sqrt(dx * dx + dy * dy + dz * dz), r_min_A));
    }
    return sum;
}

/* But for atoms that do not count. */
static reference_value dcs_sum(const reference_terms *t, const double point_A[3])
{
    if (t->excluded_count == 0)
        return reference_dcs(t->atoms, point_A, t->constant, t->r_min_A);
    reference_value sum = {0};
    for (size_t j = 0; j < ley_atoms_count(t->atoms); j++) {
        const double *atom_A = ley_atoms_positions_A(t->atoms) + 3 * j, dx = point_A[0] - atom_A[0],
                     dy = point_A[1] - atom_A[1], dz = point_A[2] - atom_A[2];
        if (!reference_excludes(t, j))
            add_term(&sum, t->constant,
                     ley_dcs_term(ley_atoms_charges_e(t->atoms)[j], sqrt(dx * dx + dy * dy + dz * dz), t->r_min_A));
    }
    return sum;
}

double reference_scale(const reference_terms *t, double value, double absolute)
{
    return t->term == LEY_TERM_LONG_RANGE ? sqrt(absolute) + fabs(value) : absolute;
}

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

double reference_excluded_squares(const reference_terms *t, size_t j, double r_A)
{
    const double smooth_A = fmax(r_A, t->near_A / 4);
    return pow(t->shares.mesh * ley_atoms_charges_e(t->atoms)[j] / smooth_A, 2);
}

double reference_exclude(const reference_terms *t, const double point_A[3], double *value, double field[3])
{
    double squares = 0;
    for (size_t k = 0; k < t->excluded_count; k++) {
        const size_t j = (size_t)t->excluded[k];
        double way_A[3], r_A;
        const ley_term term = nearest_term(t, j, point_A, way_A, &r_A);
        const double kappa_r = t->kappa_per_A * r_A,
                     slope = ley_atoms_charges_e(t->atoms)[j] * exp(-kappa_r) * (1 + kappa_r) / (r_A * r_A * r_A);
        *value -= term.value;
        squares += reference_excluded_squares(t, j, r_A) - term.absolute;
        for (int axis = 0; field != NULL && axis < 3 && r_A >= t->r_min_A; axis++)
            field[axis] -= slope * way_A[axis];
    }
    return squares;
}

static reference_value long_range_sum(const reference_terms *t, const double point_A[3])
{
    if (t->images != NULL) {
        periodic_value all = periodic_sum_at(t->images, point_A);
        all.squares = fmax(0, all.squares + reference_exclude(t, point_A, &all.value, NULL));
        return long_range_value(t, all.value, all.squares);
    }
    const size_t n = ley_atoms_count(t->atoms);
    const double *position_A = ley_atoms_positions_A(t->atoms), *charge_e = ley_atoms_charges_e(t->atoms);
    ley_term sum = {0, 0};
    for (size_t j = 0; j < n; j++) {
        const double dx = point_A[0] - position_A[3 * j], dy = point_A[1] - position_A[3 * j + 1],
                     dz = point_A[2] - position_A[3 * j + 2];
        const double r_A = sqrt(dx * dx + dy * dy + dz * dz);
        if (t->excluded_count > 0 && reference_excludes(t, j)) {
            sum.absolute += reference_excluded_squares(t, j, r_A);
            continue;
        }
        const ley_term term = ley_long_range_term(charge_e[j], r_A, t->r_min_A, t->kappa_per_A, t->shares);
        sum.value += term.value;
        sum.absolute += term.absolute;
    }
    return long_range_value(t, sum.value, sum.absolute);
}

static reference_value mdh_sum(const ley_atoms *atoms, const double point_A[3], double factor_A, double kappa)
{
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms),
                 *radius_A = ley_atoms_radii_A(atoms);
    reference_value sum = {0};
    for (size_t j = 0; j < n; j++) {
        const double dx = point_A[0] - position_A[3 * j], dy = point_A[1] - position_A[3 * j + 1],
                     dz = point_A[2] - position_A[3 * j + 2];
        const double d_A = sqrt(dx * dx + dy * dy + dz * dz);
        add_term(&sum, factor_A, ley_mdh_term(charge_e[j], d_A, radius_A[j], kappa));
    }
    return sum;
}

reference_value reference_mdh(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent)
{
    return mdh_sum(atoms, point_A, ley_solvent_coulomb_constant(solvent) / solvent->dielectric,
                   ley_screening_per_A(solvent));
}

/* The parts of monopole, dipole and quadrupole that do not depend on direction. */
static void sdh_tensors(double r, double a, double k, double eps_s, double er, double t[3])
{
    if (k < 1e-9) {
        t[0] = 1 / (eps_s * r);
        t[1] = -1 / (eps_s * pow(r, 3)) * 3 * er / (1 + 2 * er);
        t[2] = 3 / (eps_s * pow(r, 5)) * 5 * er / (2 + 3 * er);
        return;
    }
    const double e = exp(k * (a - r)), ka = k * a, kr = k * r;
    t[0] = e / (eps_s * r * (1 + ka));
    t[1] = -3 * er * e * (1 + kr) / (eps_s * pow(r, 3) * (1 + ka + er * (2 + 2 * ka + ka * ka)));
    t[2] = 15 * er * e * (3 + 3 * kr + kr * kr) /
           (eps_s * pow(r, 5) * (6 + 6 * ka + 2 * ka * ka + er * (9 + 9 * ka + 4 * ka * ka + ka * ka * ka)));
}

double reference_sdh(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent)
{
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms),
                 *radius_A = ley_atoms_radii_A(atoms);
    double low_A[3], high_A[3], centre_A[3], a_A = 0, r2_A2 = 0, t[3];
    double charge = 0, dipole[3] = {0}, quadrupole[3][3] = {{0}};
    for (int i = 0; i < 3; i++) {
        low_A[i] = high_A[i] = position_A[i];
        for (size_t j = 0; j < n; j++) {
            low_A[i] = fmin(low_A[i], position_A[3 * j + (size_t)i]);
            high_A[i] = fmax(high_A[i], position_A[3 * j + (size_t)i]);
        }
        centre_A[i] = (low_A[i] + high_A[i]) / 2;
        r2_A2 += (point_A[i] - centre_A[i]) * (point_A[i] - centre_A[i]);
    }
    for (size_t j = 0; j < n; j++) {
        double x[3], d2_A2 = 0;
        for (int i = 0; i < 3; i++) {
            x[i] = position_A[3 * j + (size_t)i] - centre_A[i];
            d2_A2 += x[i] * x[i];
        }
        a_A = fmax(a_A, sqrt(d2_A2) + radius_A[j]);
        charge += charge_e[j];
        for (int i = 0; i < 3; i++) {
            dipole[i] += charge_e[j] * x[i];
            for (int k = 0; k < 3; k++)
                quadrupole[i][k] += 0.5 * charge_e[j] * (x[i] * x[k] - (i == k ? d2_A2 / 3 : 0));
        }
    }
    sdh_tensors(sqrt(r2_A2), a_A, ley_screening_per_A(solvent), solvent->dielectric,
                solvent->dielectric / solvent->solute_dielectric, t);
    double sum = charge * t[0];
    for (int i = 0; i < 3; i++) {
        sum -= dipole[i] * (point_A[i] - centre_A[i]) * t[1];
        for (int k = 0; k < 3; k++)
            sum += quadrupole[i][k] * (point_A[i] - centre_A[i]) * (point_A[k] - centre_A[k]) * t[2];
    }
    return ley_solvent_coulomb_constant(solvent) * sum;
}

/* ---- Short-range sums ------------------------------------------------------------------------ */

/* A caller's function may be steep, or a difference of what is nearly equal: then its term counts
 * for as much as makes the error that floats cannot but make half of what is promised. */
static ley_term expression_term(const expression *e, double r_A, double q_e)
{
    const double promised_share = 5e-6;
    ley_term term = ley_single_term(expression_evaluate(e, r_A, q_e));
    const double off = expression_float_error(e, r_A, q_e);
    if (isfinite(off))
        term.absolute = fmax(term.absolute, off / promised_share);
    return term;
}

double reference_eps(const ley_short_range *s, size_t j)
{
    return sqrt((s->depth_kcal_mol != NULL ? s->depth_kcal_mol[j] : s->depth_for_all_kcal_mol) *
                s->probe_depth_kcal_mol);
}

double reference_parameter(const ley_short_range *s)
{
    return LEY_TRAITS_OF(s->pair) & LEY_TAKES_KAPPA ? s->kappa_per_A : s->steepness;
}

ley_term reference_pair_term(const reference_terms *t, size_t j, double r_A)
{
    const ley_short_range *s = t->range;
    const double q_e = ley_atoms_charges_e(t->atoms)[j], R_A = ley_atoms_radii_A(t->atoms)[j] + s->probe_radius_A;
    if (s->pair == LEY_PAIR_EXPRESSION)
        return expression_term(t->formula, r_A, q_e);
    return ley_pair_term((int)s->pair, r_A, s->cutoff_A, q_e, R_A, reference_eps(s, j), reference_parameter(s));
}

/* Where images are. x has the components dual[i] . x along the vectors, none of them above
 * |dual[i]| |x|. Along a vector that is not periodic, which is normal to those that are, that tells
 * what is too far. */
typedef struct images {
    bool periodic[3];
    double vector_A[3][3], dual_per_A[3][3];
    double width[3]; /* the largest component of what is in reach */
} images;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double product[3])
{
    for (int i = 0; i < 3; i++)
        product[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Vectors in place of those that are not periodic: normal to those that are, and to each other. */
static void complete_cell(images *im)
{
    const int count = im->periodic[0] + im->periodic[1] + im->periodic[2];
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int p = 0, least = 0; /* the vector that is alone, or else missing; its smallest component */
    while (p < 2 && im->periodic[p] != (count == 1))
        p++;
    double(*v)[3] = im->vector_A;
    if (count == 0)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                v[i][k] = axes[i][k];
    if (count == 1) {
        for (int k = 1; k < 3; k++)
            if (fabs(v[p][k]) < fabs(v[p][least]))
                least = k;
        cross(v[p], axes[least], v[(p + 1) % 3]);
        cross(v[p], v[(p + 1) % 3], v[(p + 2) % 3]);
    }
    if (count == 2)
        cross(v[(p + 1) % 3], v[(p + 2) % 3], v[p]);
}

/* False for a cell without volume. */
static bool find_images(const ley_short_range *s, double reach_A, images *im)
{
    for (int i = 0; i < 3; i++) {
        im->periodic[i] = s->periodic[i];
        for (int k = 0; k < 3; k++)
            im->vector_A[i][k] = s->cell_A[i][k];
    }
    complete_cell(im);
    for (int i = 0; i < 3; i++) {
        double *u = im->dual_per_A[i];
        cross(im->vector_A[(i + 1) % 3], im->vector_A[(i + 2) % 3], u);
        const double volume = dot(u, im->vector_A[i]);
        for (int k = 0; k < 3; k++)
            u[k] /= volume;
        /* A hair more: coordinates are rounded, and so are differences of those that are large. */
        im->width[i] = sqrt(dot(u, u)) * (reach_A * (1 + 1e-9) + 1e-5);
        if (!isfinite(im->width[i]))
            return false;
    }
    return true;
}

/* As far as ley_may_not_count() and ley_vanishing_change() look. */
static double reach_of(const ley_short_range *s, double place)
{
    return s->cutoff_A * (1 + 5 * place);
}

double reference_place(const reference_terms *t)
{
    return LEY_PLACE * (t->range != NULL ? fmax(1, t->largest_A / t->range->cutoff_A) : 1);
}

bool reference_cell(const reference_terms *t, double axes[6][4])
{
    images im;
    if (!find_images(t->range, reach_of(t->range, reference_place(t)), &im))
        return false;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            axes[2 * i][k] = im.vector_A[i][k];
            axes[2 * i + 1][k] = im.dual_per_A[i][k];
        }
        axes[2 * i][3] = 0;
        axes[2 * i + 1][3] = im.periodic[i] ? im.width[i] : -im.width[i];
    }
    return true;
}

/* Which multiples of the vectors may bring an atom at d from the point into reach; false: none, as
 * for most atoms, which is seen without ceil() and floor(): many processors have no instruction for
 * them. */
static bool image_range(const images *im, const double d_A[3], double low[3], double high[3])
{
    const double digits = 0x1.8p52; /* added to a number it leaves no digits for a fraction */
    double at[3], width[3];
    for (int i = 0; i < 3; i++) {
        at[i] = dot(im->dual_per_A[i], d_A);
        width[i] = im->width[i] + 1e-9 * fabs(at[i]);
        const double nearest = im->periodic[i] ? (at[i] + digits) - digits : 0;
        if (fabs(at[i] - nearest) > width[i])
            return false;
    }
    for (int i = 0; i < 3; i++) {
        low[i] = im->periodic[i] ? ceil(at[i] - width[i]) : 0;
        high[i] = im->periodic[i] ? floor(at[i] + width[i]) : 0;
    }
    return true;
}

static void add_change(reference_value *sum, double change)
{
    *(change < 0 ? &sum->lower : &sum->higher) += change;
}

static void add_pair(reference_value *sum, const reference_terms *t, double q_e, double r_A, ley_term term)
{
    const double a_A = t->range->cutoff_A, place = reference_place(t), constant = t->constant;
    const int pair = (int)t->range->pair;
    const bool vanishes = LEY_VANISHES(pair), counts = r_A < a_A,
               may_not = !vanishes && ley_may_not_count(r_A, a_A, place);
    if (counts)
        add_term(sum, constant, term);
    if (vanishes && ley_is_next_to_cutoff(r_A, a_A, place)) {
        add_change(sum, constant * q_e * ley_vanishing_change(pair, r_A, a_A, t->r_min_A, place));
        add_change(sum, constant * q_e * ley_vanishing_change(pair, r_A, a_A, t->r_min_A, -place));
    }
    if (!may_not)
        return;
    add_change(sum, constant * (counts ? -term.value : term.value));
    if (!counts)
        sum->absolute += fabs(constant) * term.absolute;
}

/* The nearest image of an atom that does not count, so far. */
typedef struct held_pair {
    double way_A[3], r_A;
} held_pair;

/* Takes a pair in place of the one that is held where it is nearer, and gives that one back; true:
 * there is none to give back. */
static bool hold(held_pair *held, double way_A[3], double *r_A)
{
    if (*r_A >= held->r_A)
        return false;
    const held_pair before = *held;
    memcpy(held->way_A, way_A, sizeof held->way_A);
    held->r_A = *r_A;
    memcpy(way_A, before.way_A, sizeof before.way_A);
    *r_A = before.r_A;
    return isinf(before.r_A);
}

bool reference_pairs(const reference_terms *t, const double point_A[3], reference_pair *visit, void *context)
{
    const ley_short_range *s = t->range;
    const double reach_A = reach_of(s, reference_place(t));
    const size_t n = ley_atoms_count(t->atoms);
    const double *position_A = ley_atoms_positions_A(t->atoms);
    const bool open = !s->periodic[0] && !s->periodic[1] && !s->periodic[2];
    images im;
    if (!find_images(s, reach_A, &im))
        return false;
    double(*v)[3] = im.vector_A;
    for (size_t j = 0; j < n; j++) {
        const double d_A[3] = {point_A[0] - position_A[3 * j], point_A[1] - position_A[3 * j + 1],
                               point_A[2] - position_A[3 * j + 2]};
        double low[3], high[3];
        if ((open && fabs(d_A[0]) >= reach_A) || !image_range(&im, d_A, low, high))
            continue;
        const bool is_excluded = t->excluded_count > 0 && reference_excludes(t, j);
        held_pair held = {.r_A = INFINITY};
        for (double i = low[0]; i <= high[0]; i++)
            for (double k = low[1]; k <= high[1]; k++)
                for (double l = low[2]; l <= high[2]; l++) {
                    double x_A[3];
                    for (int axis = 0; axis < 3; axis++)
                        x_A[axis] = d_A[axis] - (i * v[0][axis] + k * v[1][axis] + l * v[2][axis]);
                    double r_A = sqrt(dot(x_A, x_A));
                    if (r_A < reach_A && !(is_excluded && hold(&held, x_A, &r_A)))
                        visit(context, j, x_A, r_A);
                }
    }
    return true;
}

typedef struct short_range {
    const reference_terms *terms;
    reference_value sum;
} short_range;

static void add_atom(void *context, size_t j, const double way_A[3], double r_A)
{
    short_range *s = context;
    const reference_terms *t = s->terms;
    (void)way_A;
    add_pair(&s->sum, t, ley_atoms_charges_e(t->atoms)[j], r_A,
             reference_pair_term(t, j, r_A < t->r_min_A ? t->r_min_A : r_A));
}

static reference_value short_range_sum(const reference_terms *t, const double point_A[3])
{
    short_range s = {.terms = t};
    return reference_pairs(t, point_A, add_atom, &s) ? s.sum : (reference_value){.value = NAN, .absolute = NAN};
}

reference_value reference_short_range(const ley_atoms *atoms, const ley_short_range *s, const expression *e,
                                      const double point_A[3], double constant, double r_min_A)
{
    const reference_terms t = {
        .term = (int)s->pair, .constant = constant, .atoms = atoms, .r_min_A = r_min_A, .range = s, .formula = e};
    return short_range_sum(&t, point_A);
}

/* ---- Any of them ----------------------------------------------------------------------------- */

reference_value reference_sum(const reference_terms *t, const double point_A[3])
{
    if (t->term == LEY_TERM_DCS)
        return dcs_sum(t, point_A);
    if (t->term == LEY_TERM_LONG_RANGE)
        return long_range_sum(t, point_A);
    if (t->term == LEY_TERM_MDH)
        return mdh_sum(t->atoms, point_A, t->constant, t->kappa_per_A);
    return short_range_sum(t, point_A);
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
