#include "long_range/fourier/rank_transform.h"

#include "error.h"
#include "long_range/fourier/kept_spectrum.h"
#include "long_range/mesh/spread.h"

#include <stdlib.h>
#include <string.h>

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of planes with nodes, cut by ranks. */
static double spectrum_bytes_of(const hierarchy *h, const int64_t n[3])
{
    return (double)h->level[0].n[2] * (double)n[1] * (double)(n[0] / 2 + 1) * sizeof(fftw_complex);
}

double rank_transform_bytes(const hierarchy *h, const int64_t n[3], int ranks)
{
    return 2 * spectrum_bytes_of(h, n) / ranks;
}

double rank_transform_moved(const hierarchy *h, const int64_t n[3], int ranks)
{
    return RANK_TURNS * spectrum_bytes_of(h, n) / ranks * (1 - 1.0 / ranks);
}

static size_t own_planes(const rank_transform *t)
{
    return (size_t)(t->plane[ranks_own() + 1] - t->plane[ranks_own()]);
}

static size_t own_rows(const rank_transform *t)
{
    return (size_t)(t->row[ranks_own() + 1] - t->row[ranks_own()]);
}

static size_t plane_values(const rank_transform *t)
{
    return own_planes(t) * (size_t)t->n[1] * t->half;
}

static size_t row_values(const rank_transform *t)
{
    return (size_t)t->meshes->level[0].n[2] * own_rows(t) * t->half;
}

ley_status rank_transform_create(rank_transform *t, const hierarchy *h, const int64_t n[3], const int64_t *layer,
                                 ley_error *error)
{
    const int ranks = ranks_count();
    *t = (rank_transform){.meshes = h, .n = {n[0], n[1], n[2]}, .half = (size_t)n[0] / 2 + 1};
    t->plane = calloc(2 * ((size_t)ranks + 1), sizeof *t->plane);
    if (t->plane == NULL)
        return ley_fail_memory(error, (size_t)ranks * sizeof *t->plane, "the ranks' transforms");
    t->row = t->plane + ranks + 1;
    for (int r = 0; r <= ranks; r++) {
        t->plane[r] = smaller(layer[r] * SPREAD_EDGE, h->level[0].n[2]);
        t->row[r] = n[1] * r / ranks;
    }
    t->planes = calloc(plane_values(t) + 1, sizeof *t->planes);
    t->rows = calloc(row_values(t) + 1, sizeof *t->rows);
    return t->planes != NULL && t->rows != NULL
               ? LEY_OK
               : ley_fail_memory(error, (plane_values(t) + row_values(t)) * sizeof *t->rows, "the ranks' transforms");
}

static void turn(rank_transform *t)
{
    const bool there = t->begun == 0;
    t->turn[t->begun++] = ranks_turn_begin(t->planes, t->rows, t->half * sizeof *t->rows, t->plane, t->row, there);
}

/* Columns of waves times the influence function: influence.cl. */
typedef struct influence_of_row {
    const spectrum *of;
    int64_t first_row;
} influence_of_row;

static void times(const void *context, size_t row, size_t first, size_t columns, fftw_complex *values, size_t pitch)
{
    const influence_of_row *i = context;
    const spectrum *s = i->of;
    const int64_t y = i->first_row + (int64_t)row, own_y = y < s->stored[1] ? y : s->n[1] - y;
    for (int64_t z = 0; z < s->n[2]; z++) {
        const int64_t own_z = z < s->stored[2] ? z : s->n[2] - z;
        const float *g = s->values + (own_z * s->stored[1] + own_y) * s->stored[0] + (int64_t)first;
        fftw_complex *f = values + (size_t)z * pitch;
        for (size_t x = 0; x < columns; x++) {
            f[x][0] *= g[x];
            f[x][1] *= g[x];
        }
    }
}

static ley_status transform(rank_transform *t, const fftw_mesh *m, const spectrum *influence, float *own,
                            bool (*await)(void *context, ranks_exchange *turn), void *context, ley_error *error)
{
    const size_t pitch = (size_t)t->meshes->level[0].n[0], rows = (size_t)t->meshes->level[0].n[1];
    const fftw_planes planes = {own, pitch, rows, own_planes(t), t->planes};
    const influence_of_row own_influence = {influence, t->row[ranks_own()]};
    const fftw_product product = {times, &own_influence};
    fftw_mesh_planes(m, true, &planes);
    turn(t);
    if (!await(context, t->turn[0]))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    fftw_mesh_columns_times(m, &product, t->rows, own_rows(t));
    turn(t);
    if (!await(context, t->turn[1]))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    fftw_mesh_planes(m, false, &planes);
    return LEY_OK;
}

ley_status rank_transform_run(rank_transform *t, float *own, bool (*await)(void *context, ranks_exchange *turn),
                              void *context, const atomic_bool *cancelled, ley_error *error)
{
    const int64_t *filled = t->meshes->level[0].n;
    const size_t n[3] = {(size_t)t->n[0], (size_t)t->n[1], (size_t)t->n[2]},
                 with_nodes[3] = {(size_t)filled[0], (size_t)filled[1], (size_t)filled[2]};
    kept_spectrum *kept;
    fftw_mesh *m = NULL;
    ley_status status = kept_spectrum_get(t->meshes, t->n, cancelled, &kept, error);
    if (status != LEY_OK)
        return status;
    status = fftw_mesh_create(n, with_nodes, &m, error);
    if (status == LEY_OK)
        status = transform(t, m, kept_spectrum_of(kept), own, await, context, error);
    fftw_mesh_destroy(m);
    kept_spectrum_give_back(kept);
    return status;
}

bool rank_transform_give_up(rank_transform *t, bool (*await)(void *context, ranks_exchange *turn), void *context)
{
    const int no_number = 0xff;
    for (int i = 0; i < RANK_TURNS; i++) {
        if (i == t->begun) {
            if (i == 0)
                memset(t->planes, no_number, plane_values(t) * sizeof *t->planes);
            else
                memset(t->rows, no_number, row_values(t) * sizeof *t->rows);
            turn(t);
        }
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
    free(t->plane);
    *t = (rank_transform){.begun = 0};
}
