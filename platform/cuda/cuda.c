/* The device interface on the CUDA driver API: two streams per device, one for launches and one for
 * reads. */
#include "cuda.h"

#include "../clock.h"
#include "../kernel_kind.h"
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dev_buffer {
    CUdeviceptr pointer;
    size_t size, taken; /* bytes that were asked for, and of memory */
};

struct dev_event {
    CUevent start, end;
};

static cuda_dev *cuda_of(dev *device)
{
    return (cuda_dev *)device;
}

/* Makes the device's context the calling thread's: contexts belong to threads, devices here to
 * whoever uses them. */
static ley_status enter(cuda_dev *d, ley_error *error)
{
    if (d->api->context_set_current != NULL)
        CUDA_TRY(d->api, error, d->api->context_set_current(d->context));
    return LEY_OK;
}

static ley_status synchronise(cuda_dev *d, CUstream stream, ley_error *error)
{
    CUDA_TRY(d->api, error, d->api->stream_synchronize(stream));
    return LEY_OK;
}

/* Waits until nothing that was given to the device is in use any more, whatever single calls said
 * of it. Where even that fails, the driver may go on writing to what it was given: the device is
 * lost, and nothing of its is freed. */
static ley_status settle(cuda_dev *d, ley_error *error)
{
    ley_status status = enter(d, error);
    for (int lane = 0; lane < LANE_COUNT && status == LEY_OK; lane++)
        if (d->streams[lane] != NULL)
            status = synchronise(d, d->streams[lane], error);
    return status;
}

static bool settled(cuda_dev *d)
{
    ley_error error = {.status = LEY_OK};
    bool done = false;
    for (int again = 0; again < 2 && !d->base.is_lost && !done; again++)
        done = settle(d, &error) == LEY_OK;
    if (!done && !d->base.is_lost)
        snprintf(d->base.lost_by, sizeof d->base.lost_by, "%.255s", error.message);
    d->base.is_lost = d->base.is_lost || !done;
    ley_error_clear(&error);
    return done;
}

static CUdevice device_of(const cuda_dev *d)
{
    return (CUdevice)(intptr_t)d->base.info->handle;
}

static void free_staging(cuda_dev *d, dev_staging *staging)
{
    d->api->host_free(staging->bytes);
    free(staging);
}

/* Memory that is kept for buffers to come goes back to the driver. Returns whether there was
 * any. */
static bool free_spare(cuda_dev *d)
{
    const bool has_any = d->memory.count > 0;
    for (spare_memory s; (s = buffer_pool_drop(&d->memory)).address != 0;)
        d->api->memory_free(s.address);
    return has_any;
}

static void cuda_buffer_destroy(dev *device, dev_buffer *buffer)
{
    cuda_dev *d = cuda_of(device);
    if (buffer == NULL)
        return;
    if (!settled(d)) {
        dev_keep(buffer);
        return;
    }
    const spare_memory spare = {buffer->pointer, buffer->taken};
    const uint64_t all = device->info->global_bytes;
    while (buffer_pool_is_full(&d->memory, all, spare.bytes))
        d->api->memory_free(buffer_pool_drop(&d->memory).address);
    if (!buffer_pool_keep(&d->memory, all, spare))
        d->api->memory_free(buffer->pointer);
    free(buffer);
}

static void cuda_program_destroy(dev *device, dev_program *program)
{
    if (settled(cuda_of(device)))
        cuda_program_free(cuda_of(device), program);
    else
        dev_keep(program);
}

static void cuda_close(dev *device)
{
    cuda_dev *d = cuda_of(device);
    if (d == NULL)
        return;
    const cuda_driver *api = d->api;
    if (d->context != NULL && !settled(d)) {
        dev_keep(d);
        return;
    }
    if (d->context != NULL) {
        for (dev_staging *s; (s = staging_pool_empty(&d->base.spare)) != NULL;)
            free_staging(d, s);
        for (kept_buffer one; (one = kept_buffers_drop(&d->base.kept)).buffer != NULL;)
            cuda_buffer_destroy(device, one.buffer);
        for (kept_program one; (one = kept_programs_drop(&d->base.programs)).program != NULL;)
            cuda_program_destroy(device, one.program);
        free_spare(d);
        for (int lane = 0; lane < LANE_COUNT; lane++)
            if (d->streams[lane] != NULL)
                api->stream_destroy(d->streams[lane]);
        while (d->spare_event_count > 0)
            api->event_destroy(d->spare_events[--d->spare_event_count]);
        if (d->origin != NULL)
            api->event_destroy(d->origin);
        if (d->is_primary)
            api->primary_release(device_of(d));
        else
            api->context_destroy(d->context);
    }
    free(d);
}

