/* What two maps differ by: sums over the points of the first one, twice, as a correlation is of
 * what differs from the means. */
#include "core/options.h"
#include "error.h"
#include "leyden.h"
#include "target/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By how much of a step points may be apart that count as one. */
static const double same_place = 1e-3;

void ley_compare_options_default(ley_compare_options *options)
{
    *options = (ley_compare_options){.size = sizeof *options, .name_a = "A", .name_b = "B"};
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* A sum, and beside it what was lost of its terms (Neumaier). */
typedef struct total {
    double sum, lost;
} total;

static void add(total *to, double term)
{
    const double sum = to->sum + term;
    to->lost += fabs(to->sum) >= fabs(term) ? (to->sum - sum) + term : (term - sum) + to->sum;
    to->sum = sum;
}

static double total_of(const total *t)
{
    return t->sum + t->lost;
}

/* ---- Grids -------------------------------------------------------------------------------- */

/* Places of A's points among those of B, in B's steps: first + i along[0] + j along[1] + k
 * along[2]. */
typedef struct passage {
    double first[3], along[3][3];
} passage;

static double triple_product(const double u[3], const double v[3], const double w[3])
{
    return u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
}

/* A vector in a grid's steps, by Cramer's rule. */
static void in_steps(const ley_grid *grid, const double vector_A[3], double steps[3])
{
    const double(*s)[3] = grid->step_A;
    const double volume = triple_product(s[0], s[1], s[2]);
    steps[0] = triple_product(vector_A, s[1], s[2]) / volume;
    steps[1] = triple_product(s[0], vector_A, s[2]) / volume;
    steps[2] = triple_product(s[0], s[1], vector_A) / volume;
}

static passage passage_between(const ley_grid *a, const ley_grid *b)
{
    passage p = {.first = {0}};
    const double apart_A[3] = {a->origin_A[0] - b->origin_A[0], a->origin_A[1] - b->origin_A[1],
                               a->origin_A[2] - b->origin_A[2]};
    in_steps(b, apart_A, p.first);
    for (int m = 0; m < 3; m++)
        in_steps(b, a->step_A[m], p.along[m]);
    return p;
}

/* Whether point (i, j, k) of A is point (i, j, k) of B, for all of them: the farthest apart are
 * corners. */
static bool is_one_grid(const ley_grid *a, const ley_grid *b)
{
    const passage p = passage_between(a, b);
    for (int corner = 0; corner < 8; corner++)
        for (int axis = 0; axis < 3; axis++) {
            double apart = p.first[axis];
            for (int m = 0; m < 3; m++)
                if (corner >> m & 1)
                    apart += (double)(a->n[m] - 1) * (p.along[m][axis] - (m == axis ? 1 : 0));
            if (!(fabs(apart) <= same_place))
                return false;
        }
    return memcmp(a->n, b->n, sizeof a->n) == 0;
}

/* Says what the grids differ in. */
static ley_status fail_meshes(const ley_map *a, const ley_map *b, const ley_compare_options *o, ley_error *error)
{
    const ley_grid *la = ley_map_grid(a), *lb = ley_map_grid(b);
    char what[512] = "";
    size_t used = 0;
    if (memcmp(la->n, lb->n, sizeof la->n) != 0)
        used += (size_t)snprintf(what, sizeof what, "; %lld x %lld x %lld points and %lld x %lld x %lld",
                                 (long long)la->n[0], (long long)la->n[1], (long long)la->n[2], (long long)lb->n[0],
                                 (long long)lb->n[1], (long long)lb->n[2]);
    if (memcmp(la->origin_A, lb->origin_A, sizeof la->origin_A) != 0)
        used += (size_t)snprintf(what + used, sizeof what - used,
                                 "; origins (%.10g, %.10g, %.10g) and (%.10g, %.10g, %.10g) A", la->origin_A[0],
                                 la->origin_A[1], la->origin_A[2], lb->origin_A[0], lb->origin_A[1], lb->origin_A[2]);
    for (int m = 0; m < 3; m++)
        if (memcmp(la->step_A[m], lb->step_A[m], sizeof la->step_A[m]) != 0 && used < sizeof what)
            used += (size_t)snprintf(what + used, sizeof what - used,
                                     "; steps along axis %d (%.8g, %.8g, %.8g) and (%.8g, %.8g, %.8g) A", m + 1,
                                     la->step_A[m][0], la->step_A[m][1], la->step_A[m][2], lb->step_A[m][0],
                                     lb->step_A[m][1], lb->step_A[m][2]);
    return ley_fail(error, LEY_ERROR_INPUT,
                    "%s and %s are on different grids: %s (interpolation takes the values of the second "
                    "at the points of the first)",
                    o->name_a, o->name_b, what + (what[0] != '\0' ? 2 : 0));
}

/* ---- Points near atoms ----------------------------------------------------------------------- */

/* In which points of the grid a ball lies along each axis, low to high; false: in none. A ball
 * reaches as many steps along an axis as its radius has times the length of that axis's reciprocal
 * vector. */
static bool find_box(const ley_grid *grid, const double centre_A[3], double radius_A, int64_t low[3], int64_t high[3])
{
    const double apart_A[3] = {centre_A[0] - grid->origin_A[0], centre_A[1] - grid->origin_A[1],
                               centre_A[2] - grid->origin_A[2]};
    double centre[3], unit[3][3];
    in_steps(grid, apart_A, centre);
    for (int axis = 0; axis < 3; axis++)
        in_steps(grid, (const double[3]){axis == 0, axis == 1, axis == 2}, unit[axis]);
    for (int m = 0; m < 3; m++) {
        const double reach =
            radius_A * sqrt(unit[0][m] * unit[0][m] + unit[1][m] * unit[1][m] + unit[2][m] * unit[2][m]);
        const double first = fmax(ceil(centre[m] - reach - same_place), 0),
                     last = fmin(floor(centre[m] + reach + same_place), (double)(grid->n[m] - 1));
        if (!(first <= last))
            return false;
        low[m] = (int64_t)first;
        high[m] = (int64_t)last;
    }
    return true;
}

static void mark_ball(const ley_grid *grid, const double centre_A[3], double radius_A, uint8_t *is_near)
{
    int64_t low[3], high[3], at[3];
    double r_A[3];
    if (!find_box(grid, centre_A, radius_A, low, high))
        return;
    for (at[2] = low[2]; at[2] <= high[2]; at[2]++)
        for (at[1] = low[1]; at[1] <= high[1]; at[1]++)
            for (at[0] = low[0]; at[0] <= high[0]; at[0]++) {
                ley_grid_point_A(grid, at, r_A);
                const double d[3] = {r_A[0] - centre_A[0], r_A[1] - centre_A[1], r_A[2] - centre_A[2]};
                const int64_t number = (at[2] * grid->n[1] + at[1]) * grid->n[0] + at[0];
                if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < radius_A * radius_A)
                    is_near[number >> 3] |= (uint8_t)(1 << (number & 7));
            }
}

