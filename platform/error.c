#include "error.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct status_row {
    const char *name, *meaning;
    int exit_code;
} status_row;

static const status_row rows[LEY_STATUS_COUNT] = {
#define LEY_STATUS_ROW(name, exit_code, meaning) {#name, meaning, exit_code},
    LEY_STATUS_TABLE(LEY_STATUS_ROW)
#undef LEY_STATUS_ROW
};

static const status_row *row_of(ley_status status)
{
    static const status_row unknown = {"LEY_STATUS_UNKNOWN", "unknown status", 4};
    return (unsigned)status < LEY_STATUS_COUNT ? &rows[status] : &unknown;
}

const char *ley_status_text(ley_status status)
{
    return row_of(status)->meaning;
}

const char *ley_status_name(ley_status status)
{
    return row_of(status)->name;
}

int ley_status_exit_code(ley_status status)
{
    return row_of(status)->exit_code;
}

void ley_error_clear(ley_error *error)
{
    if (error == NULL)
        return;
    free(error->log);
    *error = (ley_error){0};
}

ley_status ley_fail(ley_error *error, ley_status status, const char *format, ...)
{
    if (error == NULL)
        return status;
    /* Formatted aside: an argument may be the old message itself. */
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ley_error_clear(error);
    error->status = status;
    memcpy(error->message, message, sizeof message);
    for (char *c = error->message; *c != '\0'; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    return status;
}

void ley_error_prefix(ley_error *error, const char *format, ...)
{
    if (error == NULL)
        return;
    char text[2 * sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof error->message, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, ": %s", error->message);
    memcpy(error->message, text, sizeof error->message - 1);
    error->message[sizeof error->message - 1] = '\0';
}

void ley_error_take_log(ley_error *error, char *log)
{
    if (error == NULL) {
        free(log);
        return;
    }
    free(error->log);
    error->log = log;
}

/* "x.cl:7:3: error: ...", "ptxas fatal   : ..."; "1 error generated." says nothing. */
static bool tells_of_error(const char *line, size_t length)
{
    static const char *const words[] = {"error", "fatal"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t word = strlen(words[i]);
        for (size_t at = 0; at + word < length; at++)
            if (strncasecmp(line + at, words[i], word) == 0 && line[at + word + strspn(line + at + word, " ")] == ':')
                return true;
    }
    return false;
}

/* The line to show of a compiler's log; empty when there is none. */
static const char *telling_line(const char *log, size_t *length)
{
    const char *first = log;
    size_t first_length = 0;
    for (const char *line = log; *line != '\0'; line += *length + (line[*length] != '\0')) {
        *length = strcspn(line, "\r\n");
        if (tells_of_error(line, *length))
            return line;
        if (first_length == 0 && strspn(line, " \t") < *length) {
            first = line;
            first_length = *length;
        }
    }
    *length = first_length;
    return first;
}

void ley_error_take_compiler_log(ley_error *error, char *log)
{
    enum { LONGEST = 300 };
    size_t length = 0;
    const char *line = log != NULL ? telling_line(log, &length) : NULL;
    if (error != NULL && length > 0)
        ley_fail(error, error->status, "%s: %.*s", error->message, (int)(length < LONGEST ? length : LONGEST), line);
    ley_error_take_log(error, log);
}

void ley_error_copy(ley_error *to, const ley_error *from)
{
    if (to == NULL || to == from)
        return;
    ley_error_clear(to);
    *to = *from;
    to->log = from->log != NULL ? strdup(from->log) : NULL;
}

ley_size_text ley_size(double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    ley_size_text text;
    size_t unit = 0;
    for (; bytes >= 1023.5 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024;
    snprintf(text.s, sizeof text.s, unit > 0 && bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

ley_status ley_fail_memory(ley_error *error, size_t bytes, const char *what)
{
    return ley_fail(error, LEY_ERROR_MEMORY, "out of memory: %s for %s", ley_size((double)bytes).s, what);
}
