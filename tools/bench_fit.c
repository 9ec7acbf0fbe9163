/* How well frames fit a map, in `leyden bench`. */
#include "bench_row.h"
#include "registry.h"

#include <stdio.h>

static void print(const ley_bench_device *device)
{
    (void)device;
    puts("frames from the host's memory to their correlation with a map, of a third of the resolution from node to "
         "node; "
         "errors are of sums over parts of frames, in double precision");
    puts(
        "papers: a virus capsid at 6.5 A, one frame: 0.488 s on a K40, 0.458 s on a K6000, 0.905 s on a Xeon; here the "
        "capsid is a shell of as many atoms, as dense as protein");
}

const bench_row fit_bench = {
    .option = {.name = "fit",
               .says =
                   "fit: correlations of frames with a map: 3,341 atoms at 5 A, also with gradients, a million atoms "
                   "at 5 and 10 A, and a virus capsid at 6.5 A"},
    .not_its = {{"atoms", "its sizes are fixed"},
                {"dims", "its grids follow from the resolution"},
                {"math", "densities have no choice of it"},
                {"sum", "densities have no choice of it"}},
    .columns = BENCH_FRAMES,
    .print = print,
};
