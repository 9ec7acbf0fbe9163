#include "ions/search_check.h"

#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Atoms that reach into a brick: [n], from the origin. */
typedef struct close_atoms {
    size_t n;
    double (*at)[3];
} close_atoms;

static ley_status find_close(const search *s, int64_t b, close_atoms *close, ley_error *error)
{
    int64_t first[3];
    double low[3], high[3];
    ions_grid_corner(s->g, b, first);
    ions_grid_box(s->g, first, (const int64_t[3]){first[0] + BRICK - 1, first[1] + BRICK - 1, first[2] + BRICK - 1},
                  low, high);
    for (int axis = 0; axis < 3; axis++) {
        low[axis] -= s->o.from_A + 0.01;
        high[axis] += s->o.from_A + 0.01;
    }
    const size_t n = bins_in_box(s->o.near, low, high, 0, NULL);
    size_t *which = malloc((n + 1) * sizeof *which);
    *close = (close_atoms){.n = n, .at = malloc((n + 1) * sizeof *close->at)};
    if (which == NULL || close->at == NULL) {
        free(which);
        return ley_fail_memory(error, n * sizeof *close->at, "atoms next to a brick");
    }
    bins_in_box(s->o.near, low, high, n, which);
    for (size_t i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            close->at[i][axis] = s->o.near->at_A[axis][which[i]];
    free(which);
    return LEY_OK;
}

/* Whether a node should be left out; *is_open: rounding decides it. */
static bool should_be_left_out(const search *s, const close_atoms *close, const candidate *c, bool *is_open)
{
    const double from_A = s->o.from_A, margin_A = s->o.margin_A;
    double nearest2 = INFINITY;
    for (size_t i = 0; i < close->n; i++) {
        double way[3];
        for (int axis = 0; axis < 3; axis++)
            way[axis] = c->place_A[axis] - close->at[i][axis];
        nearest2 = fmin(nearest2, cell_dot(way, way));
    }
    bool is_out = sqrt(nearest2) <= from_A;
    *is_open = fabs(sqrt(nearest2) - from_A) <= margin_A;
    for (size_t k = 0; k < s->ion_count && !is_out; k++) {
        double way[3];
        for (int axis = 0; axis < 3; axis++)
            way[axis] = c->place_A[axis] - s->ions[k].at.place_A[axis];
        const double steps2 = exact_distance_A2(s->o.exact, way) / (s->g->h_A * s->g->h_A);
        is_out = steps2 < s->g->between2;
        *is_open = *is_open || fabs(steps2 - s->g->between2) <= (s->g->is_cubic ? 0.25 : 1e-4 * s->g->between2);
    }
    return is_out;
}

/* A brick's nodes: their values, and whether each is as it should be. */
typedef struct checking {
    const search *s;
    int64_t brick;
    const close_atoms *close;
    float values[BRICK_NODES];
    bool is_wrong[BRICK_NODES];
} checking;

static ley_status check_node(const checking *k, int local, ley_error *error)
{
    const search *s = k->s;
    const float value = k->values[local];
    const candidate c = search_candidate(s, k->brick, local, value);
    int64_t at[3];
    ions_grid_corner(s->g, k->brick, at);
    at[0] += local % BRICK;
    at[1] += local / BRICK % BRICK;
    at[2] += local / (BRICK * BRICK);
    const bool is_beyond = at[0] >= s->g->n[0] || at[1] >= s->g->n[1] || at[2] >= s->g->n[2];
    bool is_open = false;
    const bool is_out = is_beyond || should_be_left_out(s, k->close, &c, &is_open);
    if (!is_open && is_out != isnan(value))
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "node (%lld, %lld, %lld) is %s", (long long)at[0],
                        (long long)at[1], (long long)at[2],
                        is_out ? "to be left out, and is not" : "left out, and should not be");
    return isnan(value) ? LEY_OK : search_check_found(s, &c, error);
}

