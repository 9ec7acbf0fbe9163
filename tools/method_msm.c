/* The potential of all charges by meshes, in the command. */
#include "bench_msm.h"
#include "console.h"
#include "job_report.h"
#include "mesh_options.h"
#include "msm_input.h"
#include "registry.h"

#include <math.h>
#include <string.h>

/* ---- Options --------------------------------------------------------------------------------- */

typedef struct msm_values {
    ley_long_range range; /* whose transforms, how many levels */
    int preset;           /* there is one, that of the papers */
} msm_values;

static void set_defaults(void *to)
{
    ley_long_range_default(&((msm_values *)to)->range);
}

static const option_row rows[] = {
    {.of = "ley_long_range", .parameter = "preset", .kind = OPTION_CHOICE, .offset = offsetof(msm_values, preset)},
    {OPTION_OF(ley_long_range, "fft", msm_values, range)},
    {OPTION_OF(ley_long_range, "levels", msm_values, range)},
};

static const option_block msm_options = OPTION_BLOCK(rows, msm_values, set_defaults);

/* Whether it may come to transforms: auto does with B-splines. */
static bool may_transform(const ley_long_range *range)
{
    return range->solver == LEY_SOLVER_FOURIER || range->solver == LEY_SOLVER_MIXED ||
           (range->solver == LEY_SOLVER_AUTO && range->window >= LEY_WINDOW_BSPLINE4);
}

void msm_take_space(const parsed_arguments *arguments, msm_input *input)
{
    ley_long_range *range = &input->request.potential;
    range->kappa_per_A = input->common.kappa_per_A;
    memcpy(range->periodic, input->common.cell.periodic, sizeof range->periodic);
    memcpy(range->cell_A, input->common.cell.vector_A, sizeof range->cell_A);
    input->request.fixed |= option_named_given(arguments, "sum") ? (unsigned)LEY_FIX_SUM : 0;
}

/* With --tol what is not given is chosen. */
static int set_tolerance(const parsed_arguments *arguments, msm_input *input)
{
    input->request.tolerance = 0;
    if (!option_named_given(arguments, "tol"))
        return 0;
    input->request.tolerance = tolerance_of(arguments);
    if (option_named_given(arguments, "preset") || option_named_given(arguments, "levels"))
        return fail_usage(arguments->command, "--tol and --%s exclude each other: both say what the meshes are",
                          option_named_given(arguments, "preset") ? "preset" : "levels");
    return 0;
}

/* What is given, over the preset or the defaults. */
static int begin(const parsed_arguments *arguments, void *to)
{
    msm_input *input = to;
    ley_long_range *range = &input->request.potential;
    ley_request_default(&input->request);
    input->request.method = msm_row.option.name;
    int code = cutoff_begin(arguments, &input->common);
    if (code == 0)
        code = set_tolerance(arguments, input);
    if (option_named_given(arguments, "preset"))
        ley_long_range_papers(range);
    input->request.fixed = option_take_given(arguments, "ley_long_range", range);
    msm_take_space(arguments, input);
    if (code == 0 && option_named_given(arguments, "fft") && !may_transform(range))
        return fail_usage(arguments->command, "--fft is for --solver fourier and mixed%s",
                          range->solver == LEY_SOLVER_AUTO
                              ? ", or auto with a B-spline: with a nodal window that is multilevel"
                              : "");
    return code;
}

double msm_tolerance(const void *input)
{
    return ((const msm_input *)input)->request.tolerance;
}

const char *msm_advice(const void *context)
{
    const msm_input *input = context;
    const bool is_fixed = (input->request.fixed & ~(unsigned)LEY_FIX_MESHES) != 0;
    if (input->common.kappa_per_A == 0 && !cell_is_periodic(&input->common.cell))
        return "--method dcs --sum auto is more accurate";
    return is_fixed ? "without options for cutoff, meshes, solver and sum it may be more accurate"
                    : "no settings are more accurate";
}

const periodic_cell *msm_cell(const void *input)
{
    return &((const msm_input *)input)->common.cell;
}

/* ---- The job --------------------------------------------------------------------------------- */

static ley_request request_of(const map_problem *map)
{
    ley_request request = ((const msm_input *)map->input)->request;
    request.potential.units = map->medium.units;
    request.potential.dielectric = map->medium.dielectric;
    request.potential.temperature_K = map->medium.temperature_K;
    request.potential.r_min_A = map->medium.r_min_A;
    return request;
}

ley_status msm_check_memory(const void *problem, const ley_grid *grid, ley_error *error)
{
    const map_problem *map = problem;
    const ley_request request = request_of(map);
    return ley_request_check_memory(&request, map->atoms, grid, error);
}

