/* A thread that works in drivers: one task at a time. It is left behind when a driver does not
 * return, and dismissed when nobody waits for what it is at. */
#ifndef LEY_ENGINE_DRIVER_THREAD_H
#define LEY_ENGINE_DRIVER_THREAD_H

#include "watch.h"

typedef struct driver_thread driver_thread;

/* NULL: no memory, or no thread. */
driver_thread *driver_thread_create(void);

/* Gives it a task. It must be idle. */
void driver_thread_give(driver_thread *h, void (*task)(void *context), void *context);

bool driver_thread_is_idle(driver_thread *h);

/* The call of the device interface that it is in; NULL: none. */
const char *driver_thread_call(driver_thread *h);

/* How often a driver thread of this process has become idle; and waits until that has happened more
 * often than `rings` times, a moment at most. */
unsigned long driver_thread_rings(void);
void driver_thread_wait(unsigned long rings);
void driver_thread_wait_for(unsigned long rings, double most_s); /* and no longer than this */

/* Leaves it behind when that is due (see watch_give_up()). It is to be kept then, with all that its
 * task was given. */
bool driver_thread_leave(driver_thread *h, bool is_over, ley_error *why);

/* Whether the driver has returned to a driver thread that was left behind. */
bool driver_thread_is_back(driver_thread *h);

/* Dismisses a busy one: it comes to the end of its task, runs `last`, and goes. With `stop`, its
 * task ends soon: calls of the device interface that begin anything fail from now on (see
 * watch_ends()). false: it is idle, and nothing has happened. */
bool driver_thread_dismiss(driver_thread *h, bool stop, void (*last)(void *context), void *context);

/* Dismissed ones that have not gone yet. */
int driver_thread_adrift(void);

/* Ends an idle one. */
void driver_thread_destroy(driver_thread *h);

/* Runs a task on a thread of its own. false, with the reason, when it had to be left behind: then
 * all that it was given is to be kept. */
bool driver_thread_run(void (*task)(void *context), void *context, ley_error *error);

#endif
