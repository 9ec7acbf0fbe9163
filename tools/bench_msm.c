/* Long-range potentials, step by step, in `leyden bench`. */
#include "bench_msm.h"
#include "bench_text.h"
#include "bench_values.h"
#include "console.h"
#include "mesh_options.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct msm_bench_values {
    int preset;
    bool curve;
} msm_bench_values;

static const char *const presets[] = {"all", "papers", "default", "fft", NULL};

static const option_row rows[] = {
    {.name = "preset",
     .kind = OPTION_CHOICE,
     .offset = offsetof(msm_bench_values, preset),
     .value = "NAME",
     .choices = presets,
     .help = "msm: the steps of one choice only: of the papers' (nodal3, taylor2, 12 A, 2 A, multilevel), of what "
             "`leyden map --method msm` takes where nothing is said, or of bspline6 and optimal by Fourier transforms"},
    {.name = "curve",
     .kind = OPTION_FLAG,
     .offset = offsetof(msm_bench_values, curve),
     .help = "msm: larger and larger boxes, from 999 atoms up to --atoms, against plain loops in C on one core of the "
             "host: how many times as fast the device is, as the papers have it"},
};

static const option_block options = OPTION_BLOCK(rows, msm_bench_values, NULL);

/* What the meshes are is said, or what they may be off by. */
static bool is_chosen(const parsed_arguments *arguments)
{
    ley_long_range range;
    return option_take_given(arguments, "ley_long_range", &range) != 0 || bench_tolerances_of(arguments)->n > 0;
}

static int check(const parsed_arguments *arguments)
{
    const msm_bench_values *values = option_values(arguments, &options);
    const char *excluded = values->curve ? "curve" : values->preset > 0 ? "preset" : NULL;
    if (bench_tolerances_of(arguments)->n > 1)
        return fail_usage(arguments->command, "--tol: one tolerance with --kernel msm; --frontier takes several");
    if (is_chosen(arguments) && excluded != NULL)
        return fail_usage(arguments->command,
                          "--%s has choices of its own: without --tol, --mesh-spacing, "
                          "--splitting, --window and --solver",
                          excluded);
    return 0;
}

static void set_choice(const parsed_arguments *arguments, ley_bench_options *to)
{
    const option_reals *tolerances = bench_tolerances_of(arguments);
    to->preset = "chosen";
    to->tolerances = tolerances->value;
    to->tolerance_count = tolerances->n;
    to->fixed =
        option_take_given(arguments, "ley_long_range", &to->range) | (to->cutoff_A > 0 ? (unsigned)LEY_FIX_CUTOFF : 0);
}

static void set(const parsed_arguments *arguments, ley_bench_options *to)
{
    const msm_bench_values *values = option_values(arguments, &options);
    to->preset = values->preset > 0 ? presets[values->preset] : NULL;
    to->linear = values->curve;
    to->fft = bench_fft_library(arguments);
    to->cutoff_A = bench_cutoff_A(arguments);
    if (is_chosen(arguments))
        set_choice(arguments, to);
}

/* ---- What stands below the table ------------------------------------------------------------- */

/* "papers" of "papers: top level". */
static size_t preset_length(const char *step)
{
    const char *colon = strchr(step, ':');
    return colon != NULL ? (size_t)(colon - step) : strlen(step);
}

static bool is_step(const ley_bench_row *row, const char *name)
{
    const char *colon = strchr(row->variant, ':');
    return colon != NULL && strcmp(colon + 2, name) == 0;
}

/* Sums over rows [first, end), which are of one preset. */
static void print_preset(const ley_bench_device *device, size_t first, size_t end)
{
    double others_s = 0, pairs_s = 0, whole_s = 0;
    for (size_t i = first; i < end; i++) {
        const ley_bench_row *row = &device->rows[i];
        if (row->status != LEY_OK || !row->accuracy.passed)
            return;
        if (is_step(row, "short range"))
            pairs_s = row->kernel_s;
        else if (is_step(row, "atoms to map"))
            whole_s = row->kernel_s;
        else if (ley_bench_row_figure(row, "launches") > 0)
            others_s += row->kernel_s;
    }
    if (device->rows[first].specification[0] != '\0')
        printf("%.*s: %s\n", (int)preset_length(device->rows[first].variant), device->rows[first].variant,
               device->rows[first].specification);
    printf("%.*s: from atoms in memory to the map in the host's memory %.3g s; kernels %.3g s: short range %.3g s, all "
           "others %.3g s\n",
           (int)preset_length(device->rows[first].variant), device->rows[first].variant, whole_s, pairs_s + others_s,
           pairs_s, others_s);
}

