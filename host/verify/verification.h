/* Every run is measured: a sample of what each device computed is recomputed in double precision,
 * and judged. */
#ifndef LEY_VERIFY_VERIFICATION_H
#define LEY_VERIFY_VERIFICATION_H

#include "schedule/job.h"

/* Samples the finished slabs of a job's devices: as many points as the options say, in every slab
 * at least one if these are enough. At least 16 of each device are recomputed on the host from the
 * formula; the others on the host, too, where that is done in time, else by reference.cl on the
 * device itself, whose sums must agree with the host's at those 16. In time: 2 % of the time that
 * the job took, or 0.05 s if that is more; then at least 50 points are recomputed, and the others
 * are left out. The first 50 are drawn by the seed alone, and so what is said of them in the
 * headers of files is the same each time.
 *
 * Fills in the report's accuracy. A device whose values are off leaves the job: its record says
 * why, its slabs are open again. *wrong: how many such devices there are. LEY_CANCELLED,
 * LEY_ERROR_MEMORY. */
ley_status verification_run(ley_job *job, size_t *wrong, ley_error *error);

/* For tests: so many seconds, however long the job was; 0 restores what is usual. */
void verification_time_replace(double seconds);

#endif
