/* The device interface on OpenCL 1.2: two in-order queues per device, one for launches and one for
 * reads. */
#include "opencl.h"

#include "../clock.h"
#include "../kernel_kind.h"
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* Page-locked memory is a mapped buffer; on a CPU device plain memory does as well. */
typedef struct cl_staging {
    dev_staging base;
    cl_mem pinned;
} cl_staging;

static cl_dev *cl_of(dev *device)
{
    return (cl_dev *)device;
}

static ley_status event_times(cl_event event, double *start_s, double *end_s, ley_error *error)
{
    cl_ulong start_ns = 0, end_ns = 0;
    CL_TRY(error, clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start_ns, &start_ns, NULL));
    CL_TRY(error, clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end_ns, &end_ns, NULL));
    *start_s = 1e-9 * (double)start_ns;
    *end_s = 1e-9 * (double)end_ns;
    return LEY_OK;
}

/* The values of a blocking write have arrived; its event may be complete, and have its stamps, a
 * little later. It is asked for and not waited for: a driver that hangs would hold up for ever who
 * opens its device. */
static bool completes_soon(cl_event event)
{
    static const double patience_s = 0.05;
    const double begun_s = ley_clock_s();
    cl_int state = CL_QUEUED;
    while (clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) == CL_SUCCESS &&
           state > CL_COMPLETE && ley_clock_s() < begun_s + patience_s)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    return state == CL_COMPLETE;
}

/* When a small write ends, by the host's clock and by the device's stamps; a device time of 0 where
 * it gives none. */
static ley_status stamp(cl_dev *d, cl_mem buffer, double *host_s, double *device_s, ley_error *error)
{
    static const float zero[16]; /* there for ever: a driver that fails may not have waited */
    cl_event event = NULL;
    double start_s = 0;
    CL_TRY(error, clEnqueueWriteBuffer(d->queues[LANE_LAUNCH], buffer, CL_TRUE, 0, sizeof zero, zero, 0, NULL, &event));
    *host_s = ley_clock_s();
    if (!completes_soon(event) || event_times(event, &start_s, device_s, NULL) != LEY_OK || *device_s < start_s)
        *device_s = 0;
    clReleaseEvent(event);
    return LEY_OK;
}

/* Whether both clocks advance alike between two writes, so far apart. */
static ley_status compare_once(cl_dev *d, cl_mem buffer, long apart_ns, ley_error *error)
{
    double host_s[2] = {0, 0}, device_s[2] = {0, 0};
    ley_status status = stamp(d, buffer, &host_s[0], &device_s[0], error);
    if (status == LEY_OK) {
        nanosleep(&(struct timespec){.tv_nsec = apart_ns}, NULL);
        status = stamp(d, buffer, &host_s[1], &device_s[1], error);
    }
    const double advance = (device_s[1] - device_s[0]) / (host_s[1] - host_s[0]);
    d->base.has_timestamps = device_s[0] > 0 && advance > 0.5 && advance < 2;
    d->clock_offset_s = host_s[1] - device_s[1];
    return status;
}

/* Measures, rather than believes, that the device stamps its events, and how far its clock is from
 * the host's. Some drivers answer with zeros, others with small constants. Where others use the
 * cores, this thread may come back from a write much later than that ended: it tries again, further
 * apart, before it says that there are no stamps. Launches would then be timed by when the host
 * waits for them, and one that ended beside another one would seem to take no time. */
static ley_status compare_clocks(cl_dev *d, ley_error *error)
{
    enum { TRIES = 4 };
    cl_int code;
    cl_mem buffer = NULL;
    long apart_ns = 2000000;
    ley_status status = CL_MADE(error, code, buffer, clCreateBuffer(d->context, CL_MEM_READ_WRITE, 64, NULL, &code));
    if (status != LEY_OK)
        return status;
    for (int i = 0; i < TRIES && status == LEY_OK && !d->base.has_timestamps; i++, apart_ns *= 2)
        status = compare_once(d, buffer, apart_ns, error);
    clReleaseMemObject(buffer);
    return status;
}

static void free_staging(cl_dev *d, cl_staging *s)
{
    if (s->pinned == NULL)
        free(s->base.bytes);
    else {
        if (s->base.bytes != NULL &&
            clEnqueueUnmapMemObject(d->queues[LANE_READ], s->pinned, s->base.bytes, 0, NULL, NULL) == CL_SUCCESS)
            cl_settled(d);
        if (!d->base.is_lost)
            clReleaseMemObject(s->pinned);
    }
    free(s);
}

