#include "json.h"
#include "console.h"
#include "text_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool json_takes_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

json_t *json_read(const char *path, const char *wrong, ley_error *error)
{
    enum { MOST_BYTES = 1 << 28 };
    json_error_t place;
    char *text = NULL;
    size_t size = 0;
    if (ley_file_read_text(path, MOST_BYTES, &text, &size, error) != LEY_OK)
        return NULL;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &place);
    free(text);
    if (root == NULL)
        fail_into(error, LEY_ERROR_INPUT, "%s:%d: %s: %s", path, place.line, wrong, place.text);
    return root;
}

/* Jansson answers NULL when memory ends; a report with silent gaps would be worse than none. */
static json_t *there(json_t *value)
{
    if (value == NULL)
        exit(fail(LEY_ERROR_MEMORY, "out of memory for the report"));
    return value;
}

json_t *json_of_lines(const char *const *lines)
{
    size_t size = 0;
    for (size_t i = 0; lines[i] != NULL; i++)
        size += strlen(lines[i]);
    char *text = allocate(size + 1, 1);
    for (size_t i = 0, at = 0; lines[i] != NULL; at += strlen(lines[i++]))
        memcpy(text + at, lines[i], strlen(lines[i]) + 1);
    json_t *root = there(json_loads(text, 0, NULL));
    free(text);
    return root;
}

void json_put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, there(value)) != 0)
        exit(fail(LEY_ERROR_MEMORY, "out of memory for the report"));
}

void json_add(json_t *array, json_t *value)
{
    if (json_array_append_new(array, there(value)) != 0)
        exit(fail(LEY_ERROR_MEMORY, "out of memory for the report"));
}

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_count(int64_t value)
{
    return json_integer(value);
}

