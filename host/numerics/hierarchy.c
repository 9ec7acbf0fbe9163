#include "numerics/hierarchy.h"

#include "core/sizes.h"
#include "error.h"
#include "fft.h"
#include "numerics/lattice_sum.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Of indices: places are a little off. */
static const double rounding = 1e-6;
static const double most_extent = 1 << 20;

/* ---- Choices that do not combine ------------------------------------------------------------- */

static ley_status check(const hierarchy_options *o, ley_error *error)
{
    const window *w = window_get(o->window);
    if (w == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "mesh: there is no window of number %d", (int)o->window);
    if (!w->is_nodal && o->solver != HIERARCHY_FOURIER)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "mesh: the %s solver takes nodal windows: values at the nodes of %s are not what is "
                        "interpolated, which the influence function of the fourier solver makes up for: take that "
                        "solver, or the window nodal7",
                        o->solver == HIERARCHY_MIXED ? "mixed" : "multilevel", w->name);
    if (o->solver == HIERARCHY_FOURIER && o->levels > 1)
        return ley_fail(
            error, LEY_ERROR_USAGE,
            "mesh: the fourier solver has one level, not %d: leave the levels out, or take the multilevel solver",
            o->levels);
    if (o->solver == HIERARCHY_MIXED && o->levels == 1)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "mesh: the mixed solver has two levels or more: take 2 levels, or the fourier solver");
    if (o->levels < 0 || o->levels > HIERARCHY_MOST_LEVELS)
        return ley_fail(error, LEY_ERROR_USAGE, "mesh: %d levels, must be 1 to %d, or 0 for as many as pay", o->levels,
                        HIERARCHY_MOST_LEVELS);
    if (!(o->spacing_A > 0 && isfinite(o->spacing_A)) || !(o->cutoff_A >= o->spacing_A && isfinite(o->cutoff_A)))
        return ley_fail(error, LEY_ERROR_USAGE,
                        "mesh: a cutoff of %g A with a spacing of %g A: the cutoff must be as long as the spacing",
                        o->cutoff_A, o->spacing_A);
    if (!(o->kappa_per_A >= 0))
        return ley_fail(error, LEY_ERROR_USAGE, "mesh: kappa is %g / A, must be 0 or more", o->kappa_per_A);
    return LEY_OK;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* A number of nodes that an FFT does well, and that can be halved so often. */
static int64_t even_nodes(double at_least, int halvings)
{
    const int64_t least = (int64_t)ceil(at_least - 1e-9), step = (int64_t)1 << halvings;
    int64_t n = ley_round_up(least < 1 ? 1 : least, step);
    while (!fft_is_smooth((size_t)n))
        n += step;
    return n;
}

static ley_status make_axes(const hierarchy_options *o, hierarchy *h, int halvings, ley_error *error)
{
    for (int m = 0; m < 3; m++) {
        const double whole_A = cell_length(h->cell.vector_A[m]);
        const double nodes = h->cell.periodic[m] ? whole_A / o->spacing_A : 1;
        if (!(nodes < most_extent))
            return ley_fail(error, LEY_ERROR_INPUT,
                            "mesh: a spacing of %g A makes %.3g nodes along axis %d, which are too many: take a "
                            "wider mesh spacing",
                            o->spacing_A, nodes, m + 1);
        h->level[0].n[m] = h->cell.periodic[m] ? even_nodes(nodes, halvings) : 0;
        const double share = h->cell.periodic[m] ? 1.0 / (double)h->level[0].n[m] : o->spacing_A;
        for (int i = 0; i < 3; i++) {
            h->step_A[m][i] = share * h->cell.vector_A[m][i];
            h->inverse_per_A[m][i] = h->cell.dual_per_A[m][i] / share;
        }
    }
    return LEY_OK;
}

