/* Fourier transforms by clFFT. It takes no build options, so that PoCL, which compiles its kernels,
 * counts their warnings on standard error. */
#include "clfft_api.h"
#include "internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct clfft_plan {
    dev_fft_plan base;
    const clfft_api *api;
    clfft_handle way[2]; /* back, there */
    bool is_made[2], in_place;
} clfft_plan;

/* Results of its own, from 4096 on. */
static ley_status fail(ley_error *error, cl_int code, const char *symbol, int line)
{
    static const char *const names[] = {
        "CLFFT_BUGCHECK",       "CLFFT_NOTIMPLEMENTED",      "CLFFT_TRANSPOSED_NOTIMPLEMENTED",
        "CLFFT_FILE_NOT_FOUND", "CLFFT_FILE_CREATE_FAILURE", "CLFFT_VERSION_MISMATCH",
        "CLFFT_INVALID_PLAN",   "CLFFT_DEVICE_NO_DOUBLE",    "CLFFT_DEVICE_MISMATCH"};
    const bool is_own = code >= 4096 && (size_t)code < 4096 + sizeof names / sizeof *names;
    return ley_fail(error, code == CL_OUT_OF_HOST_MEMORY ? LEY_ERROR_MEMORY : LEY_ERROR_DEVICE,
                    "%s: %s (%d) at fft_clfft.c:%d", symbol, is_own ? names[code - 4096] : cl_error_name(code), code,
                    line);
}

/* Every call of the library goes through here: returns from the calling function when it fails. */
#define CLFFT_TRY(error, symbol, call) \
    do { \
        const cl_int clfft_code_ = (call); \
        if (clfft_code_ != CL_SUCCESS) \
            return fail(error, clfft_code_, symbol, __LINE__); \
    } while (0)

/* The library is set up as long as there are plans: what is left when the process ends, it
 * complains of. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int plans;

static ley_status set_up(const clfft_api *api, ley_error *error)
{
    clfft_setup data = {0, 0, 0, 0};
    api->version(&data.major, &data.minor, &data.patch);
    pthread_mutex_lock(&mutex);
    const cl_int code = plans == 0 ? api->setup(&data) : CL_SUCCESS;
    plans += code == CL_SUCCESS;
    pthread_mutex_unlock(&mutex);
    return code == CL_SUCCESS ? LEY_OK : fail(error, code, "clfftSetup", __LINE__);
}

static void tear_down(const clfft_api *api)
{
    pthread_mutex_lock(&mutex);
    if (--plans == 0)
        api->teardown();
    pthread_mutex_unlock(&mutex);
}

static bool describe(const dev_info *info, char version[64], char unusable[DEV_TEXT])
{
    cl_uint major = 0, minor = 0, patch = 0;
    (void)info;
    const clfft_api *api = clfft_open(unusable, DEV_TEXT);
    if (api == NULL)
        return false;
    api->version(&major, &minor, &patch);
    snprintf(version, 64, "%u.%u.%u", major, minor, patch);
    return true;
}

/* Distances from one value to the next along x, y, z, in values of its kind. */
typedef struct strides {
    size_t of[3], all;
} strides;

static strides strides_of(const dev_fft_shape *shape, size_t row)
{
    return (strides){{1, row, row * shape->n[1]}, row * shape->n[1] * shape->n[2]};
}