json_t *json_text(const char *text)
{
    if (text == NULL)
        return json_null();
    json_t *value = json_string(text);
    if (value != NULL)
        return value;
    char *readable = allocate(strlen(text) + 1, 1);
    for (size_t i = 0; text[i] != '\0'; i++)
        readable[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    value = json_string(readable);
    free(readable);
    return value;
}

json_t *json_numbers(const double *values, size_t n)
{
    json_t *array = there(json_array());
    for (size_t i = 0; i < n; i++)
        json_add(array, json_number(values[i]));
    return array;
}

json_t *json_counts(const int64_t *values, size_t n)
{
    json_t *array = there(json_array());
    for (size_t i = 0; i < n; i++)
        json_add(array, json_count(values[i]));
    return array;
}

/* ---- Options --------------------------------------------------------------------------------- */

static json_t *json_triples(const option_triples *triples)
{
    json_t *array = there(json_array());
    for (size_t i = 0; i < triples->n; i++)
        json_add(array, json_numbers(triples->value[i], 3));
    return array;
}

/* One number, of an option whose default is one number for all. */
static bool is_one_number(const option_row *option, const double *value)
{
    bool alike = option->one_for_all && option->unset == NULL;
    for (int i = 1; i < option->count; i++)
        alike = alike && value[i] == value[0];
    return alike;
}

static json_t *json_texts(const option_texts *texts)
{
    json_t *array = there(json_array());
    for (size_t i = 0; i < texts->n; i++)
        json_add(array, json_text(texts->value[i]));
    return array;
}

static json_t *option_value(const parsed_arguments *arguments, size_t i)
{
    const parsed_option *parsed = &arguments->options[i];
    const option_row *option = parsed->row;
    const void *value = parsed->value;
    if ((option->unset != NULL && !arguments->options[i].given) || !option_is_meant(arguments, i))
        return json_null();
    switch (option->kind) {
    case OPTION_FLAG:
        return json_boolean(*(const bool *)value);
    case OPTION_TEXT:
        return json_text(*(const char *const *)value);
    case OPTION_CHOICE:
    case OPTION_METHOD:
        return json_text(option_chosen(arguments->command, parsed));
    case OPTION_INTEGER:
        return option->count > 1 ? json_counts(value, (size_t)option->count) : json_count(option_whole(parsed, 0));
    case OPTION_TRIPLES:
        return json_triples(value);
    case OPTION_TEXTS:
        return json_texts(value);
    case OPTION_REALS:
        return json_numbers(((const option_reals *)value)->value, ((const option_reals *)value)->n);
    case OPTION_REAL:
        if (option->word != NULL && isnan(*(const double *)value))
            return json_text(option->word);
        return option->count > 1 && !is_one_number(option, value) ? json_numbers(value, (size_t)option->count)
                                                                  : json_number(*(const double *)value);
    }
    return json_null();
}

json_t *json_begin(const parsed_arguments *arguments)
{
    json_t *report = there(json_object()), *options = there(json_object());
    json_put(report, "program", json_text("leyden"));
    json_put(report, "version", json_text(ley_version()));
    json_put(report, "command", json_text(arguments->command->name));
    if (arguments->command->operand != NULL)
        json_put(report, "operand", json_text(arguments->operand));
    if (arguments->command->rest != NULL) {
        json_t *rest = there(json_array());
        for (int i = 0; i < arguments->rest_count; i++)
            json_add(rest, json_text(arguments->rest[i]));
        json_put(report, "rest", rest);
    }
    for (size_t i = 0; i < arguments->option_count; i++)
        json_put(options, arguments->options[i].row->name, option_value(arguments, i));
    json_put(report, "options", options);
    return report;
}

void json_put_outcome(json_t *report, const ley_error *error, int exit_code)
{
    json_put(report, "status", json_text(ley_status_name(error->status)));
    json_put(report, "exit_code", json_count(exit_code));
    if (error->status != LEY_OK) {
        json_put(report, "error", json_text(error->message));
        json_put(report, "log", json_text(error->log));
    }
}

/* 15 digits bring every decimal number back as it was typed: 298.15, not 298.14999999999998. */
static const size_t digits = JSON_REAL_PRECISION(15);

static char *to_text(json_t *report, size_t flags)
{
    char *text = json_dumps(report, flags | digits);
    json_decref(report);
    if (text == NULL)
        exit(fail(LEY_ERROR_MEMORY, "out of memory for the report"));
    return text;
}

char *json_finish_text(json_t *report)
{
    return to_text(report, 0);
}

/* Jansson's own writers go on after a part that could not be written, so the text is made first. */
int json_finish(json_t *report, const char *path)
{
    char *text = to_text(report, JSON_INDENT(2));
    text_file to;
    text_file_begin(&to, path, true);
    text_file_print(&to, "%s\n", text);
    free(text);
    return text_file_end(&to);
}

/* ---- What the library reports ---------------------------------------------------------------- */

static const char *class_name(ley_device_class device_class)
{
    static const char *const names[] = {[LEY_CLASS_GPU] = "gpu", [LEY_CLASS_CPU] = "cpu", [LEY_CLASS_OTHER] = "other"};
    _Static_assert(sizeof names / sizeof *names == LEY_CLASS_COUNT, "a word for each class");
    return names[device_class];
}

void json_put_status(json_t *object, ley_status status, const char *failure)
{
    json_put(object, "status", json_text(ley_status_name(status)));
    json_put(object, "failure", json_text(failure));
}

json_t *json_of_device(const ley_device_info *device)
{
    json_t *object = there(json_object());
    json_put(object, "index", json_count(device->index));
    json_put(object, "path", json_text(device->path));
    json_put(object, "platform", json_text(device->platform));
    json_put(object, "vendor", json_text(device->vendor));
    json_put(object, "name", json_text(device->name));
    json_put(object, "driver", json_text(device->driver));
    json_put(object, "version", json_text(device->version));
    json_put(object, "class", json_text(class_name(device->device_class)));
    json_put(object, "compute_units", json_count(device->compute_units));
    json_put(object, "clock_MHz", json_count(device->clock_MHz));
    json_put(object, "max_work_group", json_count((int64_t)device->max_work_group));
    json_put(object, "global_bytes", json_count((int64_t)device->global_bytes));
    json_put(object, "max_allocation_bytes", json_count((int64_t)device->max_allocation_bytes));
    json_put(object, "local_bytes", json_count((int64_t)device->local_bytes));
    json_put(object, "constant_bytes", json_count((int64_t)device->constant_bytes));
    json_put(object, "double", json_boolean(device->has_double));
    json_put(object, "timestamps", json_boolean(device->has_timestamps));
    json_put(object, "quirks", json_text(device->quirks));
    json_put(object, "unusable", json_text(device->unusable));
    return object;
}

json_t *json_of_grid(const ley_grid *grid)
{
    double spacing_A[3];
    ley_grid_spacing_A(grid, spacing_A);
    json_t *object = there(json_object());
    json_put(object, "dims", json_counts(grid->n, 3));
    json_put(object, "spacing_A", json_numbers(spacing_A, 3));
    if (!ley_grid_is_orthogonal(grid)) {
        json_t *steps = there(json_array());
        for (int axis = 0; axis < 3; axis++)
            json_add(steps, json_numbers(grid->step_A[axis], 3));
        json_put(object, "step_A", steps);
    }
    json_put(object, "origin_A", json_numbers(grid->origin_A, 3));
    json_put(object, "points", json_count(ley_grid_points(grid)));
    return object;
}

json_t *json_of_accuracy(const ley_accuracy *accuracy)
{
    if (accuracy->points == 0)
        return json_null();
    json_t *object = there(json_object());
    json_put(object, "points", json_count((int64_t)accuracy->points));
    json_put(object, "host_points", json_count((int64_t)accuracy->host_points));
    json_put(object, "compared", json_count((int64_t)accuracy->compared));
    json_put(object, "max_error", json_number(accuracy->max_error));
    json_put(object, "relative_rms", json_number(accuracy->relative_rms));
    json_put(object, "absolute_rms", json_number(accuracy->absolute_rms));
    json_put(object, "tolerance", json_number(accuracy->tolerance));
    json_put(object, "passed", json_boolean(accuracy->passed));
    return object;
}

json_t *json_of_device_reports(const ley_report *report)
{
    json_t *array = there(json_array());
    for (size_t i = 0; i < report->device_count; i++) {
        const ley_device_report *device = &report->devices[i];
        json_t *object = there(json_object());
        json_put(object, "device", json_of_device(device->device));
        if (report->ranks > 1)
            json_put(object, "rank", json_count(device->rank));
        json_put(object, "variant", json_text(device->variant));
        json_put(object, "root", json_text(device->root));
        json_put(object, "exp", json_text(device->exp));
        json_put(object, "specification", json_text(device->specification));
        json_put(object, "slabs", json_count(device->slabs));
        json_put(object, "points", json_count(device->points));
        json_put(object, "share", json_number(device->share));
        json_put(object, "build_s", json_number(device->build_s));
        json_put(object, "kernel_s", json_number(device->kernel_s));
        json_put(object, "transfer_s", json_number(device->transfer_s));
        json_put(object, "evaluations_per_s", json_number(device->evaluations_per_s));
        json_put(object, "from_cache", json_boolean(device->from_cache));
        json_put_status(object, device->status, device->failure);
        json_put(object, "failure_log", json_text(device->failure_log));
        if (device->late != NULL)
            json_put(object, "late", json_text(device->late));
        json_add(array, object);
    }
    return array;
}

json_t *json_of_slabs(const ley_report *report)
{
    json_t *array = there(json_array());
    for (size_t i = 0; i < report->slab_count; i++) {
        const ley_slab_report *slab = &report->slabs[i];
        json_t *object = there(json_object());
        json_put(object, "device", json_count((int64_t)slab->device));
        json_put(object, "first", json_count(slab->first));
        json_put(object, "count", json_count(slab->count));
        json_put(object, "kernel_start_s", json_number(slab->kernel_start_s));
        json_put(object, "kernel_end_s", json_number(slab->kernel_end_s));
        json_put(object, "transfer_start_s", json_number(slab->transfer_start_s));
        json_put(object, "transfer_end_s", json_number(slab->transfer_end_s));
        json_add(array, object);
    }
    return array;
}

json_t *json_of_schedule(const ley_report *report)
{
    json_t *array = there(json_array());
    for (size_t i = 0; i < report->stage_count; i++) {
        const ley_stage_report *s = &report->stages[i];
        json_t *object = there(json_object());
        json_put(object, "stage", json_text(s->name));
        json_put(object, "device", json_count((int64_t)s->device));
        json_put(object, "from", s->from != s->device ? json_count((int64_t)s->from) : json_null());
        json_put(object, "start_s", json_number(s->start_s));
        json_put(object, "end_s", json_number(s->end_s));
        json_put(object, "done", json_boolean(s->is_done));
        json_add(array, object);
    }
    return array;
}
