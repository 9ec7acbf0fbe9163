#include "kernel_table.h"

#include "error.h"
#include "spec.h"

#include <stdio.h>
#include <string.h>

#define KEY_NAME(key, field) #key,
/* clang-format off */
#define BUFFER(type, name) {#name, KERNEL_BUFFER, #type}
#define INT(name) {#name, KERNEL_INT, "int"}
#define VALUE(type, name) {#name, KERNEL_VALUE, #type}

/* ROW(name, keys, arguments...) */
#define ROW(name, keys, ...) \
    {#name, (const char *const[]){keys(KEY_NAME) NULL}, sizeof((kernel_argument[]){__VA_ARGS__}) / sizeof(kernel_argument), \
     (const kernel_argument[]){__VA_ARGS__}}
/* clang-format on */

const kernel_row kernel_table[] = {
    ROW(dcs, LEY_DCS_KEYS, BUFFER(stored_atom, gm_atoms), INT(first_atom), INT(n_atoms), INT(first_plane),
        VALUE(atom, step), INT(accumulate), BUFFER(real, gm_phi)),
    ROW(roots, LEY_DIALECT_KEYS, BUFFER(real, gm_in), INT(times), BUFFER(real, gm_out)),
    ROW(multiply_adds, LEY_DIALECT_KEYS, BUFFER(real, gm_in), INT(times), BUFFER(real, gm_out)),
    ROW(local_reads, LEY_DIALECT_KEYS, BUFFER(real, gm_in), INT(times), BUFFER(real, gm_out)),
    ROW(mdh, LEY_MDH_KEYS, BUFFER(placed, gm_atoms), INT(first_atom), INT(n_atoms), INT(part_atoms),
        BUFFER(int4, gm_places), INT(n_places), VALUE(atom, step), VALUE(atom, step_low), INT(accumulate),
        BUFFER(real, gm_parts), INT(part_values)),
    ROW(sum_parts, LEY_DIALECT_KEYS, BUFFER(real, gm_parts), INT(n_parts), INT(part_values), BUFFER(real, gm_sums)),
    ROW(exps, LEY_EXPS_KEYS, BUFFER(real, gm_in), INT(times), BUFFER(real, gm_out)),
    ROW(cutoff, LEY_CUTOFF_KEYS, BUFFER(int4, gm_table), INT(n_table), BUFFER(int2, gm_homes), INT(first_region),
        BUFFER(atom, gm_slots), BUFFER(float2, gm_more), BUFFER(int, gm_extra), INT(has_extra), VALUE(atom, step),
        VALUE(atom, side), VALUE(atom, limits), VALUE(atom, series), INT(n_close), VALUE(atom, fringe),
        BUFFER(float, gm_phi)),
    ROW(link_atoms, LEY_DIALECT_KEYS, BUFFER(double, gm_position), BUFFER(double, gm_charge), INT(n_atoms),
        VALUE(atom, origin), VALUE(atom, low), VALUE(atom, high), VALUE(atom, side), VALUE(atom, bins_per_A),
        VALUE(atom, zero), VALUE(int4, n), BUFFER(int, gm_count), BUFFER(int, gm_head), BUFFER(int, gm_next),
        BUFFER(float4, gm_records)),
    ROW(fill_bins, LEY_DIALECT_KEYS, BUFFER(int, gm_count), BUFFER(int, gm_head), BUFFER(int, gm_next),
        BUFFER(atom, gm_records), BUFFER(int, gm_extra), INT(bins), INT(depth), VALUE(atom, far),
        BUFFER(atom, gm_slots)),
    ROW(reference, LEY_REFERENCE_KEYS, BUFFER(atom, gm_atoms), BUFFER(double, gm_more), INT(first_atom), INT(n_atoms),
        BUFFER(atom, gm_points), BUFFER(atom, gm_cell), VALUE(atom, limits), INT(accumulate), BUFFER(atom, gm_sums)),
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
