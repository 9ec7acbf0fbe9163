#include "method_row.h"
#include "interrupt.h"

#include <string.h>

bool method_row_makes(const method_row *row, const char *name)
{
    return row->create != NULL && !row->is_choice && row->kernels != NULL && strcmp(row->kernels, name) == 0;
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
