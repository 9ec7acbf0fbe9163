/* A device's own memory that it keeps for the next buffers: drivers take up to a millisecond to
 * give out a hundred megabytes or to take them back, and jobs ask for the same sizes again. */
#ifndef LEY_BUFFER_POOL_H
#define LEY_BUFFER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is kept at most of a device, and no more than an eighth of its memory; and the least that is
 * worth it. */
enum { BUFFER_POOL_MOST = 24 };
#define BUFFER_POOL_BYTES ((uint64_t)1 << 30)
#define BUFFER_POOL_LEAST_BYTES ((size_t)1 << 20)

typedef struct spare_memory {
    uintptr_t address; /* the driver's name for it; 0: there is none */
    size_t bytes;
} spare_memory;

/* Zeroed: empty. Whoever uses the device uses it. */
typedef struct buffer_pool {
    spare_memory kept[BUFFER_POOL_MOST]; /* the oldest first */
    size_t count;
} buffer_pool;

/* The smallest that has so many bytes, but no more than a quarter more; none, where there is
 * none. */
spare_memory buffer_pool_take(buffer_pool *pool, size_t bytes);

/* Whether it is worth keeping on a device of so many bytes (0: unknown), and there is a place for
 * it: then it is the caller's no more. */
bool buffer_pool_keep(buffer_pool *pool, uint64_t device_bytes, spare_memory spare);

/* Whether keeping so many bytes asks for the oldest to be dropped first. */
bool buffer_pool_is_full(const buffer_pool *pool, uint64_t device_bytes, size_t bytes);

/* The oldest of what is kept, for the caller to free; or none. */
spare_memory buffer_pool_drop(buffer_pool *pool);

#endif
