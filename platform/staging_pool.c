#include "staging_pool.h"

#include <pthread.h>

/* One for all devices: it is held for a few instructions. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

dev_staging *staging_pool_take(staging_pool *pool, size_t bytes)
{
    dev_staging **best = NULL, *taken;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < STAGING_POOL_MOST; i++) {
        dev_staging **s = &pool->kept[i];
        if (*s != NULL && (*s)->size >= bytes && (*s)->size / 2 <= bytes &&
            (best == NULL || (*s)->size < (*best)->size))
            best = s;
    }
    taken = best != NULL ? *best : NULL;
    if (best != NULL)
        *best = NULL;
    pthread_mutex_unlock(&mutex);
    return taken;
}

bool staging_pool_keep(staging_pool *pool, dev_staging *staging)
{
    size_t bytes = staging->size;
    dev_staging **place = NULL;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < STAGING_POOL_MOST; i++) {
        if (pool->kept[i] == NULL)
            place = &pool->kept[i];
        else
            bytes += pool->kept[i]->size;
    }
    const bool is_kept = place != NULL && staging->size >= STAGING_POOL_LEAST_BYTES && bytes <= STAGING_POOL_BYTES;
    if (is_kept)
        *place = staging;
    pthread_mutex_unlock(&mutex);
    return is_kept;
}

dev_staging *staging_pool_empty(staging_pool *pool)
{
    dev_staging *taken = NULL;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < STAGING_POOL_MOST && taken == NULL; i++) {
        taken = pool->kept[i];
        pool->kept[i] = NULL;
    }
    pthread_mutex_unlock(&mutex);
    return taken;
}
