/* The machine-readable reports. A report is built from an object that names the program, the
 * command and every option in force; numbers that are not finite become null. */
#ifndef LEYDEN_JSON_H
#define LEYDEN_JSON_H

#include "leyden.h"
#include "options.h"

#include <jansson.h>
#include <stdbool.h>

/* "-": standard output, which then belongs to the report alone. */
bool json_takes_stdout(const char *path);

/* {"program", "version", "command", operand, "options": {...}}. */
json_t *json_begin(const parsed_arguments *arguments);

/* Adds "status", "exit_code" and, when it is an error, "error" and "log". */
void json_put_outcome(json_t *report, const ley_error *error, int exit_code);

/* Adds "status" and "failure", of a device or of a row. */
void json_put_status(json_t *object, ley_status status, const char *failure);

/* Writes the report and releases it. Prints errors; exit code. */
int json_finish(json_t *report, const char *path);

/* Reads a file; `wrong` names what is no JSON: "this is not a plan". NULL: none, and error says
 * why. */
json_t *json_read(const char *path, const char *wrong, ley_error *error);

/* Of a file that the build has made lines of, NULL behind the last one. */
json_t *json_of_lines(const char *const *lines);

/* The text of a report that goes into another file, from malloc; releases the report. */
char *json_finish_text(json_t *report);

/* Building blocks; put and add take the value over. */
void json_put(json_t *object, const char *key, json_t *value);
void json_add(json_t *array, json_t *value);
json_t *json_number(double value);
json_t *json_count(int64_t value);
json_t *json_text(const char *text); /* null for NULL; bytes that are no UTF-8 become '?' */
json_t *json_numbers(const double *values, size_t n);
json_t *json_counts(const int64_t *values, size_t n);

/* Goes through an array: `i` counts, `item` is each of it. */
#define JSON_EACH(array, i, item) \
    for ((i) = 0; (i) < json_array_size(array) && ((item) = json_array_get((array), (i))) != NULL; (i)++)

json_t *json_of_device(const ley_device_info *device);
json_t *json_of_grid(const ley_grid *grid);
json_t *json_of_accuracy(const ley_accuracy *accuracy); /* null when nothing was verified */
json_t *json_of_device_reports(const ley_report *report);
json_t *json_of_slabs(const ley_report *report);
json_t *json_of_schedule(const ley_report *report);

#endif
