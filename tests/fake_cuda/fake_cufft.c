/* cuFFT without a card, on the memory of the fake driver: plain transforms in the layout of the
 * real one. It checks handles, that the context is the card's primary one, and that a work area has
 * been lent; and fails where FAKE_CUFFT says:
 *
 *     work=1000     bytes of a plan's work area
 *     wrong=1       what it makes is wrong
 *     fail=cufftMakePlan3d,code=2    that call returns this code */
#include "../../platform/cuda/cufft_api.h"
#include "../plain_fft.h"

#define FAULT_VARIABLE "FAKE_CUFFT"
#include "../fault_settings.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
#define DECLARE(field, symbol, arguments) cufftResult symbol arguments;
CUDA_CUFFT_TABLE(DECLARE)
int fake_cufft_live(void);
int fake_cufft_wide(void); /* plans with 64-bit numbers so far */
#pragma GCC visibility pop

enum { INVALID_PLAN = 1, INVALID_VALUE = 4, SETUP_FAILED = 7, NO_WORKSPACE = 13 };
enum { MOST_PLANS = 64 };

static struct {
    bool is_live, is_automatic;
    size_t n[3], planes, work_bytes; /* of the mesh that is transformed plane by plane, or along z alone */
    CUdeviceptr area;
    int type;
} plans[MOST_PLANS];

static int wide_plans;

static cufftResult fault(const char *symbol)
{
    const char *name = setting("fail");
    const size_t length = strlen(symbol);
    const bool is_meant =
        name != NULL && strncmp(name, symbol, length) == 0 && (name[length] == ',' || name[length] == '\0');
    return is_meant ? number("code", 5) : CUFFT_SUCCESS;
}

#define TRY \
    do { \
        const cufftResult code_ = fault(__func__); \
        if (code_ != CUFFT_SUCCESS) \
            return code_; \
    } while (0)
#define TRY_PLAN(plan) \
    do { \
        if ((plan) < 0 || (plan) >= MOST_PLANS || !plans[plan].is_live) \
            return INVALID_PLAN; \
        TRY; \
    } while (0)

static bool is_primary(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *address = driver != NULL ? dlsym(driver, "fake_cuda_current_is_primary") : NULL;
    int (*ask)(void);
    if (address == NULL)
        return false;
    memcpy(&ask, &address, sizeof ask);
    dlclose(driver);
    return ask() != 0;
}

int fake_cufft_live(void)
{
    int live = 0;
    for (int i = 0; i < MOST_PLANS; i++)
        live += plans[i].is_live;
    return live;
}

cufftResult cufftGetVersion(int *version)
{
    *version = 11000;
    return CUFFT_SUCCESS;
}

cufftResult cufftCreate(cufftHandle *plan)
{
    TRY;
    if (!is_primary())
        return SETUP_FAILED;
    for (int i = 0; i < MOST_PLANS; i++)
        if (!plans[i].is_live) {
            memset(&plans[i], 0, sizeof plans[i]);
            plans[i].is_live = plans[i].is_automatic = true;
            *plan = i;
            return CUFFT_SUCCESS;
        }
    return SETUP_FAILED;
}

cufftResult cufftDestroy(cufftHandle plan)
{
    TRY_PLAN(plan);
    plans[plan].is_live = false;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetAutoAllocation(cufftHandle plan, int is_automatic)
{
    TRY_PLAN(plan);
    plans[plan].is_automatic = is_automatic != 0;
    return CUFFT_SUCCESS;
}

cufftResult cufftMakePlan3d(cufftHandle plan, int n_z, int n_y, int n_x, int type, size_t *work_bytes)
{
    TRY_PLAN(plan);
    if (n_x < 1 || n_y < 1 || n_z < 1 || (type != CUFFT_R2C && type != CUFFT_C2R))
        return INVALID_VALUE;
    plans[plan].n[0] = (size_t)n_x;
    plans[plan].n[1] = (size_t)n_y;
    plans[plan].n[2] = (size_t)n_z;
    plans[plan].type = type;
    plans[plan].work_bytes = *work_bytes = (size_t)number("work", 1000);
    return CUFFT_SUCCESS;
}

/* A grid of three axes, planes, in place, or columns along z; no other ones are asked for. */
static cufftResult make_many(cufftHandle plan, int rank, const long long *n, const long long *in_embed,
                             long long in_stride, long long in_distance, const long long *out_embed,
                             long long out_stride, long long out_distance, int type, long long batch,
                             size_t *work_bytes)
{
    const bool is_real = type == CUFFT_R2C || type == CUFFT_C2R,
               is_grid = rank == 3 && is_real && in_stride == 1 && out_stride == 1 && batch == 1,
               are_planes = rank == 2 && is_real && in_stride == 1 && out_stride == 1,
               are_columns = rank == 1 && type == CUFFT_C2C && in_distance == 1 && out_distance == 1;
    if (batch < 1 || n[0] < 1 || (!is_grid && !are_planes && !are_columns))
        return INVALID_VALUE;
    if (is_grid || are_planes) {
        const long long *grid = type == CUFFT_R2C ? in_embed : out_embed,
                        *spectrum = type == CUFFT_R2C ? out_embed : in_embed, half = n[rank - 1] / 2 + 1,
                        distance = type == CUFFT_R2C ? in_distance : out_distance;
        if ((are_planes && grid[1] != 2 * half) || spectrum[rank - 1] != half ||
            distance != n[0] * (is_grid ? n[1] : 1) * grid[rank - 1])
            return INVALID_VALUE;
    } else if (in_stride != batch || out_stride != batch)
        return INVALID_VALUE;
    plans[plan].n[0] = (size_t)(are_columns ? batch : n[rank - 1]);
    plans[plan].n[1] = (size_t)(are_columns ? 1 : n[rank - 2]);
    plans[plan].n[2] = are_planes ? 1 : (size_t)n[0];
    plans[plan].planes = are_planes ? (size_t)batch : 0;
    plans[plan].type = type;
    plans[plan].work_bytes = *work_bytes = (size_t)number("work", 1000);
    return CUFFT_SUCCESS;
}

cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int *n, int *in_embed, int in_stride, int in_distance,
                              int *out_embed, int out_stride, int out_distance, int type, int batch, size_t *work_bytes)
{
    long long sizes[3], in[3], out[3];
    TRY_PLAN(plan);
    for (int axis = 0; axis < rank && axis < 3; axis++) {
        sizes[axis] = n[axis];
        in[axis] = in_embed[axis];
        out[axis] = out_embed[axis];
    }
    return make_many(plan, rank, sizes, in, in_stride, in_distance, out, out_stride, out_distance, type, batch,
                     work_bytes);
}

cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long *n, long long *in_embed, long long in_stride,
                                long long in_distance, long long *out_embed, long long out_stride,
                                long long out_distance, int type, long long batch, size_t *work_bytes)
{
    TRY_PLAN(plan);
    wide_plans++;
    return make_many(plan, rank, n, in_embed, in_stride, in_distance, out_embed, out_stride, out_distance, type, batch,
                     work_bytes);
}

int fake_cufft_wide(void)
{
    return wide_plans;
}

cufftResult cufftSetWorkArea(cufftHandle plan, CUdeviceptr area)
{
    TRY_PLAN(plan);
    plans[plan].area = area;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle plan, CUstream stream)
{
    TRY_PLAN(plan);
    return stream != NULL ? CUFFT_SUCCESS : INVALID_VALUE;
}

/* Whether it can run: a work area is written to, as the real one does. */
static cufftResult check(cufftHandle plan, int type)
{
    if (plans[plan].type != type)
        return INVALID_PLAN;
    if (plans[plan].work_bytes == 0 || plans[plan].is_automatic)
        return CUFFT_SUCCESS;
    if (plans[plan].area == 0)
        return NO_WORKSPACE;
    memset((void *)plans[plan].area, 0x5a, plans[plan].work_bytes);
    return CUFFT_SUCCESS;
}

static size_t pitch_of(cufftHandle plan, bool in_place)
{
    return in_place ? 2 * (plans[plan].n[0] / 2 + 1) : plans[plan].n[0];
}

cufftResult cufftExecR2C(cufftHandle plan, CUdeviceptr grid, CUdeviceptr spectrum)
{
    TRY_PLAN(plan);
    const cufftResult code = check(plan, CUFFT_R2C);
    if (code != CUFFT_SUCCESS)
        return code;
    const size_t pitch = pitch_of(plan, grid == spectrum), rows = plans[plan].n[1];
    for (size_t i = 0; i < (plans[plan].planes > 0 ? plans[plan].planes : 1); i++)
        plain_fft_there(plans[plan].n, pitch, (const float *)grid + i * rows * pitch,
                        (float *)spectrum + i * rows * 2 * (plans[plan].n[0] / 2 + 1));
    if (number("wrong", 0))
        ((float *)spectrum)[3] *= 2;
    return CUFFT_SUCCESS;
}

cufftResult cufftExecC2R(cufftHandle plan, CUdeviceptr spectrum, CUdeviceptr grid)
{
    TRY_PLAN(plan);
    const cufftResult code = check(plan, CUFFT_C2R);
    if (code != CUFFT_SUCCESS)
        return code;
    const size_t pitch = pitch_of(plan, grid == spectrum), rows = plans[plan].n[1];
    for (size_t i = 0; i < (plans[plan].planes > 0 ? plans[plan].planes : 1); i++)
        plain_fft_back(plans[plan].n, pitch, (const float *)spectrum + i * rows * 2 * (plans[plan].n[0] / 2 + 1),
                       (float *)grid + i * rows * pitch);
    return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, CUdeviceptr from, CUdeviceptr to, int direction)
{
    TRY_PLAN(plan);
    const cufftResult code = check(plan, CUFFT_C2C);
    if (code != CUFFT_SUCCESS || from != to)
        return code != CUFFT_SUCCESS ? code : INVALID_VALUE;
    plain_fft_columns(plans[plan].n[0], plans[plan].n[2], direction, (float *)to);
    return CUFFT_SUCCESS;
}
