/* Fourier transforms by FFTW on all cores of the host, for processors as devices: a function of the
 * host among the commands of the device's queue, which works on the device's own memory. FFTW has
 * the transforms of rows and columns; that of a mesh is made of them here, so that rows without
 * charges, and those of which nobody wants the result, are left out, and each block is in a core's
 * cache while it is transformed:
 *
 *   plane  of one z: its rows along x, then its columns along y
 *   block  of one y and some k_x: its columns along z
 *
 * There it is planes, then blocks; back it is blocks, then planes. Plans are estimated and not
 * measured, so that digits are the same each time. */
#include "../parallel.h"
#include "fftw_api.h"
#include "internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Complex values of a row: of a block's at most, of which 60 columns of 460 stay in 220 KiB; and
 * what rows are padded to, so that their columns are aligned, and do not all fall into the same
 * lines of a cache. */
enum { BLOCK_COLUMNS = 64, ALIGNED = 8, ALIGNED_BYTES = 64 };

typedef struct fftw_transform {
    dev_fft_plan base;
    const fftw_api *api;
    size_t n[3], filled[3];
    bool in_place;
    size_t pitch;                              /* floats from row to row of the mesh */
    size_t half, columns;                      /* complex values of a row of the spectrum, and of a block */
    size_t plane_pitch, block_pitch;           /* complex values from row to row, in a core's memory */
    fftw_plan rows[2], along_y[2], along_z[2]; /* back, there */
    size_t cores;
    fftw_complex **room; /* of each core */
} fftw_transform;

static bool describe(const dev_info *info, char version[64], char unusable[DEV_TEXT])
{
    cl_device_exec_capabilities can = 0;
    if (info->device_class != DEV_CPU) {
        snprintf(unusable, DEV_TEXT, "it is for processors as devices");
        return false;
    }
    if (clGetDeviceInfo(info->handle, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL) != CL_SUCCESS ||
        (can & CL_EXEC_NATIVE_KERNEL) == 0) {
        snprintf(unusable, DEV_TEXT, "the driver does not call functions of the host");
        return false;
    }
    const fftw_api *api = fftw_open(unusable, DEV_TEXT);
    if (api == NULL)
        return false;
    snprintf(version, 64, "%.60s", strncmp(api->version, "fftw-", 5) == 0 ? api->version + 5 : api->version);
    return true;
}

/* ---- One way --------------------------------------------------------------------------------- */

/* What a function of the host is handed: pointers to the device's memory take the places of its
 * buffers. In place there is one, since PoCL hands out a buffer that is named twice once. */
typedef struct native_call {
    const fftw_transform *t;
    bool forward;
    float *mesh;
    fftw_complex *spectrum;
} native_call;

/* A pass over planes or blocks: cores take the next one as they are done. */
typedef struct pass {
    const native_call *call;
    void (*one)(const native_call *call, size_t i, fftw_complex *room);
    size_t count;
    atomic_size_t next;
} pass;

static void work(void *context, size_t first, size_t last)
{
    pass *p = context;
    for (size_t core = first; core < last; core++)
        for (size_t i; (i = atomic_fetch_add(&p->next, 1)) < p->count;)
            p->one(p->call, i, p->call->t->room[core]);
}

static void run_pass(const native_call *call, size_t count,
                     void (*one)(const native_call *call, size_t i, fftw_complex *room))
{
    pass p = {.call = call, .one = one, .count = count};
    parallel_ranges(call->t->cores, work, &p);
}

static void plane_there(const native_call *call, size_t z, fftw_complex *room)
{
    const fftw_transform *t = call->t;
    const float *from = call->mesh + z * t->n[1] * t->pitch;
    fftw_complex *to = call->spectrum + z * t->n[1] * t->half;
    for (size_t y = 0; y < t->filled[1]; y++) {
        float *row = (float *)(room + y * t->plane_pitch);
        memcpy(row, from + y * t->pitch, t->filled[0] * sizeof(float));
        memset(row + t->filled[0], 0, (t->n[0] - t->filled[0]) * sizeof(float));
    }
    memset(room + t->filled[1] * t->plane_pitch, 0, (t->n[1] - t->filled[1]) * t->plane_pitch * sizeof *room);
    t->api->run_there(t->rows[1], (float *)room, room);
    t->api->run_complex(t->along_y[1], room, room);
    for (size_t y = 0; y < t->n[1]; y++)
        memcpy(to + y * t->half, room + y * t->plane_pitch, t->half * sizeof *room);
}

