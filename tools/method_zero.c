/* Boundaries without a potential, in the command. */
#include "boundary_job.h"
#include "method_row.h"
#include "registry.h"

static ley_status compute(const void *problem, ley_error *error)
{
    const boundary_problem *p = problem;
    (void)error;
    ley_boundary_compute_zero(p->boundary);
    return LEY_OK;
}

const method_row zero_row = {
    .option = {.name = "zero"},
    .title = "no potential",
    .command = &boundary_command,
    .kernels = "mdh", /* named in vain, and not refused */
    .bcfl = LEY_BOUNDARY_ZERO,
    .compute = compute,
    .put_medium = boundary_put_medium,
    .print = boundary_print_solvent,
};