ley_status msm_create(const void *problem, ley_engine *engine, const ley_run_options *options, ley_job **job,
                      ley_error *error)
{
    const map_problem *map = problem;
    const ley_request request = request_of(map);
    return ley_job_create_chosen(engine, map->atoms, map->target, &request, options, job, error);
}

static void done(const void *problem, const ley_job *job)
{
    msm_input *input = ((const map_problem *)problem)->input;
    ley_long_range *range = &input->request.potential;
    const char *fft = range->fft; /* outlives the job */
    if (ley_job_long_range(job, range))
        range->fft = fft;
}

/* ---- What is said of it ---------------------------------------------------------------------- */

static const cutoff_input *common_of(const map_problem *map)
{
    return &((const msm_input *)map->input)->common;
}

/* What was taken, which `--solver auto` does not say. */
static const char *taken(const ley_report *report, const char *note, const char *asked)
{
    const ley_note *found = ley_report_note(report, note);
    return found != NULL ? found->text : asked;
}

/* Periods are whole numbers of nodes. */
static void put_plan(FILE *to, const ley_long_range *range, const ley_report *report)
{
    const bool is_periodic = range->periodic[0] || range->periodic[1] || range->periodic[2];
    fprintf(to, "long range: %s, %s, solver %s, cutoff %.15g A, nodes %s%.15g A apart",
            MESH_NAME("splitting", range->splitting), taken(report, "window", MESH_NAME("window", range->window)),
            taken(report, "solver", MESH_NAME("solver", range->solver)), range->cutoff_A, is_periodic ? "at most " : "",
            range->spacing_A);
    if (range->kappa_per_A > 0)
        fprintf(to, ", kappa %.15g / A", range->kappa_per_A);
}

static void put_background(FILE *to, const map_problem *map, const ley_long_range *range)
{
    const double background_e = ley_long_range_background_e(map->atoms, range);
    if (background_e != 0)
        fprintf(to, "background: %.6g e in each cell, uniform, which makes it neutral\n", background_e);
}

static void put_meshes(FILE *to, const ley_long_range *range, const ley_report *report)
{
    put_plan(to, range, report);
    if (range->levels > 0)
        fprintf(to, ", %d level%s", range->levels, range->levels == 1 ? "" : "s");
    fputc('\n', to);
}

/* The host has no meshes. */
static bool is_by_host(const ley_report *report)
{
    return report != NULL && report->host != NULL;
}

static void put_header(const void *problem, const ley_report *report, FILE *to)
{
    const ley_long_range range = request_of(problem).potential;
    if (!is_by_host(report))
        put_meshes(to, &range, report);
    else if (range.kappa_per_A > 0)
        fprintf(to, "kappa %.15g / A\n", range.kappa_per_A);
    cell_put(to, &common_of(problem)->cell);
    put_background(to, problem, &range);
    put_units(to, problem, true);
}

void msm_put_medium(const void *problem, FILE *to)
{
    const map_problem *map = problem;
    put_uniform(map, to);
    if (common_of(map)->kappa_per_A > 0)
        fprintf(to, ", kappa %.6g/A", common_of(map)->kappa_per_A);
    if (common_of(map)->periodic != NULL)
        fprintf(to, ", periodic along %s", common_of(map)->periodic);
}

static void print_steps(const ley_report *report)
{
    static const struct {
        const char *note, *text;
    } steps[] = {{"spread_s", "atoms into bins"},      {"spectrum_s", "influence function"},
                 {"anterpolation_s", "anterpolation"}, {"exchange_s", "exchange"},
                 {"transforms_s", "transforms"},       {"product_s", "product"},
                 {"restriction_s", "restriction"},     {"lattice_cutoff_s", "lattice cutoff"},
                 {"top_level_s", "top level"},         {"prolongation_s", "prolongation"},
                 {"interpolation_s", "interpolation"}, {"short_range_s", "short range"}};
    const char *before = "steps: ";
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const ley_note *note = ley_report_note(report, steps[i].note);
        if (note == NULL)
            continue;
        printf("%s%s %.3g s", before, steps[i].text, note->number[0]);
        before = ", ";
    }
    putchar('\n');
}

/* What `--solver auto` came to, where nothing came of the whole mesh's transform. */
static void print_otherwise(const ley_report *report)
{
    const ley_note *why = ley_report_note(report, "otherwise"), *window = ley_report_note(report, "window");
    if (why != NULL && window != NULL)
        printf("in place of %s: %s, solver %s: %s\n",
               ley_report_note(report, "fft_library") != NULL ? "one mesh" : "Fourier transforms", window->text,
               taken(report, "solver", MESH_NAME("solver", LEY_SOLVER_MULTILEVEL)), why->text);
}

