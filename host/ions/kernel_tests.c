#include "ions/kernel_tests.h"

#include "error.h"
#include "ions/device_map.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A grid with bricks that are not whole; an oblique one, whose metric has no zeros. */
enum { NX = 37, NY = 20, NZ = 35, PLACES = 6, EFFECTS = 133 };

static const double steps_A[2][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                        {{1, 0, 0}, {0.3, 0.9, 0}, {-0.2, 0.25, 1.1}}};

typedef struct trial {
    ions_grid grid;
    size_t values;
    float *bricks, *right, *table;
    device_map *map;
} trial;

static ley_status begin(trial *t, bool is_oblique, bool is_periodic, ley_error *error)
{
    ley_grid grid = {.n = {NX, NY, NZ}};
    memset(t, 0, sizeof *t);
    memcpy(grid.step_A, steps_A[is_oblique], sizeof grid.step_A);
    ley_status status = ions_grid_make(&grid, 4, is_periodic, &t->grid, error);
    if (status != LEY_OK)
        return status;
    t->values = (size_t)t->grid.brick_count * BRICK_NODES;
    float *values = calloc((size_t)NX * NY * NZ, sizeof *values);
    t->bricks = calloc(t->values, sizeof *t->bricks);
    t->right = calloc(t->values, sizeof *t->right);
    t->table = values;
    if (values == NULL || t->bricks == NULL || t->right == NULL)
        return ley_fail_memory(error, t->values * sizeof *values, "the self-test");
    uint32_t state = 7;
    for (size_t i = 0; i < (size_t)NX * NY * NZ; i++) /* eighths: sums of them are not rounded */
        values[i] = (float)floor(8000 * self_test_fraction(&state)) / 8 - 500;
    ions_bricks_fill(&t->grid, values, t->bricks);
    memcpy(t->right, t->bricks, t->values * sizeof *t->right);
    return LEY_OK;
}

static void end(trial *t)
{
    device_map_destroy(t->map);
    free(t->bricks);
    free(t->right);
    free(t->table);
}

static void way_from(const trial *t, size_t i, const float at[3], double way[3], int64_t node[3])
{
    ions_grid_node(&t->grid, ions_grid_number(&t->grid, (int64_t)(i / BRICK_NODES), (int)(i % BRICK_NODES)), node);
    for (int axis = 0; axis < 3; axis++)
        way[axis] = (double)node[axis] - (double)at[axis];
}

/* Whether two values are the same but for so much; not-a-numbers are. */
static bool agree(float a, float b, double most)
{
    return isnan(a) == isnan(b) && (isnan(a) || fabs((double)a - (double)b) <= most);
}

static ley_status compare(const trial *t, const float *found, double share, ley_error *error)
{
    for (size_t i = 0; i < t->values; i++)
        if (!agree(found[i], t->right[i], share * (1 + fabs((double)t->right[i]))))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "value %zu is %.9g, not %.9g", i, (double)found[i],
                            (double)t->right[i]);
    return LEY_OK;
}

/* ---- ions_mask ------------------------------------------------------------------------------- */

/* Some spheres reach beyond the grid; one is beyond it, where the next row of bricks would
 * begin. */
static const float places[PLACES][4] = {{3.25f, 4.5f, 30.75f}, {-1.5f, 19.25f, 2.0f}, {16.0f, 15.5f, 16.25f},
                                        {36.75f, 0.5f, 33.0f}, {20.5f, 9.75f, 8.75f}, {49.5f, 2.5f, 5.0f}};

static ley_status mask_once(const dev_kernel *kernel, bool is_oblique, ley_error *error)
{
    const double reach_A = 4.30071;
    double at_A[3][PLACES], radius = 0;
    ions_spheres spheres = {.bins = NULL};
    trial t;
    ley_status status = begin(&t, is_oblique, false, error);
    for (int i = 0; i < 3 * PLACES && status == LEY_OK; i++)
        at_A[i / PLACES][i % PLACES] = (double)places[i % PLACES][0] * t.grid.grid.step_A[0][i / PLACES] +
                                       (double)places[i % PLACES][1] * t.grid.grid.step_A[1][i / PLACES] +
                                       (double)places[i % PLACES][2] * t.grid.grid.step_A[2][i / PLACES];
    if (status == LEY_OK)
        status = device_map_try(kernel, &t.grid, t.bricks, NULL, &t.map, error);
    if (status == LEY_OK)
        status = ions_spheres_make(&t.grid, PLACES, (const double *const[3]){at_A[0], at_A[1], at_A[2]}, reach_A,
                                   &spheres, error);
    radius = spheres.radius;
    if (status == LEY_OK)
        status = device_map_get(t.map)->mask(device_map_get(t.map), &spheres, error);
    for (size_t i = 0; i < t.values && status == LEY_OK; i++)
        for (int k = 0; k < PLACES && !isnan(t.right[i]); k++) {
            double way[3];
            int64_t node[3];
            way_from(&t, i, places[k], way, node);
            if (ions_grid_distance2(&t.grid, way) <= radius * radius)
                t.right[i] = NAN;
        }
    if (status == LEY_OK)
        status = device_map_read(t.map, t.bricks, error);
    if (status == LEY_OK)
        status = compare(&t, t.bricks, 0, error);
    ions_spheres_free(&spheres);
    end(&t);
    return status;
}

