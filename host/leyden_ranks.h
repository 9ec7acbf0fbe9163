/* Several processes on one job. A program that is linked with ranks_mpi.o in front of the library,
 * as leyden-mpi is, and started by mpirun or srun, is one of several ranks; any other program is
 * the only one. Between ley_ranks_begin() and ley_ranks_end() ley_job_run() is done by all ranks
 * together, which make equal jobs in the same order: slabs are dealt to ranks as they are to
 * devices, and the values and the report are complete on rank 0 alone. A function that fails on one
 * rank leaves the others waiting for it: that rank is to end them. docs/clusters.md says what is
 * dealt. */
#ifndef LEYDEN_RANKS_H
#define LEYDEN_RANKS_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Once a process. LEY_ERROR_USAGE: a launcher has started several processes, and this one, which is
 * not rank 0, cannot work with the others, as it has no MPI; it should end, without an error. */
LEY_API ley_status ley_ranks_begin(ley_error *error);

/* Waits for all ranks. */
LEY_API void ley_ranks_end(void);

/* Ends all ranks at once, with this exit code; returns where there is only one. */
LEY_API void ley_ranks_abort(int code);

/* How many ranks there are, and which one this is. */
LEY_API int ley_ranks_count(void);
LEY_API int ley_ranks_own(void);

/* From here on each rank does its jobs alone, as if it were the only one; or no longer. */
LEY_API void ley_ranks_part(bool is_alone);

/* The next of the numbers from 0 on that no rank has taken before. */
LEY_API int64_t ley_ranks_take(void);

/* What rank 0 says, true or false; all ranks ask. */
LEY_API bool ley_ranks_agree(bool said);

/* The sum of what all ranks have, and the largest of it, for all of them. */
LEY_API int64_t ley_ranks_sum(int64_t own);
LEY_API int64_t ley_ranks_most(int64_t own);

/* A text of rank `from`, its `own` there, for rank 0, to be freed; NULL on the others, where memory
 * does not suffice, and where it is NULL. */
LEY_API char *ley_ranks_text(int from, const char *own);

#ifdef __cplusplus
}
#endif

#endif
