/* Multiple Debye-Hueckel boundary values as a method: phi(r) = C sum_j q_j/d exp(-kappa (d - R_j))
 * / (1 + kappa R_j). Stone et al., GPU Gems (2010), section 3; the definition is that of APBS.
 *
 * Data: atoms go to each device once; a slab is some rows of the faces, whose nodes the device
 * makes up itself; values come back through page-locked staging. Bounds: two special functions a
 * pair, or four multiply-adds and what of these functions is done with multiply-adds; 4 bytes a
 * point over the link, which is nothing. */
#include "methods/mdh/method.h"
#include "error.h"
#include "law/mdh.h"
#include "law/solvent.h"
#include "layout/patches.h"
#include "methods/mdh/kernel.h"
#include "methods/mdh/stages.h"
#include "schedule/host_sum.h"
#include "schedule/job.h"
#include "target/boundary.h"
#include "target/target.h"

#include <math.h>
#include <stdlib.h>

typedef struct mdh_task {
    mdh_sums sums;       /* first */
    ley_solvent solvent; /* the ions are its own copy */
} mdh_task;

/* ---- The problem ----------------------------------------------------------------------------- */

static void end_task(void *context)
{
    mdh_task *task = context;
    free((ley_ion *)(uintptr_t)task->solvent.ions);
    free(task);
}

static ley_status copy_ions(mdh_task *task, ley_error *error)
{
    const ley_ion *given = task->solvent.ions;
    const size_t count = task->solvent.ion_count;
    ley_ion *ions = calloc(count + 1, sizeof *ions);
    if (ions == NULL)
        return ley_fail_memory(error, (count + 1) * sizeof *ions, "the job's ions");
    for (size_t i = 0; i < count; i++)
        ions[i] = given[i];
    task->solvent.ions = ions;
    return LEY_OK;
}

ley_status ley_job_create_boundary(ley_engine *engine, const ley_atoms *atoms, ley_target target,
                                   const ley_solvent *solvent, const ley_run_options *options, ley_job **job,
                                   ley_error *error)
{
    ley_status status = solvent_check(solvent, error);
    if (status == LEY_OK)
        status = target_check(&target, TARGET_BOUNDARY, method_mdh.name, error);
    if (status == LEY_OK)
        status = ley_boundary_check_atoms(target.boundary, atoms, error);
    if (status != LEY_OK)
        return status;
    mdh_task *task = calloc(1, sizeof *task);
    if (task == NULL)
        return ley_fail_memory(error, sizeof *task, "the job");
    *task = (mdh_task){.sums = {.atoms = atoms, .boundary = target.boundary}, .solvent = *solvent};
    status = copy_ions(task, error);
    if (status != LEY_OK) {
        free(task);
        return status;
    }
    return job_create(engine, &method_mdh, task, atoms, &target, options, job, error);
}

static ley_status prepare(void *context, const job_view *job, ley_error *error)
{
    mdh_task *task = context;
    return mdh_sums_prepare(&task->sums, job, ley_solvent_coulomb_constant(&task->solvent) / task->solvent.dielectric,
                            ley_screening_per_A(&task->solvent), 0, error);
}

static void release(void *context, bool is_kept)
{
    (void)is_kept;
    mdh_sums_release(&((mdh_task *)context)->sums);
}

/* ---- The result ------------------------------------------------------------------------------ */

static ley_status check_values(const mdh_sums *task, bool is_double, ley_error *error)
{
    const double *values = ley_boundary_read_values(task->boundary);
    for (int64_t i = 0; i < ley_boundary_points(task->boundary); i++)
        if (!isfinite(values[i])) {
            char place[BOUNDARY_PLACE];
            return ley_fail(error, LEY_ERROR_INPUT,
                            "the potential on %s of the boundary, deep within an atom's radius, is beyond %s",
                            boundary_place(task->boundary, i, place),
                            is_double ? "1e308 kT/e" : "3e38 kT/e: a double sum is needed");
        }
    return LEY_OK;
}

static ley_status finish(void *context, ley_error *error)
{
    const mdh_sums *task = &((const mdh_task *)context)->sums;
    ley_status status = mdh_sums_recompute_near(task, error);
    if (status == LEY_OK && ley_boundary_grid(task->boundary) != NULL)
        patches_share_edges(task->boundary);
    return status == LEY_OK ? check_values(task, task->job->options->sum == LEY_SUM_DOUBLE, error) : status;
}

static ley_status check_doubles(const void *context, ley_error *error)
{
    return check_values(&((const mdh_task *)context)->sums, true, error);
}

static bool by_host(const void *context, host_sum *sum)
{
    const mdh_task *task = context;
    *sum = (host_sum){.terms = {.law = &law_mdh,
                                .constant = ley_solvent_coulomb_constant(&task->solvent) / task->solvent.dielectric,
                                .atoms = task->sums.atoms,
                                .kappa_per_A = ley_screening_per_A(&task->solvent)},
                      .list = task->sums.boundary,
                      .how = "direct summation",
                      .builds_s = 3,
                      .check = check_doubles};
    return true;
}

const method method_mdh = {
    .name = "mdh",
    .target = LEY_TARGET_BOUNDARY,
    .parameters = &solvent_parameters,
    .kernel = &mdh_kind,
    .prepare = prepare,
    .release = release,
    .end = end_task,
    .stages = mdh_stages,
    .stage_count = MDH_STAGE_COUNT,
    .points = mdh_sums_points,
    .finish = finish,
    .plan_rows = mdh_plan_rows,
    .has_exp = true,
    .terms = mdh_sums_terms,
    .limits = mdh_sums_limits,
    .point = mdh_sums_point,
    .value = mdh_sums_value,
    .by_host = by_host,
    .bench = &bench_mdh,
    .double_has_more_digits = true,
};
