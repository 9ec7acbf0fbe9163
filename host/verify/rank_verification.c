#include "verify/rank_verification.h"

#include "error.h"
#include "ranks.h"
#include "schedule/rank_share.h"
#include "verify/rank_sums.h"
#include "verify/sample_judge.h"
#include "verify/verification.h"

#include <stdlib.h>

/* What the next steps of a job depend on. */
typedef struct verdict {
    ley_accuracy accuracy, seeded_accuracy, field_accuracy;
    double tolerance_share, tolerance_floor;
    tolerance_terms terms;
} verdict;

void rank_verification_tell(ley_job *job)
{
    ley_report *r = &job->report;
    verdict v = {r->accuracy,        r->seeded_accuracy, r->field_accuracy,
                 r->tolerance_share, r->tolerance_floor, job->terms};
    if (!job->is_shared)
        return;
    ranks_broadcast(&v, sizeof v);
    r->accuracy = v.accuracy;
    r->seeded_accuracy = v.seeded_accuracy;
    r->field_accuracy = v.field_accuracy;
    r->tolerance_share = v.tolerance_share;
    r->tolerance_floor = v.tolerance_floor;
    job->terms = v.terms;
}

/* Rank 0 knows ranks only: any device of this one may have been wrong. */
static void leave_with_devices(ley_job *job)
{
    for (size_t i = 0; i < job->engine->worker_count; i++)
        if (job->records[i].report.points > 0) {
            ley_fail(&job->records[i].failure, LEY_ERROR_WRONG_RESULT, "%s: rank 0 has found its values wrong",
                     job->engine->workers[i].info->name);
            sample_dismiss(job, i);
        }
}

static ley_status tell_wrong(ley_job *job, size_t *wrong, ley_error *error)
{
    const size_t ranks = (size_t)ranks_count();
    bool *is_wrong = calloc(ranks, sizeof *is_wrong);
    if (is_wrong == NULL)
        return ley_fail_memory(error, ranks, "the ranks");
    for (size_t r = 1; r < ranks && ranks_own() == 0; r++) {
        ley_error *failure = &job->records[job_rank_record(job, (int)r)].failure;
        is_wrong[r] = failure->status == LEY_ERROR_WRONG_RESULT;
        ley_error_clear(failure); /* the rank says it of its devices from now on */
    }
    ranks_broadcast(is_wrong, ranks * sizeof *is_wrong);
    ranks_broadcast(wrong, sizeof *wrong);
    if (is_wrong[ranks_own()])
        leave_with_devices(job);
    free(is_wrong);
    return LEY_OK;
}

ley_status rank_verification_run(ley_job *job, size_t *wrong, ley_error *error)
{
    ley_status status = rank_share_is_first(job) ? verification_run(job, wrong, error) : LEY_OK;
    status = rank_sums_end(job, status, error);
    if (status == LEY_OK && job->is_shared)
        status = tell_wrong(job, wrong, error);
    if (status == LEY_OK)
        rank_verification_tell(job);
    return status;
}
