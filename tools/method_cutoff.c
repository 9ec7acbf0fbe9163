/* Sums of pairs within a cutoff, in the command. */
#include "bench_cutoff.h"
#include "console.h"
#include "job_report.h"
#include "map_problem.h"
#include "method_row.h"
#include "registry.h"
#include "short_range_options.h"

#include <string.h>

#define PLACE_NAME(name, value) ley_parameter_choice("ley_short_range", (name), (int)(value))

static const ley_pair_info *info_of(const ley_short_range *range)
{
    return ley_pair_get(range->pair);
}

/* ---- The job --------------------------------------------------------------------------------- */

/* The method's own options, and those that all sums of potentials have. */
static ley_short_range range_of(const map_problem *map)
{
    ley_short_range range = ((const short_range_input *)map->input)->range;
    range.units = map->medium.units;
    range.dielectric = map->medium.dielectric;
    range.temperature_K = map->medium.temperature_K;
    range.r_min_A = map->medium.r_min_A;
    return range;
}

static named_file depths_file(const void *input)
{
    return (named_file){((const short_range_input *)input)->values->well_depths, "well depths", NULL};
}

static const periodic_cell *cell(const void *input)
{
    return &((const short_range_input *)input)->common.cell;
}

static ley_status check_memory(const void *problem, const ley_grid *grid, ley_error *error)
{
    const map_problem *map = problem;
    const ley_short_range range = range_of(map);
    return ley_short_range_check_memory(map->atoms, grid, &range, error);
}

static double halo_A(const void *problem, const ley_grid *grid)
{
    const map_problem *map = problem;
    const ley_short_range range = range_of(map);
    return ley_short_range_halo_A(map->atoms, grid, &range);
}

static ley_status create(const void *problem, ley_engine *engine, const ley_run_options *options, ley_job **job,
                         ley_error *error)
{
    const map_problem *map = problem;
    const ley_short_range range = range_of(map);
    const ley_status status = ley_job_create_short_range(engine, map->atoms, map->target, &range, options, job, error);
    short_range_explain(&range, error);
    return status;
}

/* ---- The header ------------------------------------------------------------------------------ */

static void put_pairs(FILE *to, const ley_short_range *range)
{
    put_name(to, "pair: ", short_range_pair_text(range));
    fprintf(to, ", cutoff %.15g A", range->cutoff_A);
    if (info_of(range)->takes_kappa)
        fprintf(to, ", kappa %.15g / A", range->kappa_per_A);
    for (size_t i = 0; i < range->number_count; i++)
        fprintf(to, ", %s = %.15g", range->numbers[i].name, range->numbers[i].value);
    if (info_of(range)->takes_probe) {
        fprintf(to, ", probe %.15g A and %.15g kcal/mol, well depths ", range->probe_radius_A,
                range->probe_depth_kcal_mol);
        if (range->depth_kcal_mol != NULL)
            fputs("of each atom", to);
        else
            fprintf(to, "%.15g kcal/mol", range->depth_for_all_kcal_mol);
    }
    if (info_of(range)->takes_steepness)
        fprintf(to, ", steepness %.15g", range->steepness);
    fputc('\n', to);
}

static void put_header(const void *problem, const ley_report *report, FILE *to)
{
    (void)report;
    const ley_short_range range = range_of(problem);
    put_pairs(to, &range);
    cell_put(to, &((const short_range_input *)((const map_problem *)problem)->input)->common.cell);
    put_units(to, problem, !info_of(&range)->is_energy);
}

/* ---- The text -------------------------------------------------------------------------------- */

/* A note of this name; 0 and "" where the method says nothing of it. */
static const ley_note *note_of(const ley_report *report, const char *name)
{
    static const ley_note nothing = {.name = "", .kind = LEY_NOTE_TEXT, .text = ""};
    const ley_note *note = ley_report_note(report, name);
    return note != NULL ? note : &nothing;
}

static bool is_on_host(const ley_report *report, const char *step)
{
    return strcmp(note_of(report, step)->text, "host") == 0;
}

/* Where a step was done, and how long it took there if it was the host's. */
static short_text step_text(const char *what, const ley_report *report, const char *step, const char *time)
{
    if (is_on_host(report, step))
        return text_of("%s on the host (%.3g s)", what, note_of(report, time)->number[0]);
    return text_of("%s on the device", what);
}

static void print_pairs(const ley_short_range *range, const ley_report *report)
{
    const double *side_A = note_of(report, "bin_side_A")->number;
    const int64_t overflow = note_of(report, "overflow")->count, binned = note_of(report, "binned")->count;
    const bool cubic = side_A[0] == side_A[1] && side_A[1] == side_A[2];
    put_name(stdout, "pairs: ", short_range_pair_text(range));
    printf(", cutoff %.15g A", range->cutoff_A);
    if (report->host != NULL) { /* which has no bins */
        putchar('\n');
        return;
    }
    printf(", %.4g within it\n", report->evaluations);
    printf("bins: %s of %s, side ", count_text(note_of(report, "bins")->count).s,
           counted_text(note_of(report, "bin_depth")->count, "atom").s);
    if (cubic)
        printf("%.3g A", side_A[0]);
    else
        printf("%.3g x %.3g x %.3g A", side_A[0], side_A[1], side_A[2]);
    printf(", %.2g %% of the atoms overflow\n", binned > 0 ? 100 * (double)overflow / (double)binned : 0);
    if (ley_report_note(report, "transposition") == NULL) /* at points nothing is brought into rows */
        return;
    printf("plan: %s, %s\n", step_text("binning", report, "binning", "binning_s").s,
           step_text("rows", report, "transposition", "transposition_s").s);
}

