/* The shared queue of slabs: pieces of a job still to compute (z-planes of a map, rows of a
 * boundary), handed out in pieces as large as each device likes. A slab that a device could not
 * finish comes back and goes to another. A queue that ranks share has the pieces that none of them
 * has taken on a counter of one of them (ranks.h). */
#ifndef LEY_SCHEDULE_SLAB_QUEUE_H
#define LEY_SCHEDULE_SLAB_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct slab {
    int64_t first, count;
} slab;

typedef struct slab_queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t next, end; /* pieces never handed out yet */
    slab *returned;    /* given back */
    size_t returned_count, returned_capacity;
    int64_t handed_out; /* pieces being computed */
    int takers;         /* devices at work: the last pieces are shared among them */
    bool stopped;

    /* That ranks share, in place of next and end: pieces of these slabs, in their order, of which
     * the first `counted` were taken, as far as this rank knows since looked_s. */
    slab *shared; /* NULL: no others take anything of it */
    bool is_own;  /* they are this rank's, and others help with them; else all ranks' */
    size_t shared_count;
    int64_t shared_pieces, counted;
    bool is_whole;
    double looked_s;
} slab_queue;

void slab_queue_init(slab_queue *queue, int64_t pieces);
void slab_queue_destroy(slab_queue *queue);

/* Of a queue of which nobody is at anything: pieces of these slabs, from malloc, are all that is to
 * be done, the last of them first, and this rank's alone. */
void slab_queue_open(slab_queue *queue, slab *slabs, size_t count);

/* From now on all ranks take what they have not taken before of these slabs, from malloc, on the
 * counter of rank 0, or, where these are this rank's own, on that of this rank; counters were
 * cleared. What was given back here is no longer this queue's. `whole`: each taker gets as much as
 * it likes, also towards the end, so that slabs are those of one rank. */
void slab_queue_share(slab_queue *queue, bool is_own, slab *slabs, size_t count, bool whole);

/* A device joins, or leaves. */
void slab_queue_join(slab_queue *queue);
void slab_queue_leave(slab_queue *queue);

/* Takes at most `most` pieces. With `wait`, waits for pieces that others may still give back; false
 * when there is nothing left to do (or, without `wait`, nothing just now), or the queue was
 * stopped. */
bool slab_queue_take(slab_queue *queue, int64_t most, bool wait, slab *taken);

/* A taken slab is done; or comes back. false: out of memory, the pieces are lost and the job cannot
 * be finished. */
void slab_queue_done(slab_queue *queue, slab s);
bool slab_queue_give_back(slab_queue *queue, slab s);

/* Pieces that were done are open again, for others to take. false: out of memory. */
bool slab_queue_reopen(slab_queue *queue, slab s);

/* Nothing more is handed out. */
void slab_queue_stop(slab_queue *queue);

/* Of these slabs, in their order, the pieces from the `at`-th on, at most so many, of one slab. */
slab slab_list_cut(const slab *slabs, size_t count, int64_t at, int64_t most);

/* Pieces not done yet. */
int64_t slab_queue_left(slab_queue *queue);

#endif
