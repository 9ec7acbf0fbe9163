/* What the library tells those who want to know: see ley_log_set(). */
#ifndef LEY_LOG_H
#define LEY_LOG_H

#include "leyden_status.h"

#include <pthread.h>
#include <stdbool.h>

/* Hands a message (printf format) to the callback, if there is one that wants it. Not to be called
 * with a lock that a callback may need. A longer message is cut. */
void log_say(ley_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether somebody wants messages of this level: to be asked before work that is for the log
 * only. */
bool log_wants(ley_log_level level);

/* The first of the warnings of a kind, in this process, for who asks in the end: static, and
 * initialised by LOG_FIRST. */
typedef struct log_first {
    pthread_mutex_t lock;
    char text[4352]; /* empty: none so far; else it never changes */
} log_first;

#define LOG_FIRST \
    { \
        .lock = PTHREAD_MUTEX_INITIALIZER \
    }

/* Warns of "ABOUT: PATH: WHY", and keeps "PATH: WHY" if it is the first. */
void log_complain(log_first *first, const char *about, const char *path, const char *why);

/* NULL: none so far. */
const char *log_first_text(log_first *first);

#endif