static void plane_back(const native_call *call, size_t z, fftw_complex *room)
{
    const fftw_transform *t = call->t;
    fftw_complex *from = call->spectrum + z * t->n[1] * t->half;
    float *to = call->mesh + z * t->n[1] * t->pitch;
    for (size_t y = 0; y < t->n[1]; y++)
        memcpy(room + y * t->plane_pitch, from + y * t->half, t->half * sizeof *room);
    t->api->run_complex(t->along_y[0], room, room);
    t->api->run_back(t->rows[0], room, (float *)room);
    for (size_t y = 0; y < t->filled[1]; y++)
        memcpy(to + y * t->pitch, room + y * t->plane_pitch, t->filled[0] * sizeof(float));
}

static size_t blocks_of(const fftw_transform *t)
{
    return (t->half + t->columns - 1) / t->columns;
}

/* A row's last block has some columns less: what stands in the others is transformed for
 * nothing. */
static void block(const native_call *call, size_t i, fftw_complex *room)
{
    const fftw_transform *t = call->t;
    const size_t first = i % blocks_of(t) * t->columns, plane = t->n[1] * t->half, f = t->filled[2],
                 left = t->half - first, columns = left < t->columns ? left : t->columns;
    fftw_complex *spectrum = call->spectrum + i / blocks_of(t) * t->half + first;
    const size_t come = call->forward ? f : t->n[2], go = call->forward ? t->n[2] : f;
    for (size_t z = 0; z < come; z++)
        memcpy(room + z * t->block_pitch, spectrum + z * plane, columns * sizeof *room);
    memset(room + come * t->block_pitch, 0, (t->n[2] - come) * t->block_pitch * sizeof *room);
    t->api->run_complex(t->along_z[call->forward], room, room);
    for (size_t z = 0; z < go; z++)
        memcpy(spectrum + z * plane, room + z * t->block_pitch, columns * sizeof *room);
}

static void CL_CALLBACK transform(void *arguments)
{
    native_call *call = arguments;
    const fftw_transform *t = call->t;
    if (t->in_place)
        call->spectrum = (fftw_complex *)call->mesh;
    if (call->forward)
        run_pass(call, t->filled[2], plane_there);
    run_pass(call, t->n[1] * blocks_of(t), block);
    if (!call->forward)
        run_pass(call, t->filled[2], plane_back);
}

