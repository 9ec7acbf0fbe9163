#include "long_range/fourier/rank_transform.h"

#include "error.h"
#include "long_range/mesh/spread.h"
#include "numerics/spectrum.h"

#include <stdlib.h>
#include <string.h>

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of planes with nodes, and of the influence function, cut by ranks. */
static double wave_bytes(const hierarchy *h, const int64_t n[3])
{
    return (double)h->level[0].n[2] * (double)n[1] * (double)(n[0] / 2 + 1) * sizeof(fftw_complex);
}

static double influence_values(const hierarchy *h, const int64_t n[3])
{
    int64_t stored[3];
    spectrum_extent(h, n, stored);
    return (double)stored[0] * (double)stored[1] * (double)stored[2];
}

double rank_transform_bytes(const hierarchy *h, const int64_t n[3], int ranks)
{
    return (2 * wave_bytes(h, n) + (2 * sizeof(double) + sizeof(float)) * influence_values(h, n)) / ranks;
}

double rank_transform_moved(const hierarchy *h, const int64_t n[3], int ranks)
{
    return (2 * wave_bytes(h, n) + sizeof(double) * influence_values(h, n)) / ranks * (1 - 1.0 / ranks);
}

/* What this rank has of something. */
static int64_t own(const int64_t *first)
{
    return first[ranks_own() + 1] - first[ranks_own()];
}

static size_t count_planes(const rank_transform *t)
{
    return (size_t)own(t->plane) * (size_t)t->n[1] * t->half;
}

static size_t count_rows(const rank_transform *t)
{
    return (size_t)t->meshes->level[0].n[2] * (size_t)own(t->row) * t->half;
}

static size_t count_kernel_planes(const rank_transform *t)
{
    return (size_t)(own(t->own_plane) * t->stored[1] * t->stored[0]);
}

static size_t count_kernel_rows(const rank_transform *t)
{
    return (size_t)(t->stored[2] * own(t->own_row) * t->stored[0]);
}

/* ---- Who has what ---------------------------------------------------------------------------- */

static int64_t first_of(int64_t count, int rank, int ranks)
{
    return smaller((count + SPECTRUM_PART - 1) / SPECTRUM_PART * rank / ranks * SPECTRUM_PART, count);
}

static bool is_mirrored(const rank_transform *t)
{
    return t->stored[1] < t->n[1];
}

/* The first of all rows that belong to a row of the influence function. */
static int64_t first_row(const rank_transform *t, int64_t own_row)
{
    return !is_mirrored(t) ? own_row : own_row == 0 ? 0 : smaller(2 * own_row - 1, t->n[1]);
}

static void order_rows(rank_transform *t)
{
    const int64_t n = t->n[1];
    for (int64_t y = 0; y < n; y++)
        t->order[y] = (size_t)(y == 0 ? 0 : y <= n / 2 ? 2 * y - 1 : 2 * (n - y));
}

static void divide(rank_transform *t, const int64_t *layer, int ranks)
{
    for (int r = 0; r <= ranks; r++) {
        t->plane[r] = smaller(layer[r] * SPREAD_EDGE, t->meshes->level[0].n[2]);
        t->own_plane[r] = first_of(t->stored[2], r, ranks);
        t->own_row[r] = first_of(t->stored[1], r, ranks);
        t->row[r] = r == ranks ? t->n[1] : first_row(t, t->own_row[r]);
    }
    if (is_mirrored(t))
        order_rows(t);
}

ley_status rank_transform_create(rank_transform *t, const hierarchy *h, const int64_t n[3], const int64_t *layer,
                                 ley_error *error)
{
    const int ranks = ranks_count();
    const size_t each = (size_t)ranks + 1;
    *t = (rank_transform){.meshes = h, .n = {n[0], n[1], n[2]}, .half = (size_t)n[0] / 2 + 1};
    spectrum_extent(h, n, t->stored);
    t->plane = calloc(4 * each, sizeof *t->plane);
    t->order = is_mirrored(t) ? calloc((size_t)n[1], sizeof *t->order) : NULL;
    if (t->plane == NULL || (is_mirrored(t) && t->order == NULL))
        return ley_fail_memory(error, (size_t)n[1] * sizeof *t->order, "the ranks' transforms");
    t->row = t->plane + each;
    t->own_plane = t->row + each;
    t->own_row = t->own_plane + each;
    divide(t, layer, ranks);
    t->planes = calloc(count_planes(t) + 1, sizeof *t->planes);
    t->rows = calloc(count_rows(t) + 1, sizeof *t->rows);
    t->kernel_planes = calloc(count_kernel_planes(t) + 1, sizeof *t->kernel_planes);
    t->kernel_rows = calloc(count_kernel_rows(t) + 1, sizeof *t->kernel_rows);
    t->influence = calloc(count_kernel_rows(t) + 1, sizeof *t->influence);
    return t->planes != NULL && t->rows != NULL && t->kernel_planes != NULL && t->kernel_rows != NULL &&
                   t->influence != NULL
               ? LEY_OK
               : ley_fail_memory(error, (size_t)rank_transform_bytes(h, n, ranks), "the ranks' transforms");
}