/* The driver keeps a buffer until the commands that use it have ended. */
static void cl_buffer_destroy(dev *device, dev_buffer *buffer)
{
    if (buffer != NULL && !device->is_lost)
        clReleaseMemObject((cl_mem)buffer);
}

static void cl_close(dev *device)
{
    cl_dev *d = cl_of(device);
    if (d == NULL)
        return;
    if (!cl_settled(d)) {
        dev_keep(d);
        return;
    }
    for (dev_staging *s; (s = staging_pool_empty(&d->base.spare)) != NULL;)
        free_staging(d, (cl_staging *)s);
    for (kept_buffer one; (one = kept_buffers_drop(&d->base.kept)).buffer != NULL;)
        cl_buffer_destroy(device, one.buffer);
    for (kept_program one; (one = kept_programs_drop(&d->base.programs)).program != NULL;)
        cl_program_destroy(device, one.program);
    for (int lane = 0; lane < LANE_COUNT; lane++)
        if (d->queues[lane] != NULL)
            clReleaseCommandQueue(d->queues[lane]);
    if (d->context != NULL)
        clReleaseContext(d->context);
    free(d);
}

static ley_status open_into(cl_dev *d, ley_error *error)
{
    cl_int code;
    ley_status status = CL_MADE(error, code, d->context, clCreateContext(NULL, 1, &d->id, NULL, NULL, &code));
    for (int lane = 0; lane < LANE_COUNT && status == LEY_OK; lane++)
        status = CL_MADE(error, code, d->queues[lane],
                         clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &code));
    return status == LEY_OK ? compare_clocks(d, error) : status;
}

static ley_status cl_open(const dev_info *info, dev **device, ley_error *error)
{
    cl_dev *d = calloc(1, sizeof *d);
    if (d == NULL)
        return ley_fail_memory(error, sizeof *d, "a device");
    d->base = (dev){.backend = &dev_opencl, .info = info};
    d->id = info->handle;
    ley_status status = open_into(d, error);
    if (status != LEY_OK) {
        cl_close(&d->base);
        return status;
    }
    *device = &d->base;
    return LEY_OK;
}

/* A dev_buffer is a cl_mem under another name: there is nothing to add to it. */
static ley_status cl_buffer_create(dev *device, size_t bytes, dev_access access, dev_buffer **buffer, ley_error *error)
{
    cl_int code;
    cl_mem made;
    cl_mem_flags flags = access == DEV_READ_ONLY ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
    ley_status status = CL_MADE(error, code, made, clCreateBuffer(cl_of(device)->context, flags, bytes, NULL, &code));
    if (status != LEY_OK) {
        ley_error_prefix(error, "%s", ley_size((double)bytes).s);
        return status;
    }
    *buffer = (dev_buffer *)made;
    return LEY_OK;
}

static void cl_staging_destroy(dev *device, dev_staging *staging)
{
    cl_dev *d = cl_of(device);
    if (staging == NULL)
        return;
    if (!cl_settled(d))
        dev_keep(staging);
    else if (staging->bytes == NULL || !staging_pool_keep(&d->base.spare, staging))
        free_staging(d, (cl_staging *)staging);
}

static ley_status staging_into(cl_dev *d, cl_staging *s, ley_error *error)
{
    cl_int code;
    if (d->base.info->device_class == DEV_CPU) {
        s->base.bytes = malloc(s->base.size);
        return s->base.bytes != NULL ? LEY_OK : ley_fail_memory(error, s->base.size, "staging");
    }
    ley_status status =
        CL_MADE(error, code, s->pinned,
                clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, s->base.size, NULL, &code));
    if (status == LEY_OK)
        status = CL_MADE(error, code, s->base.bytes,
                         clEnqueueMapBuffer(d->queues[LANE_READ], s->pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                            s->base.size, 0, NULL, NULL, &code));
    return status;
}

static ley_status cl_staging_create(dev *device, size_t bytes, dev_staging **staging, ley_error *error)
{
    *staging = staging_pool_take(&device->spare, bytes);
    if (*staging != NULL)
        return LEY_OK;
    cl_staging *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "staging");
    s->base.size = bytes;
    ley_status status = staging_into(cl_of(device), s, error);
    if (status != LEY_OK) {
        cl_staging_destroy(device, &s->base);
        return status;
    }
    *staging = &s->base;
    return LEY_OK;
}

