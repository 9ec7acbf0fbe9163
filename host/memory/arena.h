/* Memory of one device for one job: one budget for all that is made here, freed together. Rooms
 * within a room are freed on their own, and share its budget. */
#ifndef LEY_MEMORY_ARENA_H
#define LEY_MEMORY_ARENA_H

#include "device.h"

typedef struct room_holding room_holding;

/* A room begins as {.device = ..., .within = ...}. */
typedef struct room {
    dev *device;
    struct room *within; /* NULL: none */
    room_holding *holdings;
    uint64_t taken; /* bytes of buffers, of rooms within it, too */
} room;

/* What a kernel makes: on the device, and on the host, where it comes back to. */
typedef struct results {
    dev_buffer *buffer; /* NULL: there is none */
    dev_staging *staging;
} results;

/* Bytes that buffers may still take together, of three quarters of the device's memory; and a
 * single one of them. INT64_MAX: the device does not say. */
int64_t room_left(const room *r);
int64_t room_largest(const room *r);

/* LEY_ERROR_NO_DEVICE, with figures: there is no room for so much. */
ley_status room_buffer(room *r, size_t bytes, dev_access access, dev_buffer **buffer, ley_error *error);
ley_status room_staging(room *r, size_t bytes, dev_staging **staging, ley_error *error);

/* Of buffers that are about to be made, so many bytes together: LEY_ERROR_MEMORY where the device
 * is a processor, whose memory is the host's, and the host has no room for them. `what` and
 * `advice` are those of a memory_need. Drivers do not look: they take memory when it is first
 * touched, and abort the process where there is none. */
ley_status room_check_host(const room *r, const char *what, double bytes, const char *advice, ley_error *error);

/* A buffer that kernels only read, with these bytes in it. */
ley_status room_upload(room *r, const void *bytes, size_t size, dev_buffer **buffer, ley_error *error);

/* The same, which a card keeps for later rooms when this one has done with it, and has from an
 * earlier one: nothing is sent then. `name` is that of the bytes, which no others ever have
 * (kept_buffers.h); 0: none, they are not kept. What is kept counts as taken while a room has it;
 * else it makes way for whatever asks for memory. A processor's memory is the host's: it keeps
 * none. */
ley_status room_upload_kept(room *r, uint64_t name, const void *bytes, size_t size, dev_buffer **buffer,
                            ley_error *error);

/* On failure there are none. */
ley_status room_results(room *r, int64_t bytes, results *made, ley_error *error);

/* Ends what was made here before the room ends; what is NULL is none. All are NULL then. */
void room_free_buffer(room *r, dev_buffer **buffer);
void room_free_staging(room *r, dev_staging **staging);
void room_free_results(room *r, results *made);

/* Ends all that is left. The room may be used again. */
void room_clear(room *r);

#endif
