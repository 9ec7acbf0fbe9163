/* The host's cores: a loop over independent items on all of them. */
#ifndef LEY_PARALLEL_H
#define LEY_PARALLEL_H

#include <stddef.h>

/* Cores this process may use. */
int parallel_cores(void);

/* Calls body(context, first, last) for disjoint ranges that cover [0, n), on up to parallel_cores()
 * threads; returns when all are done. */
void parallel_ranges(size_t n, void (*body)(void *context, size_t first, size_t last), void *context);

/* Calls body(context, i) for each i of [0, n), in a thread each, however many cores there are;
 * returns when all are done. */
void parallel_each(size_t n, void (*body)(void *context, size_t i), void *context);

#endif
