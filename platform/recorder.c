#include "recorder.h"

#include "kernel_kind.h"

#include <stdlib.h>
#include <string.h>

/* What is written down is for people to read. */
static const size_t most_bytes = 16 << 20;

static _Thread_local recorder *at_work;

/* ---- The list -------------------------------------------------------------------------------- */

/* The number of an object; a new one gets the next. */
static int number_of(recorder *r, const void *object)
{
    for (size_t i = r->object_count; i > 0; i--)
        if (r->objects[i - 1] == object)
            return (int)i;
    return 0;
}

static int number_new(recorder *r, void *object)
{
    void **objects = realloc(r->objects, (r->object_count + 1) * sizeof *objects);
    if (objects == NULL) {
        r->is_complete = false;
        return 0;
    }
    r->objects = objects;
    objects[r->object_count++] = object;
    return (int)r->object_count;
}

/* It may be another one's place from now on. */
static void forget_object(recorder *r, const void *object)
{
    const int number = number_of(r, object);
    if (number > 0)
        r->objects[number - 1] = NULL;
}

static recorded *append(recorder *r, recorded_kind kind)
{
    if (r->count == r->capacity) {
        const size_t larger = 2 * r->capacity + 64;
        recorded *all = realloc(r->all, larger * sizeof *all);
        if (all == NULL) {
            r->is_complete = false;
            return NULL;
        }
        r->all = all;
        r->capacity = larger;
    }
    recorded *made = &r->all[r->count++];
    *made = (recorded){.kind = kind};
    return made;
}

static unsigned char *copy_bytes(recorder *r, const void *bytes, size_t size)
{
    unsigned char *copy = r->bytes + size <= most_bytes ? malloc(size + 1) : NULL;
    if (copy == NULL)
        r->is_complete = false;
    else
        memcpy(copy, bytes, size);
    r->bytes += copy != NULL ? size : 0;
    return copy;
}

/* ---- The device interface -------------------------------------------------------------------- */

static ley_status record_buffer(dev *device, size_t bytes, dev_access access, dev_buffer **buffer, ley_error *error)
{
    recorder *r = at_work;
    const ley_status status = r->own->buffer_create(device, bytes, access, buffer, error);
    recorded *op = status == LEY_OK ? append(r, RECORDED_BUFFER) : NULL;
    if (op != NULL) {
        op->buffer = number_new(r, *buffer);
        op->size = bytes;
        op->is_read_only = access == DEV_READ_ONLY;
    }
    return status;
}

static void record_release(dev *device, dev_buffer *buffer)
{
    recorder *r = at_work;
    recorded *op = buffer != NULL ? append(r, RECORDED_RELEASE) : NULL;
    if (op != NULL)
        op->buffer = number_of(r, buffer);
    forget_object(r, buffer);
    r->own->buffer_destroy(device, buffer);
}

/* Of an operation in the launch lane that has begun: what is read waits for it. */
static void note_event(recorder *r, ley_status status, recorded *op, dev_event **done)
{
    if (status == LEY_OK && op != NULL && done != NULL)
        op->event = number_new(r, *done);
}

static recorded *note_write(recorder *r, const dev_buffer *buffer, size_t offset, const void *bytes, size_t size)
{
    recorded *op = append(r, RECORDED_WRITE);
    if (op == NULL)
        return NULL;
    op->buffer = number_of(r, buffer);
    op->offset = offset;
    op->size = size;
    op->bytes = copy_bytes(r, bytes, size);
    return op;
}

static ley_status record_write(dev *device, dev_buffer *buffer, size_t offset, const void *bytes, size_t size,
                               ley_error *error)
{
    note_write(at_work, buffer, offset, bytes, size);
    return at_work->own->write(device, buffer, offset, bytes, size, error);
}

static ley_status record_send(dev *device, dev_buffer *buffer, size_t offset, const dev_staging *staging, size_t from,
                              size_t size, dev_event **done, ley_error *error)
{
    recorded *op = note_write(at_work, buffer, offset, (const char *)staging->bytes + from, size);
    const ley_status status = at_work->own->send(device, buffer, offset, staging, from, size, done, error);
    note_event(at_work, status, op, done);
    return status;
}

static ley_status record_fill(dev *device, dev_buffer *buffer, size_t offset, uint32_t pattern, size_t bytes,
                              dev_event **done, ley_error *error)
{
    recorded *op = append(at_work, RECORDED_FILL);
    if (op != NULL) {
        op->buffer = number_of(at_work, buffer);
        op->offset = offset;
        op->size = bytes;
        op->pattern = pattern;
    }
    const ley_status status = at_work->own->fill(device, buffer, offset, pattern, bytes, done, error);
    note_event(at_work, status, op, done);
    return status;
}

static ley_status record_copy(dev *device, dev_buffer *to, size_t to_offset, dev_buffer *from, size_t from_offset,
                              size_t bytes, dev_event **done, ley_error *error)
{
    recorded *op = append(at_work, RECORDED_COPY);
    if (op != NULL) {
        op->buffer = number_of(at_work, to);
        op->offset = to_offset;
        op->other = number_of(at_work, from);
        op->other_offset = from_offset;
        op->size = bytes;
    }
    const ley_status status = at_work->own->copy(device, to, to_offset, from, from_offset, bytes, done, error);
    note_event(at_work, status, op, done);
    return status;
}

/* A read that is on its way. */
typedef struct recording_wait {
    struct recording_wait *next;
    size_t op;
    const dev_event *event;
    const dev_staging *staging;
} recording_wait;

