#include "fftw_mesh.h"

#include "error.h"
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Complex values of a row: of a block's at most, of which 60 columns of 460 stay in 220 KiB; and
 * what rows are padded to, so that their columns are aligned, and do not all fall into the same
 * lines of a cache. */
enum { BLOCK_COLUMNS = 64, ALIGNED = 8, ALIGNED_BYTES = 64 };

struct fftw_mesh {
    const fftw_api *api;
    size_t n[3], filled[3];
    size_t half, columns;                      /* complex values of a row of the spectrum, and of a block */
    size_t plane_pitch, block_pitch;           /* complex values from row to row, in a core's memory */
    fftw_plan rows[2], along_y[2], along_z[2]; /* back, there */
    size_t cores;
    fftw_complex **room; /* of each core */
};

size_t fftw_mesh_half(const fftw_mesh *m)
{
    return m->half;
}

/* ---- Passes ---------------------------------------------------------------------------------- */

/* Over planes or blocks: cores take the next one as they are done. */
typedef struct pass {
    const fftw_mesh *m;
    bool forward;
    fftw_planes planes; /* of blocks the spectrum alone, whose planes have: */
    size_t rows;
    const fftw_product *product; /* NULL: one way alone */
    void (*one)(const struct pass *p, size_t i, fftw_complex *room);
    size_t count;
    atomic_size_t next;
} pass;

static void work(void *context, size_t first, size_t last)
{
    pass *p = context;
    for (size_t core = first; core < last; core++)
        for (size_t i; (i = atomic_fetch_add(&p->next, 1)) < p->count;)
            p->one(p, i, p->m->room[core]);
}

static size_t place_of(const pass *p, size_t y)
{
    return (p->planes.order != NULL ? p->planes.order[y] : y) * p->m->half;
}

static void plane_there(const pass *p, size_t z, fftw_complex *room)
{
    const fftw_mesh *m = p->m;
    const float *from = p->planes.mesh + z * p->planes.rows * p->planes.pitch;
    fftw_complex *to = p->planes.spectrum + z * m->n[1] * m->half;
    for (size_t y = 0; y < m->filled[1]; y++) {
        float *row = (float *)(room + y * m->plane_pitch);
        memcpy(row, from + y * p->planes.pitch, m->filled[0] * sizeof(float));
        memset(row + m->filled[0], 0, (m->n[0] - m->filled[0]) * sizeof(float));
    }
    memset(room + m->filled[1] * m->plane_pitch, 0, (m->n[1] - m->filled[1]) * m->plane_pitch * sizeof *room);
    m->api->run_there(m->rows[1], (float *)room, room);
    m->api->run_complex(m->along_y[1], room, room);
    for (size_t y = 0; y < m->n[1]; y++)
        memcpy(to + place_of(p, y), room + y * m->plane_pitch, m->half * sizeof *room);
}

static void plane_back(const pass *p, size_t z, fftw_complex *room)
{
    const fftw_mesh *m = p->m;
    fftw_complex *from = p->planes.spectrum + z * m->n[1] * m->half;
    float *to = p->planes.mesh + z * p->planes.rows * p->planes.pitch;
    for (size_t y = 0; y < m->n[1]; y++)
        memcpy(room + y * m->plane_pitch, from + place_of(p, y), m->half * sizeof *room);
    m->api->run_complex(m->along_y[0], room, room);
    m->api->run_back(m->rows[0], room, (float *)room);
    for (size_t y = 0; y < m->filled[1]; y++)
        memcpy(to + y * p->planes.pitch, room + y * m->plane_pitch, m->filled[0] * sizeof(float));
}

void fftw_mesh_planes(const fftw_mesh *m, bool forward, const fftw_planes *planes)
{
    pass p = {.m = m,
              .forward = forward,
              .planes = *planes,
              .one = forward ? plane_there : plane_back,
              .count = planes->count};
    parallel_ranges(m->cores, work, &p);
}

static size_t blocks_of(const fftw_mesh *m)
{
    return (m->half + m->columns - 1) / m->columns;
}

/* A row's last block has some columns less: what stands in the others is transformed for
 * nothing. */
static void block(const pass *p, size_t i, fftw_complex *room)
{
    const fftw_mesh *m = p->m;
    const size_t first = i % blocks_of(m) * m->columns, row = i / blocks_of(m), plane = p->rows * m->half,
                 left = m->half - first, columns = left < m->columns ? left : m->columns;
    fftw_complex *spectrum = p->planes.spectrum + row * m->half + first;
    const size_t come = p->forward ? m->filled[2] : m->n[2],
                 go = p->forward && p->product == NULL ? m->n[2] : m->filled[2];
    for (size_t z = 0; z < come; z++)
        memcpy(room + z * m->block_pitch, spectrum + z * plane, columns * sizeof *room);
    memset(room + come * m->block_pitch, 0, (m->n[2] - come) * m->block_pitch * sizeof *room);
    m->api->run_complex(m->along_z[p->forward], room, room);
    if (p->product != NULL) {
        p->product->times(p->product->context, row, first, columns, room, m->block_pitch);
        m->api->run_complex(m->along_z[0], room, room);
    }
    for (size_t z = 0; z < go; z++)
        memcpy(spectrum + z * plane, room + z * m->block_pitch, columns * sizeof *room);
}

