/* Fourier transforms by cuFFT. It works in the context that is current, which is the card's primary
 * one: the CUDA runtime, which it stands on, knows no other well. */
#include "cufft_api.h"
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>

/* The work area that is lent to a plan is at most so many times what it transforms, or some
 * megabytes more where that is little. */
enum { MOST_AREAS = 2 };
static const size_t least_cap_bytes = 64 << 20;

typedef struct cufft_plan {
    dev_fft_plan base;
    const cuda_cufft *api;
    cufftHandle way[2]; /* back, there */
    bool is_made[2];
} cufft_plan;

static const char *result_name(cufftResult code)
{
    enum { KNOWN = 20 };
    static const char *const names[KNOWN] = {
        [1] = "CUFFT_INVALID_PLAN",       [2] = "CUFFT_ALLOC_FAILED",        [3] = "CUFFT_INVALID_TYPE",
        [4] = "CUFFT_INVALID_VALUE",      [5] = "CUFFT_INTERNAL_ERROR",      [6] = "CUFFT_EXEC_FAILED",
        [7] = "CUFFT_SETUP_FAILED",       [8] = "CUFFT_INVALID_SIZE",        [9] = "CUFFT_UNALIGNED_DATA",
        [11] = "CUFFT_INVALID_DEVICE",    [13] = "CUFFT_NO_WORKSPACE",       [14] = "CUFFT_NOT_IMPLEMENTED",
        [16] = "CUFFT_NOT_SUPPORTED",     [17] = "CUFFT_MISSING_DEPENDENCY", [18] = "CUFFT_NVRTC_FAILURE",
        [19] = "CUFFT_NVJITLINK_FAILURE",
    };
    const char *name = code >= 0 && code < KNOWN ? names[code] : NULL;
    return name != NULL ? name : "unknown cuFFT error";
}

static ley_status fail(ley_error *error, cufftResult code, const char *call, int line)
{
    return ley_fail(error, LEY_ERROR_DEVICE, "%s: %s (%d) at fft_cufft.c:%d", call, result_name(code), code, line);
}

/* Every call of the library goes through here: returns from the calling function when it fails. */
#define CUFFT_TRY(error, symbol, call) \
    do { \
        const cufftResult cufft_code_ = (call); \
        if (cufft_code_ != CUFFT_SUCCESS) \
            return fail(error, cufft_code_, symbol, __LINE__); \
    } while (0)

bool cuda_fft_library(const dev_info *info, size_t i, dev_fft_library *library)
{
    int version = 0;
    (void)info;
    if (i > 0)
        return false;
    *library = (dev_fft_library){.name = "cufft"};
    const cuda_cufft *api = cuda_cufft_open(library->unusable, sizeof library->unusable);
    if (api != NULL && api->version(&version) == CUFFT_SUCCESS)
        snprintf(library->version, sizeof library->version, "%d", version);
    return true;
}

static ley_status make_way(cuda_dev *d, const dev_fft_shape *shape, bool forward, cufft_plan *p, ley_error *error)
{
    const cuda_cufft *api = p->api;
    const int n[3] = {(int)shape->n[0], (int)shape->n[1], (int)shape->n[2]};
    size_t bytes = 0;
    CUFFT_TRY(error, "cufftCreate", api->create(&p->way[forward]));
    p->is_made[forward] = true;
    CUFFT_TRY(error, "cufftSetAutoAllocation", api->set_allocation(p->way[forward], 0));
    CUFFT_TRY(error, "cufftMakePlan3d",
              api->make(p->way[forward], n[2], n[1], n[0], forward ? CUFFT_R2C : CUFFT_C2R, &bytes));
    CUFFT_TRY(error, "cufftSetStream", api->set_stream(p->way[forward], d->streams[LANE_LAUNCH]));
    p->base.scratch_bytes = bytes > p->base.scratch_bytes ? bytes : p->base.scratch_bytes;
    return LEY_OK;
}

static ley_status check_area(const dev_fft_shape *shape, size_t area, ley_error *error)
{
    const size_t own = 2 * (shape->n[0] / 2 + 1) * shape->n[1] * shape->n[2] * sizeof(float);
    if (area <= MOST_AREAS * own + least_cap_bytes)
        return LEY_OK;
    return ley_fail(error, LEY_ERROR_DEVICE, "cuFFT wants a work area of %s for a transform of %s",
                    ley_size((double)area).s, ley_size((double)own).s);
}

void cuda_fft_free(dev_fft_plan *plan)
{
    cufft_plan *p = (cufft_plan *)plan;
    for (int way = 0; way < 2; way++)
        if (p->is_made[way])
            p->api->destroy(p->way[way]);
    free(p);
}

ley_status cuda_fft_make(cuda_dev *d, const dev_fft_shape *shape, dev_fft_plan **plan, ley_error *error)
{
    char reason[DEV_TEXT];
    const cuda_cufft *api = cuda_cufft_open(reason, sizeof reason);
    if (api == NULL)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "cuFFT: %s", reason);
    for (int axis = 0; axis < 3; axis++)
        if (shape->n[axis] > INT32_MAX)
            return ley_fail(error, LEY_ERROR_DEVICE, "cuFFT has no transform of %zu values", shape->n[axis]);
    cufft_plan *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "a transform");
    p->api = api;
    ley_status status = LEY_OK;
    for (int way = 0; way < 2 && status == LEY_OK; way++)
        status = make_way(d, shape, way, p, error);
    if (status == LEY_OK)
        status = check_area(shape, p->base.scratch_bytes, error);
    if (status != LEY_OK) {
        cuda_fft_free(&p->base);
        return status;
    }
    *plan = &p->base;
    return LEY_OK;
}

ley_status cuda_fft_begin(dev_fft_plan *plan, bool forward, CUdeviceptr from, CUdeviceptr to, CUdeviceptr scratch,
                          ley_error *error)
{
    const cufft_plan *p = (const cufft_plan *)plan;
    if (p->base.scratch_bytes > 0)
        CUFFT_TRY(error, "cufftSetWorkArea", p->api->set_area(p->way[forward], scratch));
    if (forward)
        CUFFT_TRY(error, "cufftExecR2C", p->api->there(p->way[forward], from, to));
    else
        CUFFT_TRY(error, "cufftExecC2R", p->api->back(p->way[forward], from, to));
    return LEY_OK;
}
