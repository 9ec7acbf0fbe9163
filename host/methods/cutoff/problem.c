/* A short-range problem for the kernels: units, constants of the pair function, atoms in bins with
 * their numbers. */
#include "methods/cutoff/problem.h"
#include "cancel.h"
#include "error.h"
#include "expression/slope.h"
#include "law/pairs.h"
#include "law/reference.h"
#include "memory.h"
#include "methods/cutoff/short_range.h"
#include "pair_formulas.h"
#include "pair_table.h"
#include "parallel.h"
#include "source/atoms.h"
#include "spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions that end by saturation have values of at most 1 beyond `near`, which is at least the
 * unit then; and that must not be too small for a float's range. */
static const double most_nears = 512; /* in a cutoff */

/* 2^(n - k r) of screened charges is right while the exponent is at least this; the charges are 2^n
 * times smaller, so that what lies beyond is less than a float can show, and a millionth of
 * that. */
static const double least_exponent = -125;
static const int spare_exponents = 20, most_exponents = 80;

static const double turned_atom_bytes = LEY_ATOM_NUMBERS * sizeof(double);

static const double log2_e = 1.4426950408889634;

double cutoff_problem_r_min_A(const cutoff_problem *p)
{
    return fmin(p->r_min_A, p->cutoff_A);
}

double cutoff_problem_step_A(const cutoff_problem *p, int axis)
{
    return fabs(p->grid.step_A[0][axis]) + fabs(p->grid.step_A[1][axis]) + fabs(p->grid.step_A[2][axis]);
}

double cutoff_problem_largest_A(const cutoff_problem *p)
{
    double largest_A = 0;
    for (int axis = 0; axis < 3; axis++)
        largest_A = fmax(largest_A, fmax(p->plan.side_A[axis], CUTOFF_LAYER * cutoff_problem_step_A(p, axis)));
    return largest_A;
}

/* Of screened charges how far the exponents reach, and with them the cutoff: n, by which values are
 * 2^n times as large, and charges as much smaller. */
static int set_screening(cutoff_problem *p)
{
    const double k_per_A = p->range->kappa_per_A * log2_e,
                 largest = ley_atoms_largest_charge_e(p->atoms) * fabs(p->constant);
    const int exponents = largest > 0 ? ilogb(largest) + 1 + spare_exponents : 0;
    const int n = exponents < 0 ? 0 : exponents > most_exponents ? most_exponents : exponents;
    p->charge_scale = ldexp(p->charge_scale, -n);
    if (k_per_A * p->cutoff_A > n - least_exponent)
        p->cutoff_A = (n - least_exponent) / k_per_A;
    return n;
}

/* The function's constants: its series, then k. `a`: the cutoff in units. */
static void get_constants(const cutoff_problem *p, double a, double n, double constants[5])
{
    const double kappa = p->range->kappa_per_A * log2_e, constant = p->constant;
#define CONSTANTS(of, number, NAME, ...) \
    case number: { \
        const double of_row[5] = LEY_PAIR_CONSTANTS_##NAME; \
        memcpy(constants, of_row, sizeof of_row); \
        break; \
    }
    switch ((int)p->range->pair) {
        LEY_PAIR_ROWS(CONSTANTS, 0)
    default:
        break;
    }
#undef CONSTANTS
}

/* What a point's absolute terms must add up to, that it has its digits though each term is off by a
 * rounding of the largest charge at the cutoff: half of that charge there. Errors of few terms add
 * up to less, as their signs differ; those of many are taken to be alike. */
static void set_fringe(cutoff_problem *p)
{
    const double a_A = p->cutoff_A, atoms = p->plan.density_per_A3 * 4.19 * a_A * a_A * a_A / 256;
    const double factor = atoms > 1 ? atoms : sqrt(fmax(atoms, 1.0 / 16)), a = a_A * p->unit_per_A;
    const double charge = ley_atoms_largest_charge_e(p->atoms) * fabs(p->charge_scale);
    p->fringe[1] = (float)(charge > 1e-30 ? 0.5 * factor * charge / a : 0);
}

