/* Error against time, in `leyden bench`. */
#include "bench_row.h"
#include "console.h"
#include "frontier_picture.h"
#include "registry.h"

#include <math.h>
#include <stdio.h>

/* ---- Options --------------------------------------------------------------------------------- */

typedef struct tolerance_values {
    option_reals tolerances;
} tolerance_values;

static const option_row tolerance_rows[] = {
    {.name = "tol",
     .kind = OPTION_REALS,
     .offset = offsetof(tolerance_values, tolerances),
     .value = "T[,T...]",
     .low = LEY_LEAST_TOLERANCE,
     .high = LEY_MOST_TOLERANCE,
     .unset = "frontier: 1e-2,1e-3,1e-4,1e-5,1e-6",
     .help = "relative root mean square errors of the map. frontier: a row for each; msm: one, for which what is not "
             "said of cutoff, mesh spacing, splitting, window and solver is chosen as `leyden map` does"},
};

const option_block bench_tolerances = OPTION_BLOCK(tolerance_rows, tolerance_values, NULL);

const option_reals *bench_tolerances_of(const parsed_arguments *arguments)
{
    return &((const tolerance_values *)option_values(arguments, &bench_tolerances))->tolerances;
}

typedef struct frontier_values {
    const char *output;
} frontier_values;

static const option_row rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     .offset = offsetof(frontier_values, output),
     .value = "FILE",
     .unset = "none",
     .help = "frontier: draw error against time, into a name that ends in .png or .svg"},
};

static const option_block options = OPTION_BLOCK(rows, frontier_values, NULL);

static const char *picture(const parsed_arguments *arguments)
{
    return ((const frontier_values *)option_values(arguments, &options))->output;
}

static int check(const parsed_arguments *arguments)
{
    const char *path = picture(arguments);
    const option_reals *tolerances = bench_tolerances_of(arguments);
    for (size_t i = 0; i < tolerances->n; i++)
        for (size_t k = 0; k < i; k++)
            if (tolerances->value[k] == tolerances->value[i])
                return fail_usage(arguments->command, "--tol: %g is there twice", tolerances->value[i]);
    return path == NULL || ends_with(path, ".png") || ends_with(path, ".svg")
               ? 0
               : fail_usage(arguments->command, "--output: '%s' must end in .png or .svg", path);
}

static void set(const parsed_arguments *arguments, ley_bench_options *to)
{
    const option_reals *tolerances = bench_tolerances_of(arguments);
    to->fft = bench_fft_library(arguments);
    to->tolerances = tolerances->n > 0 ? tolerances->value : NULL;
    to->tolerance_count = tolerances->n;
}

/* ---- The report ------------------------------------------------------------------------------ */

static void print(const ley_bench_device *device)
{
    for (size_t i = 0; i < device->row_count; i++) {
        const ley_bench_row *row = &device->rows[i];
        if (row->status == LEY_OK && ley_bench_row_figure(row, "measured_share") < 1)
            printf("~ direct summation at %.3g %% of the map's points, scaled to all of them\n",
                   100 * ley_bench_row_figure(row, "measured_share"));
    }
}

static void put_json(json_t *object, const ley_bench_device *device)
{
    json_put(object, "memory_bytes_per_s", json_number(device->memory_bytes_per_s));
    for (size_t i = 0; i < device->row_count; i++) {
        const ley_bench_row *row = &device->rows[i];
        json_t *to = json_array_get(json_object_get(object, "rows"), i);
        json_put(to, "tolerance", json_number(row->tolerance));
        json_put(to, "kernel_s", json_number(row->kernel_s));
        json_put(to, "whole_s", json_number(row->whole_s));
        json_put(to, "bytes", json_number(row->bytes));
    }
}

const bench_row frontier_bench = {
    .option =
        {.name = "frontier",
         .says =
             "frontier: a map of a box of water at 0.5 A, to stricter and stricter tolerances (--tol), and by direct "
             "summation: error against time",
         .options = &options,
         .common = {&bench_library, &bench_tolerances}},
    .not_its = {{"dims", "they follow from --atoms"}, {"variant", "its rows are the tolerances of --tol"}},
    .columns = BENCH_TOLERANCES,
    .check = check,
    .set = set,
    .picture = picture,
    .draw = frontier_picture_write,
    .print = print,
    .put_json = put_json,
};