static ley_status describe_plan(const clfft_api *api, const dev_fft_shape *shape, bool forward, clfft_handle plan,
                                ley_error *error)
{
    const size_t half = shape->n[0] / 2 + 1;
    const strides real = strides_of(shape, shape->in_place ? 2 * half : shape->n[0]), complex = strides_of(shape, half);
    const strides *in = forward ? &real : &complex, *out = forward ? &complex : &real;
    CLFFT_TRY(error, "clfftSetPlanPrecision", api->set_precision(plan, CLFFT_SINGLE));
    CLFFT_TRY(error, "clfftSetLayout",
              api->set_layout(plan, forward ? CLFFT_REAL : CLFFT_HERMITIAN_INTERLEAVED,
                              forward ? CLFFT_HERMITIAN_INTERLEAVED : CLFFT_REAL));
    CLFFT_TRY(error, "clfftSetResultLocation",
              api->set_location(plan, shape->in_place ? CLFFT_INPLACE : CLFFT_OUTOFPLACE));
    CLFFT_TRY(error, "clfftSetPlanInStride", api->set_in_stride(plan, CLFFT_3D, in->of));
    CLFFT_TRY(error, "clfftSetPlanOutStride", api->set_out_stride(plan, CLFFT_3D, out->of));
    CLFFT_TRY(error, "clfftSetPlanDistance", api->set_distance(plan, in->all, out->all));
    CLFFT_TRY(error, "clfftSetPlanScale", api->set_scale(plan, CLFFT_FORWARD, 1));
    CLFFT_TRY(error, "clfftSetPlanScale", api->set_scale(plan, CLFFT_BACKWARD, 1));
    return LEY_OK;
}

static ley_status make_way(cl_dev *d, const dev_fft_shape *shape, bool forward, clfft_plan *p, ley_error *error)
{
    const clfft_api *api = p->api;
    size_t bytes = 0;
    CLFFT_TRY(error, "clfftCreateDefaultPlan", api->create(&p->way[forward], d->context, CLFFT_3D, shape->n));
    p->is_made[forward] = true;
    ley_status status = describe_plan(api, shape, forward, p->way[forward], error);
    if (status != LEY_OK)
        return status;
    CLFFT_TRY(error, "clfftBakePlan", api->bake(p->way[forward], 1, &d->queues[LANE_LAUNCH], NULL, NULL));
    CLFFT_TRY(error, "clfftGetTmpBufSize", api->scratch_bytes(p->way[forward], &bytes));
    p->base.scratch_bytes = bytes > p->base.scratch_bytes ? bytes : p->base.scratch_bytes;
    return LEY_OK;
}

static void end(dev_fft_plan *plan)
{
    clfft_plan *p = (clfft_plan *)plan;
    for (int way = 0; way < 2; way++)
        if (p->is_made[way])
            p->api->destroy(&p->way[way]);
    tear_down(p->api);
    free(p);
}

static ley_status make(cl_dev *d, const dev_fft_shape *shape, const void *kept, size_t kept_size, dev_fft_plan **plan,
                       ley_error *error)
{
    char reason[DEV_TEXT];
    const clfft_api *api = clfft_open(reason, sizeof reason);
    (void)kept, (void)kept_size;
    if (api == NULL)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "clFFT: %s", reason);
    clfft_plan *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "a transform");
    p->api = api;
    p->in_place = shape->in_place;
    p->base.zero_planes = shape->n[2];
    ley_status status = set_up(api, error);
    if (status != LEY_OK) {
        free(p);
        return status;
    }
    for (int way = 0; way < 2 && status == LEY_OK; way++)
        status = make_way(d, shape, way, p, error);
    if (status != LEY_OK) {
        end(&p->base);
        return status;
    }
    *plan = &p->base;
    return LEY_OK;
}

static ley_status run(cl_dev *d, dev_fft_plan *plan, bool forward, cl_mem from, cl_mem to, cl_mem scratch,
                      ley_error *error)
{
    clfft_plan *p = (clfft_plan *)plan;
    CLFFT_TRY(error, "clfftEnqueueTransform",
              p->api->run(p->way[forward], forward ? CLFFT_FORWARD : CLFFT_BACKWARD, 1, &d->queues[LANE_LAUNCH], 0,
                          NULL, NULL, &from, p->in_place ? NULL : &to, scratch));
    return LEY_OK;
}

/* Strides in its kernels are ints. */
const cl_fft_library cl_fft_clfft = {
    .name = "clfft", .most_values = INT32_MAX, .describe = describe, .plan = make, .run = run, .end = end};
