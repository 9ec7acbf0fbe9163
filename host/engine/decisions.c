#include "engine/decisions.h"

#include "error.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 512 };

const char *const plan_places[] = {"host", "device", NULL};
const char *const plan_maths[] = {
    [LEY_MATH_STANDARD] = "standard", [LEY_MATH_NATIVE] = "native", [LEY_MATH_AUTO] = "auto", NULL};

ley_math plan_math(const char *word)
{
    int math = 0;
    while (math < LEY_MATH_AUTO && strcmp(plan_maths[math], word) != 0)
        math++;
    return (ley_math)math;
}

ley_status plan_fail(ley_error *error, const char *format, ...)
{
    char text[MOST_TEXT];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    ley_fail(error, LEY_ERROR_USAGE, "plan: %s", text);
    if (error != NULL)
        error->cause = LEY_CAUSE_PLAN;
    return LEY_ERROR_USAGE;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void drop(ley_decision *d)
{
    free((char *)(uintptr_t)d->device);
    free((char *)(uintptr_t)d->name);
    free((char *)(uintptr_t)d->value);
}

void plan_destroy(job_plan *p)
{
    for (size_t i = 0; p != NULL && i < p->count; i++)
        drop(&p->list[i]);
    if (p != NULL)
        free(p->list);
    free(p);
}

static bool grow(job_plan *p)
{
    const size_t capacity = 2 * p->capacity + 16;
    ley_decision *grown = p->count < p->capacity ? p->list : realloc(p->list, capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    p->capacity = p->count < p->capacity ? p->capacity : capacity;
    p->list = grown;
    return true;
}

static bool add(job_plan *p, const char *device, const char *name, const char *value)
{
    if (!grow(p))
        return false;
    ley_decision *d = &p->list[p->count++]; /* also of one that is not whole: it is freed with the others */
    d->device = device != NULL ? strdup(device) : NULL;
    d->name = strdup(name);
    d->value = strdup(value);
    return (device == NULL || d->device != NULL) && d->name != NULL && d->value != NULL;
}

ley_status plan_check_whole(const ley_decision *list, size_t i, ley_error *error)
{
    return list[i].name != NULL && list[i].value != NULL
               ? LEY_OK
               : plan_fail(error, "decision %zu has no name or no value", i + 1);
}

ley_status plan_of_list(const ley_decision *list, size_t count, job_plan **copy, ley_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (plan_check_whole(list, i, error) != LEY_OK)
            return LEY_ERROR_USAGE;
    job_plan *p = calloc(1, sizeof *p);
    bool done = p != NULL;
    for (size_t i = 0; done && i < count; i++)
        done = add(p, list[i].device, list[i].name, list[i].value);
    if (!done) {
        plan_destroy(p);
        return ley_fail_memory(error, count * sizeof *list, "the plan");
    }
    *copy = p;
    return LEY_OK;
}

ley_status plan_copy(const job_plan *given, job_plan **copy, ley_error *error)
{
    *copy = NULL;
    return given != NULL ? plan_of_list(given->list, given->count, copy, error) : LEY_OK;
}

/* What a device is called in plans: the path to it, and its name. */
static const char *key_of(const dev_info *device, char key[MOST_TEXT])
{
    if (device == NULL)
        return NULL;
    snprintf(key, MOST_TEXT, "%s: %s", device->backend->name, device->name);
    return key;
}

void plan_add(job_plan *p, const dev_info *device, const char *name, const char *value)
{
    char key[MOST_TEXT];
    const size_t before = p->count;
    if (!add(p, key_of(device, key), name, value) && p->count > before)
        drop(&p->list[--p->count]);
}

void plan_add_number(job_plan *p, const dev_info *device, const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    plan_add(p, device, name, text);
}

/* Digits that read back as the same double. */
void plan_add_real(job_plan *p, const dev_info *device, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, sizeof text, "%.17g", value);
    plan_add(p, device, name, text);
}

bool plan_is_of(const ley_decision *d, const char *device)
{
    return device == NULL || d->device == NULL ? device == d->device : strcmp(device, d->device) == 0;
}

const char *plan_find(const ley_decision *list, size_t count, const char *device, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].name != NULL && plan_is_of(&list[i], device) && strcmp(list[i].name, name) == 0)
            return list[i].value;
    return NULL;
}

const char *plan_word(const job_plan *p, const dev_info *device, const char *name)
{
    char text[MOST_TEXT];
    return p != NULL ? plan_find(p->list, p->count, key_of(device, text), name) : NULL;
}

bool plan_read_number(const char *text, int64_t *number)
{
    char *end = NULL;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && strspn(text, "0123456789") == strlen(text);
}

int64_t plan_number(const job_plan *p, const dev_info *device, const char *name)
{
    const char *text = plan_word(p, device, name);
    int64_t number = -1;
    return text != NULL && plan_read_number(text, &number) ? number : -1;
}

bool plan_read_real(const char *text, double *number)
{
    char *end = NULL;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*number) && strspn(text, "0123456789.eE+-") == strlen(text);
}

double plan_real(const job_plan *p, const char *name)
{
    const char *text = plan_word(p, NULL, name);
    double number;
    return text != NULL && plan_read_real(text, &number) ? number : NAN;
}

int64_t plan_slab(const job_plan *p, const dev_info *device)
{
    const int64_t pieces = plan_number(p, device, "slab");
    return pieces > 0 ? pieces : 0;
}

ley_place plan_place(const job_plan *p, const char *name)
{
    const char *word = plan_word(p, NULL, name);
    return word == NULL ? LEY_PLACE_AUTO : strcmp(word, plan_places[0]) == 0 ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
}

bool plan_names(const job_plan *p, const dev_info *device)
{
    char text[MOST_TEXT];
    const char *key = key_of(device, text);
    bool is_named = false;
    for (size_t i = 0; p != NULL && i < p->count && !is_named; i++)
        is_named = plan_is_of(&p->list[i], key);
    return is_named;
}

bool plan_has(const job_plan *p, const dev_info *device)
{
    bool names_devices = false;
    for (size_t i = 0; p != NULL && i < p->count && !names_devices; i++)
        names_devices = p->list[i].device != NULL;
    return !names_devices || plan_names(p, device);
}
