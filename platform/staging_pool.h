/* Staging that a device keeps for the next job: drivers take long to lock pages, 0.7 s per GiB on
 * some, and fresh memory is slow to touch. */
#ifndef LEY_STAGING_POOL_H
#define LEY_STAGING_POOL_H

#include <stdbool.h>
#include <stddef.h>

/* Host memory that the device reaches quickly (page-locked where the driver can). */
typedef struct dev_staging {
    void *bytes;
    size_t size;
} dev_staging;

/* What is kept at most of a device, and the least that is worth it. */
enum { STAGING_POOL_MOST = 8 };
#define STAGING_POOL_BYTES ((size_t)384 << 20)
#define STAGING_POOL_LEAST_BYTES ((size_t)1 << 20)

/* Zeroed: empty. Any thread may use it. */
typedef struct staging_pool {
    dev_staging *kept[STAGING_POOL_MOST];
} staging_pool;

/* The smallest that has so many bytes, but no more than twice as many; NULL: there is none. */
dev_staging *staging_pool_take(staging_pool *pool, size_t bytes);

/* Nothing may be under way to it. False: there is no place for it, and the caller frees it. */
bool staging_pool_keep(staging_pool *pool, dev_staging *staging);

/* Any of what is kept, for the caller to free; NULL: there is nothing more. */
dev_staging *staging_pool_empty(staging_pool *pool);

#endif