static void print_transforms(const ley_report *report)
{
    const ley_note *library = ley_report_note(report, "fft_library"),
                   *others = ley_report_note(report, "fft_passed_over");
    if (library != NULL)
        printf("transforms: %s%s%s\n", library->text, others != NULL ? "; not by " : "",
               others != NULL ? others->text : "");
}

static void print(const void *problem, const ley_report *report)
{
    const ley_long_range range = request_of(problem).potential;
    const ley_note *meshes = ley_report_note(report, "meshes");
    if (!is_by_host(report)) {
        put_plan(stdout, &range, report);
        printf("; meshes: %s\n", meshes != NULL ? meshes->text : "none, screening leaves nothing beyond the cutoff");
    }
    cell_put(stdout, &common_of(problem)->cell);
    put_background(stdout, problem, &range);
    if (is_by_host(report))
        return;
    print_otherwise(report);
    print_transforms(report);
    print_steps(report);
}

static json_t *json(const void *problem, const ley_report *report)
{
    const ley_long_range range = request_of(problem).potential;
    json_t *object = json_object();
    const bool has_meshes = !is_by_host(report);
    json_put(object, "splitting", json_text(has_meshes ? MESH_NAME("splitting", range.splitting) : NULL));
    json_put(object, "window", json_text(has_meshes ? MESH_NAME("window", range.window) : NULL));
    json_put(object, "solver", json_text(has_meshes ? MESH_NAME("solver", range.solver) : NULL));
    json_put(object, "fft", json_text(range.fft));
    json_put(object, "cutoff_A", has_meshes ? json_number(range.cutoff_A) : json_null());
    json_put(object, "mesh_spacing_A", has_meshes ? json_number(range.spacing_A) : json_null());
    json_put(object, "levels", json_count(range.levels));
    json_put(object, "kappa_per_A", json_number(range.kappa_per_A));
    json_put(object, "periodic", json_text(common_of(problem)->periodic));
    json_put(object, "cell_A",
             common_of(problem)->periodic != NULL ? cell_json(&common_of(problem)->cell) : json_null());
    json_put(object, "report", json_of_notes(report));
    return object;
}

const method_row msm_row = {
    .option =
        {.name = "msm",
         .says = "msm sums over all atoms by meshes, in time proportional to their number",
         .details =
             "With --method msm 1/r is split (--splitting) into a smooth function and the rest: the rest is summed "
             "over pairs within --cutoff (a), and the smooth function by meshes whose nodes are --mesh-spacing (h) "
             "apart and further. The error follows from a/h, window and splitting, and is measured after every run. "
             "Relative to the potential it is 2e-3 to 3e-3 with nodal3, taylor2 and a/h = 6 (--preset papers), 2e-4 "
             "to 4e-4 in water with nodal7, taylor4 and a/h = 6 (the default), and 3e-5 at a/h = 8 (--cutoff 16). "
             "The number of pairs grows with the third power of the cutoff, the number of nodes with the third power "
             "of 1/h; 2 A and 12 A suit molecules. nodal5, 7 and 9 are more accurate than nodal3 and cost more per "
             "atom; taylor3 and taylor4 are smoother than taylor2 and need a larger a/h. --solver fourier --window "
             "bspline6 --splitting optimal has errors of 1e-5 to 5e-5 at a/h = 6, on devices that have Fourier "
             "transforms. With --periodic all images count: along three axes with the tin-foil boundary, as in PME, "
             "so that the mean potential is zero and a uniform background neutralises a net charge; along one or two "
             "axes the cell must be neutral. With --kappa every charge is screened, exp(-kappa r)/r. "
             "docs/long-range.md has tables.",
         .options = &msm_options,
         .common = {&cutoff_options, &tolerance_options, &mesh_options}},
    .title = "multilevel summation",
    .title_by_host = "sum of all pairs and images",
    .command = &map_command,
    .kernels = "msm",
    .takes_points = true,
    .input_size = sizeof(msm_input),
    .begin = begin,
    .tolerance = msm_tolerance,
    .advice = msm_advice,
    .cell = msm_cell,
    .check_memory = msm_check_memory,
    .takes_shares = true,
    .create = msm_create,
    .done = done,
    .put_medium = msm_put_medium,
    .put_header = put_header,
    .print = print,
    .rate = "pairs/s within the cutoff",
    .section = "long_range",
    .json = json,
    .bench = &msm_bench,
};
