/* Sums of pairs within a cutoff, in `leyden bench`. */
#include "bench_cutoff.h"
#include "bench_text.h"
#include "console.h"

#include <math.h>
#include <stdio.h>

typedef struct distance_values {
    double cutoff;
} distance_values;

static const option_row distance_rows[] = {
    {.name = "cutoff",
     .kind = OPTION_REAL,
     .offset = offsetof(distance_values, cutoff),
     .value = "A",
     .low = 0.1,
     .high = 1e4,
     .unset = "12",
     .help = "cutoff, msm: distance in A beyond which no pair counts"},
};

const option_block bench_distance = OPTION_BLOCK(distance_rows, distance_values, NULL);

double bench_cutoff_A(const parsed_arguments *arguments)
{
    return ((const distance_values *)option_values(arguments, &bench_distance))->cutoff;
}

typedef struct cutoff_bench_values {
    bool linear;
} cutoff_bench_values;

static const option_row rows[] = {
    {.name = "linear",
     .kind = OPTION_FLAG,
     .offset = offsetof(cutoff_bench_values, linear),
     .help = "cutoff: one variant (--variant, or the default) on larger and larger boxes, up to --atoms; prints the "
             "power of the number of atoms with which the time grows"},
};

static const option_block options = OPTION_BLOCK(rows, cutoff_bench_values, NULL);

static void set(const parsed_arguments *arguments, ley_bench_options *to)
{
    const cutoff_bench_values *values = option_values(arguments, &options);
    to->cutoff_A = bench_cutoff_A(arguments);
    to->linear = values->linear;
}

static void print(const ley_bench_device *device)
{
    if (device->host_loop_evaluations_per_s > 0 && bench_best_rate(device) > 0)
        printf("best variant to host C loop: %.2f\n", bench_best_rate(device) / device->host_loop_evaluations_per_s);
    if (device->whole_variant != NULL)
        printf("end to end: %.3g s by %s, %s pairs/s: bins, transfers and the map's rows included (timed %zu times, "
               "spread %s %%)\n",
               device->whole_s, device->whole_variant, billions_text(device->pairs / device->whole_s).s,
               device->whole_runs, bench_percent_text(device->whole_spread).s);
}

static void put_json(json_t *object, const ley_bench_device *device)
{
    json_put(object, "cutoff_A", json_number(device->cutoff_A));
    json_put(object, "local_bytes_per_s", json_number(device->local_bytes_per_s));
    json_put(object, "pairs", json_number(device->pairs));
    json_put(object, "end_to_end_variant", json_text(device->whole_variant));
    json_put(object, "end_to_end_s", json_number(device->whole_variant != NULL ? device->whole_s : NAN));
    json_put(object, "end_to_end_timed", json_count((int64_t)device->whole_runs));
    json_put(object, "end_to_end_spread", json_number(device->whole_runs > 0 ? device->whole_spread : NAN));
    json_put(object, "exponent", json_number(device->size_count > 0 ? device->exponent : NAN));
    json_put(object, "pairs_exponent", json_number(device->size_count > 0 ? device->pairs_exponent : NAN));
    for (size_t i = 0; i < device->row_count; i++) {
        const ley_bench_row *row = &device->rows[i];
        json_t *to = json_array_get(json_object_get(object, "rows"), i);
        json_put(to, "kernel_s", json_number(row->kernel_s));
    }
}

const bench_row cutoff_bench = {
    .option = {.name = "cutoff",
               .says = "cutoff: the short-range part of multilevel summation (taylor2) of a box of water, at 0.5 A",
               .options = &options,
               .common = {&bench_distance}},
    .not_its = {{"dims", "they follow from --atoms"}},
    .first_variant = "bins",
    .columns = BENCH_PAIRS | BENCH_SECONDS | BENCH_HITS | BENCH_LOCAL,
    .sizes = "linear",
    .set = set,
    .print = print,
    .put_json = put_json,
};
