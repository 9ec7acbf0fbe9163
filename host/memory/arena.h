/* Memory of one device for one job: one budget for all that is made here, freed together. Rooms
 * within an arena are freed on their own, and share its budget. */
#ifndef LEY_MEMORY_ARENA_H
#define LEY_MEMORY_ARENA_H

#include "device.h"

typedef struct arena_holding arena_holding;

/* An arena begins as {.device = ..., .within = ...}. */
typedef struct arena {
    dev *device;
    struct arena *within; /* NULL: none */
    arena_holding *holdings;
    uint64_t taken; /* bytes of buffers, of arenas within it, too */

    /* Of the outermost one: what is freed in it and within it is spare for what is made there next,
     * for drivers stop all work on a device while they give out memory or take it back. */
    bool keeps;
    arena_holding *spares;
} arena;

/* What a kernel makes: on the device, and on the host, where it comes back to. */
typedef struct results {
    dev_buffer *buffer; /* NULL: there is none */
    dev_staging *staging;
} results;

/* Bytes that buffers may still take together, of three quarters of the device's memory; and a
 * single one of them. INT64_MAX: the device does not say. */
int64_t arena_left(const arena *r);
int64_t arena_largest(const arena *r);

/* LEY_ERROR_NO_DEVICE, with figures: there is no room for so much. */
ley_status arena_buffer(arena *r, size_t bytes, dev_access access, dev_buffer **buffer, ley_error *error);
ley_status arena_staging(arena *r, size_t bytes, dev_staging **staging, ley_error *error);

/* Of buffers that are about to be made, so many bytes together: LEY_ERROR_MEMORY where the device
 * is a processor, whose memory is the host's, and the host has no room for them. `what` and
 * `advice` are those of a memory_need. Drivers do not look: they take memory when it is first
 * touched, and abort the process where there is none. */
ley_status arena_check_host(const arena *r, const char *what, double bytes, const char *advice, ley_error *error);

/* A buffer that kernels only read, with these bytes in it. */
ley_status arena_upload(arena *r, const void *bytes, size_t size, dev_buffer **buffer, ley_error *error);

/* The same, which a card keeps for later arenas when this one has done with it, and has from an
 * earlier one: nothing is sent then. `name` is that of the bytes, which no others ever have
 * (kept_buffers.h); 0: none, they are not kept. What is kept counts as taken while an arena has it;
 * else it makes way for whatever asks for memory. A processor's memory is the host's: it keeps
 * none. */
ley_status arena_upload_kept(arena *r, uint64_t name, const void *bytes, size_t size, dev_buffer **buffer,
                             ley_error *error);

/* On failure there are none. */
ley_status arena_results(arena *r, int64_t bytes, results *made, ley_error *error);

/* Ends what was made here before the arena ends; what is NULL is none. All are NULL then. */
void arena_free_buffer(arena *r, dev_buffer **buffer);
void arena_free_staging(arena *r, dev_staging **staging);
void arena_free_results(arena *r, results *made);

/* Ends all that is left, spares as well. The arena may be used again. */
void arena_clear(arena *r);

#endif
