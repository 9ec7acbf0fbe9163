/* Orbitals of C60, in `leyden bench`. */
#include "bench_papers.h"
#include "bench_row.h"
#include "registry.h"

#include <stdio.h>

/* Seconds of the papers' problem, as the measured one was. */
static double papers_s(const ley_bench_device *device, const ley_bench_row *row)
{
    return row->median_s * 172 * 173 * 169 / (double)device->points;
}

static void print(const ley_bench_device *device)
{
    double least_s = 0, rate = 0;
    for (size_t i = 0; i < device->row_count; i++) {
        const ley_bench_row *row = &device->rows[i];
        const double frames = ley_bench_row_figure(row, "frames_per_s");
        if (row->status != LEY_OK || bench_is_wrong(row) || !(row->median_s > 0))
            continue;
        if (frames > 0)
            printf("with new coefficients each time, 80^3 points, a molecule of threonine's size: %.0f frames/s\n",
                   frames);
        else if (row->is_default) {
            least_s = papers_s(device, row);
            rate = row->evaluations_per_s;
        }
    }
    if (device->host_loop_evaluations_per_s > 0 && rate > 0)
        printf("what a job takes to the papers' loop in C on %d thread%s: %.3g\n", device->host_threads,
               device->host_threads == 1 ? "" : "s", rate / device->host_loop_evaluations_per_s);
    if (least_s > 0)
        printf("the papers' C60, 172 x 173 x 169 points, one orbital: %.3g s\n", least_s);
    puts("papers, seconds: one core 46.58, four 11.74; GTX 280 tiled 0.46, constant 0.37, compiled 0.27; four Tesla "
         "C1060 0.113; K40 0.190");
}

const bench_row orbital_bench = {
    .option = {.name = "orbital",
               .says = "orbital: an orbital of the papers' C60 by every variant, its density and gradient, new "
                       "coefficients frame after frame, and the papers' loop in C"},
    .not_its = {{"atoms", "it is of C60"}},
    .first_variant = "constant",
    .columns = BENCH_PAIRS,
    .print = print,
};
