#include "kernel_kind.h"

#include "error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Arguments ------------------------------------------------------------------------------- */

dev_argument kernel_pack_scalar(double value, bool is_double)
{
    const float rounded = (float)value;
    return is_double ? dev_argument_bytes(&value, sizeof value) : dev_argument_bytes(&rounded, sizeof rounded);
}

/* Not more than 16. */
static dev_argument pack_scalars(const double *value, size_t count, bool is_double)
{
    float rounded[16];
    if (is_double)
        return dev_argument_bytes(value, count * sizeof *value);
    for (size_t i = 0; i < count; i++)
        rounded[i] = (float)value[i];
    return dev_argument_bytes(rounded, count * sizeof *rounded);
}

dev_argument kernel_pack_atom(const double value[4], bool is_double)
{
    return pack_scalars(value, 4, is_double);
}

dev_argument kernel_pack_sixteen(const double value[16], bool is_double)
{
    return pack_scalars(value, 16, is_double);
}

dev_argument kernel_pack_int4(const int32_t value[4], bool is_double)
{
    (void)is_double;
    return dev_argument_bytes(value, 4 * sizeof *value);
}

static size_t bytes_of(const kernel_argument *a, bool is_double)
{
    return (size_t)a->scalars * (is_double ? sizeof(double) : sizeof(float)) + (size_t)a->ints * sizeof(int32_t);
}

static ley_status check_argument(const kernel_kind *kind, const kernel_argument *wanted, bool is_double,
                                 const dev_argument *given, ley_error *error)
{
    const size_t bytes = bytes_of(wanted, is_double);
    if (wanted->kind == KERNEL_BUFFER)
        return given->buffer != NULL ? LEY_OK
                                     : ley_fail(error, LEY_ERROR_DEVICE, "kernel %s: %s, a buffer of %s, is missing",
                                                kind->name, wanted->name, wanted->type);
    if (given->buffer != NULL)
        return ley_fail(error, LEY_ERROR_DEVICE, "kernel %s: %s is one %s and was given a buffer", kind->name,
                        wanted->name, wanted->type);
    return given->size == bytes
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_DEVICE, "kernel %s: %s is one %s of %zu bytes and was given %zu", kind->name,
                          wanted->name, wanted->type, bytes, given->size);
}

ley_status kernel_check_launch(const kernel_kind *kind, bool is_double, const dev_launch *launch, ley_error *error)
{
    ley_status status = LEY_OK;
    if (launch->argument_count != kind->argument_count)
        return ley_fail(error, LEY_ERROR_DEVICE, "kernel %s takes %zu arguments and was given %zu", kind->name,
                        kind->argument_count, launch->argument_count);
    for (size_t i = 0; i < kind->argument_count && status == LEY_OK; i++)
        status = check_argument(kind, &kind->arguments[i], is_double, &launch->arguments[i], error);
    return status;
}

/* ---- Specifications -------------------------------------------------------------------------- */

const char *kernel_variant(const kernel_kind *kind, size_t i)
{
    return kind->variant != NULL ? kind->variant(i) : NULL;
}

size_t kernel_key_count(const kernel_kind *kind)
{
    size_t count = 0;
    while (kind->keys[count] != NULL)
        count++;
    return count;
}

bool kernel_is_double(const kernel_kind *kind, const void *spec)
{
    const int *values = spec;
    for (const char *const *key = kind->keys; *key != NULL; key++, values++)
        if (strcmp(*key, "LEY_SUM") == 0)
            return *values == LEY_SPEC_SUM_DOUBLE;
    return false;
}

void kernel_options(const kernel_kind *kind, const void *spec, char *options, size_t size)
{
    const int *values = spec;
    size_t used = 0;
    options[0] = '\0';
    for (const char *const *key = kind->keys; *key != NULL && used < size; key++)
        used += (size_t)snprintf(options + used, size - used, "%s-D%s=%d", used != 0 ? " " : "", *key, *values++);
}

bool kernel_has_option(const char *options, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = strstr(options, word); at != NULL; at = strstr(at + 1, word))
        if ((at == options || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

ley_status kernel_check_build(const dev_source *source, ley_error *error)
{
    const int *values = source->spec;
    for (const char *const *key = source->kind->keys; *key != NULL; key++) {
        char option[64];
        snprintf(option, sizeof option, "-D%s=%d", *key, *values++);
        if (!kernel_has_option(source->options, option))
            return ley_fail(error, LEY_ERROR_DEVICE, "kernel %s is built without %s", source->kind->name, option);
    }
    return LEY_OK;
}

/* ---- All specifications of a device ---------------------------------------------------------- */

typedef struct sieve {
    size_t spec_bytes, count, capacity;
    int (*seen)[KERNEL_MOST_KEYS];
    kernel_visit *visit;
    void *context;
} sieve;

/* Passes on what comes for the first time. Where memory is out that is everything. */
static void pass_once(void *context, const char *name, const void *spec)
{
    sieve *s = context;
    for (size_t i = 0; i < s->count; i++)
        if (memcmp(s->seen[i], spec, s->spec_bytes) == 0)
            return;
    if (s->count == s->capacity) {
        const size_t larger = 2 * s->capacity + 64;
        int(*seen)[KERNEL_MOST_KEYS] = realloc(s->seen, larger * sizeof *seen);
        s->seen = seen != NULL ? seen : s->seen;
        s->capacity = seen != NULL ? larger : s->capacity;
    }
    if (s->count < s->capacity)
        memcpy(s->seen[s->count++], spec, s->spec_bytes);
    s->visit(s->context, name, spec);
}

void kernel_specs(const kernel_kind *kind, const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    sieve s = {.spec_bytes = kernel_key_count(kind) * sizeof(int), .visit = visit, .context = context};
    const kernel_dialect usual = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD};
    if (kind->specs != NULL)
        kind->specs(info, depth, pass_once, &s);
    else if (s.spec_bytes == sizeof usual)
        visit(context, kind->name, &usual);
    free(s.seen);
}