ley_status ions_test_mask(const dev_kernel *kernel, void *context, ley_error *error)
{
    (void)context;
    const ley_status status = mask_once(kernel, false, error);
    return status == LEY_OK ? mask_once(kernel, true, error) : status;
}

/* ---- ions_bricks ----------------------------------------------------------------------------- */

/* Within the grid, at its edge, an image beyond it that only leaves out nodes, and an ion that
 * leaves out none, not even its own, behind so many that change nothing that kernels have not all
 * of them at hand. No node is as far away as their radii, so that rounding decides nothing. */
static const ions_effect effects[EFFECTS] = {{{5, 6, 7}, 40, 15.4987f, {0}},
                                             {{20, 10, 20}, -24, 8.5013f, {0}},
                                             {{-3, 19, 34}, 0, 24.5013f, {0}},
                                             {{36, 0, 15}, 8, 0.4987f, {0}},
                                             [EFFECTS - 1] = {{12, 3, 29}, 16, 0, {0}}};

/* Nodes of each brick that have its least and its largest values, which effects do not change: two
 * each, of which the first one counts, in columns whose order is another one; and a brick whose
 * last node has the largest. */
static void put_extremes(trial *t)
{
    static const struct {
        int at;
        float value;
    } extreme[] = {{100, -1e13f}, {2000, -1e13f}, {255, 1e13f}, {256, 1e13f}, {BRICK_NODES - 1, 2e13f}};
    for (int64_t b = 1; b < t->grid.brick_count; b++)
        for (int i = 0; i < (b == 1 ? 5 : 4); i++) {
            float *value = &t->bricks[b * BRICK_NODES + extreme[i].at];
            *value = isnan(*value) ? *value : extreme[i].value;
        }
    memcpy(t->right, t->bricks, t->values * sizeof *t->right);
}

static void apply(trial *t, const ions_effect *e)
{
    for (size_t i = 0; i < t->values; i++) {
        double way[3];
        int64_t node[3], wrapped[3];
        way_from(t, i, e->at, way, node);
        const double d2 = ions_grid_distance2(&t->grid, way);
        for (int axis = 0; axis < 3; axis++) {
            const int64_t n = t->grid.n[axis];
            wrapped[axis] = (((int64_t)way[axis] % n) + n) % n;
        }
        const float term = t->grid.is_periodic ? e->charge * t->table[(wrapped[2] * NY + wrapped[1]) * NX + wrapped[0]]
                           : t->grid.is_square ? (float)((double)e->charge / fmax(d2, 0.25))
                                               : (float)((double)e->charge / sqrt(fmax(d2, 0.25)));
        t->right[i] = d2 < (double)e->radius2 ? NAN : t->right[i] + term;
    }
}

/* What is right of a brick by its values. */
static ions_record record_of(const float *values)
{
    ions_record r = {.least = INFINITY, .most = -INFINITY, .next_least = INFINITY, .next_most = -INFINITY};
    for (int i = 0; i < BRICK_NODES; i++) {
        if (isnan(values[i]))
            continue;
        if (values[i] < r.least) {
            r.least = values[i];
            r.at_least = (float)i;
        }
        if (values[i] > r.most) {
            r.most = values[i];
            r.at_most = (float)i;
        }
        r.count++;
    }
    for (int i = 0; i < BRICK_NODES; i++) { /* of all others */
        if (!isnan(values[i]) && (float)i != r.at_least)
            r.next_least = fminf(r.next_least, values[i]);
        if (!isnan(values[i]) && (float)i != r.at_most)
            r.next_most = fmaxf(r.next_most, values[i]);
    }
    return r;
}

static ley_status compare_records(const trial *t, const ions_record *found, ley_error *error)
{
    for (int64_t b = 0; b < t->grid.brick_count; b++) {
        const ions_record r = record_of(t->bricks + b * BRICK_NODES), *f = &found[b];
        const bool is_right = r.count == f->count && r.least == f->least && r.most == f->most &&
                              r.next_least == f->next_least && r.next_most == f->next_most &&
                              (r.count == 0 || (r.at_least == f->at_least && r.at_most == f->at_most));
        if (!is_right)
            return ley_fail(
                error, LEY_ERROR_WRONG_RESULT,
                "brick %lld has %.9g at %g, %.9g to %.9g, %.9g at %g in %g nodes, not %.9g at %g, %.9g to %.9g, "
                "%.9g at %g in %g",
                (long long)b, (double)f->least, (double)f->at_least, (double)f->next_least, (double)f->next_most,
                (double)f->most, (double)f->at_most, (double)f->count, (double)r.least, (double)r.at_least,
                (double)r.next_least, (double)r.next_most, (double)r.most, (double)r.at_most, (double)r.count);
    }
    return LEY_OK;
}

