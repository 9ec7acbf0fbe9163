/* The lattice cutoff of multilevel summation, in `leyden bench`. */
#include "bench_row.h"
#include "registry.h"

#include <math.h>
#include <stdio.h>

/* The box that the papers measure with. */
static const double papers_atoms = 1534539;

static double least_s(const ley_bench_device *device)
{
    const double rate = bench_best_rate(device);
    return rate > 0 ? device->pairs / rate : 0;
}

static void print(const ley_bench_device *device)
{
    const double seconds = least_s(device), share = papers_atoms / (double)device->atoms;
    if (device->host_loop_evaluations_per_s > 0 && seconds > 0)
        printf("best variant to host C loop: %.2f\n", bench_best_rate(device) / device->host_loop_evaluations_per_s);
    if (seconds > 0 && share == 1)
        printf("all levels of the papers' box: %.3g s\n", seconds);
    else if (seconds > 0)
        printf("all levels of this box: %.3g s; the papers' box has %.3g times its atoms\n", seconds, share);
}

static void put_json(json_t *object, const ley_bench_device *device)
{
    json_put(object, "cutoff_A", json_number(device->cutoff_A));
    json_put(object, "local_bytes_per_s", json_number(device->local_bytes_per_s));
    json_put(object, "pairs", json_number(device->pairs));
    json_put(object, "papers_box_times_atoms", json_number(papers_atoms / (double)device->atoms));
    for (size_t i = 0; i < device->row_count; i++) {
        const ley_bench_row *row = &device->rows[i];
        json_t *to = json_array_get(json_object_get(object, "rows"), i);
        json_put(to, "kernel_s", json_number(row->kernel_s));
    }
}

const bench_row lattice_bench = {
    .option = {.name = "lattice",
               .says = "lattice: the cutoff part of multilevel summation between nodes of meshes, all levels in one "
                       "launch, as large as a box of water at 2 A"},
    .not_its = {{"dims", "they follow from --atoms"}, {"math", "its sums take no roots"}},
    .first_variant = "basic",
    .columns = BENCH_SECONDS | BENCH_HITS | BENCH_LOCAL | BENCH_FMA,
    .print = print,
    .put_json = put_json,
};
