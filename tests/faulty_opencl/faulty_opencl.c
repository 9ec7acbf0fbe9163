/* OpenCL with faults on demand, to be loaded before the real one (LD_PRELOAD): it stands over the
 * functions that leyden calls, passes them on, and at the n-th call of one of them does what
 * FAULTY_OPENCL says:
 *
 *     call=clWaitForEvents,at=3,fault=early,device=0,ever=1,drag_ms=100
 *
 *     device   the calls of this device count, in the order in which devices were found; -1, the
 *              default: of all
 *     ever     the fault stays from then on
 *     card     1: devices say that they are GPUs
 *     drag_ms  copies of this device that do not block begin so much later
 *     fault    fail     an error, and nothing is done
 *              early    it is begun, and an error comes at once, without waiting for it
 *              skip     success, and nothing is done; objects are NULL, events have ended
 *              hang     it never returns
 *              never    it is begun, and never ends
 *              delay    it takes half a second longer, or delay_ms
 *              signals  handlers of signals are put in place that end the process at once, with
 *                       exit code 99
 *              zero, scale, slight, nan, garbage    what is read is 0, twice as much, 1.001 times
 *                                                   as much, no number, or random
 *
 * When the fault has struck, the file that FAULTY_OPENCL_SAYS names is there. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define FAULT_VARIABLE "FAULTY_OPENCL"
#include "../fault_settings.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC visibility push(default)

enum { MOST_DEVICES = 64 };
static const cl_int error_code = CL_OUT_OF_RESOURCES;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static cl_device_id devices[MOST_DEVICES];
static cl_uint device_count;
static int calls;

/* ---- Settings -------------------------------------------------------------------------------- */

static int is_named(const char *key, const char *name)
{
    const char *text = setting(key);
    const size_t length = strlen(name);
    return text != NULL && strncmp(text, name, length) == 0 && (text[length] == ',' || text[length] == '\0');
}

static int is_faulty(cl_device_id device)
{
    const int only = number("device", -1);
    return only < 0 || device == NULL || ((cl_uint)only < device_count && devices[only] == device);
}

static void on_signal(int number)
{
    (void)number;
    _exit(99);
}

static void take_signals(void)
{
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGHUP, on_signal);
}

/* Whether the fault strikes in this call. */
static int strikes(const char *call, cl_device_id device)
{
    if (!is_named("call", call) || !is_faulty(device))
        return 0;
    pthread_mutex_lock(&mutex);
    const int count = ++calls, at = number("at", 1);
    pthread_mutex_unlock(&mutex);
    if (count != at && !(number("ever", 0) && count > at))
        return 0;
    const char *path = getenv("FAULTY_OPENCL_SAYS");
    if (path != NULL)
        close(open(path, O_CREAT | O_WRONLY, 0600));
    while (is_named("fault", "hang"))
        pause();
    if (is_named("fault", "delay"))
        usleep((useconds_t)number("delay_ms", 500) * 1000);
    if (is_named("fault", "signals"))
        take_signals();
    return 1;
}

static int is_fault(int strikes_now, const char *fault)
{
    return strikes_now && is_named("fault", fault);
}

/* The real function behind this one. */
static void *real_of(const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    if (address == NULL) {
        fprintf(stderr, "no %s\n", name);
        abort();
    }
    return address;
}

/* ---- Whose an object is ---------------------------------------------------------------------- */

static cl_device_id of_context(cl_context context)
{
    cl_device_id id = NULL;
    if (context != NULL)
        clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof id, &id, NULL);
    return id;
}

static cl_device_id of_queue(cl_command_queue queue)
{
    cl_device_id id = NULL;
    if (queue != NULL)
        clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
    return id;
}

static cl_context context_of_queue(cl_command_queue queue)
{
    cl_context context = NULL;
    clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    return context;
}

static cl_device_id of_memory(cl_mem memory)
{
    cl_context context = NULL;
    if (memory != NULL)
        clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    return of_context(context);
}

static cl_device_id of_kernel(cl_kernel kernel)
{
    cl_context context = NULL;
    if (kernel != NULL)
        clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof context, &context, NULL);
    return of_context(context);
}

