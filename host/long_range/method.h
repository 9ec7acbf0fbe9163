/* Long-range potentials on meshes as a method. */
#ifndef LEY_LONG_RANGE_METHOD_H
#define LEY_LONG_RANGE_METHOD_H

#include "numerics/hierarchy.h"
#include "schedule/method.h"

extern const method method_msm;
extern const struct bench_subject bench_msm; /* bench.c */

/* Its stages. */
enum { MSM_STAGE_BINS, MSM_STAGE_FIELD, MSM_STAGE_SUM };

/* A task of the method, which its end() ends. Atoms and map must outlive it. Errors: those of
 * ley_job_create_long_range(). */
ley_status msm_task_create(const ley_atoms *atoms, ley_map *map, const ley_long_range *range, void **task,
                           ley_error *error);

const hierarchy *msm_task_meshes(const void *task);

/* Of the last run, how long it took to put atoms into bins: of the finest mesh, on the host, and
 * of the short-range sum, on whichever does it. Devices do theirs while the host does its own. */
double msm_task_bins_s(const void *task);

#endif
