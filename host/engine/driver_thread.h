/* A thread that works in drivers: one task at a time. It is left behind when a driver does not
 * return, and dismissed when nobody waits for what it is at. */
#ifndef LEY_ENGINE_DRIVER_THREAD_H
#define LEY_ENGINE_DRIVER_THREAD_H

#include "watch.h"

typedef struct hand hand;

/* NULL: no memory, or no thread. */
hand *hand_create(void);

/* Gives it a task. It must be idle. */
void hand_give(hand *h, void (*task)(void *context), void *context);

bool hand_is_idle(hand *h);

/* The call of the door that it is in; NULL: none. */
const char *hand_call(hand *h);

/* How often a hand of this process has become idle; and waits until that has happened more often
 * than `rings` times, a moment at most. */
unsigned long hand_rings(void);
void hand_wait(unsigned long rings);
void hand_wait_for(unsigned long rings, double most_s); /* and no longer than this */

/* Leaves it behind when that is due (see watch_give_up()). It is to be kept then, with all that its
 * task was given. */
bool hand_leave(hand *h, bool is_over, ley_error *why);

/* Whether the driver has returned to a hand left behind. */
bool hand_is_back(hand *h);

/* Dismisses a busy one: it comes to the end of its task, runs `last`, and goes. With `stop`, its
 * task ends soon: calls of the door that begin anything fail from now on (see watch_ends()).
 * false: it is idle, and nothing has happened. */
bool hand_dismiss(hand *h, bool stop, void (*last)(void *context), void *context);

/* Dismissed ones that have not gone yet. */
int hand_adrift(void);

/* Ends an idle one. */
void hand_destroy(hand *h);

/* Runs a task on a thread of its own. false, with the reason, when it had to be left behind: then
 * all that it was given is to be kept. */
bool hand_run(void (*task)(void *context), void *context, ley_error *error);

#endif