/* The card's primary context, which libraries on the CUDA runtime share; of drivers before CUDA 7,
 * which have no way to it, one of its own. */
static ley_status open_context(cuda_dev *d, ley_error *error)
{
    const cuda_driver *api = d->api;
    if (api->primary_retain == NULL || api->primary_release == NULL || api->context_set_current == NULL) {
        CUDA_TRY(api, error, api->context_create(&d->context, 0, device_of(d)));
        return LEY_OK;
    }
    CUDA_TRY(api, error, api->primary_retain(&d->context, device_of(d)));
    d->is_primary = true;
    return enter(d, error);
}

static ley_status open_into(cuda_dev *d, ley_error *error)
{
    const cuda_driver *api = d->api;
    const ley_status status = open_context(d, error);
    if (status != LEY_OK)
        return status;
    for (int lane = 0; lane < LANE_COUNT; lane++)
        CUDA_TRY(api, error, api->stream_create(&d->streams[lane], CUDA_STREAM_NON_BLOCKING));
    CUDA_TRY(api, error, api->event_create(&d->origin, 0));
    CUDA_TRY(api, error, api->event_record(d->origin, d->streams[LANE_LAUNCH]));
    CUDA_TRY(api, error, api->event_synchronize(d->origin));
    d->origin_s = ley_clock_s();
    return LEY_OK;
}

static ley_status cuda_open(const dev_info *info, dev **device, ley_error *error)
{
    char reason[DEV_TEXT];
    const cuda_driver *api = cuda_driver_open(reason, sizeof reason);
    if (api == NULL)
        return ley_fail(error, LEY_ERROR_DEVICE, "%s", reason);
    cuda_dev *d = calloc(1, sizeof *d);
    if (d == NULL)
        return ley_fail_memory(error, sizeof *d, "a device");
    d->base = (dev){.backend = &dev_cuda, .info = info, .has_timestamps = true};
    d->api = api;
    ley_status status = open_into(d, error);
    if (status != LEY_OK) {
        cuda_close(&d->base);
        return status;
    }
    *device = &d->base;
    return LEY_OK;
}

/* What is kept, where it is of the right size; else anew, if need be in the place of all that is
 * kept. */
static CUresult allocate(cuda_dev *d, dev_buffer *b)
{
    const spare_memory spare = buffer_pool_take(&d->memory, b->size);
    b->pointer = spare.address;
    b->taken = spare.address != 0 ? spare.bytes : b->size;
    if (spare.address != 0)
        return CUDA_SUCCESS;
    const CUresult code = d->api->memory_allocate(&b->pointer, b->size);
    return code == CUDA_ERROR_OUT_OF_MEMORY && free_spare(d) ? d->api->memory_allocate(&b->pointer, b->size) : code;
}

static ley_status cuda_buffer_create(dev *device, size_t bytes, dev_access access, dev_buffer **buffer,
                                     ley_error *error)
{
    cuda_dev *d = cuda_of(device);
    dev_buffer *b = calloc(1, sizeof *b);
    if (b == NULL)
        return ley_fail_memory(error, sizeof *b, "a buffer");
    b->size = bytes;
    ley_status status = enter(d, error);
    CUresult code = status == LEY_OK ? allocate(d, b) : CUDA_SUCCESS;
    if (code != CUDA_SUCCESS) {
        status = cuda_fail(d->api, error, code, "cuMemAlloc(&b->pointer, bytes)", __FILE__, __LINE__);
        ley_error_prefix(error, "%s", ley_size((double)bytes).s);
    }
    if (status != LEY_OK) {
        free(b);
        return status;
    }
    (void)access;
    *buffer = b;
    return LEY_OK;
}

