#include "schedule/slab_queue.h"

#include "clock.h"
#include "ranks.h"

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
    free(queue->shared);
}

static void count_on(slab_queue *queue, int64_t more)
{
    queue->counted = ranks_count_on(queue->is_own ? ranks_own() : 0, more) + more;
    queue->looked_s = ley_clock_s();
}

void slab_queue_open(slab_queue *queue, slab *slabs, size_t count)
{
    pthread_mutex_lock(&queue->mutex);
    free(queue->returned);
    free(queue->shared);
    queue->shared = NULL;
    queue->shared_pieces = queue->counted = 0;
    queue->returned = slabs;
    queue->returned_count = queue->returned_capacity = count;
    queue->next = queue->end;
    pthread_mutex_unlock(&queue->mutex);
}

void slab_queue_share(slab_queue *queue, bool is_own, slab *slabs, size_t count, bool whole)
{
    pthread_mutex_lock(&queue->mutex);
    free(queue->shared);
    queue->is_own = is_own;
    queue->shared = slabs;
    queue->shared_count = count;
    queue->is_whole = whole;
    queue->shared_pieces = 0;
    for (size_t i = 0; i < count; i++)
        queue->shared_pieces += slabs[i].count;
    queue->next = queue->end;
    queue->returned_count = 0;
    queue->counted = 0;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
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

/* Of those that ranks share each takes less, as others' cores may be slower. */
enum { ROUNDS = 2, ROUNDS_OF_RANKS = 4 };

static int64_t takers_of(const slab_queue *queue)
{
    const int64_t takers = queue->takers > 0 ? queue->takers : 1;
    return queue->shared == NULL || queue->is_own ? takers : ranks_count() * takers;
}

/* Guided self-scheduling: towards the end of the job the pieces get smaller, so that all devices
 * end together. Others help with own pieces where these take long: as large ones as this part of
 * `most`, which take little, are not cut. */
enum { SMALL_PART = 8 };

static int64_t fair_share(const slab_queue *queue, int64_t most)
{
    const int64_t takers = takers_of(queue), rounds = queue->shared != NULL ? ROUNDS_OF_RANKS : ROUNDS,
                  left = queue->shared != NULL ? queue->shared_pieces - queue->counted : queue->end - queue->next,
                  least = queue->shared != NULL && queue->is_own && most > SMALL_PART ? most / SMALL_PART : 1;
    int64_t share = takers > 1 || queue->shared != NULL ? left / (rounds * takers) : left;
    if (share < least)
        share = least;
    return share < most ? share : most;
}

slab slab_list_cut(const slab *slabs, size_t count, int64_t at, int64_t most)
{
    for (size_t i = 0; i < count; at -= slabs[i++].count)
        if (at < slabs[i].count)
            return (slab){slabs[i].first + at, slabs[i].count - at < most ? slabs[i].count - at : most};
    return (slab){.count = 0};
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

/* Of the shared ones, from the `at`-th on; what is in more than one slab is in part kept for the
 * next time. */
static slab shared_pieces(slab_queue *queue, int64_t at, int64_t count)
{
    const slab taken = slab_list_cut(queue->shared, queue->shared_count, at, count);
    for (int64_t done = taken.count; done < count;) {
        const slab more = slab_list_cut(queue->shared, queue->shared_count, at + done, count - done);
        if (!keep_returned(queue, more))
            queue->stopped = true;
        done += more.count;
    }
    return taken;
}

/* Looks where the others are before it decides how many. Towards the end nobody takes another slab
 * while one is at work (`waits` false): it might be what all others wait for. */
static bool take_shared(slab_queue *queue, int64_t most, bool waits, slab *taken)
{
    if (queue->counted < queue->shared_pieces)
        count_on(queue, 0);
    const int64_t open = queue->shared_pieces - queue->counted;
    if (open <= 0 || (!waits && open <= ROUNDS_OF_RANKS * takers_of(queue)))
        return false;
    const int64_t wanted = queue->is_whole ? most : fair_share(queue, most);
    count_on(queue, wanted);
    const int64_t at = queue->counted - wanted, left = queue->shared_pieces - at;
    if (left > 0)
        *taken = shared_pieces(queue, at, wanted < left ? wanted : left);
    return left > 0;
}

static bool take_now(slab_queue *queue, int64_t most, bool waits, slab *taken)
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
    } else if (queue->shared == NULL || !take_shared(queue, most, waits, taken))
        return false;
    queue->handed_out += taken->count;
    return true;
}

bool slab_queue_take(slab_queue *queue, int64_t most, bool wait, slab *taken)
{
    bool found = false;
    pthread_mutex_lock(&queue->mutex);
    while (!queue->stopped && !(found = take_now(queue, most, wait, taken)) && wait && queue->handed_out > 0)
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
static int64_t left_now(slab_queue *queue)
{
    const double often_s = 0.02;
    int64_t left = queue->end - queue->next + queue->handed_out;
    if (queue->counted < queue->shared_pieces && ley_clock_s() - queue->looked_s > often_s)
        count_on(queue, 0);
    if (queue->counted < queue->shared_pieces)
        left += queue->shared_pieces - queue->counted;
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
