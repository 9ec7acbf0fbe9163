/* Reading JSON, one value after the other, whatever it contains; and writing its strings and
 * numbers. */
#ifndef LEY_IO_JSON_TEXT_H
#define LEY_IO_JSON_TEXT_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEY_JSON_KEY = 32,   /* room for a member's name; longer ones are cut, and so are none that anybody knows */
    LEY_JSON_NUMBER = 32 /* room for a number's text */
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* Where a reader is in a text, which is `end - at` bytes long and need not end in a NUL. */
typedef struct ley_json {
    const char *path; /* for messages */
    const char *at, *end;
    int64_t line; /* from 1 */
} ley_json;

/* "file:line: what"; returns LEY_ERROR_INPUT, as all errors below are. */
ley_status ley_json_fail(const ley_json *json, ley_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Passes over the '{' or '[' that the next value must begin with. `what`: the value, for the
 * message. */
ley_status ley_json_enter(ley_json *json, char bracket, const char *what, ley_error *error);

/* The name of an object's next member, whose value comes next; or passes over the object's end.
 * `is_first`: nothing of the object has been read yet, which this sets to false. */
ley_status ley_json_member(ley_json *json, bool *is_first, char key[LEY_JSON_KEY], bool *is_there, ley_error *error);

/* Whether an array's next item comes next; or passes over the array's end. */
ley_status ley_json_item(ley_json *json, bool *is_first, bool *is_there, ley_error *error);

/* The next value, which must be of this kind: a string that fits with its NUL, a finite number, a
 * number without fraction and exponent. */
ley_status ley_json_text(ley_json *json, const char *what, char *text, size_t size, ley_error *error);
ley_status ley_json_double(ley_json *json, const char *what, double *value, ley_error *error);
ley_status ley_json_int64(ley_json *json, const char *what, int64_t *value, ley_error *error);

/* Passes over any value. */
ley_status ley_json_skip(ley_json *json, ley_error *error);

/* Nothing may come any more. */
ley_status ley_json_end(ley_json *json, ley_error *error);

/* ---- Writing --------------------------------------------------------------------------------- */

/* A finite number in as few digits as are read back as the same double. Returns `text`. */
const char *ley_json_number(double value, char text[LEY_JSON_NUMBER]);

/* A string with its quotation marks, from malloc; control characters become blanks, bytes that are
 * no UTF-8 '?'. NULL: no memory. */
char *ley_json_string(const char *text, size_t length);

#endif
