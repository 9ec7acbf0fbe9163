#include "method_list.h"
#include "registry.h"

const method_row *method_row_at(const subcommand *command, size_t i)
{
    const method_row *const *row = method_table;
    while (*row != NULL && ((*row)->command != command || i-- > 0))
        row++;
    return *row;
}

const option_method *method_option_at(const subcommand *command, size_t i)
{
    const method_row *row = method_row_at(command, i);
    return row != NULL ? &row->option : NULL;
}

int method_row_usual(const subcommand *command)
{
    const method_row *row;
    for (size_t i = 0; (row = method_row_at(command, i)) != NULL; i++)
        if (row->is_usual)
            return (int)i;
    return 0;
}

const method_row *method_row_of_bcfl(ley_boundary_kind kind)
{
    const method_row *const *row = method_table;
    while (*row != NULL && (kind == LEY_BOUNDARY_OTHER || (*row)->bcfl != kind))
        row++;
    return *row;
}
