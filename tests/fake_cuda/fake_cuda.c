/* A CUDA driver without a card: the entry points that platform/cuda opens, on host memory. It keeps
 * count of what is alive, checks handles, bounds and contexts, runs the kernels' sums itself, and
 * fails where FAKE_CUDA says:
 *
 *     devices=2,capability=90,init=0,delay_us=0    what there is; delay_us slows each direct sum
 *     fail=cuMemAlloc_v2,at=3,code=2,device=1      the third such call on the second device
 *                                                  fails (device=-1: on any)
 *     lost=1                                       and from then on everything on that device
 *     hang=1                                       instead of failing, that call never returns
 *     drag_ms=30                                   copies go on so much longer behind the calls
 *                                                  that begin them; one that fails goes on, too
 *
 * A "machine code" image is what fake_nvrtc.c makes: a line of magic, the architecture, the
 * kernel's name, the -D options. */
#include "../../platform/cuda/driver_api.h"
#include "methods/dcs/tuning.h"

#define FAULT_VARIABLE "FAKE_CUDA"
#include "../fault_settings.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#define DECLARE(field, symbol, needed, arguments) CUresult symbol arguments;
CUDA_DRIVER_TABLE(DECLARE)
int fake_cuda_live(void);
int fake_cuda_orphans(void);
int fake_cuda_fired(void);
void fake_cuda_reset(void);
int fake_cuda_current_is_primary(void);
#pragma GCC visibility pop

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NO_BINARY = 209,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700
};
enum { MAX_DEVICES = 8, SYMBOL_BYTES = 64000 };

typedef enum kind { CONTEXT, MODULE, MEMORY, HOST, STREAM, EVENT } kind;

/* Whatever a caller may hold. Handles are pointers to these; memory's are its bytes. */
typedef struct object {
    kind kind;
    int device;
    struct object *context, *next;
    unsigned char *bytes; /* memory; a module's cm_first */
    size_t size;
    char kernel[32];
    dcs_spec spec;
    double time_s; /* an event's; negative: not recorded */
} object;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static object *objects;
static int live, orphans, calls, fired;
static double ahead_s[MAX_DEVICES]; /* made-up time of the calibration's kernels */
static _Thread_local object *current;

/* ---- Settings -------------------------------------------------------------------------------- */

/* What this call is to return before it does anything. */
static CUresult fault(const char *symbol, int device)
{
    const char *name = setting("fail");
    const size_t length = strlen(symbol);
    const int only = number("device", -1);
    if (name == NULL || (only >= 0 && only != device))
        return CUDA_SUCCESS;
    if (number("lost", 0) && fired > 0)
        return number("code", 719);
    if (strncmp(name, symbol, length) != 0 || (name[length] != ',' && name[length] != '\0') ||
        ++calls != number("at", 1))
        return CUDA_SUCCESS;
    fired++;
    return number("code", 719);
}

static CUresult locked_fault(const char *symbol, int device)
{
    pthread_mutex_lock(&mutex);
    CUresult code = fault(symbol, device);
    pthread_mutex_unlock(&mutex);
    while (code != CUDA_SUCCESS && number("hang", 0))
        pause();
    return code;
}

#define TRY_ON(device) \
    do { \
        const CUresult code_ = locked_fault(__func__, device); \
        if (code_ != CUDA_SUCCESS) \
            return code_; \
    } while (0)
#define TRY_CURRENT \
    do { \
        if (current == NULL) \
            return INVALID_CONTEXT; \
        TRY_ON(current->device); \
    } while (0)

/* ---- Objects --------------------------------------------------------------------------------- */

static object *create(kind what, int device, size_t size)
{
    object *o = calloc(1, sizeof *o);
    *o = (object){.kind = what, .device = device, .context = current, .size = size, .time_s = -1};
    if (size > 0 && (o->bytes = malloc(size)) != NULL)
        memset(o->bytes, 0xff, size); /* not a number, until something is written */
    pthread_mutex_lock(&mutex);
    o->next = objects;
    objects = o;
    live++;
    pthread_mutex_unlock(&mutex);
    return o;
}

/* The object of a handle, or NULL when it is none of this kind in the current context. */
static object *find(kind what, const void *handle)
{
    object *o;
    pthread_mutex_lock(&mutex);
    for (o = objects; o != NULL; o = o->next)
        if (o->kind == what && (handle == o || (handle == o->bytes && (what == MEMORY || what == HOST))))
            break;
    pthread_mutex_unlock(&mutex);
    return o == NULL || what == CONTEXT || what == HOST || o->context == current ? o : NULL;
}

