/* leyden: what is prepared once and computed again and again, for one set of positions after the
 * other, as of a trajectory. leyden.h, which has the conventions, includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_PLAN_H)
#define LEYDEN_PLAN_H

#include "leyden_points.h"
#include "leyden_request.h"
#include "leyden_target.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A map, or values at points, that are asked for by a ley_request. Between two runs kernels,
 * meshes, influence functions and buffers stay where they are:
 *
 *     status = ley_plan_create(NULL, atoms, (ley_target){.map = map}, &request, NULL, &plan,
 *                              &error);
 *     while (status == LEY_OK && next_frame(position_A)) {
 *         status = ley_plan_update(plan, position_A, NULL, NULL, &error);
 *         if (status == LEY_OK)
 *             status = ley_plan_run(plan, &error);
 *         use(ley_map_values(map));
 *     }
 *     ley_plan_destroy(plan);
 *
 * One plan or job runs at a time on an engine. Plans of several engines may be run at the same
 * time, each from a thread of its own, and on one card small ones fill what the others leave of
 * it. */
typedef struct ley_plan ley_plan;

/* Atoms and request are copied; the target, a map or points, and the engine must outlive the plan.
 * Without an engine the fastest device is opened. `options`: as of any job; NULL: usual ones. Of
 * their verify_least points, or 256 where the request has a tolerance, each run that is prepared
 * anew is verified by all; of the others so many of every 100 runs together, on threads of the host
 * beside the runs that follow. Errors: those of ley_job_create_chosen() and of
 * ley_engine_create(). */
LEY_API ley_status ley_plan_create(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                   const ley_request *request, const ley_run_options *options, ley_plan **plan,
                                   ley_error *error);

/* For the next run: other positions, float64[n][3] in A; other charges, float64[n] in e; another
 * cell, vectors a, b, c. NULL: as they are. A map that reaches over the whole of a periodic vector,
 * from point to point by a step that is that vector over n, does so with the next cell as well: its
 * points are at the same fractions of it, and so are the maps of its field. Another cell has meshes
 * and influence functions made anew. Errors: those of ley_atoms_create(); LEY_ERROR_USAGE for a
 * cell of a plan of open space, LEY_ERROR_INPUT for a degenerate one; then all is as it was. */
LEY_API ley_status ley_plan_update(ley_plan *plan, const double *position_A, const double *charge_e,
                                   const double cell_A[3][3], ley_error *error);

/* Fills the map, or the points' values, and their field where there is one, and adds them to the
 * target's statistics. What was prepared and does not suit the
 * atoms any more, as where charges have left the meshes, is prepared anew, and so it is where a
 * device failed. Errors: those of ley_job_run(); LEY_ERROR_WRONG_RESULT, where the verification of
 * this run, or of an earlier one, which is named, has failed: the plan may go on. */
LEY_API ley_status ley_plan_run(ley_plan *plan, ley_error *error);

/* Asks a run to stop soon. Async-signal-safe. */
LEY_API void ley_plan_cancel(ley_plan *plan);

/* What was done in the last run; its accuracy is that of the last run that was prepared anew. NULL:
 * there was none. Until the next run, update or the plan's end. */
LEY_API const ley_report *ley_plan_report(const ley_plan *plan);

/* What all runs so far have been. */
typedef struct ley_plan_totals {
    int64_t runs, prepared; /* all, and those of them that were prepared anew */
    int64_t checked_runs;   /* of the others, those that were verified, by so many points: */
    size_t checked_points;
    double max_error;            /* the largest error at one of these, as ley_accuracy has it */
    double relative_rms;         /* over all of them, each as a share of its own run's root mean square */
    int64_t missed_runs, missed; /* those whose verification has failed, and the first of them, from 1 */
} ley_plan_totals;

/* Waits for verifications that are under way. Errors: LEY_ERROR_MEMORY, and as ley_plan_run() for
 * an earlier run that has not been named yet. */
LEY_API ley_status ley_plan_finish(ley_plan *plan, ley_plan_totals *totals, ley_error *error);

LEY_API void ley_plan_destroy(ley_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