/* Two of the functions below are asked here, too: the real ones. */
static cl_int real_program_info(cl_program program, cl_program_info what, size_t size, void *value, size_t *needed)
{
    cl_int (*real)(cl_program, cl_program_info, size_t, void *, size_t *);
    void *address = real_of("clGetProgramInfo");
    memcpy(&real, &address, sizeof real);
    return real(program, what, size, value, needed);
}

static cl_device_id of_program(cl_program program)
{
    cl_context context = NULL;
    if (program != NULL)
        real_program_info(program, CL_PROGRAM_CONTEXT, sizeof context, &context, NULL);
    return of_context(context);
}

static cl_device_id of_event(cl_event event)
{
    cl_int (*real)(cl_event, cl_event_info, size_t, void *, size_t *);
    void *address = real_of("clGetEventInfo");
    cl_context context = NULL;
    memcpy(&real, &address, sizeof real);
    if (event != NULL)
        real(event, CL_EVENT_CONTEXT, sizeof context, &context, NULL);
    return of_context(context);
}

/* ---- Calls that return a status -------------------------------------------------------------- */

/* A function over the real one of the same name. */
#define REAL(name) \
    __typeof__(&name) real; \
    void *address_ = real_of(#name); \
    memcpy(&real, &address_, sizeof real)

#define STATUS(name, owner, parameters, arguments) \
    cl_int name parameters \
    { \
        REAL(name); \
        const int now = strikes(#name, owner); \
        if (is_fault(now, "fail")) \
            return error_code; \
        if (is_fault(now, "skip")) \
            return CL_SUCCESS; \
        const cl_int code = real arguments; \
        return is_fault(now, "early") ? error_code : code; \
    }

/* Calls that wait: `early` does not. */
#define WAITING(name, owner, parameters, arguments) \
    cl_int name parameters \
    { \
        REAL(name); \
        const int now = strikes(#name, owner); \
        if (is_fault(now, "fail") || is_fault(now, "early")) \
            return error_code; \
        return is_fault(now, "skip") ? CL_SUCCESS : real arguments; \
    }

STATUS(clGetPlatformIDs, NULL, (cl_uint most, cl_platform_id *ids, cl_uint *count), (most, ids, count))
STATUS(clGetPlatformInfo, NULL, (cl_platform_id id, cl_platform_info what, size_t size, void *value, size_t *needed),
       (id, what, size, value, needed))
STATUS(clGetEventInfo, of_event(event), (cl_event event, cl_event_info what, size_t size, void *value, size_t *needed),
       (event, what, size, value, needed))
STATUS(clGetEventProfilingInfo, of_event(event),
       (cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed),
       (event, what, size, value, needed))
STATUS(clGetProgramBuildInfo, id,
       (cl_program program, cl_device_id id, cl_program_build_info what, size_t size, void *value, size_t *needed),
       (program, id, what, size, value, needed))
STATUS(clGetProgramInfo, of_program(program),
       (cl_program program, cl_program_info what, size_t size, void *value, size_t *needed),
       (program, what, size, value, needed))
STATUS(clBuildProgram, of_program(program),
       (cl_program program, cl_uint count, const cl_device_id *ids, const char *options,
        void(CL_CALLBACK *done)(cl_program, void *), void *context),
       (program, count, ids, options, done, context))
STATUS(clSetKernelArg, of_kernel(kernel), (cl_kernel kernel, cl_uint i, size_t size, const void *value),
       (kernel, i, size, value))
STATUS(clFlush, of_queue(queue), (cl_command_queue queue), (queue))
STATUS(clReleaseCommandQueue, of_queue(queue), (cl_command_queue queue), (queue))
STATUS(clReleaseContext, of_context(context), (cl_context context), (context))
STATUS(clReleaseEvent, of_event(event), (cl_event event), (event))
STATUS(clReleaseKernel, of_kernel(kernel), (cl_kernel kernel), (kernel))
STATUS(clReleaseMemObject, of_memory(memory), (cl_mem memory), (memory))
STATUS(clReleaseProgram, of_program(program), (cl_program program), (program))
WAITING(clFinish, of_queue(queue), (cl_command_queue queue), (queue))
WAITING(clWaitForEvents, count > 0 ? of_event(events[0]) : NULL, (cl_uint count, const cl_event *events),
        (count, events))

cl_int clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t size, void *value, size_t *needed)
{
    REAL(clGetDeviceInfo);
    const int now = strikes(__func__, id);
    if (is_fault(now, "fail"))
        return error_code;
    if (is_fault(now, "skip"))
        return CL_SUCCESS;
    const cl_int code = real(id, what, size, value, needed);
    if (what == CL_DEVICE_TYPE && value != NULL && number("card", 0))
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    return is_fault(now, "early") ? error_code : code;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint most, cl_device_id *ids, cl_uint *count)
{
    REAL(clGetDeviceIDs);
    const int now = strikes(__func__, NULL);
    if (is_fault(now, "fail"))
        return error_code;
    if (is_fault(now, "skip"))
        return CL_SUCCESS;
    const cl_int code = real(platform, type, most, ids, count);
    pthread_mutex_lock(&mutex);
    for (cl_uint i = 0;
         code == CL_SUCCESS && ids != NULL && count != NULL && i < *count && i < most && device_count < MOST_DEVICES;
         i++)
        devices[device_count++] = ids[i];
    pthread_mutex_unlock(&mutex);
    return is_fault(now, "early") ? error_code : code;
}

/* ---- Calls that make an object --------------------------------------------------------------- */

#define MAKING(type, name, owner, parameters, arguments) \
    type name parameters \
    { \
        REAL(name); \
        const int now = strikes(#name, owner), begun = is_fault(now, "early"); \
        if (begun) \
            real arguments; \
        if (begun || is_fault(now, "fail") || is_fault(now, "skip")) { \
            if (code != NULL) \
                *code = is_fault(now, "skip") ? CL_SUCCESS : error_code; \
            return NULL; \
        } \
        return real arguments; \
    }

MAKING(cl_context, clCreateContext, ids[0],
       (const cl_context_properties *properties, cl_uint count, const cl_device_id *ids,
        void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *context, cl_int *code),
       (properties, count, ids, notify, context, code))
MAKING(cl_command_queue, clCreateCommandQueue, id,
       (cl_context context, cl_device_id id, cl_command_queue_properties properties, cl_int *code),
       (context, id, properties, code))
MAKING(cl_mem, clCreateBuffer, of_context(context),
       (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code),
       (context, flags, size, host, code))
MAKING(cl_program, clCreateProgramWithSource, of_context(context),
       (cl_context context, cl_uint count, const char **texts, const size_t *lengths, cl_int *code),
       (context, count, texts, lengths, code))
MAKING(cl_program, clCreateProgramWithBinary, of_context(context),
       (cl_context context, cl_uint count, const cl_device_id *ids, const size_t *lengths,
        const unsigned char **binaries, cl_int *codes, cl_int *code),
       (context, count, ids, lengths, binaries, codes, code))
MAKING(cl_kernel, clCreateKernel, of_program(program), (cl_program program, const char *name, cl_int *code),
       (program, name, code))
MAKING(void *, clEnqueueMapBuffer, of_queue(queue),
       (cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags, size_t offset, size_t size,
        cl_uint count, const cl_event *after, cl_event *event, cl_int *code),
       (queue, memory, blocking, flags, offset, size, count, after, event, code))

/* ---- Commands -------------------------------------------------------------------------------- */

static void *end_later(void *context)
{
    usleep((useconds_t)number("drag_ms", 0) * 1000);
    clSetUserEventStatus(context, CL_COMPLETE);
    return NULL;
}

/* What a command is to wait for beside what its caller says. */
typedef struct waiting {
    cl_event list[8];
    cl_uint count;
} waiting;

static waiting wait_for(cl_command_queue queue, cl_uint count, const cl_event *after, int now, int is_copy)
{
    waiting w = {.count = count};
    const int never = is_fault(now, "never"), drags = is_copy && number("drag_ms", 0) > 0 && is_faulty(of_queue(queue));
    for (cl_uint i = 0; i < count; i++)
        w.list[i] = after[i];
    if (never || drags) {
        cl_event gate = clCreateUserEvent(context_of_queue(queue), NULL);
        pthread_t thread;
        w.list[w.count++] = gate;
        if (!never && pthread_create(&thread, NULL, end_later, gate) == 0)
            pthread_detach(thread);
    }
    return w;
}

/* Instead of a command that is left out. */
static cl_int ended(cl_command_queue queue, cl_event *event)
{
    if (event != NULL) {
        *event = clCreateUserEvent(context_of_queue(queue), NULL);
        clSetUserEventStatus(*event, CL_COMPLETE);
    }
    return CL_SUCCESS;
}

#define COMMAND(now, is_copy, ...) \
    if (is_fault(now, "fail")) \
        return error_code; \
    if (is_fault(now, "skip")) \
        return ended(queue, event); \
    const waiting w = wait_for(queue, count, after, now, is_copy); \
    const cl_event *const list = w.count > 0 ? w.list : NULL; \
    const cl_int code = real(__VA_ARGS__); \
    return is_fault(now, "early") ? error_code : code

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint axes, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint count, const cl_event *after,
                              cl_event *event)
{
    REAL(clEnqueueNDRangeKernel);
    const int now = strikes(__func__, of_queue(queue));
    COMMAND(now, 0, queue, kernel, axes, offset, global, local, w.count, list, event);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern, size_t pattern_size,
                           size_t offset, size_t size, cl_uint count, const cl_event *after, cl_event *event)
{
    REAL(clEnqueueFillBuffer);
    const int now = strikes(__func__, of_queue(queue));
    COMMAND(now, 0, queue, memory, pattern, pattern_size, offset, size, w.count, list, event);
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                           size_t size, cl_uint count, const cl_event *after, cl_event *event)
{
    REAL(clEnqueueCopyBuffer);
    const int now = strikes(__func__, of_queue(queue));
    COMMAND(now, 0, queue, from, to, from_offset, to_offset, size, w.count, list, event);
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *mapped, cl_uint count,
                               const cl_event *after, cl_event *event)
{
    REAL(clEnqueueUnmapMemObject);
    const int now = strikes(__func__, of_queue(queue));
    COMMAND(now, 0, queue, memory, mapped, w.count, list, event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t size,
                            const void *bytes, cl_uint count, const cl_event *after, cl_event *event)
{
    REAL(clEnqueueWriteBuffer);
    const int now = strikes(__func__, of_queue(queue)), early = is_fault(now, "early");
    COMMAND(now, early || !blocking, queue, memory, early ? CL_FALSE : blocking, offset, size, bytes, w.count, list,
            event);
}

cl_int clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *), void *arguments, size_t size,
                             cl_uint memories, const cl_mem *memory, const void **places, cl_uint count,
                             const cl_event *after, cl_event *event)
{
    REAL(clEnqueueNativeKernel);
    const int now = strikes(__func__, of_queue(queue));
    COMMAND(now, 0, queue, function, arguments, size, memories, memory, places, w.count, list, event);
}

static int spoils(void)
{
    static const char *const faults[] = {"zero", "scale", "slight", "nan", "garbage"};
    for (int i = 0; i < 5; i++)
        if (is_named("fault", faults[i]))
            return 1;
    return 0;
}

static void spoil(void *bytes, size_t size)
{
    float *values = bytes;
    uint32_t random = 1;
    for (size_t i = 0; i < size / sizeof *values; i++) {
        random = random * 1664525 + 1013904223;
        if (is_named("fault", "zero"))
            values[i] = 0;
        else if (is_named("fault", "scale"))
            values[i] *= 2;
        else if (is_named("fault", "slight"))
            values[i] *= 1.001f;
        else
            memcpy(&values[i], is_named("fault", "nan") ? &(uint32_t){0x7fc00000} : &random, sizeof *values);
    }
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t size,
                           void *bytes, cl_uint count, const cl_event *after, cl_event *event)
{
    REAL(clEnqueueReadBuffer);
    const int now = strikes(__func__, of_queue(queue));
    if (now && spoils()) {
        const cl_int code = real(queue, memory, CL_TRUE, offset, size, bytes, count, after, event);
        spoil(bytes, size);
        return code;
    }
    COMMAND(now, 1, queue, memory, blocking, offset, size, bytes, w.count, list, event);
}
