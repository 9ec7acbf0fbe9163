#include "interface_check.h"

#include "error.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 3, WORDS = 5000, PARTS = 8, MOST_EVENTS = 16 };

typedef struct checked {
    dev *device;
    dev_buffer *buffer[BUFFERS];
    uint32_t right[BUFFERS][WORDS];
    dev_staging *there, *back; /* what is sent, in parts; what is read */
    int part;
    dev_event *event[MOST_EVENTS]; /* not ended yet */
    int events;
    dev_event *last; /* of the launch lane, if what came last has one: not among the others */
    unsigned seed;
} checked;

static size_t any(checked *c, size_t below)
{
    return (size_t)rand_r(&c->seed) % below;
}

static ley_status make(checked *c, ley_error *error)
{
    const dev_backend *b = c->device->backend;
    ley_status status = b->staging_create(c->device, PARTS * sizeof c->right[0], &c->there, error);
    if (status == LEY_OK)
        status = b->staging_create(c->device, sizeof c->right[0], &c->back, error);
    for (int i = 0; i < BUFFERS && status == LEY_OK; i++) {
        status = b->buffer_create(c->device, sizeof c->right[i], DEV_READ_WRITE, &c->buffer[i], error);
        for (size_t word = 0; word < WORDS; word++)
            c->right[i][word] = (uint32_t)rand_r(&c->seed);
        if (status == LEY_OK)
            status = b->write(c->device, c->buffer[i], 0, c->right[i], sizeof c->right[i], error);
    }
    return status;
}

/* Waits for every second event, forgets the others. */
static ley_status end_events(checked *c, ley_error *error)
{
    const dev_backend *b = c->device->backend;
    ley_status status = LEY_OK;
    for (int i = 0; i < c->events; i++)
        if (i % 2 == 0 || status != LEY_OK)
            b->forget(c->device, c->event[i]);
        else
            status = b->wait(c->device, c->event[i], NULL, error);
    c->events = 0;
    return status;
}

static void clear(checked *c)
{
    const dev_backend *b = c->device->backend;
    end_events(c, NULL);
    if (c->last != NULL)
        b->forget(c->device, c->last);
    b->staging_destroy(c->device, c->there);
    b->staging_destroy(c->device, c->back);
    for (int i = 0; i < BUFFERS; i++)
        b->buffer_destroy(c->device, c->buffer[i]);
}

/* What was last in the launch lane is so no more. */
static ley_status follow(checked *c, dev_event *event, ley_error *error)
{
    dev_event *before = c->last;
    c->last = event;
    if (before == NULL)
        return LEY_OK;
    c->event[c->events++] = before;
    return c->events < MOST_EVENTS ? LEY_OK : end_events(c, error);
}

static ley_status fill(checked *c, size_t to, size_t first, size_t count, ley_error *error)
{
    const uint32_t pattern = any(c, 2) == 0 ? DEV_NO_NUMBERS : (uint32_t)rand_r(&c->seed);
    dev_event *done = NULL;
    ley_status status = c->device->backend->fill(c->device, c->buffer[to], 4 * first, pattern, 4 * count,
                                                 any(c, 2) == 0 ? &done : NULL, error);
    for (size_t i = 0; i < count; i++)
        c->right[to][first + i] = pattern;
    return status == LEY_OK ? follow(c, done, error) : status;
}

static ley_status copy(checked *c, size_t to, size_t first, size_t count, ley_error *error)
{
    const size_t from = any(c, 4) > 0 ? (to + 1) % BUFFERS : to, at = from != to       ? any(c, WORDS - count + 1)
                                                                      : first >= count ? any(c, first - count + 1)
                                                                                       : first + count;
    dev_event *done = NULL;
    count = at + count > WORDS ? WORDS - at : count;
    if (count == 0)
        return LEY_OK;
    ley_status status = c->device->backend->copy(c->device, c->buffer[to], 4 * first, c->buffer[from], 4 * at,
                                                 4 * count, any(c, 2) == 0 ? &done : NULL, error);
    memcpy(&c->right[to][first], &c->right[from][at], 4 * count);
    return status == LEY_OK ? follow(c, done, error) : status;
}

