/* Verification of what several ranks have computed: rank 0 has all values and judges them. */
#ifndef LEY_VERIFY_RANK_VERIFICATION_H
#define LEY_VERIFY_RANK_VERIFICATION_H

#include "schedule/job.h"

/* verification_run(), or of a job that ranks share, that of rank 0, which all of them know then: a
 * rank whose values are wrong gives its slabs back, and those of its devices that have made them
 * leave the job. */
ley_status rank_verification_run(ley_job *job, size_t *wrong, ley_error *error);

/* Rank 0 has judged the values by other means: all ranks know what its report says of them. */
void rank_verification_tell(ley_job *job);

#endif