static void set_constants(cutoff_problem *p)
{
    const ley_pair pair = p->range->pair;
    const bool ends = LEY_ENDS_OF(pair);
    const double near_A = ends ? fmax(p->r_min_A, p->cutoff_A / most_nears) : cutoff_problem_r_min_A(p);
    p->unit_per_A = ends ? exp2(ceil(-log2(near_A))) : 1; /* a power of two: nothing is rounded by it */
    p->charge_scale = p->constant * p->unit_per_A;
    const int n = LEY_TRAITS_OF(pair) & LEY_IS_SCREENED ? set_screening(p) : 0;
    const double a = p->cutoff_A * p->unit_per_A, r_min = cutoff_problem_r_min_A(p) * p->unit_per_A;
    const double near = fmax(near_A * p->unit_per_A, r_min);
    double constants[5] = {0};
    get_constants(p, a, n, constants);
    const double limits[4] = {a * a, r_min * r_min, constants[4], near * near};
    for (int i = 0; i < 4; i++) {
        p->series[i] = (float)constants[i];
        p->limits[i] = (float)limits[i];
    }
    p->fringe[0] = (float)(1 / a);
    p->fringe[2] = (float)(1 / (a * a));
}

/* The numbers that the source of a function takes. */
static void take_numbers(cutoff_problem *p, const expression *e)
{
    _Static_assert(sizeof p->numbers == EXPRESSION_MOST_NUMBERS * sizeof(double), "kernels take all numbers");
    memcpy(p->numbers, expression_numbers(e), sizeof p->numbers);
}

