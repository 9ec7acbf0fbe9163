#include "fit/places.h"

#include "error.h"
#include "parallel.h"
#include "spec.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

float fit_fall(double sigma_A)
{
    return (float)(M_LOG2E / (2 * sigma_A * sigma_A));
}

ley_status fit_bricks_make(const fit_problem *p, int width, fit_bricks *made, ley_error *error)
{
    double nodes = 1;
    *made = (fit_bricks){.brick_count = 1, .node_count = 1, .cell_count = 1};
    for (int axis = 0; axis < 3; axis++) {
        const int64_t size = axis == 0 ? width : LEY_DENSITY_BRICK, n = p->model.grid.n[axis];
        const int64_t bricks = (n + size - 1) / size;
        made->bricks[axis] = (int32_t)bricks;
        made->nodes[axis] = (int32_t)(bricks * size);
        made->cells[axis] = made->nodes[axis] / LEY_DENSITY_CELL;
        made->brick_count *= (size_t)bricks;
        made->node_count *= (size_t)made->nodes[axis];
        made->cell_count *= (size_t)made->cells[axis];
        nodes *= (double)made->nodes[axis];
    }
    return nodes < 1e11
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_INPUT, "the grid has %g nodes, more than frames are compared on", nodes);
}

/* Frames in parts: threads have some atoms of a frame each. */
typedef struct sorting {
    const fit_problem *p;
    const fit_bricks *b;
    const float *position_A;
    const fit_places *to;
    size_t parts;
    int32_t *cell;       /* [frames][atoms]; -1: in no cell */
    int32_t *count;      /* [frames][parts][cells]: atoms; then where the next one goes */
    _Atomic int64_t bad; /* the first atom of all frames that is nowhere */
} sorting;

/* Its cell, and its place in nodes; -1: it reaches no node. */
static int32_t find_cell(const sorting *s, size_t atom, const float position_A[3], double at[3])
{
    const density_model *m = &s->p->model;
    const fit_bricks *b = s->b;
    int32_t cell[3];
    density_place(m, position_A, at);
    for (int axis = 0; axis < 3; axis++) {
        const double last = (double)(m->grid.n[axis] - 1), reach = s->p->reach_nodes[axis];
        if (!(at[axis] >= -reach && at[axis] <= last + reach))
            return -1;
        cell[axis] = (int32_t)(fmin(fmax(at[axis], 0), last) / LEY_DENSITY_CELL);
    }
    return m->weight[atom] == 0 ? -1 : (cell[2] * b->cells[1] + cell[1]) * b->cells[0] + cell[0];
}

static void find_range(const sorting *s, size_t part, size_t *first, size_t *last)
{
    *first = parallel_first(s->p->model.count, s->parts, part % s->parts);
    *last = parallel_first(s->p->model.count, s->parts, part % s->parts + 1);
}

static void count_parts(void *context, size_t begin, size_t end)
{
    static const float most_A = 1e6F;
    sorting *s = context;
    const size_t n = s->p->model.count;
    for (size_t part = begin; part < end; part++) {
        const size_t frame = part / s->parts;
        int32_t *count = s->count + part * s->b->cell_count;
        size_t first, last;
        find_range(s, part, &first, &last);
        memset(count, 0, s->b->cell_count * sizeof *count);
        for (size_t i = first; i < last; i++) {
            const float *x = s->position_A + 3 * (frame * n + i);
            double at[3];
            if (!(fabsf(x[0]) <= most_A && fabsf(x[1]) <= most_A && fabsf(x[2]) <= most_A)) {
                int64_t now = atomic_load(&s->bad);
                while ((int64_t)(frame * n + i) < now &&
                       !atomic_compare_exchange_weak(&s->bad, &now, (int64_t)(frame * n + i)))
                    ;
                return;
            }
            const int32_t cell = find_cell(s, i, x, at);
            s->cell[frame * n + i] = cell;
            if (cell >= 0)
                count[cell]++;
        }
    }
}

static void add_counts(void *context, size_t begin, size_t end)
{
    const sorting *s = context;
    const size_t cells = s->b->cell_count;
    for (size_t frame = begin; frame < end; frame++) {
        int32_t *first = s->to->first + frame * (cells + 1), sum = 0;
        for (size_t cell = 0; cell < cells; cell++) {
            first[cell] = sum;
            for (size_t part = 0; part < s->parts; part++) {
                int32_t *count = s->count + (frame * s->parts + part) * cells + cell;
                const int32_t own = *count;
                *count = sum;
                sum += own;
            }
        }
        first[cells] = sum;
    }
}

static void place_parts(void *context, size_t begin, size_t end)
{
    const sorting *s = context;
    const size_t n = s->p->model.count;
    for (size_t part = begin; part < end; part++) {
        const size_t frame = part / s->parts;
        int32_t *next = s->count + part * s->b->cell_count;
        size_t first, last;
        find_range(s, part, &first, &last);
        for (size_t i = first; i < last; i++) {
            const int32_t cell = s->cell[frame * n + i];
            double at[3];
            if (cell < 0)
                continue;
            const size_t slot = frame * n + (size_t)next[cell]++;
            density_place(&s->p->model, s->position_A + 3 * (frame * n + i), at);
            for (int axis = 0; axis < 3; axis++)
                s->to->atom[slot][axis] = (float)at[axis];
            s->to->atom[slot][3] = (float)s->p->model.weight[i];
            s->to->order[slot] = (int32_t)i;
            if (s->to->fall != NULL)
                s->to->fall[slot] = fit_fall(s->p->model.sigma_A[i]);
        }
    }
}

ley_status fit_places_make(const fit_problem *p, const fit_bricks *b, int frames, const float *position_A,
                           const fit_places *to, int *bad, ley_error *error)
{
    const size_t n = p->model.count, cores = (size_t)parallel_cores(), count = (size_t)frames,
                 shares = (cores + count - 1) / count, most = n / 4096 + 1; /* parts are worth a thread */
    sorting s = {.p = p, .b = b, .position_A = position_A, .to = to, .parts = shares < most ? shares : most};
    const size_t cell_bytes = count * n * sizeof *s.cell,
                 count_bytes = count * s.parts * b->cell_count * sizeof *s.count;
    ley_status status = LEY_OK;
    s.cell = malloc(cell_bytes);
    s.count = malloc(count_bytes);
    atomic_init(&s.bad, INT64_MAX);
    if (s.cell == NULL || s.count == NULL)
        status = ley_fail_memory(error, cell_bytes + count_bytes, "the atoms of frames");
    if (status == LEY_OK)
        parallel_ranges(count * s.parts, count_parts, &s);
    const int64_t first = atomic_load(&s.bad);
    if (first != INT64_MAX) {
        const float *x = position_A + 3 * first;
        *bad = (int)(first / (int64_t)n);
        status = ley_fail(error, LEY_ERROR_INPUT, "atom %lld is at (%g, %g, %g) A, must be within 1e6 A",
                          (long long)(first % (int64_t)n) + 1, (double)x[0], (double)x[1], (double)x[2]);
    }
    if (status == LEY_OK) {
        parallel_ranges(count, add_counts, &s);
        parallel_ranges(count * s.parts, place_parts, &s);
    }
    free(s.cell);
    free(s.count);
    return status;
}