static void unlink_object(object *gone)
{
    for (object **link = &objects; *link != NULL; link = &(*link)->next)
        if (*link == gone) {
            *link = gone->next;
            break;
        }
    live--;
    free(gone->bytes);
    free(gone);
}

/* Ends an object, also when the call is to fail: a driver keeps nothing that it was asked to
 * free. */
static CUresult destroy(kind what, const void *handle, const char *symbol)
{
    if (current == NULL)
        return INVALID_CONTEXT;
    object *o = find(what, handle);
    if (o == NULL)
        return INVALID_HANDLE;
    CUresult code = locked_fault(symbol, o->device);
    pthread_mutex_lock(&mutex);
    unlink_object(o);
    pthread_mutex_unlock(&mutex);
    return code;
}

/* The bytes [pointer, pointer + size) of device memory in the current context; NULL when they are
 * not all of one allocation. */
static unsigned char *range(CUdeviceptr pointer, size_t size)
{
    unsigned char *found = NULL;
    pthread_mutex_lock(&mutex);
    for (object *o = objects; o != NULL && found == NULL; o = o->next) {
        const CUdeviceptr start = (CUdeviceptr)o->bytes;
        if ((o->kind == MEMORY || o->kind == MODULE) && o->bytes != NULL && o->context == current && pointer >= start &&
            pointer - start <= o->size && size <= o->size - (pointer - start))
            found = o->bytes + (pointer - start);
    }
    pthread_mutex_unlock(&mutex);
    return found;
}

static double now_s(int device)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    pthread_mutex_lock(&mutex);
    const double s = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + ahead_s[device];
    pthread_mutex_unlock(&mutex);
    return s;
}

/* What is alive; what a context had to free because its owner had not; how often the fault
 * struck. */
int fake_cuda_live(void)
{
    return live;
}

int fake_cuda_orphans(void)
{
    return orphans;
}

int fake_cuda_fired(void)
{
    return fired;
}

void fake_cuda_reset(void)
{
    orphans = calls = fired = 0;
}

/* ---- Devices and contexts -------------------------------------------------------------------- */

CUresult cuInit(unsigned flags)
{
    (void)flags;
    return number("init", 0);
}

CUresult cuDriverGetVersion(int *version)
{
    *version = 12040;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    TRY_ON(-1);
    *count = number("devices", 2);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    TRY_ON(ordinal);
    *device = ordinal;
    return ordinal < number("devices", 2) ? CUDA_SUCCESS : INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    TRY_ON(device);
    snprintf(name, (size_t)length, "Fake card %c", 'A' + device);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    TRY_ON(device);
    *bytes = (size_t)1 << 32;
    return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    TRY_ON(device);
    *major = number("capability", 90) / 10;
    *minor = number("capability", 90) % 10;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    const int table[][2] = {
        {CUDA_MAX_THREADS_PER_BLOCK, 1024},
        {CUDA_MAX_BLOCK_DIM_X, 1024},
        {CUDA_MAX_BLOCK_DIM_Y, 1024},
        {CUDA_MAX_BLOCK_DIM_Z, 64},
        {CUDA_MAX_GRID_DIM_X, 2147483647},
        {CUDA_MAX_GRID_DIM_Y, 65535},
        {CUDA_MAX_GRID_DIM_Z, 65535},
        {CUDA_CLOCK_RATE_KHZ, 1000000},
        {CUDA_MAX_SHARED_PER_BLOCK, 49152},
        {CUDA_MULTIPROCESSOR_COUNT, 1},
        {CUDA_PCI_BUS_ID, 16 + device},
        {CUDA_PCI_DEVICE_ID, 0},
        {CUDA_PCI_DOMAIN_ID, 0},
        {CUDA_COMPUTE_MAJOR, number("capability", 90) / 10},
        {CUDA_COMPUTE_MINOR, number("capability", 90) % 10},
    };
    TRY_ON(device);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i][0] == attribute) {
            *value = table[i][1];
            return CUDA_SUCCESS;
        }
    return INVALID_VALUE;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    (void)flags;
    TRY_ON(device);
    object *o = create(CONTEXT, device, 0);
    o->context = current; /* the one below it on the thread's stack */
    current = o;
    *context = (CUcontext)o;
    return CUDA_SUCCESS;
}

