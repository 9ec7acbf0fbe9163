/* The exercise in the command, `leyden squares MAP`: its option, what a sub-command has of its own
 * within the frame, and the method's row. */
#include "tenth_method/method.h"

#include "../../tools/bench_row.h"
#include "../../tools/job_frame.h"
#include "../../tools/method_list.h"
#include "../../tools/registry.h"

#include <math.h>

DECLARE_COMMAND(squares)
DECLARE_METHOD(squares)

/* ---- Options --------------------------------------------------------------------------------- */

static const option_row rows[] = {{.of = "squares_options"}}; /* all of the method's parameters */

static const option_block options = OPTION_BLOCK(rows, squares_options, NULL);

static int begin(const parsed_arguments *arguments, void *input)
{
    *(squares_options *)input = *(const squares_options *)option_values(arguments, &options);
    return 0;
}

/* ---- The sub-command ------------------------------------------------------------------------- */

typedef struct squares_problem {
    ley_map *map;
    const squares_options *values;
    double *sum;
} squares_problem;

typedef struct squares_run {
    job_run run;
    squares_problem problem;
    double sum;
} squares_run;

static int check_input(job_run *run)
{
    ((squares_run *)run)->problem.values = run->input;
    return 0;
}

static ley_status read_map(job_run *run, ley_error *error)
{
    return ley_map_read(run->arguments->operand, &((squares_run *)run)->problem.map, error);
}

static void end(job_run *run)
{
    ley_map_destroy(((squares_run *)run)->problem.map);
}

static double root_of_mean(const squares_problem *squares)
{
    return sqrt(*squares->sum / (double)ley_grid_points(ley_map_grid(squares->map)));
}

static void print(const job_run *run)
{
    const squares_problem *squares = run->problem;
    printf("squares: %.9g over %lld planes\n", *squares->sum, (long long)ley_report_note(run->report, "planes")->count);
    if (squares->values->has_mean)
        printf("root of their mean: %.9g\n", root_of_mean(squares));
}

static void put_json(const job_run *run, json_t *report)
{
    json_put(report, "grid", json_of_grid(ley_map_grid(((const squares_run *)run)->problem.map)));
}

static const job_kind kind = {.operand = "map",
                              .product = "sum",
                              .check_input = check_input,
                              .read = read_map,
                              .end = end,
                              .print = print,
                              .put_json = put_json};

static int run_command(const parsed_arguments *arguments)
{
    squares_run squares = {
        .run = {.kind = &kind, .arguments = arguments, .method = &squares_row, .problem = &squares.problem},
        .problem = {.sum = &squares.sum}};
    return job_frame_run(&squares.run);
}

static const option_method *method_at(size_t i)
{
    return method_option_at(&squares_command, i);
}

static const option_block *const shared[] = {&job_options, NULL};

const subcommand squares_command = {
    .name = "squares",
    .summary = "Sums the squares of a map's values.",
    .examples = {"leyden squares MAP.dx"},
    .operand = "MAP",
    .operand_help = "the map, OpenDX",
    .method = method_at,
    .shared = shared,
    .run = run_command,
};

/* ---- The method's row ------------------------------------------------------------------------ */

static ley_status create(const void *problem, ley_engine *engine, const ley_run_options *run_options, ley_job **job,
                         ley_error *error)
{
    const squares_problem *squares = problem;
    return job_create_squares(engine, squares->map, squares->sum, run_options, job, error);
}

static json_t *json(const void *problem, const ley_report *report)
{
    const squares_problem *squares = problem;
    json_t *object = json_object();
    json_put(object, "sum", json_number(*squares->sum));
    json_put(object, "root_of_mean", squares->values->has_mean ? json_number(root_of_mean(squares)) : json_null());
    json_put(object, "report", json_of_notes(report));
    return object;
}

static const bench_row bench = {.option = {.name = "squares", .says = "squares sums the values of planes"},
                                .columns = BENCH_FMA};

const method_row squares_row = {
    .option = {.name = "squares", .options = &options},
    .title = "sum of squares",
    .command = &squares_command,
    .kernels = "squares",
    .input_size = sizeof(squares_options),
    .begin = begin,
    .create = create,
    .section = "squares",
    .json = json,
    .bench = &bench,
};
