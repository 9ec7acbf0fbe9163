#include "schedule/slab_queue.h"

#include <stdlib.h>

void slab_queue_init(slab_queue *queue, int64_t pieces)
{
    *queue = (slab_queue){.end = pieces};
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->changed, NULL);
}

void slab_queue_destroy(slab_queue *queue)
{
    pthread_mutex_destroy(&queue->mutex);
    pthread_cond_destroy(&queue->changed);
    free(queue->returned);
}

static void add_takers(slab_queue *queue, int change)
{
    pthread_mutex_lock(&queue->mutex);
    queue->takers += change;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

void slab_queue_join(slab_queue *queue)
{
    add_takers(queue, 1);
}

void slab_queue_leave(slab_queue *queue)
{
    add_takers(queue, -1);
}

/* Guided self-scheduling: towards the end of the job the pieces get smaller, so that all devices
 * end together. */
static int64_t fair_share(const slab_queue *queue, int64_t most)
{
    int64_t share = queue->takers > 1 ? (queue->end - queue->next) / (2 * queue->takers) : queue->end - queue->next;
    if (share < 1)
        share = 1;
    return share < most ? share : most;
}

static bool take_now(slab_queue *queue, int64_t most, slab *taken)
{
    if (queue->returned_count > 0) {
        slab *last = &queue->returned[queue->returned_count - 1];
        *taken = (slab){last->first, last->count < most ? last->count : most};
        last->first += taken->count;
        last->count -= taken->count;
        if (last->count == 0)
            queue->returned_count--;
    } else if (queue->next < queue->end) {
        *taken = (slab){queue->next, fair_share(queue, most)};
        if (taken->count > queue->end - queue->next)
            taken->count = queue->end - queue->next;
        queue->next += taken->count;
    } else
        return false;
    queue->handed_out += taken->count;
    return true;
}

bool slab_queue_take(slab_queue *queue, int64_t most, bool wait, slab *taken)
{
    bool found = false;
    pthread_mutex_lock(&queue->mutex);
    while (!queue->stopped && !(found = take_now(queue, most, taken)) && wait && queue->handed_out > 0)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    pthread_mutex_unlock(&queue->mutex);
    return found;
}

void slab_queue_done(slab_queue *queue, slab s)
{
    pthread_mutex_lock(&queue->mutex);
    queue->handed_out -= s.count;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

/* The caller holds the mutex. */
static bool keep_returned(slab_queue *queue, slab s)
{
    if (queue->returned_count == queue->returned_capacity) {
        size_t capacity = 2 * queue->returned_capacity + 8;
        slab *grown = realloc(queue->returned, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        queue->returned = grown;
        queue->returned_capacity = capacity;
    }
    queue->returned[queue->returned_count++] = s;
    return true;
}

bool slab_queue_give_back(slab_queue *queue, slab s)
{
    pthread_mutex_lock(&queue->mutex);
    const bool kept = keep_returned(queue, s);
    if (kept)
        queue->handed_out -= s.count;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
    return kept;
}

bool slab_queue_reopen(slab_queue *queue, slab s)
{
    pthread_mutex_lock(&queue->mutex);
    const bool kept = keep_returned(queue, s);
    pthread_mutex_unlock(&queue->mutex);
    return kept;
}

void slab_queue_stop(slab_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->stopped = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

/* The caller holds the mutex. */
static int64_t left_now(const slab_queue *queue)
{
    int64_t left = queue->end - queue->next + queue->handed_out;
    for (size_t i = 0; i < queue->returned_count; i++)
        left += queue->returned[i].count;
    return left;
}

int64_t slab_queue_left(slab_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    const int64_t left = left_now(queue);
    pthread_mutex_unlock(&queue->mutex);
    return left;
}
