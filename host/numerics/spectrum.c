#include "numerics/spectrum.h"

#include "cancel.h"
#include "error.h"
#include "for_this_cpu.h"
#include "memory.h"
#include "numerics/cosines.h"
#include "numerics/influence.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

typedef struct filling {
    const hierarchy *h;
    spectrum *made;               /* `values`: of the rows below */
    int64_t first[2], count[2];   /* of rows along y, of planes along z */
    double *kernel;               /* [count z][count y][stored x] */
    double *factor[3];            /* of the window, by wave */
    const influence_table *waves; /* NULL: open along some axis */
    double *square_A2[3];         /* of the distance along an axis, by node, in a box that is open all around */
    const atomic_bool *cancelled;
    atomic_bool is_over;
} filling;

/* ---- Which waves ----------------------------------------------------------------------------- */

/* Whether waves m and n - m along an axis are worth the same whatever the others are. */
static bool is_mirrored(const cell *c, int axis)
{
    if (!c->periodic[axis])
        return true;
    for (int k = 0; k < 3; k++) {
        const double *a = c->dual_per_A[axis], *b = c->dual_per_A[k];
        if (k != axis && c->periodic[k] && fabs(cell_dot(a, b)) > 1e-12 * cell_length(a) * cell_length(b))
            return false;
    }
    return true;
}

static void find_stored(const hierarchy *h, const int64_t n[3], int64_t stored[3])
{
    for (int axis = 0; axis < 3; axis++)
        stored[axis] = axis == 0 || is_mirrored(&h->cell, axis) ? n[axis] / 2 + 1 : n[axis];
}

double spectrum_bytes(const hierarchy *h, const int64_t n[3])
{
    int64_t stored[3];
    find_stored(h, n, stored);
    return (double)(sizeof(double) + sizeof(float)) * (double)stored[0] * (double)stored[1] * (double)stored[2];
}

int64_t spectrum_waves(const spectrum *s)
{
    return s->stored[0] * s->stored[1] * s->stored[2];
}

