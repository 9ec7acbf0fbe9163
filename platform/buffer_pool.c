#include "buffer_pool.h"

#include <string.h>

static uint64_t most_bytes(uint64_t device_bytes)
{
    const uint64_t share = device_bytes / 8;
    return device_bytes > 0 && share < BUFFER_POOL_BYTES ? share : BUFFER_POOL_BYTES;
}

static uint64_t bytes_of(const buffer_pool *pool)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < pool->count; i++)
        bytes += pool->kept[i].bytes;
    return bytes;
}

static spare_memory take(buffer_pool *pool, size_t i)
{
    const spare_memory taken = pool->kept[i];
    pool->count--;
    memmove(&pool->kept[i], &pool->kept[i + 1], (pool->count - i) * sizeof *pool->kept);
    return taken;
}

spare_memory buffer_pool_take(buffer_pool *pool, size_t bytes)
{
    size_t best = pool->count;
    for (size_t i = 0; i < pool->count; i++) {
        const size_t has = pool->kept[i].bytes;
        if (has >= bytes && has - bytes <= bytes / 4 && (best == pool->count || has < pool->kept[best].bytes))
            best = i;
    }
    return best < pool->count ? take(pool, best) : (spare_memory){.address = 0};
}

bool buffer_pool_is_full(const buffer_pool *pool, uint64_t device_bytes, size_t bytes)
{
    return bytes >= BUFFER_POOL_LEAST_BYTES && bytes <= most_bytes(device_bytes) &&
           (pool->count == BUFFER_POOL_MOST || bytes_of(pool) + bytes > most_bytes(device_bytes));
}

bool buffer_pool_keep(buffer_pool *pool, uint64_t device_bytes, spare_memory spare)
{
    if (spare.bytes < BUFFER_POOL_LEAST_BYTES || spare.bytes > most_bytes(device_bytes) ||
        buffer_pool_is_full(pool, device_bytes, spare.bytes))
        return false;
    pool->kept[pool->count++] = spare;
    return true;
}

spare_memory buffer_pool_drop(buffer_pool *pool)
{
    return pool->count > 0 ? take(pool, 0) : (spare_memory){.address = 0};
}
