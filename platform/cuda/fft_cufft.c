/* Fourier transforms by cuFFT. It works in the context that is current, which is the card's primary
 * one: the CUDA runtime, which it stands on, knows no other well.
 *
 * A mesh of which only the first planes are filled is transformed in two steps in place: there,
 * those planes, and then the spectrum along z, the other planes being zero; back, along z, and then
 * those planes alone. */
#include "cufft_api.h"
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The work area that is lent to a plan is at most so many times what it transforms, or some
 * megabytes more where that is little. */
enum { MOST_AREAS = 2 };
static const size_t least_cap_bytes = 64 << 20;

size_t cuda_fft_most_values = INT32_MAX;

typedef struct cufft_plan {
    dev_fft_plan base;
    const cuda_cufft *api;
    size_t n[3], planes;        /* those that are filled */
    bool is_in_place, is_large; /* planned with 64-bit numbers */
    cufftHandle way[2];         /* back, there: of the mesh, or of its planes */
    cufftHandle along_z;        /* where there are others than filled ones */
    bool is_made[2], is_along_z_made;
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
    *library = (dev_fft_library){.name = "cufft", .leaves_out = true};
    const cuda_cufft *api = cuda_cufft_open(library->unusable, sizeof library->unusable);
    if (api != NULL && api->version(&version) == CUFFT_SUCCESS)
        snprintf(library->version, sizeof library->version, "%d", version);
    return true;
}

/* Transforms that are made at once: sizes, slowest axis first, and, of what they read and write,
 * sizes with padding; distances from value to value, and from one transform to the next. */
typedef struct many {
    int rank, type;
    long long n[3], from[3], to[3], stride, from_distance, to_distance, batch;
} many;

static void to_ints(const long long from[3], int to[3])
{
    for (int axis = 0; axis < 3; axis++)
        to[axis] = (int)from[axis];
}

/* The library has 32-bit numbers where these are enough, whichever call it is; but only one of the
 * calls takes more values in all than an int counts. */
static ley_status make_many(const cufft_plan *p, cufftHandle plan, many m, size_t *bytes, ley_error *error)
{
    int n[3], from[3], to[3];
    to_ints(m.n, n);
    to_ints(m.from, from);
    to_ints(m.to, to);
    if (p->is_large)
        CUFFT_TRY(error, "cufftMakePlanMany64",
                  p->api->make_many_64(plan, m.rank, m.n, m.from, m.stride, m.from_distance, m.to, m.stride,
                                       m.to_distance, m.type, m.batch, bytes));
    else
        CUFFT_TRY(error, "cufftMakePlanMany",
                  p->api->make_many(plan, m.rank, n, from, (int)m.stride, (int)m.from_distance, to, (int)m.stride,
                                    (int)m.to_distance, m.type, (int)m.batch, bytes));
    return LEY_OK;
}

/* Rows along x of the mesh, as it is padded, and of the spectrum. */
static long long pitch_of(const cufft_plan *p, bool of_mesh)
{
    const long long half = (long long)(p->n[0] / 2 + 1);
    return !of_mesh ? half : p->is_in_place ? 2 * half : (long long)p->n[0];
}

static ley_status make_mesh(const cufft_plan *p, bool forward, size_t *bytes, ley_error *error)
{
    const int n[3] = {(int)p->n[0], (int)p->n[1], (int)p->n[2]}, type = forward ? CUFFT_R2C : CUFFT_C2R;
    const long long n_z = n[2], n_y = n[1], from = pitch_of(p, forward), to = pitch_of(p, !forward);
    if (p->is_large)
        return make_many(p, p->way[forward],
                         (many){.rank = 3,
                                .type = type,
                                .n = {n_z, n_y, n[0]},
                                .from = {n_z, n_y, from},
                                .to = {n_z, n_y, to},
                                .stride = 1,
                                .from_distance = n_z * n_y * from,
                                .to_distance = n_z * n_y * to,
                                .batch = 1},
                         bytes, error);
    CUFFT_TRY(error, "cufftMakePlan3d", p->api->make(p->way[forward], n[2], n[1], n[0], type, bytes));
    return LEY_OK;
}

static ley_status make_planes(const cufft_plan *p, bool forward, size_t *bytes, ley_error *error)
{
    const long long n_y = (long long)p->n[1], from = pitch_of(p, forward), to = pitch_of(p, !forward);
    return make_many(p, p->way[forward],
                     (many){.rank = 2,
                            .type = forward ? CUFFT_R2C : CUFFT_C2R,
                            .n = {n_y, (long long)p->n[0]},
                            .from = {n_y, from},
                            .to = {n_y, to},
                            .stride = 1,
                            .from_distance = n_y * from,
                            .to_distance = n_y * to,
                            .batch = (long long)p->planes},
                     bytes, error);
}

