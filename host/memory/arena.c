#include "memory/arena.h"

#include "error.h"
#include "memory.h"
#include "memory/upload.h"

#include <stdlib.h>

struct arena_holding {
    arena_holding *next;
    dev_buffer *buffer; /* or: */
    dev_staging *staging;
    size_t bytes; /* of the buffer, or of the staging */
    dev_access access;
    uint64_t name; /* of what is in it, where later arenas may have it; else 0 */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t said(uint64_t bytes)
{
    return bytes > 0 && bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
}

static arena *outermost(const arena *r)
{
    while (r->within != NULL)
        r = r->within;
    return (arena *)(uintptr_t)r;
}

/* What all arenas of a job may take together. */
static uint64_t budget_of(const dev *device)
{
    return device->info->global_bytes / 4 * 3;
}

int64_t arena_left(const arena *r)
{
    if (r->device->info->global_bytes == 0)
        return INT64_MAX;
    r = outermost(r);
    const uint64_t budget = budget_of(r->device);
    return budget > r->taken ? said(budget - r->taken) : 0;
}

int64_t arena_largest(const arena *r)
{
    return least(arena_left(r), said(r->device->info->max_allocation_bytes));
}

static ley_status refuse(const arena *r, size_t bytes, ley_error *error)
{
    const bool is_single = arena_left(r) > arena_largest(r);
    return ley_fail(error, LEY_ERROR_NO_DEVICE, "a buffer of %s is asked for, %s %s", ley_size((double)bytes).s,
                    is_single ? "the device's largest is" : "there is room for", ley_size((double)arena_largest(r)).s);
}

/* Room for a holding comes first, so that nothing is made that cannot be kept. */
static ley_status hold(arena *r, arena_holding **made, ley_error *error)
{
    arena_holding *h = calloc(1, sizeof *h);
    if (h == NULL)
        return ley_fail_memory(error, sizeof *h, "a buffer");
    h->next = r->holdings;
    r->holdings = h;
    *made = h;
    return LEY_OK;
}

static void count(arena *r, uint64_t more, uint64_t less)
{
    for (; r != NULL; r = r->within)
        r->taken += more - less;
}

/* The oldest of what the device keeps goes; false: there was none. */
static bool forget_kept(dev *device)
{
    const kept_buffer oldest = kept_buffers_drop(&device->kept);
    if (oldest.buffer != NULL)
        device->backend->buffer_destroy(device, oldest.buffer);
    return oldest.buffer != NULL;
}

/* For arenas to come, where it is worth keeping. */
static bool keep(dev *device, const arena_holding *of)
{
    const kept_buffer one = {of->name, of->buffer, of->bytes};
    const uint64_t all = device->info->device_class == DEV_CPU ? 0 : device->info->global_bytes;
    if (device->is_lost || !kept_buffers_may(all, &one) || kept_buffers_has(&device->kept, one.name))
        return false;
    while (kept_buffers_are_full(&device->kept, all, &one))
        forget_kept(device);
    kept_buffers_put(&device->kept, one);
    return true;
}

static size_t counted(const arena_holding *h)
{
    return h->buffer != NULL ? h->bytes : 0;
}

static void destroy(dev *device, arena_holding *gone)
{
    if (gone->buffer != NULL && !keep(device, gone))
        device->backend->buffer_destroy(device, gone->buffer);
    if (gone->staging != NULL)
        device->backend->staging_destroy(device, gone->staging);
    free(gone);
}

/* Ends the holding that `link` leads to; or it is spare from now on. */
static void drop(arena *r, arena_holding **link)
{
    arena *all = outermost(r);
    arena_holding *gone = *link;
    *link = gone->next;
    count(r, 0, counted(gone));
    if (!all->keeps || gone->name != 0 || (gone->buffer == NULL && gone->staging == NULL)) {
        destroy(r->device, gone);
        return;
    }
    all->taken += counted(gone);
    gone->next = all->spares;
    all->spares = gone;
}

static void drop_spares(arena *all)
{
    while (all->spares != NULL) {
        arena_holding *gone = all->spares;
        all->spares = gone->next;
        all->taken -= counted(gone);
        destroy(all->device, gone);
    }
}

/* A spare of this kind that is large enough, and not much larger, is the arena's; NULL: there is
 * none. */
static arena_holding *take_spare(arena *r, bool is_buffer, size_t bytes, dev_access access)
{
    arena *all = outermost(r);
    arena_holding **best = NULL;
    for (arena_holding **link = &all->spares; *link != NULL; link = &(*link)->next) {
        const arena_holding *h = *link;
        if ((h->buffer != NULL) == is_buffer && h->access == access && h->bytes >= bytes &&
            h->bytes - bytes <= bytes / 4 && (best == NULL || h->bytes < (*best)->bytes))
            best = link;
    }
    if (best == NULL)
        return NULL;
    arena_holding *h = *best;
    *best = h->next;
    all->taken -= counted(h);
    count(r, counted(h), 0);
    h->next = r->holdings;
    r->holdings = h;
    return h;
}

/* What is kept from earlier jobs goes where it would be too much with so many bytes more, or where
 * the driver has no more. */
static ley_status create(const arena *r, size_t bytes, dev_access access, dev_buffer **buffer, ley_error *error)
{
    dev *device = r->device;
    const uint64_t taken = outermost(r)->taken + bytes;
    while (taken + kept_buffers_bytes(&device->kept) > budget_of(device) && forget_kept(device))
        continue;
    ley_status status = device->backend->buffer_create(device, bytes, access, buffer, error);
    while (status != LEY_OK && forget_kept(device)) {
        ley_error_clear(error);
        status = device->backend->buffer_create(device, bytes, access, buffer, error);
    }
    return status;
}

static ley_status make_buffer(arena *r, size_t bytes, dev_access access, dev_buffer **buffer, ley_error *error)
{
    arena_holding *h = NULL;
    if (bytes > INT64_MAX || (int64_t)bytes > arena_largest(r))
        return refuse(r, bytes, error);
    ley_status status = hold(r, &h, error);
    if (status != LEY_OK)
        return status;
    status = create(r, bytes, access, &h->buffer, error);
    if (status != LEY_OK) {
        h->buffer = NULL;
        drop(r, &r->holdings);
        return status;
    }
    h->bytes = bytes;
    h->access = access;
    count(r, bytes, 0);
    *buffer = h->buffer;
    return LEY_OK;
}

ley_status arena_buffer(arena *r, size_t bytes, dev_access access, dev_buffer **buffer, ley_error *error)
{
    arena_holding *h = take_spare(r, true, bytes, access);
    *buffer = h != NULL ? h->buffer : NULL;
    if (h != NULL)
        return LEY_OK;
    ley_error why = {0};
    ley_status status = make_buffer(r, bytes, access, buffer, &why);
    if (status != LEY_OK && outermost(r)->spares != NULL) {
        drop_spares(outermost(r));
        ley_error_clear(&why);
        status = make_buffer(r, bytes, access, buffer, &why);
    }
    if (status != LEY_OK)
        ley_error_copy(error, &why);
    ley_error_clear(&why);
    return status;
}

ley_status arena_check_host(const arena *r, const char *what, double bytes, const char *advice, ley_error *error)
{
    return memory_check_one(what, r->device->info->device_class == DEV_CPU ? bytes : 0, advice, error);
}

ley_status arena_upload(arena *r, const void *bytes, size_t size, dev_buffer **buffer, ley_error *error)
{
    const ley_status status = arena_buffer(r, size, DEV_READ_ONLY, buffer, error);
    return status == LEY_OK ? upload_bytes(r->device, *buffer, 0, bytes, size, error) : status;
}

/* One that is kept, as a holding; *buffer NULL: there is none. */
static ley_status take_kept(arena *r, uint64_t name, dev_buffer **buffer, ley_error *error)
{
    arena_holding *h = NULL;
    *buffer = NULL;
    if (!kept_buffers_has(&r->device->kept, name))
        return LEY_OK;
    const ley_status status = hold(r, &h, error);
    if (status != LEY_OK)
        return status;
    const kept_buffer taken = kept_buffers_take(&r->device->kept, name);
    h->buffer = *buffer = taken.buffer;
    h->bytes = taken.bytes;
    h->name = taken.name;
    count(r, taken.bytes, 0);
    return LEY_OK;
}

ley_status arena_upload_kept(arena *r, uint64_t name, const void *bytes, size_t size, dev_buffer **buffer,
                             ley_error *error)
{
    ley_status status = take_kept(r, name, buffer, error);
    if (status != LEY_OK || *buffer != NULL)
        return status;
    status = arena_upload(r, bytes, size, buffer, error);
    if (status == LEY_OK)
        r->holdings->name = name; /* the latest one */
    return status;
}

ley_status arena_staging(arena *r, size_t bytes, dev_staging **staging, ley_error *error)
{
    arena_holding *h = take_spare(r, false, bytes, DEV_READ_WRITE);
    *staging = h != NULL ? h->staging : NULL;
    if (h != NULL)
        return LEY_OK;
    ley_status status = hold(r, &h, error);
    if (status != LEY_OK)
        return status;
    status = r->device->backend->staging_create(r->device, bytes, &h->staging, error);
    if (status != LEY_OK) {
        h->staging = NULL;
        drop(r, &r->holdings);
        return status;
    }
    h->bytes = bytes;
    h->access = DEV_READ_WRITE;
    *staging = h->staging;
    return LEY_OK;
}

ley_status arena_results(arena *r, int64_t bytes, results *made, ley_error *error)
{
    *made = (results){.buffer = NULL};
    const double copies = r->device->info->device_class == DEV_CPU ? 2 : 1;
    ley_status status =
        memory_check_one("a slab's way back", copies * (double)bytes, "fewer points along x and y", error);
    if (status == LEY_OK)
        status = arena_buffer(r, (size_t)bytes, DEV_READ_WRITE, &made->buffer, error);
    if (status == LEY_OK)
        status = arena_staging(r, (size_t)bytes, &made->staging, error);
    if (status != LEY_OK)
        arena_free_results(r, made);
    return status;
}

static arena_holding **find(arena *r, const dev_buffer *buffer, const dev_staging *staging)
{
    arena_holding **link = &r->holdings;
    while (*link != NULL && ((*link)->buffer != buffer || (*link)->staging != staging))
        link = &(*link)->next;
    return link;
}

void arena_free_buffer(arena *r, dev_buffer **buffer)
{
    arena_holding **link = *buffer != NULL ? find(r, *buffer, NULL) : NULL;
    if (link != NULL && *link != NULL)
        drop(r, link);
    *buffer = NULL;
}

void arena_free_staging(arena *r, dev_staging **staging)
{
    arena_holding **link = *staging != NULL ? find(r, NULL, *staging) : NULL;
    if (link != NULL && *link != NULL)
        drop(r, link);
    *staging = NULL;
}

void arena_free_results(arena *r, results *made)
{
    arena_free_staging(r, &made->staging);
    arena_free_buffer(r, &made->buffer);
}

void arena_clear(arena *r)
{
    while (r->holdings != NULL)
        drop(r, &r->holdings);
    if (r->within == NULL)
        drop_spares(r);
}