static ley_status record_read(dev *device, dev_buffer *buffer, size_t offset, dev_staging *staging, size_t size,
                              dev_event *after, dev_event **done, ley_error *error)
{
    recorder *r = at_work;
    const ley_status status = r->own->read(device, buffer, offset, staging, size, after, done, error);
    recorded *op = status == LEY_OK ? append(r, RECORDED_READ) : NULL;
    recording_wait *wait = op != NULL ? malloc(sizeof *wait) : NULL;
    if (op == NULL)
        return status;
    op->buffer = number_of(r, buffer);
    op->offset = offset;
    op->size = size;
    op->after = after != NULL ? number_of(r, after) : 0;
    if (wait == NULL) {
        r->is_complete = false;
        return status;
    }
    *wait = (recording_wait){.next = r->waits, .op = r->count - 1, .event = *done, .staging = staging};
    r->waits = wait;
    return status;
}

/* What reads brought is there once they have been waited for. */
static void arrive(recorder *r, const dev_event *event)
{
    for (recording_wait **at = &r->waits; *at != NULL; at = &(*at)->next)
        if ((*at)->event == event) {
            recording_wait *wait = *at;
            recorded *op = &r->all[wait->op];
            op->bytes = copy_bytes(r, wait->staging->bytes, op->size);
            *at = wait->next;
            free(wait);
            return;
        }
}

static ley_status record_build(dev *device, const dev_source *source, const void *binary, size_t binary_size,
                               dev_program **program, ley_error *error)
{
    recorder *r = at_work;
    const ley_status status = r->own->build(device, source, binary, binary_size, program, error);
    recorded *op = status == LEY_OK ? append(r, RECORDED_PROGRAM) : NULL;
    if (op == NULL)
        return status;
    op->program = number_new(r, *program);
    op->text = strdup(source->text);
    op->options = strdup(source->options);
    op->kernel = source->kind->name;
    op->is_binary = binary != NULL;
    r->is_complete = r->is_complete && op->text != NULL && op->options != NULL;
    return status;
}

static void record_program_end(dev *device, dev_program *program)
{
    forget_object(at_work, program);
    at_work->own->program_destroy(device, program);
}

static ley_status record_launch(dev *device, const dev_launch *launch, dev_event **done, ley_error *error)
{
    recorder *r = at_work;
    const ley_status status = r->own->launch(device, launch, done, error);
    recorded *op = status == LEY_OK ? append(r, RECORDED_LAUNCH) : NULL;
    if (op == NULL)
        return status;
    op->program = number_of(r, launch->program);
    op->event = done != NULL ? number_new(r, *done) : 0;
    memcpy(op->groups, launch->groups, sizeof op->groups);
    memcpy(op->group_size, launch->group_size, sizeof op->group_size);
    op->argument_count = launch->argument_count;
    op->arguments = calloc(launch->argument_count + 1, sizeof *op->arguments);
    op->argument_buffers = calloc(launch->argument_count + 1, sizeof *op->argument_buffers);
    if (op->arguments == NULL || op->argument_buffers == NULL) {
        op->argument_count = 0;
        r->is_complete = false;
    }
    for (size_t i = 0; i < op->argument_count; i++) {
        op->arguments[i] = launch->arguments[i];
        op->argument_buffers[i] = launch->arguments[i].buffer != NULL ? number_of(r, launch->arguments[i].buffer) : 0;
    }
    return status;
}

static ley_status record_wait(dev *device, dev_event *event, dev_times *times, ley_error *error)
{
    recorder *r = at_work;
    const ley_status status = r->own->wait(device, event, times, error);
    if (status == LEY_OK)
        arrive(r, event);
    forget_object(r, event);
    return status;
}

static void record_forget(dev *device, dev_event *event)
{
    forget_object(at_work, event);
    at_work->own->forget(device, event);
}

/* Libraries of transforms launch kernels that do not come to the device interface. */
static ley_status record_transform(dev *device, dev_fft_plan *plan, bool forward, dev_buffer *from, dev_buffer *to,
                                   dev_buffer *scratch, dev_event **done, ley_error *error)
{
    at_work->is_complete = false;
    return at_work->own->fft_run(device, plan, forward, from, to, scratch, done, error);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static _Thread_local dev_backend recording;

recorder *recorder_begin(dev *device)
{
    recorder *r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->device = device;
    r->own = device->backend;
    r->is_complete = true;
    at_work = r;
    recording = *r->own;
    recording.buffer_create = record_buffer;
    recording.buffer_destroy = record_release;
    recording.write = record_write;
    recording.send = record_send;
    recording.fill = record_fill;
    recording.copy = record_copy;
    recording.read = record_read;
    recording.build = record_build;
    recording.program_destroy = record_program_end;
    recording.launch = record_launch;
    recording.wait = record_wait;
    recording.forget = record_forget;
    if (recording.fft_run != NULL)
        recording.fft_run = record_transform;
    device->backend = &recording;
    return r;
}

void recorder_end(recorder *r)
{
    if (r == NULL)
        return;
    r->device->backend = r->own;
    at_work = NULL;
}

void recorder_destroy(recorder *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->count; i++) {
        free(r->all[i].bytes);
        free(r->all[i].text);
        free(r->all[i].options);
        free(r->all[i].arguments);
        free(r->all[i].argument_buffers);
    }
    while (r->waits != NULL) {
        recording_wait *next = r->waits->next;
        free(r->waits);
        r->waits = next;
    }
    free(r->all);
    free(r->objects);
    free(r);
}