static ley_status run(cl_dev *d, dev_fft_plan *plan, bool forward, cl_mem from, cl_mem to, cl_mem scratch,
                      ley_error *error)
{
    const fftw_transform *t = (fftw_transform *)plan;
    native_call call = {.t = t, .forward = forward};
    const cl_mem buffers[] = {forward ? from : to, forward ? to : from};
    const void *places[] = {&call.mesh, &call.spectrum};
    (void)scratch;
    CL_TRY(error, clEnqueueNativeKernel(d->queues[LANE_LAUNCH], transform, &call, sizeof call, t->in_place ? 1 : 2,
                                        buffers, places, 0, NULL, NULL));
    return LEY_OK;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* FFTW plans one at a time. A program that plans with it, too, in another thread, has to ask it for
 * more than that (fftwf_make_planner_thread_safe()). */
static pthread_mutex_t planning = PTHREAD_MUTEX_INITIALIZER;

static void end(dev_fft_plan *plan)
{
    fftw_transform *t = (fftw_transform *)plan;
    pthread_mutex_lock(&planning);
    for (int way = 0; way < 2; way++) {
        fftw_plan all[] = {t->rows[way], t->along_y[way], t->along_z[way]};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (all[i] != NULL)
                t->api->destroy(all[i]);
    }
    pthread_mutex_unlock(&planning);
    for (size_t core = 0; t->room != NULL && core < t->cores; core++)
        free(t->room[core]);
    free(t->room);
    free(t);
}

static size_t aligned(size_t values)
{
    return (values + ALIGNED - 1) / ALIGNED * ALIGNED + ALIGNED;
}

static void set_sizes(fftw_transform *t, const dev_fft_shape *shape)
{
    const size_t half = shape->n[0] / 2 + 1, blocks = (half + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
    memcpy(t->n, shape->n, sizeof t->n);
    memcpy(t->filled, shape->filled, sizeof t->filled);
    t->in_place = shape->in_place;
    t->pitch = shape->in_place ? 2 * half : shape->n[0];
    t->half = half;
    t->columns = (half + blocks - 1) / blocks;
    t->plane_pitch = aligned(half);
    t->block_pitch = aligned(t->columns);
    t->cores = (size_t)parallel_cores();
}

static ley_status make_rooms(fftw_transform *t, ley_error *error)
{
    const size_t plane = t->plane_pitch * t->n[1], columns = t->block_pitch * t->n[2],
                 bytes = (plane > columns ? plane : columns) * sizeof(fftw_complex);
    t->room = calloc(t->cores, sizeof *t->room);
    for (size_t core = 0; t->room != NULL && core < t->cores; core++)
        if ((t->room[core] = aligned_alloc(ALIGNED_BYTES, bytes)) == NULL)
            return ley_fail_memory(error, bytes, "a core's part of a transform");
        else
            memset(t->room[core], 0, bytes);
    return t->room != NULL ? LEY_OK : ley_fail_memory(error, t->cores * sizeof *t->room, "a transform");
}

/* Estimates, not measurements, choose among FFTW's ways: the same ones each time, so that a map
 * that is made again has the same digits. What measuring would gain is 10 %. */
static void plan_way(fftw_transform *t, int way)
{
    const fftw_api *api = t->api;
    fftw_complex *at = t->room[0];
    const int n[3] = {(int)t->n[0], (int)t->n[1], (int)t->n[2]}, sign = way ? FFTW_THERE : FFTW_BACK,
              plane = (int)t->plane_pitch, deep = (int)t->block_pitch, rows = (int)t->filled[1];
    t->rows[way] =
        way ? api->plan_there(1, &n[0], rows, (float *)at, NULL, 1, 2 * plane, at, NULL, 1, plane, FFTW_ESTIMATE)
            : api->plan_back(1, &n[0], rows, at, NULL, 1, plane, (float *)at, NULL, 1, 2 * plane, FFTW_ESTIMATE);
    t->along_y[way] =
        api->plan_complex(1, &n[1], (int)t->half, at, NULL, plane, 1, at, NULL, plane, 1, sign, FFTW_ESTIMATE);
    t->along_z[way] =
        api->plan_complex(1, &n[2], (int)t->columns, at, NULL, deep, 1, at, NULL, deep, 1, sign, FFTW_ESTIMATE);
}

static ley_status make(cl_dev *d, const dev_fft_shape *shape, const void *kept, size_t kept_size, dev_fft_plan **plan,
                       ley_error *error)
{
    char reason[DEV_TEXT];
    const fftw_api *api = fftw_open(reason, sizeof reason);
    (void)d, (void)kept, (void)kept_size;
    if (api == NULL)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "FFTW: %s", reason);
    fftw_transform *t = calloc(1, sizeof *t);
    if (t == NULL)
        return ley_fail_memory(error, sizeof *t, "a transform");
    t->api = api;
    t->base.is_compiled = true;
    set_sizes(t, shape);
    ley_status status = make_rooms(t, error);
    pthread_mutex_lock(&planning);
    for (int way = 0; way < 2 && status == LEY_OK; way++) {
        plan_way(t, way);
        if (t->rows[way] == NULL || t->along_y[way] == NULL || t->along_z[way] == NULL)
            status =
                ley_fail(error, LEY_ERROR_DEVICE, "FFTW has no plan for %zu x %zu x %zu", t->n[0], t->n[1], t->n[2]);
    }
    pthread_mutex_unlock(&planning);
    if (status != LEY_OK) {
        end(&t->base);
        return status;
    }
    *plan = &t->base;
    return LEY_OK;
}

const cl_fft_library cl_fft_fftw = {.name = "fftw",
                                    .leaves_out = true,
                                    .needs_no_area = true,
                                    .describe = describe,
                                    .plan = make,
                                    .run = run,
                                    .end = end};
