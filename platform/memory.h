/* How much memory this process may still take, asked before it is taken: a process that takes more
 * is killed, and says nothing. */
#ifndef LEY_MEMORY_H
#define LEY_MEMORY_H

#include "leyden_status.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct memory_room {
    double bytes;      /* INFINITY: no limit is known */
    const char *limit; /* what sets it, in words for a message */
} memory_room;

/* The least of: what the machine has free (swap does not count, for bins and maps are touched all
 * over), what each of this process's control groups leaves (version 1 and 2, and all above them),
 * and what `ulimit -v` and `ulimit -d` leave. A sixteenth of it, 256 MiB at most, is not counted:
 * drivers and compilers live there. */
memory_room memory_available(void);

/* The same of a machine whose /proc and /sys lie below the folder `root`, without the limits of
 * ulimit. */
memory_room memory_available_below(const char *root);

/* From now on so many bytes are available, whatever the machine has; below 0: what it has. For
 * tests. */
void memory_pretend(double bytes);

/* Something large that is about to be allocated. */
typedef struct memory_need {
    const char *what; /* "the map" */
    double bytes;
    const char *advice; /* what would make it smaller: "a coarser spacing" */
} memory_need;

/* LEY_ERROR_MEMORY when these together are more than there is: the message has the sum, the parts
 * and what is available, in GiB, and the advice of the largest. Sums below 64 MiB pass without a
 * look. */
ley_status memory_check(const memory_need *needs, size_t count, ley_error *error);

/* The same for what grows from so many bytes to more. */
ley_status memory_check_growth(const char *what, double from_bytes, double to_bytes, const char *advice,
                               ley_error *error);

static inline ley_status memory_check_one(const char *what, double bytes, const char *advice, ley_error *error)
{
    const memory_need need = {what, bytes, advice};
    return memory_check(&need, 1, error);
}

/* Memory that free() ends, not touched yet; NULL where there is none. Much of it comes in large
 * pages where the system has them: it is touched for the first time by who writes to it, a fault a
 * page, which several threads do several times as fast as one. */
void *memory_in_large_pages(int64_t bytes);

/* Frees what its owner keeps behind a pointer to const, so that nobody else writes to it. */
static inline void memory_free(const void *owned)
{
    free((void *)(uintptr_t)owned);
}

#endif
