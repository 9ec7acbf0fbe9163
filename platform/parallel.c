#include "parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MAX_THREADS = 256 };

typedef struct range {
    pthread_t thread;
    size_t first, last;
    void (*body)(void *context, size_t first, size_t last);
    void *context;
} range;

int parallel_cores(void)
{
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : cores;
}

static void *run_range(void *argument)
{
    range *r = argument;
    r->body(r->context, r->first, r->last);
    return NULL;
}

/* A thread for each of them is a matter of a few. */
typedef struct one {
    pthread_t thread;
    bool is_running;
    size_t i;
    void (*body)(void *context, size_t i);
    void *context;
} one;

static void *run_one(void *argument)
{
    one *o = argument;
    o->body(o->context, o->i);
    return NULL;
}

void parallel_each(size_t n, void (*body)(void *context, size_t i), void *context)
{
    one *all = calloc(n, sizeof *all);
    for (size_t i = 0; i < n; i++) {
        const one o = {.i = i, .body = body, .context = context};
        if (all == NULL || i + 1 == n) { /* the caller does the last one, and what no thread does */
            body(context, i);
            continue;
        }
        all[i] = o;
        all[i].is_running = pthread_create(&all[i].thread, NULL, run_one, &all[i]) == 0;
        if (!all[i].is_running)
            body(context, i);
    }
    for (size_t i = 0; all != NULL && i < n; i++)
        if (all[i].is_running)
            pthread_join(all[i].thread, NULL);
    free(all);
}

void parallel_ranges(size_t n, void (*body)(void *context, size_t first, size_t last), void *context)
{
    range ranges[MAX_THREADS];
    size_t threads = (size_t)parallel_cores(), started = 0;
    if (threads > n)
        threads = n;
    for (; started + 1 < threads; started++) {
        ranges[started] = (range){
            .first = n / threads * started, .last = n / threads * (started + 1), .body = body, .context = context};
        if (pthread_create(&ranges[started].thread, NULL, run_range, &ranges[started]) != 0)
            break;
    }
    if (n > 0) /* the caller's own share is whatever is left */
        body(context, threads > 0 ? n / threads * started : 0, n);
    for (size_t i = 0; i < started; i++)
        pthread_join(ranges[i].thread, NULL);
}