/* Takes everything in it along. */
static void end_context(object *gone)
{
    pthread_mutex_lock(&mutex);
    for (object *o = objects, *next; o != NULL; o = next) {
        next = o->next;
        if (o->context != gone || o->kind == CONTEXT)
            continue;
        orphans++;
        unlink_object(o);
    }
    if (current == gone)
        current = NULL;
    unlink_object(gone);
    pthread_mutex_unlock(&mutex);
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
    object *gone = find(CONTEXT, context);
    if (gone == NULL)
        return INVALID_CONTEXT;
    CUresult code = locked_fault(__func__, gone->device);
    end_context(gone);
    return code;
}

/* One context of a device's own, for all who want it. */
static struct {
    object *context;
    int count;
} primary[MAX_DEVICES];
static pthread_mutex_t primary_mutex = PTHREAD_MUTEX_INITIALIZER;

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    TRY_ON(device);
    pthread_mutex_lock(&primary_mutex);
    if (primary[device].count++ == 0) {
        primary[device].context = create(CONTEXT, device, 0);
        primary[device].context->context = NULL;
    }
    *context = (CUcontext)primary[device].context;
    pthread_mutex_unlock(&primary_mutex);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    CUresult code = locked_fault(__func__, device);
    pthread_mutex_lock(&primary_mutex);
    if (primary[device].count == 0)
        code = INVALID_CONTEXT;
    else if (--primary[device].count == 0)
        end_context(primary[device].context);
    pthread_mutex_unlock(&primary_mutex);
    return code;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    object *o = find(CONTEXT, context);
    if (o == NULL)
        return INVALID_CONTEXT;
    TRY_ON(o->device);
    current = o;
    return CUDA_SUCCESS;
}

/* For the fake cuFFT, which works in no other. */
int fake_cuda_current_is_primary(void)
{
    return current != NULL && primary[current->device].context == current;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    TRY_CURRENT;
    if (bytes == 0)
        return INVALID_VALUE;
    *pointer = (CUdeviceptr)create(MEMORY, current->device, bytes)->bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr pointer)
{
    return destroy(MEMORY, (const void *)pointer, __func__);
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    (void)flags;
    TRY_CURRENT;
    if (bytes == 0)
        return INVALID_VALUE;
    *pointer = create(HOST, current->device, bytes)->bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *pointer)
{
    return destroy(HOST, pointer, __func__);
}

/* A copy under way. */
typedef struct copy {
    void *to;
    const void *from;
    size_t bytes;
    int drag_ms; /* settings may change meanwhile */
    bool is_there;
} copy;

static int under_way, under_way_there; /* of these, to a device */
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;