static void run_blocks(const fftw_mesh *m, bool forward, const fftw_product *product, fftw_complex *spectrum,
                       size_t rows)
{
    pass p = {.m = m,
              .forward = forward,
              .planes.spectrum = spectrum,
              .rows = rows,
              .product = product,
              .one = block,
              .count = rows * blocks_of(m)};
    parallel_ranges(m->cores, work, &p);
}

void fftw_mesh_columns(const fftw_mesh *m, bool forward, fftw_complex *spectrum, size_t rows)
{
    run_blocks(m, forward, NULL, spectrum, rows);
}

void fftw_mesh_columns_times(const fftw_mesh *m, const fftw_product *product, fftw_complex *spectrum, size_t rows)
{
    run_blocks(m, true, product, spectrum, rows);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* FFTW plans one at a time. A program that plans with it, too, in another thread, has to ask it for
 * more than that (fftwf_make_planner_thread_safe()). */
static pthread_mutex_t planning = PTHREAD_MUTEX_INITIALIZER;

void fftw_mesh_destroy(fftw_mesh *m)
{
    if (m == NULL)
        return;
    pthread_mutex_lock(&planning);
    for (int way = 0; way < 2; way++) {
        fftw_plan all[] = {m->rows[way], m->along_y[way], m->along_z[way]};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (all[i] != NULL)
                m->api->destroy(all[i]);
    }
    pthread_mutex_unlock(&planning);
    for (size_t core = 0; m->room != NULL && core < m->cores; core++)
        free(m->room[core]);
    free(m->room);
    free(m);
}

static size_t aligned(size_t values)
{
    return (values + ALIGNED - 1) / ALIGNED * ALIGNED + ALIGNED;
}

static void set_sizes(fftw_mesh *m, const size_t n[3], const size_t filled[3])
{
    const size_t half = n[0] / 2 + 1, blocks = (half + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
    memcpy(m->n, n, sizeof m->n);
    memcpy(m->filled, filled, sizeof m->filled);
    m->half = half;
    m->columns = (half + blocks - 1) / blocks;
    m->plane_pitch = aligned(half);
    m->block_pitch = aligned(m->columns);
    m->cores = (size_t)parallel_cores();
}

static ley_status make_rooms(fftw_mesh *m, ley_error *error)
{
    const size_t plane = m->plane_pitch * m->n[1], columns = m->block_pitch * m->n[2],
                 bytes = (plane > columns ? plane : columns) * sizeof(fftw_complex);
    m->room = calloc(m->cores, sizeof *m->room);
    for (size_t core = 0; m->room != NULL && core < m->cores; core++)
        if ((m->room[core] = aligned_alloc(ALIGNED_BYTES, bytes)) == NULL)
            return ley_fail_memory(error, bytes, "a core's part of a transform");
        else
            memset(m->room[core], 0, bytes);
    return m->room != NULL ? LEY_OK : ley_fail_memory(error, m->cores * sizeof *m->room, "a transform");
}

/* Estimates, not measurements, choose among FFTW's ways: the same ones each time, so that a map
 * that is made again has the same digits. What measuring would gain is 10 %. */
static void plan_way(fftw_mesh *m, int way)
{
    const fftw_api *api = m->api;
    fftw_complex *at = m->room[0];
    const int n[3] = {(int)m->n[0], (int)m->n[1], (int)m->n[2]}, sign = way ? FFTW_THERE : FFTW_BACK,
              plane = (int)m->plane_pitch, deep = (int)m->block_pitch, rows = (int)m->filled[1];
    m->rows[way] =
        way ? api->plan_there(1, &n[0], rows, (float *)at, NULL, 1, 2 * plane, at, NULL, 1, plane, FFTW_ESTIMATE)
            : api->plan_back(1, &n[0], rows, at, NULL, 1, plane, (float *)at, NULL, 1, 2 * plane, FFTW_ESTIMATE);
    m->along_y[way] =
        api->plan_complex(1, &n[1], (int)m->half, at, NULL, plane, 1, at, NULL, plane, 1, sign, FFTW_ESTIMATE);
    m->along_z[way] =
        api->plan_complex(1, &n[2], (int)m->columns, at, NULL, deep, 1, at, NULL, deep, 1, sign, FFTW_ESTIMATE);
}

ley_status fftw_mesh_create(const size_t n[3], const size_t filled[3], fftw_mesh **made, ley_error *error)
{
    char reason[256];
    const fftw_api *api = fftw_open(reason, sizeof reason);
    if (api == NULL)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "FFTW: %s", reason);
    fftw_mesh *m = calloc(1, sizeof *m);
    if (m == NULL)
        return ley_fail_memory(error, sizeof *m, "a transform");
    m->api = api;
    set_sizes(m, n, filled);
    ley_status status = make_rooms(m, error);
    pthread_mutex_lock(&planning);
    for (int way = 0; way < 2 && status == LEY_OK; way++) {
        plan_way(m, way);
        if (m->rows[way] == NULL || m->along_y[way] == NULL || m->along_z[way] == NULL)
            status =
                ley_fail(error, LEY_ERROR_DEVICE, "FFTW has no plan for %zu x %zu x %zu", m->n[0], m->n[1], m->n[2]);
    }
    pthread_mutex_unlock(&planning);
    if (status == LEY_OK)
        *made = m;
    else
        fftw_mesh_destroy(m);
    return status;
}