/* Of some rows, among those that are checked. */
static void check_rows(void *context, size_t first, size_t last)
{
    checking *k = context;
    for (size_t row = first; row < last; row++)
        for (int i = 0; i < BRICK && ((int64_t)row + k->brick) % CHECKED_ROWS == 0; i++)
            k->is_wrong[row * BRICK + (size_t)i] = check_node(k, (int)row * BRICK + i, NULL) != LEY_OK;
}

static ley_status check_nodes(search *s, int64_t b, size_t total, const close_atoms *close, ley_error *error)
{
    checking k = {.s = s, .brick = b, .close = close};
    for (int i = 0; i < BRICK_NODES; i++)
        k.values[i] = NAN;
    for (size_t i = 0; i < total; i++)
        if (s->found[i].brick == b && s->found[i].local >= 0 && s->found[i].local < BRICK_NODES)
            k.values[s->found[i].local] = s->found[i].value;
    parallel_ranges(BRICK * BRICK, check_rows, &k);
    for (int i = 0; i < BRICK_NODES; i++)
        if (k.is_wrong[i])
            return check_node(&k, i, error);
    return LEY_OK;
}

/* Of all nodes of a brick among those that were found. */
static ley_status check_record(const search *s, int32_t b, size_t total, ley_error *error)
{
    const ions_record *r = &s->records[b];
    float least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
    size_t count = 0;
    for (size_t i = 0; i < total; i++) {
        const float v = s->found[i].value;
        if (s->found[i].brick != b)
            continue;
        count++;
        least[1] = fminf(least[1], fmaxf(least[0], v));
        most[1] = fmaxf(most[1], fminf(most[0], v));
        least[0] = fminf(least[0], v);
        most[0] = fmaxf(most[0], v);
    }
    if ((double)count != (double)r->count)
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "a brick has %zu nodes, and %.0f were counted", count,
                        (double)r->count);
    if (r->least != least[0] || r->next_least != least[1] || r->most != most[0] || r->next_most != most[1])
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "a brick's least or largest values are not those of its nodes");
    return LEY_OK;
}

static ley_status check_brick(search *s, int32_t b, size_t total, ley_error *error)
{
    close_atoms close = {.n = 0};
    ley_status status = check_record(s, b, total, error);
    if (status == LEY_OK)
        status = find_close(s, b, &close, error);
    if (status == LEY_OK)
        status = check_nodes(s, b, total, &close, error);
    free(close.at);
    return status;
}

static size_t add_once(int32_t *bricks, size_t n, int64_t b)
{
    for (size_t i = 0; i < n; i++)
        if (bricks[i] == b)
            return n;
    bricks[n] = (int32_t)b;
    return n + 1;
}

/* Bricks at the solute's edge, where nodes are left out and others are not, and some of all. */
static size_t choose_checked(const search *s, int32_t *bricks)
{
    int64_t edge = 0, seen = 0, taken = 0;
    size_t n = 0;
    for (int64_t b = 0; b < s->g->brick_count; b++)
        edge += s->records[b].count > 0 && s->records[b].count < BRICK_NODES;
    for (int64_t b = 0; b < s->g->brick_count && taken < CHECKED; b++)
        if (s->records[b].count > 0 && s->records[b].count < BRICK_NODES &&
            seen++ == (2 * taken + 1) * edge / (2 * CHECKED)) {
            taken++;
            n = add_once(bricks, n, b);
        }
    for (int64_t i = 0; i < CHECKED; i++)
        n = add_once(bricks, n, (2 * i + 1) * s->g->brick_count / (2 * CHECKED));
    return n;
}

ley_status search_check(search *s, ley_error *error)
{
    const ions_query query = {.sign = 1, .limit = INFINITY, .last = INT32_MAX, .most = CHECKED_NODES};
    int32_t bricks[2 * CHECKED];
    const size_t n = choose_checked(s, bricks);
    size_t total = 0;
    memcpy(s->chosen, bricks, n * sizeof *bricks);
    ley_status status = search_update(s, n, error);
    if (status == LEY_OK)
        status = s->o.map->list(s->o.map, n, bricks, &query, s->found, &total, error);
    if (total > query.most)
        total = query.most;
    for (size_t i = 0; i < n && status == LEY_OK; i++)
        status = check_brick(s, bricks[i], total, error);
    return status;
}
