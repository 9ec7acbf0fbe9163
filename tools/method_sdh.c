/* Single Debye-Hueckel boundaries, in the command. */
#include "boundary_job.h"
#include "method_row.h"
#include "registry.h"

static ley_status compute(const void *problem, ley_error *error)
{
    const boundary_problem *p = problem;
    return ley_boundary_compute_sdh(p->boundary, p->atoms, p->solvent, error);
}

const method_row sdh_row = {
    .option = {.name = "sdh",
               .says = "sdh: the Debye-Hueckel potential of one sphere with the molecule's charge, "
                       "dipole and quadrupole"},
    .title = "Single Debye-Hueckel",
    .command = &boundary_command,
    .kernels = "mdh", /* named in vain, and not refused */
    .bcfl = LEY_BOUNDARY_SDH,
    .compute = compute,
    .put_medium = boundary_put_medium,
    .print = boundary_print_solvent,
};