/* The nodes of the finest level that the window reaches from the box. */
static ley_status reach_box(hierarchy *h, const double low[3], const double high[3], double spacing_A, ley_error *error)
{
    const int half = h->window->points / 2;
    for (int m = 0; m < 3; m++) {
        if (h->cell.periodic[m])
            continue;
        const double from = floor(low[m] / spacing_A - rounding), to = floor(high[m] / spacing_A + rounding);
        if (!(from <= to && to - from < most_extent && fabs(from) < 1e15))
            return ley_fail(error, LEY_ERROR_INPUT,
                            "mesh: a spacing of %g A makes %.3g nodes along axis %d, which are too many: take a "
                            "wider mesh spacing, or atoms and a map that are closer together",
                            spacing_A, to - from + 1, m + 1);
        h->level[0].first[m] = (int64_t)from - half + 1;
        h->level[0].n[m] = (int64_t)(to - from) + 2 * half;
    }
    return LEY_OK;
}

static int64_t floor_half(int64_t i)
{
    return i >= 0 ? i / 2 : -((1 - i) / 2);
}

/* The coarse nodes that have a share in the fine ones. False where a periodic axis cannot be
 * halved. */
static bool coarsen(const hierarchy *h, const hierarchy_level *fine, hierarchy_level *coarse)
{
    const int reach = h->window->points - 1;
    for (int m = 0; m < 3; m++) {
        if (h->cell.periodic[m]) {
            if (fine->n[m] % 2 != 0)
                return false;
            coarse->first[m] = 0;
            coarse->n[m] = fine->n[m] / 2;
            continue;
        }
        const int64_t last = floor_half(fine->first[m] + fine->n[m] - 1 + reach);
        coarse->first[m] = -floor_half(reach - fine->first[m]);
        coarse->n[m] = last - coarse->first[m] + 1;
    }
    return true;
}

int64_t hierarchy_nodes(const hierarchy_level *level)
{
    return level->n[0] * level->n[1] * level->n[2];
}

/* ---- Levels ---------------------------------------------------------------------------------- */

static ley_status make_splitting(const hierarchy_options *o, const hierarchy *h, hierarchy_level *level,
                                 ley_error *error)
{
    const double ratio = o->cutoff_A / o->spacing_A;
    const int points = h->window->points;
    const double band = o->band > 0 ? o->band : splitting_band(o->splitting, ratio, points);
    const int degree = o->degree > 0 || o->band > 0 ? o->degree : splitting_degree(o->splitting, ratio, points);
    const double kappa_a = fmin(o->kappa_per_A * level->cutoff_A, SPLITTING_MOST_KAPPA_A); /* nothing is left there */
    return splitting_make(o->splitting, degree, band, kappa_a, &level->split, error);
}

/* Whether a further level costs less than all pairs of this one: its lattice cutoff takes each
 * node's neighbours within twice the cutoff, and not all nodes. */
static bool pays(const hierarchy *h, int level)
{
    int64_t reach[3];
    hierarchy_reach(h, reach);
    double neighbours = 1, coarse = 1;
    for (int m = 0; m < 3; m++)
        neighbours *= 2.0 * (double)reach[m] + 1;
    for (int m = 0; m < 3; m++)
        coarse *= (double)h->level[level + 1].n[m];
    const double nodes = (double)hierarchy_nodes(&h->level[level]);
    return nodes * neighbours / 2 + coarse * coarse < nodes * nodes;
}

/* Whether a kernel reaches all of it. */
static bool fits(const hierarchy *h, int level)
{
    int64_t reach[3];
    hierarchy_whole_reach(h, level, reach);
    return reach[0] <= HIERARCHY_MOST_REACH && reach[1] <= HIERARCHY_MOST_REACH && reach[2] <= HIERARCHY_MOST_REACH;
}

