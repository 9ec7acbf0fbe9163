/* Series of frames at a few points, in `leyden bench`. */
#include "bench_row.h"
#include "registry.h"

#include <stdio.h>

static void print(const ley_bench_device *device)
{
    (void)device;
    puts("rows are numbers of points; potential and field to 1e-5, on the host's threads: no device takes part. Errors "
         "are the larger ones of potential and field, of the first frame, against sums that are made otherwise");
}

const bench_row series_bench = {
    .option = {.name = "series",
               .says = "series: potential and field at 2, 50 and 1,000 points, frame after frame of a box of water in "
                       "memory"},
    .not_its = {{"dims", "its points are in no grid"},
                {"math", "it is summed in double precision"},
                {"sum", "it is summed in double precision"}},
    .columns = BENCH_FRAMES,
    .print = print,
};