static void turn(rank_transform *t)
{
    const int which = t->begun++;
    t->turn[which] =
        which == TURN_INFLUENCE
            ? ranks_turn_begin(t->kernel_planes, t->kernel_rows, (size_t)t->stored[0] * sizeof *t->kernel_rows,
                               t->own_plane, t->own_row, true)
            : ranks_turn_begin(t->planes, t->rows, t->half * sizeof *t->rows, t->plane, t->row, which == TURN_THERE);
}

/* ---- Transforms ------------------------------------------------------------------------------ */

/* Columns of waves times the influence function: influence.cl. */
static void times(const void *context, size_t row, size_t first, size_t columns, fftw_complex *values, size_t pitch)
{
    const rank_transform *t = context;
    const int64_t at = t->row[ranks_own()] + (int64_t)row,
                  y = (is_mirrored(t) ? (at + 1) / 2 : at) - t->own_row[ranks_own()];
    for (int64_t z = 0; z < t->n[2]; z++) {
        const int64_t own_z = z < t->stored[2] ? z : t->n[2] - z;
        const float *g = t->influence + (own_z * own(t->own_row) + y) * t->stored[0] + (int64_t)first;
        fftw_complex *f = values + (size_t)z * pitch;
        for (size_t x = 0; x < columns; x++) {
            f[x][0] *= g[x];
            f[x][1] *= g[x];
        }
    }
}

static ley_status transform(rank_transform *t, const fftw_mesh *m, float *charges,
                            bool (*await)(void *context, ranks_exchange *turn), void *context,
                            const atomic_bool *cancelled, ley_error *error)
{
    const int64_t *n = t->meshes->level[0].n;
    const fftw_planes planes = {charges, (size_t)n[0], (size_t)n[1], (size_t)own(t->plane), t->planes, t->order};
    const fftw_product product = {times, t};
    ley_status status = spectrum_planes(t->meshes, t->n, t->own_plane[ranks_own()], own(t->own_plane), cancelled,
                                        t->kernel_planes, error);
    if (status != LEY_OK)
        return status;
    turn(t);
    fftw_mesh_planes(m, true, &planes);
    if (!await(context, t->turn[TURN_INFLUENCE]))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    turn(t);
    status = spectrum_rows(t->meshes, t->n, t->own_row[ranks_own()], own(t->own_row), cancelled, t->kernel_rows,
                           t->influence, error);
    if (status != LEY_OK)
        return status;
    if (!await(context, t->turn[TURN_THERE]))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    fftw_mesh_columns_times(m, &product, t->rows, (size_t)own(t->row));
    turn(t);
    if (!await(context, t->turn[TURN_BACK]))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    fftw_mesh_planes(m, false, &planes);
    return LEY_OK;
}

ley_status rank_transform_run(rank_transform *t, float *charges, bool (*await)(void *context, ranks_exchange *turn),
                              void *context, const atomic_bool *cancelled, ley_error *error)
{
    const int64_t *filled = t->meshes->level[0].n;
    const size_t n[3] = {(size_t)t->n[0], (size_t)t->n[1], (size_t)t->n[2]},
                 with_nodes[3] = {(size_t)filled[0], (size_t)filled[1], (size_t)filled[2]};
    fftw_mesh *m = NULL;
    ley_status status = fftw_mesh_create(n, with_nodes, &m, error);
    if (status == LEY_OK)
        status = transform(t, m, charges, await, context, cancelled, error);
    fftw_mesh_destroy(m);
    return status;
}

bool rank_transform_give_up(rank_transform *t, bool (*await)(void *context, ranks_exchange *turn), void *context)
{
    const int no_number = 0xff;
    for (int i = 0; i < RANK_TURNS && t->planes != NULL; i++) { /* else it has been cleared */
        if (i == t->begun && i == TURN_INFLUENCE)
            memset(t->kernel_planes, no_number, count_kernel_planes(t) * sizeof *t->kernel_planes);
        if (i == t->begun && i == TURN_THERE)
            memset(t->planes, no_number, count_planes(t) * sizeof *t->planes);
        if (i == t->begun && i == TURN_BACK)
            memset(t->rows, no_number, count_rows(t) * sizeof *t->rows);
        if (i == t->begun)
            turn(t);
        if (!await(context, t->turn[i]))
            return false;
    }
    return true;
}

void rank_transform_clear(rank_transform *t)
{
    for (int i = 0; i < RANK_TURNS; i++)
        ranks_exchange_end(t->turn[i]);
    free(t->planes);
    free(t->rows);
    free(t->kernel_planes);
    free(t->kernel_rows);
    free(t->influence);
    free(t->order);
    free(t->plane);
    *t = (rank_transform){.begun = 0};
}
