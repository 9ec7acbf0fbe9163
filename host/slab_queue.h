/* The shared queue of slabs: z-planes still to compute, handed out in pieces as large as each device likes. A slab that a
 * device could not finish comes back and goes to another. */
#ifndef LEY_SLAB_QUEUE_H
#define LEY_SLAB_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct slab {
    int64_t first, planes;
} slab;

typedef struct slab_queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t next, end;   /* planes never handed out yet */
    slab *returned;      /* given back */
    size_t returned_count, returned_capacity;
    int64_t handed_out;  /* planes being computed */
    int takers;          /* devices at work: the last planes are shared among them */
    bool stopped;
} slab_queue;

void slab_queue_init(slab_queue *queue, int64_t planes);
void slab_queue_destroy(slab_queue *queue);

/* A device joins, or leaves. */
void slab_queue_join(slab_queue *queue);
void slab_queue_leave(slab_queue *queue);

/* Takes at most `most` planes. With `wait`, waits for planes that others may still give back; false when there is nothing
 * left to do (or, without `wait`, nothing just now), or the queue was stopped. */
bool slab_queue_take(slab_queue *queue, int64_t most, bool wait, slab *taken);

/* A taken slab is done; or comes back. false: out of memory, the planes are lost and the job cannot be finished. */
void slab_queue_done(slab_queue *queue, slab s);
bool slab_queue_give_back(slab_queue *queue, slab s);

/* Nothing more is handed out. */
void slab_queue_stop(slab_queue *queue);

/* Planes not done yet. */
int64_t slab_queue_left(slab_queue *queue);

#endif