/* A part of the staging is free again when what was sent from it has arrived: the one who waits for
 * the last, which is in the same lane, has waited for all. */
static ley_status send(checked *c, size_t to, size_t first, size_t count, ley_error *error)
{
    const dev_backend *b = c->device->backend;
    dev_event *done = NULL, *last = c->last;
    ley_status status = LEY_OK;
    if (c->part == PARTS) {
        c->part = 0;
        c->last = NULL;
        status = last != NULL ? b->wait(c->device, last, NULL, error)
                              : b->write(c->device, c->buffer[to], 0, c->right[to], 4, error);
    }
    if (status != LEY_OK)
        return status;
    const size_t from = (size_t)c->part++ * sizeof c->right[0];
    uint32_t *words = (uint32_t *)(void *)((char *)c->there->bytes + from);
    for (size_t i = 0; i < count; i++)
        c->right[to][first + i] = words[i] = (uint32_t)rand_r(&c->seed);
    status = b->send(c->device, c->buffer[to], 4 * first, c->there, from, 4 * count, &done, error);
    return status == LEY_OK ? follow(c, done, error) : status;
}

static ley_status write(checked *c, size_t to, size_t first, size_t count, ley_error *error)
{
    uint32_t words[WORDS];
    for (size_t i = 0; i < count; i++)
        c->right[to][first + i] = words[i] = (uint32_t)rand_r(&c->seed);
    ley_status status = c->device->backend->write(c->device, c->buffer[to], 4 * first, words, 4 * count, error);
    memset(words, 0, sizeof words); /* it has waited */
    return status == LEY_OK ? follow(c, NULL, error) : status;
}

/* Behind what came last: by its event, or because it has been waited for. */
static ley_status compare(checked *c, size_t which, ley_error *error)
{
    const dev_backend *b = c->device->backend;
    dev_event *done = NULL;
    ley_status status = LEY_OK;
    if (c->last == NULL)
        status = b->write(c->device, c->buffer[which], 0, c->right[which], 4, error);
    if (status == LEY_OK)
        status = b->read(c->device, c->buffer[which], 0, c->back, sizeof c->right[0], c->last, &done, error);
    if (status == LEY_OK)
        status = b->wait(c->device, done, NULL, error);
    if (status == LEY_OK && memcmp(c->back->bytes, c->right[which], sizeof c->right[0]) != 0)
        status =
            ley_fail(error, LEY_ERROR_WRONG_RESULT, "%s: a buffer does not hold what it should", c->device->info->name);
    return status;
}

static ley_status step(checked *c, ley_error *error)
{
    const size_t what = any(c, 9), to = any(c, BUFFERS), count = 1 + any(c, WORDS), first = any(c, WORDS - count + 1);
    return what < 2   ? fill(c, to, first, count, error)
           : what < 4 ? copy(c, to, first, count, error)
           : what < 6 ? send(c, to, first, count, error)
           : what < 7 ? write(c, to, first, count, error)
                      : compare(c, to, error);
}

ley_status interface_check(dev *device, int steps, unsigned seed, ley_error *error)
{
    checked *c = calloc(1, sizeof *c);
    if (c == NULL)
        return ley_fail_memory(error, sizeof *c, "the check");
    c->device = device;
    c->seed = seed;
    ley_status status = make(c, error);
    for (int i = 0; i < steps && status == LEY_OK; i++)
        status = step(c, error);
    for (size_t i = 0; i < BUFFERS && status == LEY_OK; i++)
        status = compare(c, i, error);
    clear(c);
    if (device->is_lost) /* what was on its way to it may still be read */
        dev_keep(c);
    else
        free(c);
    return status;
}