static ley_status add_levels(const hierarchy_options *o, hierarchy *h, ley_error *error)
{
    const int wanted = o->solver == HIERARCHY_FOURIER                   ? 1
                       : o->solver == HIERARCHY_MIXED && o->levels == 0 ? 2
                                                                        : o->levels;
    h->levels = 1;
    h->level[0].cutoff_A = o->cutoff_A;
    ley_status status = make_splitting(o, h, &h->level[0], error);
    while (status == LEY_OK && h->levels < HIERARCHY_MOST_LEVELS && h->levels != wanted) {
        hierarchy_level *fine = &h->level[h->levels - 1], *coarse = fine + 1;
        const bool halves = coarsen(h, fine, coarse);
        if (!halves && wanted > 0)
            return ley_fail(error, LEY_ERROR_USAGE,
                            "mesh: %d levels need periods that can be halved %d times: take fewer levels, or 0 "
                            "for as many as pay",
                            wanted, wanted - 1);
        if (!halves || (wanted == 0 && !pays(h, h->levels - 1) && fits(h, h->levels - 1)))
            break;
        coarse->cutoff_A = 2 * fine->cutoff_A;
        status = make_splitting(o, h, coarse, error);
        h->levels++;
    }
    return status;
}

int hierarchy_halvings(double nodes)
{
    return nodes > 8 ? (int)log2(nodes / 4) : 0;
}

/* How often periods should be halved when nobody says. Transforms are of even numbers of nodes. */
static int halvings_of(const hierarchy_options *o, const cell *c)
{
    if (o->solver == HIERARCHY_FOURIER)
        return 1;
    if (o->solver == HIERARCHY_MIXED)
        return o->levels == 0 ? 2 : o->levels;
    if (o->levels > 0)
        return o->levels - 1;
    int halvings = HIERARCHY_MOST_LEVELS - 1;
    for (int m = 0; m < 3; m++)
        if (c->periodic[m]) {
            const int own = hierarchy_halvings(cell_length(c->vector_A[m]) / o->spacing_A);
            halvings = own < halvings ? own : halvings;
        }
    return halvings;
}

/* What is left of a charge's potential at the far end of a period L, beside its mean, is (kappa
 * L/2) / sinh(kappa L/2), and exp(-kappa L) across an open axis: a seventh or more. */
static double mean_to_leave_out(const hierarchy *h)
{
    const double most_period = 8, most_across = 2, kappa = h->kappa_per_A;
    for (int m = 0; m < 3; m++) {
        const double length_A = h->cell.periodic[m] ? cell_length(h->cell.vector_A[m])
                                                    : (double)h->level[0].n[m] * cell_length(h->step_A[m]);
        if (kappa * length_A > (h->cell.periodic[m] ? most_period : most_across))
            return 0;
    }
    return lattice_sum_mean(&h->cell, kappa);
}

ley_status hierarchy_make(const hierarchy_options *options, const double low[3], const double high[3], hierarchy *made,
                          ley_error *error)
{
    hierarchy h = {.window = window_get(options->window),
                   .solver = options->solver,
                   .kappa_per_A = options->kappa_per_A,
                   .long_waves_per_A = options->long_waves_per_A};
    ley_status status = check(options, error);
    if (status == LEY_OK)
        status = cell_make(options->periodic, options->cell_A, &h.cell, error);
    if (status == LEY_OK && h.cell.dimensions == 0 && options->open_axes != NULL)
        cell_turn(&h.cell, options->open_axes);
    if (status == LEY_OK)
        status = make_axes(options, &h, halvings_of(options, &h.cell), error);
    if (status == LEY_OK)
        status = reach_box(&h, low, high, options->spacing_A, error);
    if (status == LEY_OK)
        status = add_levels(options, &h, error);
    if (status == LEY_OK)
        h.mean_per_A = mean_to_leave_out(&h);
    if (status == LEY_OK)
        *made = h;
    return status;
}

void hierarchy_upper(const hierarchy *h, int from, hierarchy *upper)
{
    const double scale = ldexp(1, from);
    const hierarchy whole = *h;
    *upper = whole;
    upper->levels = whole.levels - from;
    memcpy(upper->level, whole.level + from, (size_t)upper->levels * sizeof *upper->level);
    if (upper->levels == 1 && whole.solver == HIERARCHY_MIXED)
        upper->solver = HIERARCHY_FOURIER;
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < 3; i++) {
            upper->step_A[m][i] *= scale;
            upper->inverse_per_A[m][i] /= scale;
        }
}

