/* A thread that works in drivers: one task at a time, and left behind when a driver does not
 * return. */
#ifndef LEY_HAND_H
#define LEY_HAND_H

#include "watch.h"

typedef struct hand hand;

/* NULL: no memory, or no thread. */
hand *hand_create(void);

/* Gives it a task. It must be idle. */
void hand_give(hand *h, void (*task)(void *context), void *context);

/* Waits until it is idle, a moment at most; whether it is. */
bool hand_is_idle(hand *h);

/* Leaves it behind when that is due (see watch_give_up()). It is to be kept then, with all that its
 * task was given. */
bool hand_leave(hand *h, bool is_over, ley_error *why);

/* Whether the driver has returned to a hand left behind. */
bool hand_is_back(hand *h);

/* Ends an idle one. */
void hand_destroy(hand *h);

/* Runs a task on a thread of its own. false, with the reason, when it had to be left behind: then
 * all that it was given is to be kept. */
bool hand_run(void (*task)(void *context), void *context, ley_error *error);

#endif
