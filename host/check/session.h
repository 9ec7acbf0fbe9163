/* A device's checks: what is asked for, and the results, which one thread leaves and another
 * takes. */
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

/* What the thread is at from now on. */
void session_enter(check_session *s, const check_row *row, const char *variant);

/* Takes a result over, with copies of its texts. */
void session_add(check_session *s, const ley_check_result *result);

/* The same of a check that has no figures. */
void session_add_outcome(check_session *s, const check_row *row, const char *variant, ley_check_outcome outcome,
                         const char *text, double elapsed_s);

/* Whether a variant of a check, or where that is NULL any, is among those that are asked for. */
bool session_wants(const check_session *s, const check_row *row, const char *variant);

/* Whether a name asks for a check, whatever variants it has. */
bool session_is_named(const char *name, const ley_check_row *row);

/* Whether it has a result that a name asks for; one without a variant stands for all of its
 * check. */
bool session_has(const check_session *s, const char *name);

#endif
