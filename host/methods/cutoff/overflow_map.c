#include "methods/cutoff/overflow_map.h"

#include "clock.h"
#include "error.h"
#include "memory.h"
#include "methods/cutoff/overflow.h"
#include "parallel.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 8 }; /* planes that one thread adds at a time */

struct overflow_map {
    const atomic_bool *cancelled;
    overflow_terms terms;
    overflow_atom *atoms;
    size_t n;
    float *values;       /* [n_z][n_y][n_x], 0 where nothing was added */
    atomic_bool stopped; /* nobody wants it any more */
};

static bool is_cancelled(const overflow_map *m)
{
    return atomic_load_explicit(m->cancelled, memory_order_relaxed);
}

static void set_atoms(overflow_map *m, const cutoff_problem *p)
{
    const binning_plan *plan = &p->plan;
    const binned_atoms *b = p->binned;
    grid_frame rows;
    grid_frame_make(&p->grid, GRID_FRAME_ROWS_ALONG_X, &rows);
    for (size_t i = 0; i < m->n && (i % 4096 != 0 || !is_cancelled(m)); i++) {
        const int64_t bin = b->overflow_bin[i];
        const int64_t at[3] = {bin % plan->n[0], bin / plan->n[0] % plan->n[1], bin / plan->n[0] / plan->n[1]};
        for (int axis = 0; axis < 3; axis++)
            m->atoms[i].place[axis] =
                ((double)(at[axis] - plan->origin_bin[axis]) * plan->side_A[axis] + (double)b->overflow_slot[i][axis]) *
                p->unit_per_A;
        grid_frame_vector(&rows, m->atoms[i].place, m->atoms[i].place);
        cutoff_problem_numbers(p, (size_t)b->overflow_index[i], m->atoms[i].numbers);
    }
}

ley_status overflow_map_create(const cutoff_problem *p, const atomic_bool *cancelled, overflow_map **made,
                               ley_error *error)
{
    overflow_map *m = calloc(1, sizeof *m);
    if (m == NULL)
        return ley_fail_memory(error, sizeof *m, "the overflow");
    *m = (overflow_map){.cancelled = cancelled, .n = (size_t)p->binned->overflow, .terms = cutoff_problem_terms(p)};
    const int64_t points = ley_grid_points(&p->grid);
    ley_status status = memory_check_one("a second map, of the overflow on the host",
                                         (double)points * sizeof *m->values + (double)m->n * sizeof *m->atoms,
                                         "the overflow on a device", error);
    if (status == LEY_OK) {
        m->atoms = calloc(m->n + 1, sizeof *m->atoms);
        m->values = calloc((size_t)points, sizeof *m->values);
        if (m->atoms == NULL || m->values == NULL)
            status = ley_fail_memory(error, (size_t)points * sizeof *m->values, "the overflow's map");
    }
    if (status != LEY_OK) {
        overflow_map_destroy(m);
        return status;
    }
    set_atoms(m, p);
    *made = m;
    return LEY_OK;
}

static void add_blocks(void *context, size_t first, size_t last)
{
    overflow_map *m = context;
    const int64_t *n = m->terms.n;
    for (size_t block = first; block < last && !atomic_load_explicit(&m->stopped, memory_order_relaxed); block++) {
        const int64_t plane = (int64_t)block * BLOCK, end = plane + BLOCK < n[2] ? plane + BLOCK : n[2];
        overflow_add(&m->terms, m->atoms, m->n, plane, end, m->values + plane * n[0] * n[1], m->cancelled);
    }
}

void overflow_map_sum(overflow_map *m, double *seconds, double *done_s)
{
    const double start_s = ley_clock_s();
    parallel_ranges((size_t)((m->terms.n[2] + BLOCK - 1) / BLOCK), add_blocks, m);
    *done_s = ley_clock_s();
    *seconds = *done_s - start_s;
}

void overflow_map_stop(overflow_map *m)
{
    atomic_store_explicit(&m->stopped, true, memory_order_relaxed);
}

ley_status overflow_map_on_core(const cutoff_problem *p, ley_map *map, double *seconds, ley_error *error)
{
    const overflow_terms terms = cutoff_problem_terms(p);
    const double *position_A = ley_atoms_positions_A(p->atoms);
    const size_t n = ley_atoms_count(p->atoms);
    overflow_atom *atoms = calloc(n + 1, sizeof *atoms);
    if (atoms == NULL)
        return ley_fail_memory(error, (n + 1) * sizeof *atoms, "the host loop");
    for (size_t i = 0; i < n; i++) {
        for (size_t axis = 0; axis < 3; axis++)
            atoms[i].place[axis] = (position_A[3 * i + axis] - p->grid.origin_A[axis]) * p->unit_per_A;
        cutoff_problem_numbers(p, i, atoms[i].numbers);
    }
    memset(ley_map_values(map), 0, (size_t)ley_grid_points(&p->grid) * sizeof(float));
    const double start_s = ley_clock_s();
    overflow_add(&terms, atoms, n, 0, terms.n[2], ley_map_values(map), NULL);
    *seconds = ley_clock_s() - start_s;
    free(atoms);
    return LEY_OK;
}

typedef struct addition {
    const float *from;
    float *to;
    size_t row;
} addition;

static void add_rows(void *context, size_t first, size_t last)
{
    const addition *a = context;
    for (size_t i = first * a->row; i < last * a->row; i++)
        a->to[i] += a->from[i];
}

void overflow_map_add(const overflow_map *m, int64_t first, int64_t end, float *planes)
{
    const int64_t *n = m->terms.n, last = end < n[2] ? end : n[2];
    addition a = {m->values + first * n[0] * n[1], planes, (size_t)n[0]};
    parallel_ranges((size_t)(n[1] * (last - first)), add_rows, &a);
}

void overflow_map_destroy(overflow_map *m)
{
    if (m == NULL)
        return;
    free(m->atoms);
    free(m->values);
    free(m);
}