static void *copy_later(void *context)
{
    copy *c = context;
    usleep((useconds_t)c->drag_ms * 1000);
    memcpy(c->to, c->from, c->bytes);
    const bool is_there = c->is_there;
    free(c);
    pthread_mutex_lock(&mutex);
    under_way--;
    under_way_there -= is_there;
    pthread_cond_broadcast(&arrived);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void start_copy(void *to, const void *from, size_t bytes, bool is_there)
{
    pthread_t thread;
    copy *c = number("drag_ms", 0) > 0 ? malloc(sizeof *c) : NULL;
    if (c == NULL) {
        memcpy(to, from, bytes);
        return;
    }
    *c = (copy){to, from, bytes, number("drag_ms", 0), is_there};
    pthread_mutex_lock(&mutex);
    under_way++;
    under_way_there += is_there;
    pthread_mutex_unlock(&mutex);
    if (pthread_create(&thread, NULL, copy_later, c) == 0)
        pthread_detach(thread);
}

static void wait_for_copies(void)
{
    pthread_mutex_lock(&mutex);
    while (under_way > 0)
        pthread_cond_wait(&arrived, &mutex);
    pthread_mutex_unlock(&mutex);
}

/* What else is in the stream begins behind the copies there. */
static void wait_for_turn(void)
{
    pthread_mutex_lock(&mutex);
    while (under_way_there > 0)
        pthread_cond_wait(&arrived, &mutex);
    pthread_mutex_unlock(&mutex);
}

/* Whether a copy that is to fail is begun all the same. */
static CUresult copy_fault(const char *symbol)
{
    return current == NULL ? INVALID_CONTEXT : locked_fault(symbol, current->device);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    const CUresult code = copy_fault(__func__);
    if (code != CUDA_SUCCESS && (current == NULL || number("drag_ms", 0) == 0))
        return code;
    unsigned char *there = range(to, bytes);
    if (find(STREAM, stream) == NULL)
        return INVALID_HANDLE;
    if (there == NULL)
        return INVALID_VALUE;
    wait_for_turn();
    start_copy(there, from, bytes, true);
    return code;
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    const CUresult code = copy_fault(__func__);
    if (code != CUDA_SUCCESS && (current == NULL || number("drag_ms", 0) == 0))
        return code;
    const unsigned char *there = range(from, bytes);
    const object *host = find(HOST, to);
    if (find(STREAM, stream) == NULL)
        return INVALID_HANDLE;
    if (there == NULL || host == NULL || bytes > host->size)
        return INVALID_VALUE;
    start_copy(to, there, bytes, false);
    return code;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    TRY_CURRENT;
    unsigned char *there = range(to, bytes);
    const unsigned char *here = range(from, bytes);
    if (find(STREAM, stream) == NULL)
        return INVALID_HANDLE;
    if (there == NULL || here == NULL)
        return INVALID_VALUE;
    wait_for_turn();
    memcpy(there, here, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned pattern, size_t count, CUstream stream)
{
    TRY_CURRENT;
    unsigned char *there = range(pointer, count * sizeof pattern);
    if (find(STREAM, stream) == NULL)
        return INVALID_HANDLE;
    if (there == NULL || pointer % sizeof pattern != 0)
        return INVALID_VALUE;
    wait_for_turn();
    for (size_t i = 0; i < count; i++)
        memcpy(there + i * sizeof pattern, &pattern, sizeof pattern);
    return CUDA_SUCCESS;
}

/* ---- Modules --------------------------------------------------------------------------------- */

static dcs_spec parse_options(const char *options)
{
    dcs_spec spec = {0};
    const char *found;
#define PARSE(key, field) \
    if ((found = strstr(options, "-D" #key "=")) != NULL) \
        spec.field = atoi(found + sizeof("-D" #key "=") - 1);
    LEY_DCS_KEYS(PARSE)
#undef PARSE
    return spec;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options, void **values)
{
    char form[8], kernel[32];
    int architecture = 0, length = 0;
    (void)count, (void)options, (void)values;
    TRY_CURRENT;
    if (sscanf(image, "fake image\n%7[a-z]_%d\n%31[a-z_]\n%n", form, &architecture, kernel, &length) != 3 ||
        length == 0)
        return INVALID_IMAGE;
    if (strcmp(form, "sm") == 0 && architecture != number("capability", 90))
        return NO_BINARY;
    if (strcmp(form, "compute") == 0 && architecture > number("capability", 90))
        return INVALID_PTX;
    const dcs_spec spec = parse_options((const char *)image + length);
    const bool has_symbol = strcmp(kernel, "dcs") == 0 && spec.atoms == LEY_ATOMS_CONSTANT;
    object *o = create(MODULE, current->device, has_symbol ? SYMBOL_BYTES : 0);
    memcpy(o->kernel, kernel, sizeof o->kernel);
    o->spec = spec;
    *module = (CUmodule)o;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    return destroy(MODULE, module, __func__);
}

/* A function is its module: each has one. */
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    TRY_CURRENT;
    object *o = find(MODULE, module);
    if (o == NULL)
        return INVALID_HANDLE;
    if (strcmp(o->kernel, name) != 0)
        return CUDA_ERROR_NOT_FOUND;
    *function = (CUfunction)o;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name)
{
    TRY_CURRENT;
    object *o = find(MODULE, module);
    if (o == NULL)
        return INVALID_HANDLE;
    if (o->bytes == NULL || strcmp(name, "cm_first") != 0)
        return CUDA_ERROR_NOT_FOUND;
    *pointer = (CUdeviceptr)o->bytes;
    *bytes = o->size;
    return CUDA_SUCCESS;
}

/* ---- Streams and events ---------------------------------------------------------------------- */

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    (void)flags;
    TRY_CURRENT;
    *stream = (CUstream)create(STREAM, current->device, 0);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    return destroy(STREAM, stream, __func__);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    TRY_CURRENT;
    wait_for_copies();
    return find(STREAM, stream) != NULL ? CUDA_SUCCESS : INVALID_HANDLE;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    (void)flags;
    TRY_CURRENT;
    wait_for_turn();
    return find(STREAM, stream) != NULL && find(EVENT, event) != NULL ? CUDA_SUCCESS : INVALID_HANDLE;
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    (void)flags;
    TRY_CURRENT;
    *event = (CUevent)create(EVENT, current->device, 0);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event)
{
    return destroy(EVENT, event, __func__);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    TRY_CURRENT;
    object *o = find(EVENT, event);
    if (o == NULL || find(STREAM, stream) == NULL)
        return INVALID_HANDLE;
    o->time_s = now_s(o->device);
    return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event)
{
    TRY_CURRENT;
    wait_for_copies();
    return find(EVENT, event) != NULL ? CUDA_SUCCESS : INVALID_HANDLE;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    TRY_CURRENT;
    const object *from = find(EVENT, start), *to = find(EVENT, end);
    if (from == NULL || to == NULL || from->time_s < 0 || to->time_s < 0)
        return INVALID_HANDLE;
    *ms = (float)(1e3 * (to->time_s - from->time_s));
    return CUDA_SUCCESS;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static int32_t int_at(void **arguments, int i)
{
    int32_t value;
    memcpy(&value, arguments[i], sizeof value);
    return value;
}

static CUdeviceptr pointer_at(void **arguments, int i)
{
    CUdeviceptr value;
    memcpy(&value, arguments[i], sizeof value);
    return value;
}

static double real_at(const void *bytes, bool is_double, size_t i)
{
    float as_float;
    double as_double;
    if (!is_double) {
        memcpy(&as_float, (const char *)bytes + i * sizeof as_float, sizeof as_float);
        return (double)as_float;
    }
    memcpy(&as_double, (const char *)bytes + i * sizeof as_double, sizeof as_double);
    return as_double;
}

/* Where so many of the mesh's steps lead: of oblique meshes those of a shear, too. */
static void place_at(void **arguments, bool is_double, const double cells[3], double place_A[3])
{
    const void *step = arguments[4], *shear = arguments[5];
    for (size_t k = 0; k < 3; k++)
        place_A[k] = cells[k] * real_at(step, is_double, k);
    place_A[0] += cells[1] * real_at(shear, is_double, 0) + cells[2] * real_at(shear, is_double, 1);
    place_A[1] += cells[2] * real_at(shear, is_double, 2);
}

/* The launch's atoms as {x, y, z, q} relative to the grid origin, whichever way they are packed;
 * from constant memory where the kernel reads that, never from the buffer then. */
static CUresult unpack(const object *module, void **arguments, double (**atoms)[4])
{
    const dcs_spec *spec = &module->spec;
    const bool is_double = spec->sum == LEY_SPEC_SUM_DOUBLE, placed = LEY_ATOMS_ARE_PLACED(spec->atoms, spec->sum);
    const size_t first = (size_t)int_at(arguments, 1), count = (size_t)int_at(arguments, 2),
                 bytes = placed || is_double ? 32 : 16;
    const CUdeviceptr start = spec->atoms == LEY_ATOMS_CONSTANT ? (CUdeviceptr)module->bytes : pointer_at(arguments, 0);
    const unsigned char *packed = range(start, (first + count) * bytes);
    double(*a)[4] = packed != NULL ? calloc(count, sizeof *a) : NULL;
    if (a == NULL)
        return ILLEGAL_ADDRESS;
    for (size_t j = 0; j < count; j++) {
        const unsigned char *one = packed + (first + j) * bytes;
        int32_t cell[4] = {0};
        double place_A[3];
        if (placed)
            memcpy(cell, one + 16, sizeof cell);
        place_at(arguments, is_double, (const double[]){cell[0], cell[1], cell[2]}, place_A);
        for (size_t k = 0; k < 4; k++)
            a[j][k] = real_at(one, is_double, k) + (k < 3 ? place_A[k] : 0);
    }
    *atoms = a;
    return CUDA_SUCCESS;
}

static double sum_at(const double point_A[3], double (*atoms)[4], size_t count, double r_min2_A2)
{
    double sum = 0;
    for (size_t j = 0; j < count; j++) {
        const double dx = point_A[0] - atoms[j][0], dy = point_A[1] - atoms[j][1], dz = point_A[2] - atoms[j][2];
        sum += atoms[j][3] / sqrt(fmax(dx * dx + dy * dy + dz * dz, r_min2_A2));
    }
    return sum;
}

static void store(const dcs_spec *spec, unsigned char *phi, size_t at, size_t points, bool accumulate, double value)
{
    float *as_float = (float *)(void *)phi;
    double *as_double = (double *)(void *)phi;
    if (spec->sum == LEY_SPEC_SUM_DOUBLE) {
        as_double[at] = value + (accumulate ? as_double[at] : 0);
        return;
    }
    as_float[at] = (float)(value + (accumulate ? (double)as_float[at] : 0));
    if (spec->sum == LEY_SPEC_SUM_COMPENSATED)
        as_float[points + at] = 0;
}

static CUresult run_dcs(const object *module, const unsigned grid[3], const unsigned block[3], void **arguments)
{
    const dcs_spec *spec = &module->spec;
    const bool is_double = spec->sum == LEY_SPEC_SUM_DOUBLE;
    if (block[0] != (unsigned)spec->wg_x || block[1] != (unsigned)spec->wg_y || block[2] != 1 || spec->width != 1)
        return INVALID_VALUE;
    const size_t n_x = grid[0] * (size_t)(spec->wg_x * spec->ux), n_y = grid[1] * (size_t)(spec->wg_y * spec->uy);
    const size_t points = n_x * n_y * grid[2];
    unsigned char *phi = range(pointer_at(arguments, 7), points * (spec->sum == LEY_SPEC_SUM_FLOAT ? 4 : 8));
    double(*atoms)[4] = NULL;
    CUresult code = phi != NULL ? unpack(module, arguments, &atoms) : ILLEGAL_ADDRESS;
    if (code != CUDA_SUCCESS)
        return code;
    const void *step = arguments[4];
    for (size_t at = 0; at < points; at++) {
        const size_t x = at % n_x, y = at / n_x % n_y, z = (size_t)int_at(arguments, 3) + at / n_x / n_y;
        double point_A[3];
        place_at(arguments, is_double, (const double[]){(double)x, (double)y, (double)z}, point_A);
        store(spec, phi, at, points, int_at(arguments, 6) != 0,
              sum_at(point_A, atoms, (size_t)int_at(arguments, 2), real_at(step, is_double, 3)));
    }
    free(atoms);
    return CUDA_SUCCESS;
}

/* What a kernel of the calibration makes of an input; in has its first two. */
static float chain_step(const char *kernel, const float *in, float x)
{
    return strcmp(kernel, "roots") == 0 ? 1 / sqrtf(x) : strcmp(kernel, "exps") == 0 ? exp2f(-x) : in[0] * x + in[1];
}

/* The calibration's kernels. It checks one step of theirs and times many: one is done, the time for
 * many made up. */
static CUresult run_chains(const object *module, const unsigned grid[3], const unsigned block[3], void **arguments)
{
    const size_t chains = strcmp(module->kernel, "multiply_adds") == 0 ? 16 : 8,
                 n = (size_t)grid[0] * block[0] * chains;
    const float *in = (const float *)(const void *)range(pointer_at(arguments, 0), n * sizeof *in);
    float *out = (float *)(void *)range(pointer_at(arguments, 2), n * sizeof *out);
    if (in == NULL || out == NULL)
        return ILLEGAL_ADDRESS;
    for (size_t i = 0; i < n; i++)
        out[i] = chain_step(module->kernel, in, in[i]);
    pthread_mutex_lock(&mutex);
    ahead_s[module->device] += int_at(arguments, 1) * 1e-6;
    pthread_mutex_unlock(&mutex);
    return CUDA_SUCCESS;
}

static CUresult run_copies(const unsigned grid[3], const unsigned block[3], void **arguments)
{
    const size_t bytes = (size_t)grid[0] * block[0] * (size_t)int_at(arguments, 1) * sizeof(float);
    const unsigned char *in = range(pointer_at(arguments, 0), bytes);
    unsigned char *out = range(pointer_at(arguments, 2), bytes);
    if (in == NULL || out == NULL)
        return ILLEGAL_ADDRESS;
    memcpy(out, in, bytes);
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **arguments,
                        void **extra)
{
    const unsigned grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    (void)shared_bytes, (void)extra;
    TRY_CURRENT;
    const object *module = find(MODULE, function);
    if (module == NULL || find(STREAM, stream) == NULL)
        return INVALID_HANDLE;
    wait_for_turn();
    if (strcmp(module->kernel, "copies") == 0)
        return run_copies(grid, block, arguments);
    if (strcmp(module->kernel, "dcs") != 0)
        return run_chains(module, grid, block, arguments);
    usleep((useconds_t)number("delay_us", 0));
    return run_dcs(module, grid, block, arguments);
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
    *name = result == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
            : result == 719         ? "CUDA_ERROR_LAUNCH_FAILED"
            : result == 999         ? "CUDA_ERROR_UNKNOWN"
                                    : NULL;
    return *name != NULL ? CUDA_SUCCESS : INVALID_VALUE;
}