static ley_status cl_write(dev *device, dev_buffer *buffer, size_t offset, const void *bytes, size_t size,
                           ley_error *error)
{
    cl_dev *d = cl_of(device);
    const cl_int code =
        clEnqueueWriteBuffer(d->queues[LANE_LAUNCH], (cl_mem)buffer, CL_TRUE, offset, size, bytes, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        return LEY_OK;
    cl_settled(d); /* the driver may have failed without waiting */
    return cl_fail(error, code, "clEnqueueWriteBuffer(d->queues[LANE_LAUNCH], ...)", __FILE__, __LINE__);
}

static dev_event *event_create(int lane)
{
    dev_event *event = calloc(1, sizeof *event);
    if (event != NULL) {
        event->lane = lane;
        event->submitted_s = ley_clock_s();
    }
    return event;
}

/* Sends the lane's work off; on failure of it or of what came before, ends the event. Without an
 * event, whoever needs what was begun has one behind it, and sends both off. */
static ley_status submit(cl_dev *d, dev_event *event, cl_int code, const char *call, int line, dev_event **done,
                         ley_error *error)
{
    if (event != NULL && code == CL_SUCCESS && (code = clFlush(d->queues[event->lane])) != CL_SUCCESS) {
        call = "clFlush(d->queues[event->lane])";
        clReleaseEvent(event->event);
    }
    if (code != CL_SUCCESS) {
        free(event);
        return cl_fail(error, code, call, __FILE__, line);
    }
    if (done != NULL)
        *done = event;
    return LEY_OK;
}

static ley_status cl_send(dev *device, dev_buffer *buffer, size_t offset, const dev_staging *staging, size_t from,
                          size_t size, dev_event **done, ley_error *error)
{
    cl_dev *d = cl_of(device);
    dev_event *event = event_create(LANE_LAUNCH);
    if (event == NULL)
        return ley_fail_memory(error, sizeof *event, "an event");
    cl_int code = clEnqueueWriteBuffer(d->queues[LANE_LAUNCH], (cl_mem)buffer, CL_FALSE, offset, size,
                                       (const char *)staging->bytes + from, 0, NULL, &event->event);
    return submit(d, event, code, "clEnqueueWriteBuffer(d->queues[LANE_LAUNCH], ...)", __LINE__, done, error);
}

static ley_status cl_fill(dev *device, dev_buffer *buffer, size_t offset, uint32_t pattern, size_t bytes,
                          dev_event **done, ley_error *error)
{
    cl_dev *d = cl_of(device);
    dev_event *event = done != NULL ? event_create(LANE_LAUNCH) : NULL;
    if (event == NULL && done != NULL)
        return ley_fail_memory(error, sizeof *event, "an event");
    cl_int code = clEnqueueFillBuffer(d->queues[LANE_LAUNCH], (cl_mem)buffer, &pattern, sizeof pattern, offset, bytes,
                                      0, NULL, event != NULL ? &event->event : NULL);
    return submit(d, event, code, "clEnqueueFillBuffer(d->queues[LANE_LAUNCH], ...)", __LINE__, done, error);
}

static ley_status cl_copy(dev *device, dev_buffer *to, size_t to_offset, dev_buffer *from, size_t from_offset,
                          size_t bytes, dev_event **done, ley_error *error)
{
    cl_dev *d = cl_of(device);
    dev_event *event = done != NULL ? event_create(LANE_LAUNCH) : NULL;
    if (event == NULL && done != NULL)
        return ley_fail_memory(error, sizeof *event, "an event");
    cl_int code = clEnqueueCopyBuffer(d->queues[LANE_LAUNCH], (cl_mem)from, (cl_mem)to, from_offset, to_offset, bytes,
                                      0, NULL, event != NULL ? &event->event : NULL);
    return submit(d, event, code, "clEnqueueCopyBuffer(d->queues[LANE_LAUNCH], ...)", __LINE__, done, error);
}

static ley_status cl_read(dev *device, dev_buffer *buffer, size_t offset, dev_staging *staging, size_t size,
                          dev_event *after, dev_event **done, ley_error *error)
{
    cl_dev *d = cl_of(device);
    dev_event *event = event_create(LANE_READ);
    if (event == NULL)
        return ley_fail_memory(error, sizeof *event, "an event");
    cl_int code = clEnqueueReadBuffer(d->queues[LANE_READ], (cl_mem)buffer, CL_FALSE, offset, size, staging->bytes,
                                      after != NULL ? 1 : 0, after != NULL ? &after->event : NULL, &event->event);
    return submit(d, event, code, "clEnqueueReadBuffer(d->queues[LANE_READ], ...)", __LINE__, done, error);
}

static ley_status set_arguments(cl_kernel kernel, const dev_launch *launch, ley_error *error)
{
    for (size_t i = 0; i < launch->argument_count; i++) {
        const dev_argument *a = &launch->arguments[i];
        const void *value = a->buffer != NULL ? (const void *)&a->buffer : a->value;
        cl_int code = clSetKernelArg(kernel, (cl_uint)i, a->size, value);
        if (code != CL_SUCCESS) {
            cl_fail(error, code, "clSetKernelArg(kernel, i, a->size, value)", __FILE__, __LINE__);
            ley_error_prefix(error, "argument %zu", i);
            return LEY_ERROR_DEVICE;
        }
    }
    return LEY_OK;
}

static ley_status cl_launch(dev *device, const dev_launch *launch, dev_event **done, ley_error *error)
{
    cl_dev *d = cl_of(device);
    ley_status status = kernel_check_launch(launch->program->kind, launch->program->is_double, launch, error);
    if (status == LEY_OK)
        status = set_arguments(launch->program->kernel, launch, error);
    if (status != LEY_OK)
        return status;
    size_t global[3];
    for (int axis = 0; axis < 3; axis++)
        global[axis] = launch->groups[axis] * launch->group_size[axis];
    dev_event *event = event_create(LANE_LAUNCH);
    if (event == NULL)
        return ley_fail_memory(error, sizeof *event, "an event");
    cl_int code = clEnqueueNDRangeKernel(d->queues[LANE_LAUNCH], launch->program->kernel, 3, NULL, global,
                                         launch->group_size, 0, NULL, &event->event);
    return submit(d, event, code, "clEnqueueNDRangeKernel(d->queues[LANE_LAUNCH], ...)", __LINE__, done, error);
}

/* Where the device does not stamp its events, an operation began when it was submitted or when its
 * lane came free; a read also not before the kernels that have been waited for. */
static void times_of(cl_dev *d, const dev_event *event, dev_times *times)
{
    double before_s, start_s, end_s;
    times->end_s = ley_clock_s();
    times->start_s = fmax(event->submitted_s, d->last_end_s[event->lane]);
    if (event->lane == LANE_READ)
        times->start_s = fmax(times->start_s, d->last_end_s[LANE_LAUNCH]);
    d->last_end_s[event->lane] = times->end_s;
    if (!d->base.has_timestamps || event_times(event->event, &start_s, &end_s, NULL) != LEY_OK || end_s < start_s)
        return;
    if (event->before != NULL && event_times(event->before, &before_s, &start_s, NULL) != LEY_OK)
        return;
    *times = (dev_times){start_s + d->clock_offset_s, end_s + d->clock_offset_s};
}

static void event_free(dev_event *event)
{
    if (event->before != NULL)
        clReleaseEvent(event->before);
    clReleaseEvent(event->event);
    free(event);
}

static ley_status cl_wait(dev *device, dev_event *event, dev_times *times, ley_error *error)
{
    cl_int code = clWaitForEvents(1, &event->event), run_code = CL_COMPLETE;
    ley_status status = LEY_OK;
    if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST &&
        clGetEventInfo(event->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof run_code, &run_code, NULL) ==
            CL_SUCCESS &&
        run_code < 0)
        code = run_code;
    if (code != CL_SUCCESS)
        status = cl_fail(error, code, "clWaitForEvents(1, &event->event)", __FILE__, __LINE__);
    else if (times != NULL)
        times_of(cl_of(device), event, times);
    event_free(event);
    return status;
}

static void cl_forget(dev *device, dev_event *event)
{
    (void)device;
    event_free(event);
}

const dev_backend dev_opencl = {
    .name = "opencl",
    .source_suffix = "cl",
    .common_options = CL_COMMON_OPTIONS,
    .probe = cl_probe,
    .open = cl_open,
    .close = cl_close,
    .buffer_create = cl_buffer_create,
    .buffer_destroy = cl_buffer_destroy,
    .staging_create = cl_staging_create,
    .staging_destroy = cl_staging_destroy,
    .write = cl_write,
    .send = cl_send,
    .fill = cl_fill,
    .copy = cl_copy,
    .read = cl_read,
    .builds_at_once = true, /* the standard says so */
    .build = cl_build,
    .build_apart = cl_build_apart,
    .program_binary = cl_program_binary,
    .program_destroy = cl_program_destroy,
    .program_log = cl_program_log,
    .launch = cl_launch,
    .wait = cl_wait,
    .forget = cl_forget,
    .replay = cl_replay,
    .fft_library = cl_fft_library_at,
    .fft_plan = cl_fft_plan,
    .fft_keep = cl_fft_keep,
    .fft_run = cl_fft_run,
    .fft_end = cl_fft_end,
};