static ley_status finish(cuda_dev *d, cufft_plan *p, cufftHandle way, size_t bytes, ley_error *error)
{
    CUFFT_TRY(error, "cufftSetStream", p->api->set_stream(way, d->streams[LANE_LAUNCH]));
    p->base.scratch_bytes = bytes > p->base.scratch_bytes ? bytes : p->base.scratch_bytes;
    return LEY_OK;
}

static ley_status make_way(cuda_dev *d, bool forward, cufft_plan *p, ley_error *error)
{
    size_t bytes = 0;
    CUFFT_TRY(error, "cufftCreate", p->api->create(&p->way[forward]));
    p->is_made[forward] = true;
    CUFFT_TRY(error, "cufftSetAutoAllocation", p->api->set_allocation(p->way[forward], 0));
    const ley_status status =
        p->planes == p->n[2] ? make_mesh(p, forward, &bytes, error) : make_planes(p, forward, &bytes, error);
    return status == LEY_OK ? finish(d, p, p->way[forward], bytes, error) : status;
}

static ley_status make_along_z(cuda_dev *d, cufft_plan *p, ley_error *error)
{
    const long long n_z = (long long)p->n[2], plane = (long long)(p->n[1] * (p->n[0] / 2 + 1));
    size_t bytes = 0;
    CUFFT_TRY(error, "cufftCreate", p->api->create(&p->along_z));
    p->is_along_z_made = true;
    CUFFT_TRY(error, "cufftSetAutoAllocation", p->api->set_allocation(p->along_z, 0));
    const ley_status status = make_many(p, p->along_z,
                                        (many){.rank = 1,
                                               .type = CUFFT_C2C,
                                               .n = {n_z},
                                               .from = {n_z},
                                               .to = {n_z},
                                               .stride = plane,
                                               .from_distance = 1,
                                               .to_distance = 1,
                                               .batch = plane},
                                        &bytes, error);
    return status == LEY_OK ? finish(d, p, p->along_z, bytes, error) : status;
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
    if (p->is_along_z_made)
        p->api->destroy(p->along_z);
    free(p);
}

ley_status cuda_fft_make(cuda_dev *d, const dev_fft_shape *shape, dev_fft_plan **plan, ley_error *error)
{
    char reason[DEV_TEXT];
    const size_t half = shape->n[0] / 2 + 1;
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
    memcpy(p->n, shape->n, sizeof p->n);
    p->is_in_place = shape->in_place;
    p->is_large = 2 * half * shape->n[1] * shape->n[2] > cuda_fft_most_values;
    p->base.zero_planes = shape->n[2];
    p->planes = shape->in_place && shape->n[1] * half <= INT32_MAX / 2 ? shape->filled[2] : shape->n[2];
    ley_status status = LEY_OK;
    for (int way = 0; way < 2 && status == LEY_OK; way++)
        status = make_way(d, way, p, error);
    if (status == LEY_OK && p->planes < p->n[2])
        status = make_along_z(d, p, error);
    if (status == LEY_OK)
        status = check_area(shape, p->base.scratch_bytes, error);
    if (status != LEY_OK) {
        cuda_fft_free(&p->base);
        return status;
    }
    *plan = &p->base;
    return LEY_OK;
}

static ley_status begin_along_z(const cufft_plan *p, CUdeviceptr spectrum, CUdeviceptr scratch, int direction,
                                ley_error *error)
{
    if (p->base.scratch_bytes > 0)
        CUFFT_TRY(error, "cufftSetWorkArea", p->api->set_area(p->along_z, scratch));
    CUFFT_TRY(error, "cufftExecC2C", p->api->along(p->along_z, spectrum, spectrum, direction));
    return LEY_OK;
}

ley_status cuda_fft_begin(dev_fft_plan *plan, bool forward, CUdeviceptr from, CUdeviceptr to, CUdeviceptr scratch,
                          ley_error *error)
{
    const cufft_plan *p = (const cufft_plan *)plan;
    if (p->base.scratch_bytes > 0)
        CUFFT_TRY(error, "cufftSetWorkArea", p->api->set_area(p->way[forward], scratch));
    const bool is_part = p->planes < p->n[2];
    const ley_status status = is_part && !forward ? begin_along_z(p, from, scratch, CUFFT_BACK, error) : LEY_OK;
    if (status != LEY_OK)
        return status;
    if (forward)
        CUFFT_TRY(error, "cufftExecR2C", p->api->there(p->way[forward], from, to));
    else
        CUFFT_TRY(error, "cufftExecC2R", p->api->back(p->way[forward], from, to));
    return is_part && forward ? begin_along_z(p, to, scratch, CUFFT_THERE, error) : LEY_OK;
}
