/* Buffers of a device with what is in them, which it keeps for the next job: bytes that follow from
 * choices and not from atoms, and take long to send. Nobody uses what is here: whoever takes it
 * gives it back. */
#ifndef LEY_KEPT_BUFFERS_H
#define LEY_KEPT_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dev_buffer;

/* What is kept at most of a device: so many, and together this part of its memory. */
enum { KEPT_BUFFERS_MOST = 4, KEPT_BUFFERS_PART = 16 };

typedef struct kept_buffer {
    uint64_t name;             /* of the bytes: no others ever have it; 0: they have none */
    struct dev_buffer *buffer; /* NULL: there is none */
    size_t bytes;
} kept_buffer;

/* Zeroed: empty. Whoever uses the device uses it. */
typedef struct kept_buffers {
    kept_buffer list[KEPT_BUFFERS_MOST]; /* the oldest first */
    size_t count;
} kept_buffers;

bool kept_buffers_has(const kept_buffers *kept, uint64_t name);
uint64_t kept_buffers_bytes(const kept_buffers *kept);

/* The one of this name, for the caller; or none. */
kept_buffer kept_buffers_take(kept_buffers *kept, uint64_t name);

/* The oldest, for the caller to destroy; or none. */
kept_buffer kept_buffers_drop(kept_buffers *kept);

/* Whether it is worth keeping on a device of so many bytes (0: unknown); and whether older ones
 * have to be dropped before there is a place for it. */
bool kept_buffers_may(uint64_t device_bytes, const kept_buffer *one);
bool kept_buffers_are_full(const kept_buffers *kept, uint64_t device_bytes, const kept_buffer *one);

/* One that may be kept, where they are not full: it is the caller's no more. */
void kept_buffers_put(kept_buffers *kept, kept_buffer one);

#endif