void hierarchy_top(const hierarchy *h, hierarchy *top)
{
    hierarchy_upper(h, h->levels - 1, top);
    top->solver = HIERARCHY_FOURIER;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static hierarchy_planes hull(hierarchy_planes a, hierarchy_planes b)
{
    const bool has_a = a.first < a.end, has_b = b.first < b.end;
    return !has_a   ? b
           : !has_b ? a
                    : (hierarchy_planes){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

static hierarchy_planes widen(hierarchy_planes p, int64_t by)
{
    return p.first < p.end ? (hierarchy_planes){p.first - by, p.end + by} : p;
}

/* The next finer level's planes that have a share in these; and the next coarser level's. */
static hierarchy_planes finer(const hierarchy *h, hierarchy_planes p)
{
    return p.first < p.end ? widen((hierarchy_planes){2 * p.first, 2 * p.end - 1}, h->window->points - 1) : p;
}

static hierarchy_planes coarser(const hierarchy *h, hierarchy_planes p)
{
    const int reach = h->window->points - 1;
    return p.first < p.end ? (hierarchy_planes){-floor_half(reach - p.first), floor_half(p.end - 1 + reach) + 1} : p;
}

hierarchy_planes hierarchy_interpolated(const hierarchy *h, double low, double high)
{
    const int half = h->window->points / 2;
    return (hierarchy_planes){(int64_t)floor(low - rounding) + 1 - half, (int64_t)floor(high + rounding) + half + 1};
}

/* Whole edges, as far as the level has planes. */
static hierarchy_planes whole_edges(const hierarchy *h, int level, hierarchy_planes p)
{
    const hierarchy_level *l = &h->level[level];
    const int64_t begin = l->first[2], end = begin + l->n[2], before = p.first - begin,
                  rest = (before % HIERARCHY_EDGE + HIERARCHY_EDGE) % HIERARCHY_EDGE;
    hierarchy_planes made = {p.first - rest, p.first - rest + ley_round_up(p.end - p.first + rest, HIERARCHY_EDGE)};
    if (!h->cell.periodic[2])
        made = (hierarchy_planes){made.first > begin ? made.first : begin, made.end < end ? made.end : end};
    return made;
}

/* Those of each level whose charges are to be complete: what the lattice cutoff reaches from where
 * potentials are wanted, and what has a share in those of the next level. */
static hierarchy_planes needed_charges(const hierarchy *h, int top, hierarchy_planes wanted, hierarchy_planes own)
{
    hierarchy_planes potentials[HIERARCHY_MOST_LEVELS] = {wanted}, charges = own;
    int64_t reach[3];
    hierarchy_reach(h, reach);
    for (int k = 1; k < top; k++)
        potentials[k] = coarser(h, potentials[k - 1]);
    for (int k = top - 1; k >= 0; k--)
        charges = hull(widen(potentials[k], reach[2]), finer(h, charges));
    return charges;
}

bool hierarchy_part(const hierarchy *h, int top, hierarchy_planes wanted, hierarchy_planes own, hierarchy *part,
                    hierarchy_planes *charges)
{
    hierarchy_planes planes;
    hierarchy made = *h;
    *charges = needed_charges(h, top, wanted, own);
    planes = widen(*charges, h->window->points - 1); /* an atom is where its first node is */
    if (planes.first >= planes.end)
        planes = (hierarchy_planes){h->level[0].first[2], h->level[0].first[2] + 1};
    made.solver = HIERARCHY_LOWER;
    made.levels = top + 1;
    made.image_planes = h->cell.periodic[2] ? h->level[0].n[2] : 0;
    made.cell.periodic[2] = false;
    for (int k = 0; k <= top; k++) {
        planes = whole_edges(h, k, k > 0 ? coarser(h, planes) : planes);
        made.level[k].first[2] = planes.first;
        made.level[k].n[2] = planes.end - planes.first;
        if (k < top && made.level[k].n[2] >= h->level[k].n[2])
            return false;
    }
    *part = made;
    return true;
}

void hierarchy_box(const cell *c, size_t n, const double *position_A, double low[3], double high[3])
{
    for (size_t i = 0; i < n; i++) {
        double component[3];
        cell_components(c, position_A + 3 * i, component);
        for (int m = 0; m < 3; m++) {
            low[m] = component[m] < low[m] ? component[m] : low[m];
            high[m] = component[m] > high[m] ? component[m] : high[m];
        }
    }
}

ley_status hierarchy_check_charge(const hierarchy *h, double total_e, double magnitude_e, ley_error *error)
{
    const int dimensions = h->cell.dimensions;
    if ((dimensions == 1 || dimensions == 2) && h->kappa_per_A == 0 && fabs(total_e) > 1e-6 * magnitude_e)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "a net charge of %g e that is repeated along %s has no potential: it must be 0", total_e,
                        dimensions == 1 ? "one axis" : "two axes");
    return LEY_OK;
}

/* ---- Places ---------------------------------------------------------------------------------- */

void hierarchy_index(const hierarchy *h, const double point_A[3], double index[3])
{
    double x_A[3];
    for (int i = 0; i < 3; i++)
        x_A[i] = point_A[i] - h->origin_A[i];
    for (int m = 0; m < 3; m++)
        index[m] = cell_dot(h->inverse_per_A[m], x_A);
}

int64_t hierarchy_number(const hierarchy *h, int level, const int64_t i[3])
{
    const hierarchy_level *l = &h->level[level];
    int64_t at[3];
    for (int m = 0; m < 3; m++) {
        at[m] = i[m] - l->first[m];
        if (h->cell.periodic[m])
            at[m] = (at[m] % l->n[m] + l->n[m]) % l->n[m];
        else if (at[m] < 0 || at[m] >= l->n[m])
            return -1;
    }
    return (at[2] * l->n[1] + at[1]) * l->n[0] + at[0];
}

void hierarchy_displacement(const hierarchy *h, int level, const double i[3], double d_A[3])
{
    const double scale = ldexp(1, level);
    for (int axis = 0; axis < 3; axis++)
        d_A[axis] = scale * (i[0] * h->step_A[0][axis] + i[1] * h->step_A[1][axis] + i[2] * h->step_A[2][axis]);
}

static double smooth(const hierarchy_level *level, double r_A)
{
    return splitting_gamma(&level->split, r_A / level->cutoff_A) / level->cutoff_A;
}

double hierarchy_weight(const hierarchy *h, int level, double r_A)
{
    const hierarchy_level *own = &h->level[level];
    if (level == h->levels - 1)
        return smooth(own, r_A);
    return r_A < own[1].cutoff_A ? smooth(own, r_A) - smooth(own + 1, r_A) : 0;
}

void hierarchy_reach(const hierarchy *h, int64_t reach[3])
{
    for (int m = 0; m < 3; m++)
        reach[m] = (int64_t)ceil(2 * h->level[0].cutoff_A * cell_length(h->inverse_per_A[m])) - 1;
}

void hierarchy_whole_reach(const hierarchy *h, int level, int64_t reach[3])
{
    const int64_t *n = h->level[level].n;
    for (int m = 0; m < 3; m++)
        reach[m] = h->cell.periodic[m] ? n[m] / 2 : n[m] - 1;
}

bool hierarchy_is_rectangular(const hierarchy *h)
{
    for (int i = 0; i < 3; i++) {
        const double *a = h->step_A[i], *b = h->step_A[(i + 1) % 3];
        if (fabs(cell_dot(a, b)) > 1e-12 * cell_length(a) * cell_length(b))
            return false;
    }
    return true;
}