/* Energies of probes have no dielectric, and a permittivity that grows with the distance is the
 * pair function's own. */
static void put_medium(const void *problem, FILE *to)
{
    const ley_short_range range = range_of(problem);
    put_name(to, "pair function ", short_range_pair_text(&range));
    fprintf(to, " within %.6g A", range.cutoff_A);
    if (info_of(&range)->is_uniform) {
        fputs(", ", to);
        put_uniform(problem, to);
    } else if (!info_of(&range)->is_energy) {
        fputs(", dielectric that grows with the distance", to);
    }
    if (info_of(&range)->takes_kappa)
        fprintf(to, ", kappa %.6g/A", range.kappa_per_A);
    const char *periodic = ((const short_range_input *)((const map_problem *)problem)->input)->common.periodic;
    if (periodic != NULL)
        fprintf(to, ", periodic along %s", periodic);
}

static void print(const void *problem, const ley_report *report)
{
    const ley_short_range range = range_of(problem);
    print_pairs(&range, report);
}

/* ---- The report ------------------------------------------------------------------------------ */

static json_t *json_of_numbers(const ley_short_range *range)
{
    json_t *numbers = json_object();
    for (size_t i = 0; i < range->number_count; i++)
        json_put(numbers, range->numbers[i].name, json_number(range->numbers[i].value));
    return numbers;
}

static json_t *json_of_options(const short_range_input *input)
{
    const short_range_values *values = input->values;
    const ley_short_range *range = &input->range;
    json_t *object = json_object();
    const ley_pair_info *info = info_of(range);
    const bool radii = info->takes_probe, periodic = input->common.periodic != NULL, kappa = info->takes_kappa;
    json_put(object, "pair", json_text(info->name));
    json_put(object, "expression", json_text(range->expression));
    json_put(object, "constants", info->takes_numbers ? json_of_numbers(range) : json_null());
    json_put(object, "cutoff_A", json_number(range->cutoff_A));
    json_put(object, "kappa_per_A", kappa ? json_number(range->kappa_per_A) : json_null());
    json_put(object, "probe_radius_A", radii ? json_number(range->probe_radius_A) : json_null());
    json_put(object, "probe_depth_kcal_mol", radii ? json_number(range->probe_depth_kcal_mol) : json_null());
    json_put(object, "well_depth_kcal_mol",
             radii && range->depth_kcal_mol == NULL ? json_number(range->depth_for_all_kcal_mol) : json_null());
    json_put(object, "well_depths", json_text(range->depth_kcal_mol != NULL ? values->well_depths : NULL));
    json_put(object, "steepness", info->takes_steepness ? json_number(range->steepness) : json_null());
    json_put(object, "periodic", json_text(input->common.periodic));
    json_put(object, "cell_A", periodic ? cell_json(&input->common.cell) : json_null());
    json_put(object, "bin_depth", json_count(range->bin_depth));
    json_put(object, "bin_fill", json_number(range->bin_fill));
    json_put(object, "binning", json_text(PLACE_NAME("binning", range->binning)));
    json_put(object, "transposition", json_text(PLACE_NAME("transposition", range->transposition)));
    return object;
}

static json_t *json(const void *problem, const ley_report *report)
{
    json_t *object = json_of_options(((const map_problem *)problem)->input);
    json_put(object, "report", json_of_notes(report));
    return object;
}

const method_row cutoff_row = {
    .option = {.name = "cutoff",
               .says = "cutoff is a short-range sum of --pair over pairs within --cutoff",
               .details = "With --method cutoff it is phi(r_i) = C sum over |r_i - r_j| < cutoff of q_j f(max(|r_i - "
                          "r_j|, r_min)), with any function f (--pair); atoms may have periodic images. "
                          "docs/short-range.md describes the functions.",
               .options = &short_range_options,
               .common = {&cutoff_options}},
    .title = "sum of pairs within a cutoff",
    .command = &map_command,
    .kernels = "cutoff",
    .takes_points = true,
    .input_size = sizeof(short_range_input),
    .begin = short_range_begin,
    .file = depths_file,
    .read = short_range_read_depths,
    .end = short_range_release,
    .cell = cell,
    .check_memory = check_memory,
    .takes_shares = true,
    .halo_A = halo_A,
    .create = create,
    .put_medium = put_medium,
    .put_header = put_header,
    .print = print,
    .rate = "pairs/s within the cutoff",
    .section = "short_range",
    .json = json,
    .bench = &cutoff_bench,
};
