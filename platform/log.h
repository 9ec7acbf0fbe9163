/* What the library tells those who want to know: see ley_log_set(). */
#ifndef LEY_LOG_H
#define LEY_LOG_H

#include "leyden_status.h"

#include <stdbool.h>

/* Hands a message (printf format) to the callback, if there is one that wants it. Not to be called
 * with a lock that a callback may need. A longer message is cut. */
void log_say(ley_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether somebody wants messages of this level: to be asked before work that is for the log
 * only. */
bool log_wants(ley_log_level level);

#endif