static ley_status cuda_staging_create(dev *device, size_t bytes, dev_staging **staging, ley_error *error)
{
    cuda_dev *d = cuda_of(device);
    dev_staging *s = *staging = staging_pool_take(&d->base.spare, bytes);
    if (s != NULL)
        return LEY_OK;
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "staging");
    s->size = bytes;
    ley_status status = enter(d, error);
    CUresult code = status == LEY_OK ? d->api->host_allocate(&s->bytes, bytes, CUDA_HOST_PORTABLE) : CUDA_SUCCESS;
    if (code != CUDA_SUCCESS)
        status =
            cuda_fail(d->api, error, code, "cuMemHostAlloc(&s->bytes, bytes, CUDA_HOST_PORTABLE)", __FILE__, __LINE__);
    if (status != LEY_OK) {
        free(s);
        return status;
    }
    *staging = s;
    return LEY_OK;
}

static void cuda_staging_destroy(dev *device, dev_staging *staging)
{
    cuda_dev *d = cuda_of(device);
    if (staging == NULL)
        return;
    if (!settled(d)) {
        dev_keep(staging);
        return;
    }
    if (!staging_pool_keep(&d->base.spare, staging))
        free_staging(d, staging);
}

static ley_status copy_there(cuda_dev *d, dev_buffer *buffer, size_t offset, const void *bytes, size_t size,
                             ley_error *error)
{
    CUDA_TRY(d->api, error, d->api->copy_to_device(buffer->pointer + offset, bytes, size, d->streams[LANE_LAUNCH]));
    CUDA_TRY(d->api, error, d->api->stream_synchronize(d->streams[LANE_LAUNCH]));
    return LEY_OK;
}

static ley_status cuda_write(dev *device, dev_buffer *buffer, size_t offset, const void *bytes, size_t size,
                             ley_error *error)
{
    cuda_dev *d = cuda_of(device);
    ley_status status = enter(d, error);
    if (status != LEY_OK)
        return status;
    status = copy_there(d, buffer, offset, bytes, size, error);
    if (status != LEY_OK)
        settled(d); /* the driver may have failed without waiting */
    return status;
}

/* Of the driver's events some are kept: a launch has two. */
static void give_event(cuda_dev *d, CUevent event)
{
    if (event == NULL)
        return;
    if (d->spare_event_count < CUDA_SPARE_EVENTS)
        d->spare_events[d->spare_event_count++] = event;
    else
        d->api->event_destroy(event);
}

static ley_status take_event(cuda_dev *d, CUevent *event, ley_error *error)
{
    if (d->spare_event_count > 0)
        *event = d->spare_events[--d->spare_event_count];
    else
        CUDA_TRY(d->api, error, d->api->event_create(event, 0));
    return LEY_OK;
}

static void event_free(cuda_dev *d, dev_event *event)
{
    give_event(d, event->start);
    give_event(d, event->end);
    free(event);
}

/* An event whose start is recorded in a lane, now. */
static ley_status event_begin(cuda_dev *d, int lane, dev_event *event, ley_error *error)
{
    ley_status status = take_event(d, &event->start, error);
    if (status == LEY_OK)
        status = take_event(d, &event->end, error);
    if (status == LEY_OK)
        CUDA_TRY(d->api, error, d->api->event_record(event->start, d->streams[lane]));
    return status;
}

/* Of an operation behind which nobody may want to wait: then there is no event. */
static ley_status event_begin_wanted(cuda_dev *d, dev_event *event, ley_error *error)
{
    return event != NULL ? event_begin(d, LANE_LAUNCH, event, error) : LEY_OK;
}

static ley_status event_end_wanted(cuda_dev *d, dev_event *event, ley_error *error)
{
    if (event != NULL)
        CUDA_TRY(d->api, error, d->api->event_record(event->end, d->streams[LANE_LAUNCH]));
    return LEY_OK;
}

static ley_status send_between(cuda_dev *d, dev_buffer *buffer, size_t offset, const void *bytes, size_t size,
                               dev_event *event, ley_error *error)
{
    ley_status status = event_begin(d, LANE_LAUNCH, event, error);
    if (status != LEY_OK)
        return status;
    CUDA_TRY(d->api, error, d->api->copy_to_device(buffer->pointer + offset, bytes, size, d->streams[LANE_LAUNCH]));
    return event_end_wanted(d, event, error);
}