/* How many points of A are near atoms, and which: `is_near` is from malloc, NULL where nobody asked
 * for it. */
static ley_status mark_near(const ley_grid *grid, const ley_compare_options *o, uint8_t **is_near, int64_t *count,
                            ley_error *error)
{
    *is_near = NULL;
    *count = 0;
    if (!(o->beyond_A >= 0) || isinf(o->beyond_A))
        return ley_fail(error, LEY_ERROR_USAGE, "beyond_A is %g: it must be a length, or 0", o->beyond_A);
    if (o->atoms == NULL)
        return LEY_OK;
    const size_t bytes = (size_t)(ley_grid_points(grid) / 8 + 1);
    *is_near = calloc(bytes, 1);
    if (*is_near == NULL)
        return ley_fail_memory(error, bytes, "points near atoms");
    for (size_t i = 0; i < ley_atoms_count(o->atoms); i++)
        mark_ball(grid, ley_atoms_positions_A(o->atoms) + 3 * i, o->beyond_A, *is_near);
    for (size_t i = 0; i < bytes; i++)
        *count += __builtin_popcount((*is_near)[i]);
    return LEY_OK;
}

/* ---- Values ---------------------------------------------------------------------------------- */

typedef struct pair {
    const ley_grid *grid_a, *grid_b;
    const float *a, *b;
    const uint8_t *is_near; /* a bit for each point of A: atoms are near; NULL: none are */
    bool is_one;            /* grid */
    passage places;         /* where it is not */
} pair;

/* Which cell of B a place is in along an axis of so many points, and where in it, from 0 to 1.
 * False: it is outside. */
