/* Sums over all atoms, of which each rank has a part: rank 0 asks for them at some places, each
 * rank sums over its own atoms there, and the sums are added. */
#ifndef LEY_VERIFY_RANK_SUMS_H
#define LEY_VERIFY_RANK_SUMS_H

#include "law/reference.h"
#include "schedule/job.h"

/* Of a job by parts, on all ranks, between prepare and release: this rank's own atoms, which stand
 * in the place of its part's in what is summed; rank_sums_end() ends them. On ranks other than 0
 * answers until rank 0 ends, too. Errors: LEY_ERROR_MEMORY, and those of reference_begin(). */
ley_status rank_sums_begin(ley_job *job, ley_error *error);
ley_status rank_sums_end(ley_job *job, ley_status status, ley_error *error);

/* What the job sums; of a job by parts with its own atoms. */
reference_terms rank_sums_terms(const ley_job *job);

typedef struct rank_sums_point {
    int64_t number; /* among the job's values */
    double place_A[3];
} rank_sums_point;

/* On rank 0, of terms that have begun: sums at n places, [n]; or fields, [n][3]. Errors:
 * LEY_ERROR_MEMORY, which ends all ranks. */
ley_status rank_sums_ask(const ley_job *job, const reference_terms *terms, size_t n, const rank_sums_point *points,
                         bool are_fields, reference_value *sums, ley_error *error);

#endif