/* Drivers before CUDA 3.2 have no fill in a stream: the host writes. */
static ley_status write_pattern(cuda_dev *d, dev_buffer *buffer, size_t offset, uint32_t pattern, size_t bytes,
                                ley_error *error)
{
    enum { BLOCK = 1 << 18 };
    uint32_t *block = malloc(BLOCK * sizeof *block);
    if (block == NULL)
        return ley_fail_memory(error, BLOCK * sizeof *block, "a pattern");
    for (size_t i = 0; i < BLOCK; i++)
        block[i] = pattern;
    ley_status status = LEY_OK;
    for (size_t at = 0; at < bytes && status == LEY_OK; at += BLOCK * sizeof *block)
        status = cuda_write(&d->base, buffer, offset + at, block,
                            bytes - at < BLOCK * sizeof *block ? bytes - at : BLOCK * sizeof *block, error);
    if (d->base.is_lost)
        dev_keep(block);
    else
        free(block);
    return status;
}

static ley_status fill_between(cuda_dev *d, dev_buffer *buffer, size_t offset, uint32_t pattern, size_t bytes,
                               dev_event *event, ley_error *error)
{
    ley_status status = event_begin_wanted(d, event, error);
    if (status == LEY_OK && d->api->fill == NULL)
        status = write_pattern(d, buffer, offset, pattern, bytes, error);
    else if (status == LEY_OK)
        CUDA_TRY(d->api, error,
                 d->api->fill(buffer->pointer + offset, pattern, bytes / sizeof pattern, d->streams[LANE_LAUNCH]));
    return status == LEY_OK ? event_end_wanted(d, event, error) : status;
}

static ley_status copy_between(cuda_dev *d, CUdeviceptr to, CUdeviceptr from, size_t bytes, dev_event *event,
                               ley_error *error)
{
    ley_status status = event_begin_wanted(d, event, error);
    if (status != LEY_OK)
        return status;
    if (to < from + bytes && from < to + bytes)
        return ley_fail(error, LEY_ERROR_DEVICE, "a copy of %zu bytes onto itself", bytes);
    CUDA_TRY(d->api, error, d->api->copy_on_device(to, from, bytes, d->streams[LANE_LAUNCH]));
    return event_end_wanted(d, event, error);
}

static ley_status read_between(cuda_dev *d, dev_buffer *buffer, size_t offset, dev_staging *staging, size_t size,
                               dev_event *after, dev_event *event, ley_error *error)
{
    const cuda_driver *api = d->api;
    const CUstream lane = d->streams[LANE_READ];
    if (after != NULL && api->stream_wait_event != NULL)
        CUDA_TRY(api, error, api->stream_wait_event(lane, after->end, 0));
    else if (after != NULL) /* CUDA 3.1 and before: the host waits instead */
        CUDA_TRY(api, error, api->event_synchronize(after->end));
    ley_status status = event_begin(d, LANE_READ, event, error);
    if (status != LEY_OK)
        return status;
    CUDA_TRY(api, error, api->copy_to_host(staging->bytes, buffer->pointer + offset, size, lane));
    CUDA_TRY(api, error, api->event_record(event->end, lane));
    return LEY_OK;
}

static ley_status launch_between(cuda_dev *d, const dev_launch *launch, dev_event *event, ley_error *error)
{
    const cuda_driver *api = d->api;
    const CUstream lane = d->streams[LANE_LAUNCH];
    const dev_program *p = launch->program;
    void *arguments[KERNEL_MOST_ARGUMENTS];
    for (size_t i = 0; i < launch->argument_count; i++) {
        const dev_argument *a = &launch->arguments[i];
        arguments[i] = a->buffer != NULL ? (void *)&a->buffer->pointer : (void *)(uintptr_t)a->value;
    }
    ley_status status = event_begin(d, LANE_LAUNCH, event, error);
    if (status != LEY_OK)
        return status;
    if (p->constant != 0) { /* the first argument is what the kernel reads as constant memory */
        const dev_buffer *atoms = launch->arguments[0].buffer;
        if (atoms->size > p->constant_bytes)
            return ley_fail(error, LEY_ERROR_DEVICE, "%zu bytes of atoms for %zu of constant memory", atoms->size,
                            p->constant_bytes);
        CUDA_TRY(api, error, api->copy_on_device(p->constant, atoms->pointer, atoms->size, lane));
    }
    CUDA_TRY(api, error,
             api->launch(p->function, (unsigned)launch->groups[0], (unsigned)launch->groups[1],
                         (unsigned)launch->groups[2], (unsigned)launch->group_size[0], (unsigned)launch->group_size[1],
                         (unsigned)launch->group_size[2], 0, lane, arguments, NULL));
    CUDA_TRY(api, error, api->event_record(event->end, lane));
    return LEY_OK;
}