/* No wave vector of the mesh is longer: half-way round along all axes, in either direction. */
static double longest_per_A(const hierarchy *h, const int64_t n[3])
{
    double longest = 0;
    for (int corner = 0; corner < 4; corner++) {
        const double sign[3] = {1, (corner & 1) != 0 ? -1 : 1, (corner & 2) != 0 ? -1 : 1};
        double k_per_A[3] = {0};
        for (int axis = 0; axis < 3; axis++)
            for (int i = 0; i < 3; i++)
                k_per_A[i] += sign[axis] * M_PI * (double)n[axis] * h->cell.dual_per_A[axis][i];
        longest = fmax(longest, cell_length(k_per_A));
    }
    return longest;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool is_cancelled(filling *f)
{
    if (cancel_is_asked(f->cancelled))
        atomic_store(&f->is_over, true);
    return atomic_load(&f->is_over);
}

/* Which row and plane the i-th row of a filling is. */
static void find_row(const filling *f, size_t i, int64_t at[2])
{
    at[0] = f->first[0] + (int64_t)i % f->count[0];
    at[1] = f->first[1] + (int64_t)i / f->count[0];
}

/* Whether the kernel is 1/r beyond the cutoff, and distances are those along the axes, squared. */
static bool is_coulomb_in_a_box(const hierarchy *h)
{
    return h->cell.dimensions == 0 && h->levels == 1 && h->level[0].split.kappa_a == 0 && hierarchy_is_rectangular(h);
}

/* A row of such a kernel: nodes are the farther away the higher their number. */
FOR_THIS_CPU static void fill_row_in_a_box(const filling *f, const double *x2_A2, int64_t count, double yz2_A2,
                                           double *row)
{
    const double a_A = f->h->level[0].cutoff_A;
    int64_t x = 0;
    for (; x < count && x2_A2[x] + yz2_A2 < a_A * a_A; x++)
        row[x] = hierarchy_weight(f->h, 0, sqrt(x2_A2[x] + yz2_A2));
    for (; x < count; x++)
        row[x] = 1 / sqrt(x2_A2[x] + yz2_A2);
}

static void fill_rows_in_a_box(void *context, size_t first, size_t last)
{
    filling *f = context;
    const int64_t *stored = f->made->stored;
    for (size_t row = first; row < last && !is_cancelled(f); row++) {
        int64_t at[2];
        find_row(f, row, at);
        fill_row_in_a_box(f, f->square_A2[0], stored[0], f->square_A2[1][at[0]] + f->square_A2[2][at[1]],
                          f->kernel + (int64_t)row * stored[0]);
    }
}

/* Rows along x of the kernel, before its open axes are transformed. */
static void fill_rows(void *context, size_t first, size_t last)
{
    filling *f = context;
    const int64_t *stored = f->made->stored;
    for (size_t row = first; row < last && !is_cancelled(f); row++) {
        int64_t m[3];
        find_row(f, row, m + 1);
        for (m[0] = 0; m[0] < stored[0]; m[0]++)
            f->kernel[(int64_t)row * stored[0] + m[0]] = influence_kernel_from(f->waves, f->h, f->made->n, m);
    }
}

/* Rows of the influence function. */
static void finish_rows(void *context, size_t first, size_t last)
{
    filling *f = context;
    const int64_t *stored = f->made->stored;
    for (size_t row = first; row < last && !is_cancelled(f); row++) {
        int64_t m[2];
        find_row(f, row, m);
        const double factor = f->factor[1][m[0]] * f->factor[2][m[1]];
        for (int64_t x = 0; x < stored[0]; x++) {
            const int64_t at = (int64_t)row * stored[0] + x;
            f->made->values[at] = (float)(f->kernel[at] * factor * f->factor[0][x]);
        }
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* What each axis has by itself. */
static void make_axes(filling *f)
{
    const hierarchy *h = f->h;
    const int64_t *n = f->made->n;
    for (int axis = 0; axis < 3; axis++)
        for (int64_t m = 0; m < f->made->stored[axis]; m++) {
            const double d_A = influence_distance(m, h->level[0].n[axis], n[axis]) * cell_length(h->step_A[axis]);
            f->factor[axis][m] = influence_factor(h->window, m, n[axis]) / (double)n[axis];
            f->square_A2[axis][m] = d_A * d_A;
        }
}

static size_t rows_of(const filling *f)
{
    return (size_t)(f->count[0] * f->count[1]);
}

static ley_status transform(filling *f, int axis, ley_error *error)
{
    const int64_t count[3] = {f->made->stored[0], f->count[0], f->count[1]};
    return f->h->cell.periodic[axis] || rows_of(f) == 0
               ? LEY_OK
               : cosines_transform(f->kernel, count, axis, f->cancelled, error);
}

/* Rows of all of y, of planes that need not be all. */
static ley_status fill_planes(filling *f, ley_error *error)
{
    influence_table *waves = NULL;
    if (f->h->cell.dimensions == 3) {
        const hierarchy_level *level = &f->h->level[0];
        waves = malloc(sizeof *waves);
        if (waves == NULL)
            return ley_fail_memory(error, sizeof *waves, "a table of waves");
        influence_table_make(&level->split, level->cutoff_A, longest_per_A(f->h, f->made->n), waves);
    }
    f->waves = waves;
    parallel_ranges(rows_of(f), is_coulomb_in_a_box(f->h) ? fill_rows_in_a_box : fill_rows, f);
    free(waves);
    f->waves = NULL;
    ley_status status = is_cancelled(f) ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
    for (int axis = 0; axis < 2 && status == LEY_OK; axis++)
        status = transform(f, axis, error);
    return status;
}

/* Rows of all planes, of which there need not be all. */
static ley_status fill_columns(filling *f, ley_error *error)
{
    const ley_status status = transform(f, 2, error);
    if (status != LEY_OK)
        return status;
    parallel_ranges(rows_of(f), finish_rows, f);
    return is_cancelled(f) ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
}

/* The first step, or the second, or both. */
static ley_status fill(filling *f, bool planes, bool columns, ley_error *error)
{
    const int64_t *stored = f->made->stored;
    const size_t all_axes = (size_t)(stored[0] + stored[1] + stored[2]);
    f->factor[0] = malloc(2 * all_axes * sizeof *f->factor[0]);
    if (f->factor[0] == NULL)
        return ley_fail_memory(error, 2 * all_axes * sizeof *f->factor[0], "the influence function");
    f->factor[1] = f->factor[0] + stored[0];
    f->factor[2] = f->factor[1] + stored[1];
    for (int axis = 0; axis < 3; axis++)
        f->square_A2[axis] = f->factor[axis] + all_axes;
    make_axes(f);
    ley_status status = planes ? fill_planes(f, error) : LEY_OK;
    if (status == LEY_OK && columns)
        status = fill_columns(f, error);
    free(f->factor[0]);
    return status;
}

static ley_status make_in(filling *f, ley_error *error)
{
    const int64_t waves = spectrum_waves(f->made);
    ley_status status =
        memory_check_one("the influence function", spectrum_bytes(f->h, f->made->n), "a coarser mesh", error);
    if (status != LEY_OK)
        return status;
    f->kernel = memory_in_large_pages(waves * (int64_t)sizeof *f->kernel);
    f->made->values = memory_in_large_pages(waves * (int64_t)sizeof *f->made->values);
    if (f->kernel == NULL || f->made->values == NULL)
        return ley_fail_memory(error, (size_t)waves * sizeof *f->kernel, "the influence function");
    return fill(f, true, true, error);
}

ley_status spectrum_make(const hierarchy *h, const int64_t n[3], const atomic_bool *cancelled, spectrum *made,
                         ley_error *error)
{
    *made = (spectrum){.n = {n[0], n[1], n[2]}};
    for (int axis = 0; axis < 3; axis++)
        if (n[axis] < 2 || n[axis] % 2 != 0)
            return ley_fail(error, LEY_ERROR_USAGE,
                            "a transform of %lld nodes along an axis: it must be an even number", (long long)n[axis]);
    find_stored(h, n, made->stored);
    filling f = {.h = h, .made = made, .count = {made->stored[1], made->stored[2]}, .cancelled = cancelled};
    const ley_status status = make_in(&f, error);
    free(f.kernel);
    if (status != LEY_OK)
        spectrum_clear(made);
    return status;
}

void spectrum_extent(const hierarchy *h, const int64_t n[3], int64_t stored[3])
{
    find_stored(h, n, stored);
}

ley_status spectrum_planes(const hierarchy *h, const int64_t n[3], int64_t first, int64_t count,
                           const atomic_bool *cancelled, double *kernel, ley_error *error)
{
    spectrum made = {.n = {n[0], n[1], n[2]}};
    find_stored(h, n, made.stored);
    filling f = {.h = h,
                 .made = &made,
                 .first = {0, first},
                 .count = {made.stored[1], count},
                 .kernel = kernel,
                 .cancelled = cancelled};
    return fill(&f, true, false, error);
}

ley_status spectrum_rows(const hierarchy *h, const int64_t n[3], int64_t first, int64_t count,
                         const atomic_bool *cancelled, double *kernel, float *values, ley_error *error)
{
    spectrum made = {.n = {n[0], n[1], n[2]}, .values = values};
    find_stored(h, n, made.stored);
    filling f = {.h = h,
                 .made = &made,
                 .first = {first, 0},
                 .count = {count, made.stored[2]},
                 .kernel = kernel,
                 .cancelled = cancelled};
    return fill(&f, false, true, error);
}

void spectrum_clear(spectrum *s)
{
    free(s->values);
    *s = (spectrum){.values = NULL};
}
