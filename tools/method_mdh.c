/* Multiple Debye-Hueckel boundaries, in the command. */
#include "bench_row.h"
#include "boundary_job.h"
#include "method_row.h"
#include "registry.h"

static ley_status create(const void *problem, ley_engine *engine, const ley_run_options *options, ley_job **job,
                         ley_error *error)
{
    const boundary_problem *p = problem;
    return ley_job_create_boundary(engine, p->atoms, (ley_target){.boundary = p->boundary}, p->solvent, options, job,
                                   error);
}

/* ---- In `leyden bench` ----------------------------------------------------------------------- */

typedef struct mdh_bench_values {
    int64_t points;
    double salt;
} mdh_bench_values;

static const option_row bench_rows[] = {
    {.name = "points",
     .kind = OPTION_INTEGER,
     .offset = offsetof(mdh_bench_values, points),
     .value = "N",
     .low = 1,
     .high = INT32_MAX,
     .unset = "the faces of a grid",
     .help = "mdh: points of a list"},
    {.name = "salt",
     .kind = OPTION_REAL,
     .offset = offsetof(mdh_bench_values, salt),
     .value = "M",
     .low = 0,
     .high = 1000,
     .help = "mdh: concentration of a 1:1 salt in mol/l; 0: no screening"},
};

static void set_bench_defaults(void *to)
{
    ley_bench_options options;
    ley_bench_options_default(&options);
    ((mdh_bench_values *)to)->salt = options.salt_M;
}

static const option_block bench_options = OPTION_BLOCK(bench_rows, mdh_bench_values, set_bench_defaults);

static void set_bench(const parsed_arguments *arguments, ley_bench_options *to)
{
    const mdh_bench_values *values = option_values(arguments, &bench_options);
    to->points = values->points;
    to->salt_M = values->salt;
}

static int check_bench(const parsed_arguments *arguments)
{
    const mdh_bench_values *values = option_values(arguments, &bench_options);
    return values->points > 0 && option_named_given(arguments, "dims")
               ? fail_usage(arguments->command, "--dims is not for a list of --points: it is no grid")
               : 0;
}

static const bench_row bench = {
    .option = {.name = "mdh", .says = "mdh: Multiple Debye-Hueckel boundary values", .options = &bench_options},
    .first_variant = "simple",
    .columns = BENCH_PAIRS,
    .check = check_bench,
    .set = set_bench,
};

/* ---------------------------------------------------------------------------------------------- */

const method_row mdh_row = {
    .option = {.name = "mdh", .says = "mdh: the Debye-Hueckel potentials of all atoms"},
    .title = "Multiple Debye-Hueckel",
    .command = &boundary_command,
    .is_usual = true,
    .kernels = "mdh",
    .bcfl = LEY_BOUNDARY_MDH,
    .create = create,
    .put_medium = boundary_put_medium,
    .print = boundary_print_solvent,
    .bench = &bench,
};