/* An operation's event is handed out when it was started, and freed when it was not. */
static ley_status hand_out(cuda_dev *d, dev_event *event, ley_status status, dev_event **done)
{
    if (status == LEY_OK && done != NULL)
        *done = event;
    else if (event != NULL)
        event_free(d, event);
    return status;
}

/* In the device's context, an event if one is wanted. */
static ley_status set_out(cuda_dev *d, bool is_wanted, dev_event **event, ley_error *error)
{
    *event = is_wanted ? calloc(1, sizeof **event) : NULL;
    if (is_wanted && *event == NULL)
        return ley_fail_memory(error, sizeof **event, "an event");
    return enter(d, error);
}

static ley_status cuda_send(dev *device, dev_buffer *buffer, size_t offset, const dev_staging *staging, size_t from,
                            size_t size, dev_event **done, ley_error *error)
{
    cuda_dev *d = cuda_of(device);
    dev_event *event;
    ley_status status = set_out(d, true, &event, error);
    if (status == LEY_OK)
        status = send_between(d, buffer, offset, (const char *)staging->bytes + from, size, event, error);
    return hand_out(d, event, status, done);
}

static ley_status cuda_fill(dev *device, dev_buffer *buffer, size_t offset, uint32_t pattern, size_t bytes,
                            dev_event **done, ley_error *error)
{
    cuda_dev *d = cuda_of(device);
    dev_event *event;
    ley_status status = set_out(d, done != NULL, &event, error);
    if (status == LEY_OK)
        status = fill_between(d, buffer, offset, pattern, bytes, event, error);
    return hand_out(d, event, status, done);
}

static ley_status cuda_copy(dev *device, dev_buffer *to, size_t to_offset, dev_buffer *from, size_t from_offset,
                            size_t bytes, dev_event **done, ley_error *error)
{
    cuda_dev *d = cuda_of(device);
    dev_event *event;
    ley_status status = set_out(d, done != NULL, &event, error);
    if (status == LEY_OK)
        status = copy_between(d, to->pointer + to_offset, from->pointer + from_offset, bytes, event, error);
    return hand_out(d, event, status, done);
}

static ley_status cuda_read(dev *device, dev_buffer *buffer, size_t offset, dev_staging *staging, size_t size,
                            dev_event *after, dev_event **done, ley_error *error)
{
    cuda_dev *d = cuda_of(device);
    dev_event *event;
    ley_status status = set_out(d, true, &event, error);
    if (status == LEY_OK)
        status = read_between(d, buffer, offset, staging, size, after, event, error);
    return hand_out(d, event, status, done);
}

static ley_status cuda_launch(dev *device, const dev_launch *launch, dev_event **done, ley_error *error)
{
    cuda_dev *d = cuda_of(device);
    dev_event *event;
    ley_status status = set_out(d, true, &event, error);
    if (status == LEY_OK)
        status = kernel_check_launch(launch->program->kind, launch->program->is_double, launch, error);
    if (status == LEY_OK)
        status = launch_between(d, launch, event, error);
    return hand_out(d, event, status, done);
}

static ley_status wait_for(cuda_dev *d, dev_event *event, dev_times *times, ley_error *error)
{
    const cuda_driver *api = d->api;
    float start_ms = 0, took_ms = 0;
    CUDA_TRY(api, error, api->event_synchronize(event->end));
    if (times == NULL)
        return LEY_OK;
    CUDA_TRY(api, error, api->event_elapsed(&start_ms, d->origin, event->start));
    CUDA_TRY(api, error, api->event_elapsed(&took_ms, event->start, event->end));
    times->start_s = d->origin_s + 1e-3 * (double)start_ms;
    times->end_s = times->start_s + 1e-3 * (double)took_ms;
    return LEY_OK;
}

static ley_status cuda_wait(dev *device, dev_event *event, dev_times *times, ley_error *error)
{
    cuda_dev *d = cuda_of(device);
    ley_status status = enter(d, error);
    if (status == LEY_OK)
        status = wait_for(d, event, times, error);
    event_free(d, event);
    return status;
}

