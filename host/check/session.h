/* A device's checks: its thread goes through the table and leaves results, which others take. */
#ifndef LEY_CHECK_SESSION_H
#define LEY_CHECK_SESSION_H

#include "check/internal.h"

#include <pthread.h>

struct check_session {
    dev_info info; /* a copy, which may be kept */
    bool quick;
    char **names; /* that are asked for */
    size_t name_count;
    char *reproducers; /* a folder, or NULL */

    pthread_mutex_t mutex; /* for what follows */
    ley_check_result *results;
    size_t count, capacity;
    const check_row *row; /* that the thread is at; NULL: none */
    char variant[KERNEL_NAME];
};

/* NULL: no memory. Names are copied. */
check_session *session_create(const dev_info *info, const ley_check_options *options);
void session_destroy(check_session *s);

/* Opens the device, goes through the table and closes it: the task of a thread, whose context is
 * the session. */
void session_run(void *session);

/* What the thread is at from now on. */
void session_enter(check_session *s, const check_row *row, const char *variant);

/* Takes a result over, with copies of its texts. */
void session_add(check_session *s, const ley_check_result *result);

/* The thread was left behind: what it was at has failed for this reason, and what is left of the
 * table is skipped. It never comes back to the session. */
void session_give_up(check_session *s, const char *why);

/* Whether a name asks for a check, whatever variants it has. */
bool session_is_named(const char *name, const ley_check_row *row);

/* Whether it has a result that a name asks for; one without a variant stands for all of its
 * check. */
bool session_has(const check_session *s, const char *name);

#endif
