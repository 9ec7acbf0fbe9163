#include "law/pairs.h"

#include "expression/check.h"
#include "expression/slope.h"
#include "law/reference.h"
#include "laws/pairs.h"

#include <math.h>
#include <string.h>

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

/* `place` of cl/laws/pairs.h: LEY_PLACE, or more where places are rounded by more than the cutoff's
 * size. */
static double place_of(const reference_terms *t)
{
    return LEY_PLACE * fmax(1, t->largest_A / t->range->cutoff_A);
}

double reference_place(const reference_terms *t)
{
    return LEY_VANISHES((int)t->range->pair) ? place_of(t) : 0;
}

bool reference_cell(const reference_terms *t, double axes[6][4])
{
    images im;
    if (!find_images(t->range, reach_of(t->range, place_of(t)), &im))
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
 * them. Inlined, as every atom is asked about. */
static inline __attribute__((always_inline)) bool image_range(const images *im, const double d_A[3], double low[3],
                                                              double high[3])
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
    const double a_A = t->range->cutoff_A, place = place_of(t), constant = t->constant;
    const int pair = (int)t->range->pair;
    const bool vanishes = LEY_VANISHES(pair), counts = r_A < a_A,
               may_not = !vanishes && ley_may_not_count(r_A, a_A, place);
    if (counts)
        reference_add(sum, constant, term);
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

/* Calls for each pair, images included, that is within the cutoff or so close to it that rounding
 * may bring it there: the atom, the way from it to the point, and how long that is. False: the cell
 * has no volume. */
typedef void visit_pair(void *context, size_t atom, const double way_A[3], double r_A);
static bool visit_pairs(const reference_terms *t, const double point_A[3], visit_pair *visit, void *context)
{
    const ley_short_range *s = t->range;
    const double reach_A = reach_of(s, place_of(t));
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

static reference_value pairs_sum(const reference_terms *t, const double point_A[3])
{
    short_range s = {.terms = t};
    return visit_pairs(t, point_A, add_atom, &s) ? s.sum : (reference_value){.value = NAN, .absolute = NAN};
}

reference_value reference_short_range(const ley_atoms *atoms, const ley_short_range *s, const expression *e,
                                      const double point_A[3], double constant, double r_min_A)
{
    const reference_terms t = {
        .law = &law_pairs, .constant = constant, .atoms = atoms, .r_min_A = r_min_A, .range = s, .formula = e};
    return pairs_sum(&t, point_A);
}

/* ---- The field ------------------------------------------------------------------------------- */

typedef struct field_sum {
    const reference_terms *terms;
    reference_value *field;
} field_sum;

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

static void add_slope(void *context, size_t j, const double way_A[3], double r_A)
{
    const field_sum *s = context;
    const reference_terms *t = s->terms;
    const double a_A = t->range->cutoff_A, place = place_of(t);
    const bool vanishes = LEY_VANISHES((int)t->range->pair), is_at_cutoff = ley_may_not_count(r_A, a_A, place),
               is_edge = (is_at_cutoff && !vanishes) || reference_is_at_r_min(t, r_A, 5 * place * a_A),
               counts = r_A < a_A && r_A >= t->r_min_A;
    if (r_A > 0 && (counts || is_edge))
        reference_add_way(t, s->field, way_A, r_A, reference_slope_term(t, j, r_A), counts, is_edge);
    if (vanishes && ley_is_next_to_cutoff(r_A, a_A, place))
        allow_place(s, j, way_A, r_A, place);
}

static void pairs_field(const reference_terms *t, const double point_A[3], reference_value field[3])
{
    field_sum s = {t, field};
    if (!visit_pairs(t, point_A, add_slope, &s))
        for (int axis = 0; axis < 3; axis++)
            field[axis] = (reference_value){.value = NAN, .absolute = NAN};
}

/* ---- The law --------------------------------------------------------------------------------- */

static void numbers(const reference_terms *t, double to[4])
{
    to[0] = t->r_min_A;
    to[1] = t->range->cutoff_A;
    to[2] = reference_parameter(t->range);
    to[3] = place_of(t);
}

static bool more(const reference_terms *t, size_t atom, double to[2])
{
    to[0] = ley_atoms_radii_A(t->atoms)[atom] + t->range->probe_radius_A;
    to[1] = reference_eps(t->range, atom);
    return LEY_IS_ENERGY(LEY_BRINGS_OF((int)t->range->pair));
}

const law law_pairs = {.name = "pairs",
                       .number = LEY_LAW_PAIRS,
                       .value = pairs_sum,
                       .field = pairs_field,
                       .has_pairs = true,
                       .numbers = numbers,
                       .more = more,
                       .axes = reference_cell};
