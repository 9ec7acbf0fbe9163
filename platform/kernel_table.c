#include "kernel_table.h"

#include "arguments.h"
#include "error.h"
#include "spec.h"

#include <stdio.h>
#include <string.h>

#define KEY_NAME(key, field) #key,
/* A row's argument from cl/arguments.h: what that tells apart for kernels are buffers here. */
#define ARGUMENT(kind, type, name) {#name, ARGUMENT_##kind, #type},
#define ARGUMENT_CONSTANT KERNEL_BUFFER
#define ARGUMENT_READ KERNEL_BUFFER
#define ARGUMENT_WRITE KERNEL_BUFFER
#define ARGUMENT_INT KERNEL_INT
#define ARGUMENT_VALUE KERNEL_VALUE

/* clang-format off */
#define ROW(name, keys, arguments) \
    {#name, (const char *const[]){keys(KEY_NAME) NULL}, \
     sizeof((kernel_argument[]){arguments(ARGUMENT, ARGUMENT)}) / sizeof(kernel_argument), \
     (const kernel_argument[]){arguments(ARGUMENT, ARGUMENT)}}
/* clang-format on */

const kernel_row kernel_table[] = {
    ROW(dcs, LEY_DCS_KEYS, LEY_DCS_ARGUMENTS),
    ROW(roots, LEY_DIALECT_KEYS, LEY_ROOTS_ARGUMENTS),
    ROW(multiply_adds, LEY_DIALECT_KEYS, LEY_MULTIPLY_ADDS_ARGUMENTS),
    ROW(local_reads, LEY_DIALECT_KEYS, LEY_LOCAL_READS_ARGUMENTS),
    ROW(mdh, LEY_MDH_KEYS, LEY_MDH_ARGUMENTS),
    ROW(sum_parts, LEY_DIALECT_KEYS, LEY_SUM_PARTS_ARGUMENTS),
    ROW(exps, LEY_EXPS_KEYS, LEY_EXPS_ARGUMENTS),
    ROW(cutoff, LEY_CUTOFF_KEYS, LEY_CUTOFF_ARGUMENTS),
    ROW(link_atoms, LEY_DIALECT_KEYS, LEY_LINK_ATOMS_ARGUMENTS),
    ROW(fill_bins, LEY_DIALECT_KEYS, LEY_FILL_BINS_ARGUMENTS),
    ROW(reference, LEY_REFERENCE_KEYS, LEY_REFERENCE_ARGUMENTS),
    {.name = NULL},
};

const kernel_row *kernel_table_find(const char *name)
{
    for (const kernel_row *row = kernel_table; row->name != NULL; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

void kernel_table_options(const char *name, const int *values, char *options, size_t size)
{
    size_t used = 0;
    options[0] = '\0';
    for (const char *const *key = kernel_table_find(name)->keys; *key != NULL && used < size; key++)
        used += (size_t)snprintf(options + used, size - used, "%s-D%s=%d", used != 0 ? " " : "", *key, *values++);
}

ley_status kernel_table_check_build(const dev_source *source, const kernel_row **row, ley_error *error)
{
    const kernel_row *found = kernel_table_find(source->kernel);
    if (found == NULL)
        return ley_fail(error, LEY_ERROR_DEVICE, "kernel %s is not in the kernel table", source->kernel);
    for (const char *const *key = found->keys; *key != NULL; key++) {
        char option[64];
        snprintf(option, sizeof option, "-D%s=", *key);
        if (strstr(source->options, option) == NULL)
            return ley_fail(error, LEY_ERROR_DEVICE, "kernel %s is built without %s", source->kernel, *key);
    }
    *row = found;
    return LEY_OK;
}

static bool is_right(const kernel_argument *wanted, const dev_argument *given)
{
    if (wanted->kind == KERNEL_BUFFER || given->buffer != NULL)
        return wanted->kind == KERNEL_BUFFER && given->buffer != NULL;
    return wanted->kind == KERNEL_INT ? given->size == sizeof(int32_t)
                                      : given->size > 0 && given->size <= sizeof given->value;
}

ley_status kernel_table_check_launch(const kernel_row *row, const dev_launch *launch, ley_error *error)
{
    static const char *const kinds[] = {
        [KERNEL_BUFFER] = "a buffer of ", [KERNEL_INT] = "one ", [KERNEL_VALUE] = "one "};
    if (launch->argument_count != row->argument_count)
        return ley_fail(error, LEY_ERROR_DEVICE, "kernel %s takes %zu arguments and was given %zu", row->name,
                        row->argument_count, launch->argument_count);
    for (size_t i = 0; i < row->argument_count; i++) {
        const kernel_argument *wanted = &row->arguments[i];
        if (!is_right(wanted, &launch->arguments[i]))
            return ley_fail(error, LEY_ERROR_DEVICE,
                            "kernel %s: argument %zu, %s, is %s%s and was given something else", row->name, i,
                            wanted->name, kinds[wanted->kind], wanted->type);
    }
    return LEY_OK;
}
