/* Averages over frames, in `leyden bench`. */
#include "bench_row.h"
#include "registry.h"

#include <stdio.h>
#include <string.h>

static double rate_of(const ley_bench_device *device, const char *variant)
{
    for (size_t i = 0; i < device->row_count; i++)
        if (device->rows[i].status == LEY_OK && !bench_is_wrong(&device->rows[i]) &&
            strcmp(device->rows[i].variant, variant) == 0)
            return ley_bench_row_figure(&device->rows[i], "frames_per_s");
    return 0;
}

static void print(const ley_bench_device *device)
{
    const double own = rate_of(device, "mean"), loop = rate_of(device, "pmepot");
    puts("frames from the host's memory to sums on the device; errors are those of two frames, against sums over all "
         "images in double precision, and of pmepot against the average with its convention");
    if (own > 0 && loop > 0)
        printf("mean to PMEPot's algorithm on one thread: %.3g\n", own / loop);
}

const bench_row average_bench = {
    .option = {.name = "average",
               .says = "average: frames of a box of water in memory, 1 A from point to point: means, deviations, cells "
                       "that change, point charges, and PMEPot's algorithm in C on one thread"},
    .not_its = {{"math", "an average has no choice of it"}, {"sum", "its sums are integers"}},
    .columns = BENCH_FRAMES,
    .print = print,
};
