#include "plan_file.h"
#include "console.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Reading --------------------------------------------------------------------------------- */

enum { MOST_DEVICES = 256 };

/* Where a reader is: the file, and the device, from 0, or -1 for the whole job. */
typedef struct reader {
    const char *path;
    int device;
    plan_file *plan;
    ley_error *error;
} reader;

/* "plan.devices[0].slab" */
static short_text member_text(const reader *r, const char *name)
{
    return r->device < 0 ? text_of("plan.%.60s", name) : text_of("plan.devices[%d].%.60s", r->device, name);
}

static const char *keep(plan_file *plan, const char *text)
{
    char **texts = realloc(plan->texts, (plan->text_count + 1) * sizeof *texts);
    char *copy = strdup(text);
    if (texts == NULL || copy == NULL)
        exit(fail(LEY_ERROR_MEMORY, "out of memory for the plan"));
    plan->texts = texts;
    texts[plan->text_count++] = copy;
    return texts[plan->text_count - 1];
}

static void add(plan_file *plan, const char *device, const char *name, const char *value)
{
    ley_decision *decisions = realloc(plan->decisions, (plan->count + 1) * sizeof *decisions);
    if (decisions == NULL)
        exit(fail(LEY_ERROR_MEMORY, "out of memory for the plan"));
    plan->decisions = decisions;
    plan->decisions[plan->count++] = (ley_decision){device, keep(plan, name), keep(plan, value)};
}

static ley_status read_value(const reader *r, const char *device, const char *name, const json_t *value)
{
    if (json_is_string(value)) {
        add(r->plan, device, name, json_string_value(value));
        return LEY_OK;
    }
    if (!json_is_integer(value))
        return fail_into(r->error, LEY_ERROR_INPUT, "%s: %s must be a text or a whole number", r->path,
                         member_text(r, name).s);
    add(r->plan, device, name, text_of("%lld", (long long)json_integer_value(value)).s);
    return LEY_OK;
}

static ley_status read_device(const reader *r, json_t *object)
{
    const json_t *device = json_object_get(object, "device");
    const char *name;
    json_t *value;
    if (!json_is_string(device))
        return fail_into(r->error, LEY_ERROR_INPUT, "%s: %s must be a text: whose decisions these are", r->path,
                         member_text(r, "device").s);
    const char *own = keep(r->plan, json_string_value(device));
    ley_status status = LEY_OK;
    json_object_foreach(object, name, value) if (status == LEY_OK && value != device) status =
        read_value(r, own, name, value);
    return status;
}

static ley_status read_devices(reader *r, const json_t *list)
{
    ley_status status = LEY_OK;
    if (!json_is_array(list))
        return fail_into(r->error, LEY_ERROR_INPUT, "%s: plan.devices must be an array", r->path);
    if (json_array_size(list) > MOST_DEVICES)
        return fail_into(r->error, LEY_ERROR_INPUT, "%s: plan.devices has %zu devices, at most %d are possible",
                         r->path, json_array_size(list), MOST_DEVICES);
    for (size_t i = 0; status == LEY_OK && i < json_array_size(list); i++) {
        r->device = (int)i;
        status = read_device(r, json_array_get(list, i));
    }
    r->device = -1;
    return status;
}

static ley_status read_plan(reader *r, json_t *plan)
{
    const char *name;
    json_t *value;
    ley_status status = LEY_OK;
    json_object_foreach(plan, name, value) if (status == LEY_OK) status =
        strcmp(name, "devices") == 0 ? read_devices(r, value) : read_value(r, NULL, name, value);
    return status;
}

/* A report has it as a member; a plan alone says of which method it is. */
static ley_status find_plan(reader *r, json_t *root)
{
    json_t *member = json_object_get(root, "plan");
    if (!json_is_object(root))
        return fail_into(r->error, LEY_ERROR_INPUT, "%s: this is not a plan: not a JSON object", r->path);
    if (member == NULL && json_object_get(root, "method") == NULL)
        return fail_into(r->error, LEY_ERROR_INPUT,
                         "%s: this is not a plan: it has neither 'plan', as a report has, nor 'method'", r->path);
    if (member != NULL && !json_is_object(member))
        return fail_into(r->error, LEY_ERROR_INPUT, "%s: its 'plan' is not an object: %s", r->path,
                         "nothing was computed by one");
    return read_plan(r, member != NULL ? member : root);
}

/* Whether it may be opened: a pipe that nobody writes to would not let go. What the command was
 * handed open is its user's business. */
static bool may_be_plan(const char *path)
{
    struct stat known;
    return strcmp(path, "/dev/stdin") == 0 || strncmp(path, "/dev/fd/", 8) == 0 || stat(path, &known) != 0 ||
           S_ISREG(known.st_mode) || S_ISDIR(known.st_mode);
}

ley_status plan_file_read(const char *path, plan_file *plan, ley_error *error)
{
    if (path == NULL)
        return LEY_OK;
    if (!may_be_plan(path))
        return fail_into(error, LEY_ERROR_FILE, "%s: a plan must be a regular file", path);
    json_t *root = json_read(path, "this is not a plan", error);
    if (root == NULL)
        return error->status;
    reader r = {.path = path, .device = -1, .plan = plan, .error = error};
    const ley_status status = find_plan(&r, root);
    json_decref(root);
    return status;
}

const char *plan_file_word(const plan_file *plan, const char *name)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->decisions[i].device == NULL && strcmp(plan->decisions[i].name, name) == 0)
            return plan->decisions[i].value;
    return NULL;
}

void plan_file_release(plan_file *plan)
{
    for (size_t i = 0; i < plan->text_count; i++)
        free(plan->texts[i]);
    free(plan->texts);
    free(plan->decisions);
    *plan = (plan_file){.count = 0};
}

void plan_file_explain(const char *path, ley_error *error)
{
    char library[sizeof error->message];
    if (path == NULL || error->cause != LEY_CAUSE_PLAN)
        return;
    memcpy(library, error->message, sizeof library);
    snprintf(error->message, sizeof error->message, "%.400s: %.600s", path, library);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static json_t *value_json(const char *value)
{
    const bool is_number = *value != '\0' && strspn(value, "0123456789") == strlen(value) && strlen(value) < 18;
    return is_number ? json_count(strtoll(value, NULL, 10)) : json_text(value);
}

/* The object of a device, which is made when its first decision comes. */
static json_t *device_object(json_t *devices, const char *device)
{
    for (size_t i = 0; i < json_array_size(devices); i++) {
        json_t *object = json_array_get(devices, i);
        const char *name = json_string_value(json_object_get(object, "device"));
        if (name != NULL && strcmp(name, device) == 0)
            return object;
    }
    json_t *object = json_object();
    json_put(object, "device", json_text(device));
    json_add(devices, object);
    return object;
}

json_t *json_of_plan(const ley_report *report)
{
    if (report == NULL || report->decision_count == 0)
        return json_null();
    json_t *plan = json_object(), *devices = json_array();
    for (size_t i = 0; i < report->decision_count; i++) {
        const ley_decision *d = &report->decisions[i];
        json_put(d->device != NULL ? device_object(devices, d->device) : plan, d->name, value_json(d->value));
    }
    json_put(plan, "devices", devices);
    return plan;
}
