#include "run/room.h"

#include "error.h"
#include "memory.h"
#include "run/upload.h"

#include <stdlib.h>

struct room_holding {
    room_holding *next;
    dev_buffer *buffer; /* or: */
    dev_staging *staging;
    size_t bytes; /* of a buffer */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t said(uint64_t bytes)
{
    return bytes > 0 && bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
}

int64_t room_left(const room *r)
{
    const uint64_t all = r->device->info->global_bytes;
    if (all == 0)
        return INT64_MAX;
    while (r->within != NULL)
        r = r->within;
    const uint64_t budget = all / 4 * 3;
    return budget > r->taken ? said(budget - r->taken) : 0;
}

int64_t room_largest(const room *r)
{
    return least(room_left(r), said(r->device->info->max_allocation_bytes));
}

static ley_status refuse(const room *r, size_t bytes, ley_error *error)
{
    const bool is_single = room_left(r) > room_largest(r);
    return ley_fail(error, LEY_ERROR_NO_DEVICE, "a buffer of %s is asked for, %s %s", ley_size((double)bytes).s,
                    is_single ? "the device's largest is" : "there is room for", ley_size((double)room_largest(r)).s);
}

/* Room for a holding comes first, so that nothing is made that cannot be kept. */
static ley_status hold(room *r, room_holding **made, ley_error *error)
{
    room_holding *h = calloc(1, sizeof *h);
    if (h == NULL)
        return ley_fail_memory(error, sizeof *h, "a buffer");
    h->next = r->holdings;
    r->holdings = h;
    *made = h;
    return LEY_OK;
}

static void count(room *r, uint64_t more, uint64_t less)
{
    for (; r != NULL; r = r->within)
        r->taken += more - less;
}

/* Ends the holding that `link` leads to. */
static void drop(room *r, room_holding **link)
{
    room_holding *gone = *link;
    *link = gone->next;
    count(r, 0, gone->bytes);
    if (gone->buffer != NULL)
        r->device->backend->buffer_destroy(r->device, gone->buffer);
    if (gone->staging != NULL)
        r->device->backend->staging_destroy(r->device, gone->staging);
    free(gone);
}

ley_status room_buffer(room *r, size_t bytes, dev_access access, dev_buffer **buffer, ley_error *error)
{
    room_holding *h = NULL;
    *buffer = NULL;
    if (bytes > INT64_MAX || (int64_t)bytes > room_largest(r))
        return refuse(r, bytes, error);
    ley_status status = hold(r, &h, error);
    if (status != LEY_OK)
        return status;
    status = r->device->backend->buffer_create(r->device, bytes, access, &h->buffer, error);
    if (status != LEY_OK) {
        h->buffer = NULL;
        drop(r, &r->holdings);
        return status;
    }
    h->bytes = bytes;
    count(r, bytes, 0);
    *buffer = h->buffer;
    return LEY_OK;
}

ley_status room_check_host(const room *r, const char *what, double bytes, const char *advice, ley_error *error)
{
    return memory_check_one(what, r->device->info->device_class == DEV_CPU ? bytes : 0, advice, error);
}

ley_status room_upload(room *r, const void *bytes, size_t size, dev_buffer **buffer, ley_error *error)
{
    const ley_status status = room_buffer(r, size, DEV_READ_ONLY, buffer, error);
    return status == LEY_OK ? upload_bytes(r->device, *buffer, 0, bytes, size, error) : status;
}

ley_status room_staging(room *r, size_t bytes, dev_staging **staging, ley_error *error)
{
    room_holding *h = NULL;
    *staging = NULL;
    ley_status status = hold(r, &h, error);
    if (status != LEY_OK)
        return status;
    status = r->device->backend->staging_create(r->device, bytes, &h->staging, error);
    if (status != LEY_OK) {
        h->staging = NULL;
        drop(r, &r->holdings);
        return status;
    }
    *staging = h->staging;
    return LEY_OK;
}

ley_status room_results(room *r, int64_t bytes, results *made, ley_error *error)
{
    *made = (results){.buffer = NULL};
    const double copies = r->device->info->device_class == DEV_CPU ? 2 : 1;
    ley_status status =
        memory_check_one("a slab's way back", copies * (double)bytes, "fewer points along x and y", error);
    if (status == LEY_OK)
        status = room_buffer(r, (size_t)bytes, DEV_READ_WRITE, &made->buffer, error);
    if (status == LEY_OK)
        status = room_staging(r, (size_t)bytes, &made->staging, error);
    if (status != LEY_OK)
        room_free_results(r, made);
    return status;
}

static room_holding **find(room *r, const dev_buffer *buffer, const dev_staging *staging)
{
    room_holding **link = &r->holdings;
    while (*link != NULL && ((*link)->buffer != buffer || (*link)->staging != staging))
        link = &(*link)->next;
    return link;
}

void room_free_buffer(room *r, dev_buffer **buffer)
{
    room_holding **link = *buffer != NULL ? find(r, *buffer, NULL) : NULL;
    if (link != NULL && *link != NULL)
        drop(r, link);
    *buffer = NULL;
}

void room_free_staging(room *r, dev_staging **staging)
{
    room_holding **link = *staging != NULL ? find(r, NULL, *staging) : NULL;
    if (link != NULL && *link != NULL)
        drop(r, link);
    *staging = NULL;
}

void room_free_results(room *r, results *made)
{
    room_free_staging(r, &made->staging);
    room_free_buffer(r, &made->buffer);
}

void room_clear(room *r)
{
    while (r->holdings != NULL)
        drop(r, &r->holdings);
}