static void print(const ley_bench_device *device)
{
    for (size_t first = 0, end; first < device->row_count; first = end) {
        const char *name = device->rows[first].variant;
        for (end = first; end < device->row_count; end++)
            if (strncmp(name, device->rows[end].variant, preset_length(name) + 1) != 0)
                break;
        print_preset(device, first, end);
    }
}

/* ---- The curve ------------------------------------------------------------------------------- */

static double speed_up(const ley_bench_size *size)
{
    return size->whole_s > 0 && size->accuracy.passed ? size->core_s / size->whole_s : 0;
}

static void print_sizes(const ley_bench_device *device)
{
    static const char *const headings[] = {"atoms",     "points",    "one core s",  "of that meshes s",
                                           "kernels s", "whole s",   "timed",       "spread %",
                                           "faster",    "% of peak", "relative RMS"};
    text_table table = table_begin("rrrrrrrrrrr");
    double peak = 0;
    bool is_scaled = false;
    for (size_t i = 0; i < device->size_count; i++)
        peak = fmax(peak, speed_up(&device->sizes[i]));
    putchar('\n');
    table_row(&table);
    for (size_t column = 0; column < sizeof headings / sizeof *headings; column++)
        table_set(&table, column, "%s", headings[column]);
    for (size_t i = 0; i < device->size_count; i++) {
        const ley_bench_size *size = &device->sizes[i];
        const char *mark = size->is_core_scaled ? "~" : "";
        is_scaled = is_scaled || size->is_core_scaled;
        table_row(&table);
        table_set(&table, 0, "%s", count_text(size->atoms).s);
        table_set(&table, 1, "%s", grid_text(size->n).s);
        table_set(&table, 2, "%s%.3g", mark, size->core_s);
        table_set(&table, 3, "%s%.3g", mark, size->core_mesh_s);
        table_set(&table, 4, "%.3g", size->kernel_s);
        table_set(&table, 5, "%.3g", size->whole_s);
        table_set(&table, 6, "%s", bench_runs_text(size->run_count).s);
        table_set(&table, 7, "%s", bench_percent_text(size->spread).s);
        if (size->accuracy.passed)
            table_set(&table, 8, "%.3g", speed_up(size));
        else
            table_set(&table, 8, "WRONG");
        table_set(&table, 9, "%.0f", peak > 0 ? 100 * speed_up(size) / peak : 0);
        table_set(&table, 10, "%s", bench_error_text(size->accuracy.relative_rms).s);
    }
    table_print(&table);
    puts("one core: the same by plain loops in C, sphere by sphere, step by step, measured once");
    if (is_scaled)
        puts("~ not measured, but scaled from the largest box that was: seconds per pair, pair of nodes, atom and "
             "point");
}

/* ---- The report ------------------------------------------------------------------------------ */

static void put_json(json_t *object, const ley_bench_device *device)
{
    json_put(object, "memory_bytes_per_s", json_number(device->memory_bytes_per_s));
    json_put(object, "cutoff_A", json_number(device->cutoff_A));
    json_put(object, "pairs", json_number(device->pairs));
    for (size_t i = 0; i < device->row_count; i++) {
        const ley_bench_row *row = &device->rows[i];
        json_t *to = json_array_get(json_object_get(object, "rows"), i);
        json_put(to, "step_s", json_number(row->kernel_s));
        json_put(to, "bytes", json_number(row->bytes));
    }
}

const bench_row msm_bench = {
    .option = {.name = "msm",
               .says = "msm: each step of long-range potentials of a box of water, at 0.5 A, and all of it",
               .options = &options,
               .common = {&bench_distance, &bench_library, &bench_tolerances, &mesh_options}},
    .not_its = {{"dims", "they follow from --atoms"},
                {"variant", "its rows are the steps of a job, and --preset takes one choice of them"}},
    .columns = BENCH_STEPS,
    .sizes = "curve",
    .check = check,
    .set = set,
    .print = print,
    .print_sizes = print_sizes,
    .put_json = put_json,
};
