/* The thread of a device: it goes through the table of checks and leaves results in a session. */
#ifndef LEY_CHECK_RUNNER_H
#define LEY_CHECK_RUNNER_H

#include "check/session.h"

/* Opens the device, goes through the table and closes it: the task of a thread, whose context is
 * the session. */
void runner_run(void *session);

/* The thread was left behind: what it was at has failed for this reason, and what is left of the
 * table is skipped. It never comes back to the session. */
void runner_give_up(check_session *s, const char *why);

#endif
