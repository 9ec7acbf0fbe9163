/* Multiple Debye-Hueckel boundaries, in the command. */
#include "boundary_job.h"
#include "commands.h"
#include "method_row.h"

static ley_status create(const void *problem, ley_engine *engine, const ley_run_options *options, ley_job **job,
                         ley_error *error)
{
    const boundary_problem *p = problem;
    return ley_job_create_boundary(engine, p->atoms, p->boundary, p->solvent, options, job, error);
}

const method_row mdh_row = {
    .option = {.name = "mdh", .says = "mdh: Debye-Hueckel potentials of all atoms"},
    .title = "Multiple Debye-Hueckel",
    .command = &boundary_command,
    .is_usual = true,
    .kernels = "mdh",
    .bcfl = LEY_BOUNDARY_MDH,
    .create = create,
};
