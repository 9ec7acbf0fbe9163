/* What the command says and how it writes numbers. Results go to stdout, messages to stderr. */
#ifndef LEYDEN_CONSOLE_H
#define LEYDEN_CONSOLE_H

#include "leyden.h"

#include <stdint.h>

/* A short text by value, so that it can stand in the arguments of a printf: count_text(n).s. */
typedef struct short_text {
    char s[128];
} short_text;

/* printf into a text; what does not fit is cut. */
short_text text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

short_text count_text(int64_t count);                     /* "1,234,567" */
short_text counted_text(int64_t count, const char *noun); /* "1,234 atoms", "1 atom" */
short_text billions_text(double per_s);                   /* "1,235 billion", "12.3 billion", "0.0123 billion" */
short_text bytes_text(uint64_t bytes);                    /* "25.6 MiB" */
short_text seconds_text(double seconds);                  /* "3.21 s" */
short_text clock_text(double seconds);                    /* "0:07", "1:02:33" */
short_text grid_text(const int64_t n[3]);                 /* "129 x 129 x 65" */
short_text triple_text(const double value[3]);            /* "(-32, -32, 0.5)"; 0 has no sign */

/* Columns that a UTF-8 text takes on a terminal. */
int text_columns(const char *utf8);

/* The last part of a path; the "/" itself for the root. */
const char *base_name(const char *path);

/* s from an arbitrary start. */
double now_s(void);

/* Prints "leyden: message" and returns the exit code of the status. */
int fail(ley_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What to type next, which stands behind the messages of fail_with(); an empty text: nothing. */
typedef void console_advice(const char *message, char *text, size_t size);
void console_take_advice(console_advice *from);

/* The same for a report of the library, with its log; clears the report. */
int fail_with(ley_error *error);

/* Fills the report instead, as the library does, and returns the status: of what the command reads
 * itself. */
ley_status fail_into(ley_error *error, ley_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints "leyden: warning: message". */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Flushes stdout: `code`, unless what was printed got lost. */
int flush_results(int code);

/* Memory that is there: the program ends with a message when there is none. */
void *allocate(size_t count, size_t size);

#endif
