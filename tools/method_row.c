#include "method_row.h"
#include "interrupt.h"
#include "registry.h"

#include <string.h>

const method_row *method_row_at(const subcommand *command, size_t i)
{
    const method_row *const *row = method_table;
    while (*row != NULL && ((*row)->command != command || i-- > 0))
        row++;
    return *row;
}

bool method_row_makes(const method_row *row, const char *name)
{
    return row->create != NULL && ((row->kernels != NULL && strcmp(row->kernels, name) == 0) ||
                                   (row->point_kernels != NULL && strcmp(row->point_kernels, name) == 0));
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

ley_status method_row_run(const method_row *method, const void *problem, ley_job *job, ley_error *error)
{
    if (job == NULL) {
        const ley_status status = method->compute(problem, error);
        interrupt_defer();
        return status;
    }
    interrupt_defer();
    interrupt_cancels(job);
    const ley_status status = ley_job_run(job, error);
    interrupt_cancels(NULL);
    return status;
}

const char *method_row_title(const method_row *method, const ley_report *report)
{
    return report != NULL && report->host != NULL && method->title_by_host != NULL ? method->title_by_host
                                                                                   : method->title;
}