static void cuda_forget(dev *device, dev_event *event)
{
    enter(cuda_of(device), NULL);
    event_free(cuda_of(device), event);
}

static ley_status cuda_program_build(dev *device, const dev_source *source, const void *binary, size_t binary_size,
                                     dev_program **program, ley_error *error)
{
    cuda_dev *d = cuda_of(device);
    ley_status status = enter(d, error);
    return status == LEY_OK ? cuda_build(d, source, binary, binary_size, program, error) : status;
}

static ley_status cuda_program_binary(dev *device, dev_program *program, void **binary, size_t *size, ley_error *error)
{
    (void)device;
    void *copy = malloc(program->image_size);
    if (copy == NULL)
        return ley_fail_memory(error, program->image_size, "a program binary");
    memcpy(copy, program->image, program->image_size);
    *binary = copy;
    *size = program->image_size;
    return LEY_OK;
}

static char *cuda_program_log(dev *device, dev_program *program)
{
    (void)device;
    return program->log != NULL ? strdup(program->log) : NULL;
}

static ley_status cuda_fft_plan(dev *device, size_t library, const dev_fft_shape *shape, const void *kept,
                                size_t kept_size, dev_fft_plan **plan, ley_error *error)
{
    cuda_dev *d = cuda_of(device);
    (void)library, (void)kept, (void)kept_size;
    if (!d->is_primary)
        return ley_fail(error, LEY_ERROR_DEVICE, "the driver is too old: it has no cuDevicePrimaryCtxRetain");
    const ley_status status = enter(d, error);
    return status == LEY_OK ? cuda_fft_make(d, shape, plan, error) : status;
}

static ley_status cuda_fft_keep(dev *device, dev_fft_plan *plan, void **bytes, size_t *size, ley_error *error)
{
    (void)device, (void)plan, (void)size, (void)error;
    *bytes = NULL;
    return LEY_OK;
}

static ley_status fft_between(cuda_dev *d, dev_fft_plan *plan, bool forward, dev_buffer *from, dev_buffer *to,
                              dev_buffer *scratch, dev_event *event, ley_error *error)
{
    ley_status status = event_begin(d, LANE_LAUNCH, event, error);
    if (status == LEY_OK)
        status =
            cuda_fft_begin(plan, forward, from->pointer, to->pointer, scratch != NULL ? scratch->pointer : 0, error);
    return status == LEY_OK ? event_end_wanted(d, event, error) : status;
}

static ley_status cuda_fft_run(dev *device, dev_fft_plan *plan, bool forward, dev_buffer *from, dev_buffer *to,
                               dev_buffer *scratch, dev_event **done, ley_error *error)
{
    cuda_dev *d = cuda_of(device);
    dev_event *event;
    ley_status status = set_out(d, true, &event, error);
    if (status == LEY_OK)
        status = fft_between(d, plan, forward, from, to, scratch, event, error);
    return hand_out(d, event, status, done);
}

static void cuda_fft_end(dev *device, dev_fft_plan *plan)
{
    if (settled(cuda_of(device)))
        cuda_fft_free(plan);
    else
        dev_keep(plan);
}

const dev_backend dev_cuda = {
    .name = "cuda",
    .is_vendors = true,
    .source_suffix = "cu",
    .common_options = "",
    .probe = cuda_probe,
    .open = cuda_open,
    .close = cuda_close,
    .buffer_create = cuda_buffer_create,
    .buffer_destroy = cuda_buffer_destroy,
    .staging_create = cuda_staging_create,
    .staging_destroy = cuda_staging_destroy,
    .write = cuda_write,
    .send = cuda_send,
    .fill = cuda_fill,
    .copy = cuda_copy,
    .read = cuda_read,
    .builds_at_once = true,
    .build = cuda_program_build,
    .program_binary = cuda_program_binary,
    .program_destroy = cuda_program_destroy,
    .program_log = cuda_program_log,
    .launch = cuda_launch,
    .wait = cuda_wait,
    .forget = cuda_forget,
    .fft_library = cuda_fft_library,
    .fft_plan = cuda_fft_plan,
    .fft_keep = cuda_fft_keep,
    .fft_run = cuda_fft_run,
    .fft_end = cuda_fft_end,
};