static bool find_cell(double place, int64_t n, int64_t *cell, double *within)
{
    const double last = (double)(n - 1);
    if (!(place >= -same_place && place <= last + same_place))
        return false;
    place = fmin(fmax(place, 0), last);
    *cell = (int64_t)fmin(floor(place), fmax(last - 1, 0));
    *within = place - (double)*cell;
    return true;
}

/* B's value at point (i, j, k) of A. False: the point is outside B. */
static bool value_between(const pair *p, const int64_t at[3], double *value)
{
    int64_t cell[3], stride[3] = {1, p->grid_b->n[0], p->grid_b->n[0] * p->grid_b->n[1]}, first = 0;
    double within[3];
    for (int axis = 0; axis < 3; axis++) {
        double place = p->places.first[axis];
        for (int m = 0; m < 3; m++)
            place += (double)at[m] * p->places.along[m][axis];
        if (!find_cell(place, p->grid_b->n[axis], &cell[axis], &within[axis]))
            return false;
        first += cell[axis] * stride[axis];
        if (p->grid_b->n[axis] == 1)
            stride[axis] = 0;
    }
    double sum = 0, least = INFINITY, most = -INFINITY;
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        int64_t number = first;
        for (int axis = 0; axis < 3; axis++) {
            const bool is_upper = corner >> axis & 1;
            weight *= is_upper ? within[axis] : 1 - within[axis];
            number += is_upper ? stride[axis] : 0;
        }
        sum += weight * (double)p->b[number];
        least = fmin(least, (double)p->b[number]);
        most = fmax(most, (double)p->b[number]);
    }
    *value = fmin(fmax(sum, least), most); /* rounding makes nothing of a map that is the same everywhere */
    return true;
}

/* Calls `visit` with both values at each point of A that is in B and not near atoms; returns how
 * many those are. */
static int64_t each_point(const pair *p, void (*visit)(void *context, const int64_t at[3], double a, double b),
                          void *context)
{
    const int64_t *n = p->grid_a->n;
    int64_t number = 0, visited = 0, at[3];
    for (at[2] = 0; at[2] < n[2]; at[2]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[0] = 0; at[0] < n[0]; at[0]++, number++) {
                if (p->is_near != NULL && p->is_near[number >> 3] >> (number & 7) & 1)
                    continue;
                double b = (double)p->b[p->is_one ? number : 0];
                if (!p->is_one && !value_between(p, at, &b))
                    continue;
                visited++;
                visit(context, at, (double)p->a[number], b);
            }
    return visited;
}

/* ---- The comparison -------------------------------------------------------------------------- */

typedef struct first_look {
    total a, b, difference, a2, b2, difference2;
    double low[2], high[2]; /* of A, of B */
    double largest, at_largest[2];
    int64_t index[3];
} first_look;

static void look(void *context, const int64_t at[3], double a, double b)
{
    first_look *l = context;
    const double difference = a - b, values[2] = {a, b};
    add(&l->a, a);
    add(&l->b, b);
    add(&l->difference, difference);
    add(&l->a2, a * a);
    add(&l->b2, b * b);
    add(&l->difference2, difference * difference);
    for (int i = 0; i < 2; i++) {
        l->low[i] = fmin(l->low[i], values[i]);
        l->high[i] = fmax(l->high[i], values[i]);
    }
    if (fabs(difference) > fabs(l->largest) || isnan(l->at_largest[0])) {
        l->largest = difference;
        memcpy(l->at_largest, values, sizeof values);
        memcpy(l->index, at, sizeof l->index);
    }
}

typedef struct second_look {
    double mean_a, mean_b;
    total aa, bb, ab;
} second_look;

static void look_again(void *context, const int64_t at[3], double a, double b)
{
    second_look *l = context;
    (void)at;
    add(&l->aa, (a - l->mean_a) * (a - l->mean_a));
    add(&l->bb, (b - l->mean_b) * (b - l->mean_b));
    add(&l->ab, (a - l->mean_a) * (b - l->mean_b));
}

static double correlation(const pair *p, const first_look *first, int64_t points)
{
    if (!(first->low[0] < first->high[0] && first->low[1] < first->high[1]))
        return NAN;
    second_look second = {.mean_a = total_of(&first->a) / (double)points,
                          .mean_b = total_of(&first->b) / (double)points};
    each_point(p, look_again, &second);
    const double r = total_of(&second.ab) / (sqrt(total_of(&second.aa)) * sqrt(total_of(&second.bb)));
    return fmin(fmax(r, -1), 1);
}