/* The first effect by itself, as it comes, and then the others; the last brick has only these. */
static ley_status update_twice(trial *t, ley_error *error)
{
    const int64_t n = t->grid.brick_count;
    ions_map *map = device_map_get(t->map);
    ions_work *work = calloc((size_t)n, sizeof *work);
    ions_record *records = calloc((size_t)n, sizeof *records);
    ley_status status =
        work != NULL && records != NULL ? LEY_OK : ley_fail_memory(error, (size_t)n * sizeof *records, "the self-test");
    for (int part = 0; part < 2 && status == LEY_OK; part++) {
        for (int64_t b = 0; b < n; b++)
            work[b] = (ions_work){
                .brick = (int32_t)(n - 1 - b), .first = part, .last = part == 0 ? 1 : EFFECTS, .record = (int32_t)b};
        status = map->update(map, effects, (size_t)n, work, records, error);
    }
    for (int64_t b = 0; b < n / 2 && status == LEY_OK; b++) {
        const ions_record kept = records[b];
        records[b] = records[n - 1 - b];
        records[n - 1 - b] = kept;
    }
    if (status == LEY_OK)
        status = device_map_read(t->map, t->bricks, error);
    if (status == LEY_OK)
        status = compare(t, t->bricks, 1e-6, error);
    if (status == LEY_OK)
        status = compare_records(t, records, error);
    free(work);
    free(records);
    return status;
}

static ley_status bricks_once(const dev_kernel *kernel, bool is_oblique, bool is_periodic, bool is_square,
                              ley_error *error)
{
    trial t;
    ley_status status = begin(&t, is_oblique, is_periodic, error);
    t.grid.is_square = is_square;
    if (status == LEY_OK)
        put_extremes(&t);
    for (size_t i = 0; i < BRICK_NODES && status == LEY_OK; i++) /* a brick of which nothing is left */
        t.bricks[i] = t.right[i] = NAN;
    for (int i = 0; i < EFFECTS && status == LEY_OK; i++)
        apply(&t, &effects[i]);
    if (status == LEY_OK)
        status = device_map_try(kernel, &t.grid, t.bricks, is_periodic ? t.table : NULL, &t.map, error);
    if (status == LEY_OK)
        status = update_twice(&t, error);
    end(&t);
    return status;
}

ley_status ions_test_bricks(const dev_kernel *kernel, void *context, ley_error *error)
{
    ions_bricks_spec spec;
    (void)context;
    memcpy(&spec, kernel->spec, sizeof spec);
    const ley_status status = bricks_once(kernel, false, spec.periodic, spec.square, error);
    return status == LEY_OK ? bricks_once(kernel, true, spec.periodic, spec.square, error) : status;
}

/* ---- ions_nodes ------------------------------------------------------------------------------ */

static ley_status list_once(trial *t, const ions_query *q, ley_error *error)
{
    enum { MOST = 400 };
    const int32_t wanted[] = {2, 0, 7};
    ions_found found[MOST];
    size_t total, right = 0;
    ions_map *map = device_map_get(t->map);
    ley_status status = map->list(map, sizeof wanted / sizeof *wanted, wanted, q, found, &total, error);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        for (int local = 0; local < BRICK_NODES; local++) {
            const int64_t number = ions_grid_number(&t->grid, wanted[i], local);
            right += q->sign * t->bricks[wanted[i] * BRICK_NODES + local] <= q->limit && number >= q->first &&
                     number <= q->last;
        }
    if (status == LEY_OK && total != right)
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "%zu nodes are found, not %zu", total, right);
    bool seen[8 * BRICK_NODES] = {false};
    for (size_t i = 0; status == LEY_OK && i < total && i < q->most; i++) {
        const size_t at = (size_t)found[i].brick * BRICK_NODES + (size_t)found[i].local;
        if (found[i].brick > 7 || seen[at] || found[i].value != t->bricks[at] ||
            !(q->sign * found[i].value <= q->limit))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "node %d of brick %d is found wrongly", found[i].local,
                            found[i].brick);
        seen[at] = true;
    }
    return status;
}

ley_status ions_test_nodes(const dev_kernel *kernel, void *context, ley_error *error)
{
    /* The first one has less room than is needed, the last one is of one node. */
    static const ions_query queries[] = {{1, 450, 0, INT32_MAX, 16},
                                         {1, -460, 0, INT32_MAX, 400},
                                         {-1, -470, 0, INT32_MAX, 400},
                                         {1, 0, 800, 12300, 400},
                                         {1, 1000, (NY * NX) + 1, (NY * NX) + 1, 400}};
    trial t;
    (void)context;
    ley_status status = begin(&t, false, false, error);
    if (status == LEY_OK)
        status = device_map_try(kernel, &t.grid, t.bricks, NULL, &t.map, error);
    for (size_t i = 0; i < sizeof queries / sizeof *queries && status == LEY_OK; i++)
        status = list_once(&t, &queries[i], error);
    end(&t);
    return status;
}
