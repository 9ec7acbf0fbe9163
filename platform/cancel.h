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

#endif
