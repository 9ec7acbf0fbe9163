/* The host's cores: a loop over independent items on all of them. */
#ifndef LEY_PARALLEL_H
#define LEY_PARALLEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* pthread_create() with a stack that is large enough for drivers and their compilers, whatever
 * `ulimit -s` says, and no smaller than that. 0, or an error number. */
int parallel_start(pthread_t *thread, void *(*body)(void *context), void *context);

/* Cores this process may use. */
int parallel_cores(void);

/* The first of n items that is a part's, where `parts` of them share all as evenly as can be; of
 * part `parts` n itself. */
static inline size_t parallel_first(size_t n, size_t parts, size_t part)
{
    return n / parts * part + (n % parts < part ? n % parts : part);
}

/* Calls body(context, first, last) for disjoint ranges that cover [0, n), on up to parallel_cores()
 * threads; returns when all are done. */
void parallel_ranges(size_t n, void (*body)(void *context, size_t first, size_t last), void *context);

/* Loops are going to follow each other, again and again, so soon that threads would hardly be
 * asleep before they are called: from a call with true to as many with false some of them look out
 * for the next one instead, for a millisecond after the last one. */
void parallel_stay_alert(bool is_alert);

/* The same for other threads that wait: looks out for what comes, while others ask for it and no
 * longer than that. Whether it has come. */
bool parallel_look_out(bool (*has_come)(void *context), void *context);

/* Memory of zeros for free(), or NULL: threads write a stretch of whole pages each, before they
 * would fight for pages that none has written yet. */
void *parallel_zeros(size_t bytes);

/* Calls body(context, i) for each i of [0, n), in a thread each, however many cores there are;
 * returns when all are done. */
void parallel_each(size_t n, void (*body)(void *context, size_t i), void *context);

/* Items made side by side and put one after the other: worker w of `workers` takes the first item
 * of [0, n) that nobody has taken, makes it by make(order, context, i, w), and calls put(context,
 * i, w) when all items before it have been put. Each worker has a thread and, at a time, one item,
 * so that a buffer for each will do. Ends when all items have been put, or after the first put()
 * that returns false; items that are being made by then are not put. */
typedef struct parallel_order parallel_order;
void parallel_in_order(size_t n, size_t workers,
                       void (*make)(parallel_order *order, void *context, size_t i, size_t worker),
                       bool (*put)(void *context, size_t i, size_t worker), void *context);

/* For make(i): returns true when the first `items` items, at most i, have been put; false: they
 * never will be. */
bool parallel_await(parallel_order *order, size_t items);

#endif
