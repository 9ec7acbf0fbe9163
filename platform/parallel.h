/* The host's cores: a loop over independent items on all of them. */
#ifndef LEY_PARALLEL_H
#define LEY_PARALLEL_H

#include <stddef.h>

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

/* Calls body(context, i) for each i of [0, n), in a thread each, however many cores there are;
 * returns when all are done. */
void parallel_each(size_t n, void (*body)(void *context, size_t i), void *context);

#endif
