/* Flags by which somebody asks that something ends early. */
#ifndef LEY_CANCEL_H
#define LEY_CANCEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether it is set; NULL never is. What others wrote before they set it need not be seen. */
static inline bool cancel_is_asked(const atomic_bool *cancelled)
{
    return cancelled != NULL && atomic_load_explicit(cancelled, memory_order_relaxed);
}

/* The same of a flag that is the caller's, as the `cancel` arguments of leyden.h have it. */
static inline bool cancel_flag_is_set(const volatile bool *cancel)
{
    return cancel != NULL && __atomic_load_n(cancel, __ATOMIC_RELAXED); /* another thread sets it */
}

#endif
