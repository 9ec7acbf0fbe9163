/* Direct Coulomb summation, in the command. */
#include "bench_row.h"
#include "map_problem.h"
#include "method_row.h"
#include "registry.h"

static ley_status check_memory(const void *problem, const ley_grid *grid, ley_error *error)
{
    const map_problem *map = problem;
    return ley_direct_check_memory(map->atoms, grid, &map->medium, error);
}

static ley_status create(const void *problem, ley_engine *engine, const ley_run_options *options, ley_job **job,
                         ley_error *error)
{
    const map_problem *map = problem;
    return ley_job_create_direct(engine, map->atoms, map->target, &map->medium, options, job, error);
}

static void put_header(const void *problem, const ley_report *report, FILE *to)
{
    (void)report;
    put_units(to, problem, true);
}

static const bench_row bench = {
    .option = {.name = "dcs", .says = "dcs: direct Coulomb summation"},
    .first_variant = "simple",
    .columns = BENCH_PAIRS,
};

const method_row dcs_row = {
    .option = {.name = "dcs",
               .says = "dcs is direct Coulomb summation, every atom at every point",
               .details = "phi(r_i) = C sum_j q_j / max(|r_i - r_j|, r_min), with C = e / (4 pi eps0 dielectric), in "
                          "units of --units."},
    .title = "direct Coulomb summation",
    .command = &map_command,
    .kernels = "dcs",
    .takes_points = true,
    .check_memory = check_memory,
    .create = create,
    .put_medium = put_uniform,
    .put_header = put_header,
    .bench = &bench,
};
