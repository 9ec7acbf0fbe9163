/* Filling in error reports: one way for every floor. */
#ifndef LEY_ERROR_H
#define LEY_ERROR_H

#include "leyden_status.h"

#include <stdarg.h>
#include <stddef.h>

/* Writes a report (printf format) and returns `status`, so that `return ley_fail(...)` is the
 * idiom. A longer message is cut. */
ley_status ley_fail(ley_error *error, ley_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the message that `error` already holds. */
void ley_error_prefix(ley_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands the log (from malloc) over to the report; frees it when `error` is NULL. */
void ley_error_take_log(ley_error *error, char *log);

/* The same of a compiler's log, whose first line that tells of an error, or else its first line,
 * comes behind the message. */
void ley_error_take_compiler_log(ley_error *error, char *log);

/* Copies a report, log included; `to` is cleared first. */
void ley_error_copy(ley_error *to, const ley_error *from);

/* A size as people say it, for messages: "816 bytes", "3.7 GiB". */
typedef struct ley_size_text {
    char s[32];
} ley_size_text;
ley_size_text ley_size(double bytes);

/* "out of memory" with what was asked for. */
ley_status ley_fail_memory(ley_error *error, size_t bytes, const char *what);

#endif