/* Appends a line to the kernel's prelude: a macro's text, such as a function of the user's. */
static ley_status add_to_prelude(cutoff_problem *p, const char *macro, const char *source, ley_error *error)
{
    const char *before = p->prelude != NULL ? p->prelude : "";
    char *longer = NULL;
    const int length = asprintf(&longer, "%s%s#define %s %s", before, p->prelude != NULL ? "\n" : "", macro, source);
    if (length < 0)
        return ley_fail_memory(error, strlen(source), "a pair function's source");
    for (char *c = longer + strlen(before) + (p->prelude != NULL); *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
    free(p->prelude);
    p->prelude = longer;
    return LEY_OK;
}

ley_status cutoff_problem_add_field(cutoff_problem *p, ley_error *error)
{
    if (p->formula == NULL)
        return LEY_OK;
    const ley_status status = expression_slope(p->formula, &p->slope, error);
    if (status == LEY_OK)
        take_numbers(p, p->slope);
    return status == LEY_OK ? add_to_prelude(p, "LEY_USER_SLOPE", expression_source(p->slope), error) : status;
}

/* Grid and atoms in a frame of which columns are along z. */
static ley_status turn(cutoff_problem *p, const ley_grid *grid, ley_error *error)
{
    grid_frame_make(grid, GRID_FRAME_COLUMNS_ALONG_Z, &p->frame);
    p->grid = p->frame.grid;
    if (!p->frame.is_turned)
        return LEY_OK;
    const ley_status status = grid_frame_atoms(&p->frame, p->source, &p->turned, error);
    if (status == LEY_OK)
        p->atoms = p->turned;
    return status;
}

/* Bins for the planes that are this rank's; where these are none, for one layer, as there must be
 * some. */
static void take_part(const cutoff_problem *p, binning_options *o)
{
    const atoms_part *part = ley_atoms_part(p->source);
    if (part == NULL || part->planes == NULL)
        return;
    const int64_t last = (p->grid.n[2] - 1) / CUTOFF_LAYER * CUTOFF_LAYER;
    o->planes[0] = part->first < last ? part->first : last;
    o->planes[1] = part->end > o->planes[0] ? part->end : o->planes[0] + 1;
}

ley_status cutoff_problem_init(cutoff_problem *p, const ley_atoms *atoms, const ley_grid *grid,
                               const ley_short_range *range, double coulomb_constant, double dielectric, double r_min_A,
                               ley_error *error)
{
    *p = (cutoff_problem){
        .source = atoms, .atoms = atoms, .range = range, .r_min_A = r_min_A, .cutoff_A = range->cutoff_A};
    ley_status status = ley_grid_check(grid, error);
    if (status == LEY_OK)
        status = turn(p, grid, error);
    if (status != LEY_OK)
        return status;
    p->constant = short_range_constant(range, coulomb_constant);
    set_constants(p);
    p->is_of_charge = LEY_BRINGS_OF(range->pair) == LEY_BRINGS_CHARGE;
    if (range->pair == LEY_PAIR_EXPRESSION) {
        status = short_range_expression(range, dielectric, &p->formula, error);
        p->is_of_charge = status == LEY_OK && expression_uses(p->formula).charge == EXPRESSION_LINEAR_IN_CHARGE;
        if (status == LEY_OK)
            take_numbers(p, p->formula);
        if (status == LEY_OK)
            status = add_to_prelude(p, "LEY_USER_PAIR", expression_source(p->formula), error);
        if (status == LEY_OK && p->is_of_charge)
            status = add_to_prelude(p, "LEY_USER_PAIR_IS_LINEAR", "1", error);
    }
    if (status == LEY_OK) {
        binning_options o;
        binning_options_default(&o);
        o.cutoff_A = p->cutoff_A;
        o.depth = range->bin_depth;
        o.fill = range->bin_fill;
        o.charge_scale = p->charge_scale;
        for (int axis = 0; axis < 3; axis++)
            o.region[axis] = CUTOFF_LAYER;
        o.keep_neutral = !p->is_of_charge;
        o.with_index = o.keep_neutral;
        memcpy(o.periodic, range->periodic, sizeof o.periodic);
        for (int i = 0; i < 3; i++)
            grid_frame_vector(&p->frame, range->cell_A[i], o.cell_A[i]);
        take_part(p, &o);
        status = binning_prepare(p->atoms, &p->grid, &o, &p->plan, error);
    }
    if (status == LEY_OK && LEY_CANCELS_OF(range->pair))
        set_fringe(p);
    if (status != LEY_OK)
        cutoff_problem_clear(p);
    return status;
}

ley_status cutoff_problem_even_bins(cutoff_problem *p, ley_error *error)
{
    binning_options o = p->plan.options;
    o.even_sides = true;
    return binning_prepare(p->atoms, &p->grid, &o, &p->plan, error);
}

void cutoff_problem_numbers(const cutoff_problem *p, size_t atom, float numbers[3])
{
    double exact[3] = {0};
    short_range_numbers(p->range, p->atoms, atom, exact);
    if (p->is_of_charge)
        exact[0] *= p->charge_scale;
    if (LEY_BRINGS_OF(p->range->pair) == LEY_BRINGS_EXP6)
        exact[1] *= log2_e;
    for (int i = 0; i < 3; i++)
        numbers[i] = (float)exact[i];
}

reference_terms cutoff_problem_sum(const cutoff_problem *p)
{
    return (reference_terms){.law = &law_pairs,
                             .constant = p->constant,
                             .atoms = p->source,
                             .r_min_A = p->r_min_A,
                             .range = p->range,
                             .formula = p->formula,
                             .slope = p->slope,
                             .largest_A = cutoff_problem_largest_A(p)};
}

reference_value cutoff_problem_reference(const void *problem, const double point_A[3])
{
    const reference_terms sum = cutoff_problem_sum(problem);
    return reference_sum(&sum, point_A);
}

void cutoff_problem_reference_field(const void *problem, const double point_A[3], reference_value field[3])
{
    const reference_terms sum = cutoff_problem_sum(problem);
    reference_field(&sum, point_A, field);
}

/* ---- Numbers that are no charges ------------------------------------------------------------- */

enum { STOP_EVERY = 1 << 14 }; /* after so many steps a loop asks whether anybody still wants it */

static bool is_cancelled(const cutoff_problem *p)
{
    return cancel_is_asked(p->plan.options.cancelled);
}

static ley_status status_of(const cutoff_problem *p, ley_error *error)
{
    return is_cancelled(p) ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
}

static void set_slot_numbers(const cutoff_problem *p, int32_t atom, float slot[4], float more[2])
{
    float numbers[3] = {0};
    if (atom >= 0)
        cutoff_problem_numbers(p, (size_t)atom, numbers);
    slot[3] = numbers[0];
    if (more != NULL)
        memcpy(more, numbers + 1, 2 * sizeof *more);
}

static void set_numbers(void *context, size_t first, size_t last)
{
    cutoff_problem *p = context;
    for (size_t s = first; s < last && (s % STOP_EVERY != 0 || !is_cancelled(p)); s++)
        set_slot_numbers(p, p->binned->index[s], p->binned->slot[s], p->more != NULL ? p->more[s] : NULL);
}

static ley_status make_more(cutoff_problem *p, int64_t slots, ley_error *error)
{
    if (short_range_number_count(p->range->pair) < 2)
        return LEY_OK;
    ley_status status = memory_check_one("the atoms' numbers", (double)slots * sizeof *p->more,
                                         "a larger bin fill, or a smaller grid", error);
    if (status != LEY_OK)
        return status;
    float(*more)[2] = realloc(p->more, (size_t)slots * sizeof *more);
    if (more == NULL)
        return ley_fail_memory(error, (size_t)slots * sizeof *more, "the atoms' numbers");
    p->more = more;
    return LEY_OK;
}

static ley_status add_numbers(cutoff_problem *p, ley_error *error)
{
    const int64_t slots = p->binned->bins * p->binned->depth;
    ley_status status = make_more(p, slots, error);
    if (status == LEY_OK)
        parallel_ranges((size_t)slots, set_numbers, p);
    for (int64_t i = 0; i < p->binned->overflow && status == LEY_OK && (i % STOP_EVERY != 0 || !is_cancelled(p)); i++)
        set_slot_numbers(p, p->binned->overflow_index[i], p->binned->overflow_slot[i], NULL);
    return status == LEY_OK ? status_of(p, error) : status;
}

/* What overflows the bins, into bins behind them. */
static ley_status add_extra(cutoff_problem *p, ley_error *error)
{
    binned_atoms *b = p->binned;
    ley_status status = binning_add_extra(b, p->plan.options.cancelled, error);
    if (status != LEY_OK || p->more == NULL)
        return status;
    const int64_t slots = b->bins * b->depth, extra = b->extra_bins * b->depth;
    status = make_more(p, slots + extra, error);
    if (status != LEY_OK)
        return status;
    memset(p->more[slots], 0, (size_t)extra * sizeof *p->more);
    for (int64_t i = 0, rank = 0; i < b->overflow && (i % STOP_EVERY != 0 || !is_cancelled(p));
         i++) { /* where binning_add_extra() puts them */
        float unused[4];
        rank = i > 0 && b->overflow_bin[i - 1] == b->overflow_bin[i] ? rank + 1 : 0;
        set_slot_numbers(p, b->overflow_index[i], unused,
                         p->more[slots + (int64_t)b->extra_first[b->overflow_bin[i]] * b->depth + rank]);
    }
    return status_of(p, error);
}

ley_status cutoff_problem_bin(cutoff_problem *p, ley_error *error)
{
    ley_status status = binning_fill(&p->plan, p->atoms, NULL, &p->binned, error);
    if (status == LEY_OK && p->plan.options.keep_neutral)
        status = add_numbers(p, error);
    return status == LEY_OK && p->binned->overflow > 0 ? add_extra(p, error) : status;
}

ley_status cutoff_problem_move(cutoff_problem *p, ley_error *error)
{
    cutoff_problem_empty(p);
    return p->turned != NULL ? grid_frame_move(&p->frame, p->source, p->turned, error) : LEY_OK;
}

void cutoff_problem_empty(cutoff_problem *p)
{
    binning_destroy(p->binned);
    free(p->more);
    p->binned = NULL;
    p->more = NULL;
}

/* ---- How much there is to do ----------------------------------------------------------------- */

void cutoff_problem_planes(const cutoff_problem *p, int64_t planes[2])
{
    const int64_t *own = p->plan.options.planes;
    planes[0] = own[0];
    planes[1] = own[1] > 0 ? own[1] : p->grid.n[2];
}

/* How many of n points at 0, h, 2 h, ... lie within `reach` of x. */
static double points_within(double x, double reach, double h, int64_t n)
{
    const double low = fmax(ceil((x - reach) / h), 0), high = fmin(floor((x + reach) / h), (double)(n - 1));
    return high >= low ? high - low + 1 : 0;
}

/* Points of the grid within the cutoff of a position. */
static double points_in_reach(const cutoff_problem *p, const double d_A[3])
{
    /* The planes of an oblique grid that lie across an axis are perpendicular to x, and its columns
     * are along z; others have rows along x. */
    const int outer = ley_grid_is_orthogonal(&p->grid) ? 2 : 0, inner = 2 - outer;
    const double a2 = p->cutoff_A * p->cutoff_A, (*step_A)[3] = p->grid.step_A;
    const double h[3] = {step_A[0][0], step_A[1][1], step_A[2][2]};
    const int64_t *n = p->grid.n;
    int64_t planes[2] = {0, n[outer]};
    if (outer == 2)
        cutoff_problem_planes(p, planes);
    const double low = fmax(ceil((d_A[outer] - p->cutoff_A) / h[outer]), (double)planes[0]),
                 high = fmin(floor((d_A[outer] + p->cutoff_A) / h[outer]), (double)(planes[1] - 1));
    /* Of many planes, and of many rows of each, some stand for those that follow. */
    double sum = 0;
    const double step_z = fmax(1, floor((high - low) / 64));
    for (double z = low; z <= high; z += step_z) {
        const double alike = fmin(step_z, high - z + 1), dz = z * h[outer] - d_A[outer], disc2 = a2 - dz * dz;
        if (disc2 <= 0)
            continue;
        const double reach = sqrt(disc2), y_A = d_A[1] - z * step_A[outer][1],
                     x_A = d_A[inner] - z * step_A[outer][inner];
        const double y_low = fmax(ceil((y_A - reach) / h[1]), 0),
                     y_high = fmin(floor((y_A + reach) / h[1]), (double)(n[1] - 1)),
                     step = fmax(1, floor((y_high - y_low) / 16));
        for (double y = y_low; y <= y_high; y += step) {
            const double dy = y * h[1] - y_A, row2 = disc2 - dy * dy;
            if (row2 > 0)
                sum += alike * fmin(step, y_high - y + 1) *
                       points_within(x_A - y * step_A[1][inner], sqrt(row2), h[inner], n[inner]);
        }
    }
    return sum;
}

double cutoff_problem_pairs(const cutoff_problem *p)
{
    enum { SAMPLE = 300 };
    const binned_atoms *b = p->binned;
    const binning_plan *plan = &p->plan;
    const int64_t every = (b->binned - b->overflow) / SAMPLE + 1;
    int64_t passed = 0;
    double sum = 0, sampled = 0;
    for (int64_t bin = 0; bin < b->bins && (bin % STOP_EVERY != 0 || !is_cancelled(p)); bin++) {
        passed += b->used[bin];
        if (passed < every)
            continue;
        passed = 0;
        const int64_t at[3] = {bin % plan->n[0], bin / plan->n[0] % plan->n[1], bin / plan->n[0] / plan->n[1]};
        double d_A[3];
        for (int axis = 0; axis < 3; axis++)
            d_A[axis] = (double)(at[axis] - plan->origin_bin[axis]) * plan->side_A[axis] +
                        (double)b->slot[bin * b->depth][axis];
        sum += points_in_reach(p, d_A);
        sampled++;
    }
    return sampled > 0 ? sum / sampled * (double)b->binned : 0;
}

/* Of a sample of the atoms how many points each has in reach. */
typedef struct sampling {
    const cutoff_problem *problem;
    size_t atoms, sampled;
    double points[1000];
} sampling;

enum { MOST_SAMPLED = 1000 };
_Static_assert(sizeof((sampling *)NULL)->points == MOST_SAMPLED * sizeof(double), "one for each");

static void count_points(void *context, size_t first, size_t last)
{
    sampling *s = context;
    const cutoff_problem *p = s->problem;
    for (size_t i = first; i < last; i++) {
        const size_t atom = (size_t)((double)s->atoms * (double)i /
                                     (double)s->sampled); /* strides differ: molecules repeat themselves */
        double d_A[3];
        for (int axis = 0; axis < 3; axis++)
            d_A[axis] = ley_atoms_positions_A(p->atoms)[3 * atom + (size_t)axis] - p->grid.origin_A[axis];
        const bool counts = p->plan.options.keep_neutral || ley_atoms_charges_e(p->atoms)[atom] != 0;
        s->points[i] = counts ? points_in_reach(p, d_A) : 0;
    }
}

double cutoff_problem_expected_pairs(const cutoff_problem *p)
{
    const size_t n = ley_atoms_count(p->atoms);
    const atoms_part *part = ley_atoms_part(p->source);
    int64_t planes[2];
    cutoff_problem_planes(p, planes);
    if (part != NULL && part->planes != NULL && part->first >= part->end) /* bins are there all the same */
        return 0;
    if (p->plan.options.periodic[0] || p->plan.options.periodic[1] || p->plan.options.periodic[2])
        return (double)(planes[1] - planes[0]) * (double)p->grid.n[0] * (double)p->grid.n[1] * p->plan.density_per_A3 *
               4 * M_PI / 3 * pow(p->cutoff_A, 3);
    sampling s = {.problem = p, .atoms = n, .sampled = n < MOST_SAMPLED ? n : MOST_SAMPLED};
    double sum = 0;
    parallel_ranges(s.sampled, count_points, &s);
    for (size_t i = 0; i < s.sampled; i++)
        sum += s.points[i];
    return sum / (double)s.sampled * (double)n;
}

double ley_short_range_halo_A(const ley_atoms *atoms, const ley_grid *grid, const ley_short_range *range)
{
    cutoff_problem p;
    if (short_range_is_energy(range->pair) || !ley_grid_is_orthogonal(grid) ||
        cutoff_problem_init(&p, atoms, grid, range, 1, range->dielectric, range->r_min_A, NULL) != LEY_OK)
        return INFINITY;
    const double halo_A = binning_reach_of_planes(&p.plan);
    const bool is_known = cutoff_problem_even_bins(&p, NULL) == LEY_OK; /* as some sums have them */
    const double even_A = binning_reach_of_planes(&p.plan);
    cutoff_problem_clear(&p);
    return is_known ? fmax(halo_A, even_A) : INFINITY;
}

void cutoff_problem_reach(const cutoff_problem *p, double reach[3])
{
    for (int axis = 0; axis < 3; axis++)
        reach[axis] = p->cutoff_A / cutoff_problem_step_A(p, axis);
}

void cutoff_problem_clear(cutoff_problem *p)
{
    cutoff_problem_empty(p);
    expression_destroy(p->formula);
    expression_destroy(p->slope);
    free(p->prelude);
    ley_atoms_destroy(p->turned);
    p->turned = NULL;
    p->atoms = p->source;
    p->formula = NULL;
    p->prelude = NULL;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

void cutoff_problem_add_needs(const cutoff_problem *p, job_needs *needs)
{
    static const char fewer_images[] = "a shorter cutoff, a larger cell, or fewer periodic axes",
                      fewer_entries[] = "fewer atoms, or a smaller grid",
                      fewer_slots[] = "a larger bin fill, a smaller bin depth, or a smaller grid";
    const binning_options *o = &p->plan.options;
    const binning_bytes b = binning_predict(&p->plan, p->atoms);
    const bool has_images = o->periodic[0] || o->periodic[1] || o->periodic[2];
    const char *const fewer = has_images ? fewer_images : fewer_entries;
    const double more = o->keep_neutral ? (double)p->plan.bins * o->depth * sizeof *p->more : 0;
    if (p->frame.is_turned)
        job_needs_add(needs, "turned atoms", (double)ley_atoms_count(p->source) * turned_atom_bytes, fewer_entries);
    /* Sorting is over when the overflow gets bins of its own. */
    job_needs_add(needs, has_images ? "atoms and their images" : "atoms", fmax(b.sorting, b.extra), fewer);
    job_needs_add(needs, "bins", b.bins + more, fewer_slots);
    job_needs_add(needs, "what overflows the bins", b.overflow, fewer);
}

void cutoff_problem_needs(const ley_atoms *atoms, const ley_grid *grid, const ley_short_range *range, job_needs *needs)
{
    cutoff_problem problem;
    if (cutoff_problem_init(&problem, atoms, grid, range, 1, range->dielectric, range->r_min_A, NULL) != LEY_OK)
        return;
    cutoff_problem_add_needs(&problem, needs);
    cutoff_problem_clear(&problem);
}