/* Options as they were taken. */
static ley_status check_alike(const ley_map *a, const ley_map *b, const ley_compare_options *o, ley_error *error)
{
    const char *unit_a = ley_map_units(a), *unit_b = ley_map_units(b);
    if (!o->any_units && unit_a[0] != '\0' && unit_b[0] != '\0' && strcmp(unit_a, unit_b) != 0)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "%s is in %s, and %s in %s: their difference is in no unit (any_units takes numbers as they "
                        "are)",
                        o->name_a, unit_a, o->name_b, unit_b);
    if (!o->interpolate && !is_one_grid(ley_map_grid(a), ley_map_grid(b)))
        return fail_meshes(a, b, o, error);
    return LEY_OK;
}

ley_status ley_map_check_alike(const ley_map *a, const ley_map *b, const ley_compare_options *options, ley_error *error)
{
    ley_compare_options o;
    const ley_status status = OPTIONS_TAKE(ley_compare_options, name_b, &o, options, error);
    return status == LEY_OK ? check_alike(a, b, &o, error) : status;
}

/* Options as they were taken, of maps that may be compared. */
static ley_status compare_beyond(const ley_map *a, const ley_map *b, const ley_compare_options *o,
                                 const uint8_t *is_near, int64_t near_atoms, ley_comparison *comparison,
                                 ley_error *error)
{
    const ley_grid *la = ley_map_grid(a), *lb = ley_map_grid(b);
    const pair p = {
        la, lb, ley_map_read_values(a), ley_map_read_values(b), is_near, is_one_grid(la, lb), passage_between(la, lb)};
    first_look first = {.low = {INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY}, .at_largest = {NAN, NAN}};
    const int64_t points = each_point(&p, look, &first);
    if (points == 0)
        return near_atoms > 0
                   ? ley_fail(error, LEY_ERROR_INPUT,
                              "no point of %s is left to compare: %lld are nearer than %g A to atoms", o->name_a,
                              (long long)near_atoms, o->beyond_A)
                   : ley_fail(error, LEY_ERROR_INPUT, "no point of %s lies in the box of %s", o->name_a, o->name_b);
    const bool is_zero[2] = {first.low[0] == 0 && first.high[0] == 0, first.low[1] == 0 && first.high[1] == 0};
    if (is_zero[0] != is_zero[1])
        return ley_fail(error, LEY_ERROR_INPUT, "%s is 0 at all %lld points that are compared, and %s is not",
                        is_zero[0] ? o->name_a : o->name_b, (long long)points, is_zero[0] ? o->name_b : o->name_a);
    ley_comparison c = {.points = points,
                        .left_out = ley_grid_points(la) - near_atoms - points,
                        .near_atoms = near_atoms,
                        .rms_a = sqrt(total_of(&first.a2) / (double)points),
                        .rms_b = sqrt(total_of(&first.b2) / (double)points),
                        .rms = sqrt(total_of(&first.difference2) / (double)points),
                        .relative_rms = is_zero[0] ? 0 : sqrt(total_of(&first.difference2) / total_of(&first.a2)),
                        .mean = total_of(&first.difference) / (double)points,
                        .correlation = correlation(&p, &first, points),
                        .largest = first.largest,
                        .a = first.at_largest[0],
                        .b = first.at_largest[1]};
    memcpy(c.index, first.index, sizeof c.index);
    ley_grid_point_A(la, c.index, c.point_A);
    *comparison = c;
    return LEY_OK;
}

ley_status ley_map_compare(const ley_map *a, const ley_map *b, const ley_compare_options *options,
                           ley_comparison *comparison, ley_error *error)
{
    ley_compare_options o;
    ley_status status = OPTIONS_TAKE(ley_compare_options, name_b, &o, options, error);
    if (status == LEY_OK)
        status = check_alike(a, b, &o, error);
    if (status == LEY_OK)
        status = map_check_values(a, o.name_a, error);
    if (status == LEY_OK)
        status = map_check_values(b, o.name_b, error);
    uint8_t *is_near = NULL;
    int64_t near_atoms = 0;
    if (status == LEY_OK)
        status = mark_near(ley_map_grid(a), &o, &is_near, &near_atoms, error);
    if (status == LEY_OK)
        status = compare_beyond(a, b, &o, is_near, near_atoms, comparison, error);
    free(is_near);
    return status;
}
