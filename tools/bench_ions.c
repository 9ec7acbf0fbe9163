/* The placing of ions, in `leyden bench`. */
#include "bench_row.h"
#include "console.h"
#include "registry.h"

#include <stdio.h>

static void print(const ley_bench_device *device)
{
    for (size_t i = 0; i < device->row_count; i++) {
        const double passes_s = ley_bench_row_figure(&device->rows[i], "whole_passes_s");
        if (device->rows[i].status == LEY_OK && passes_s > 0)
            printf("a pass over the whole grid for each of the %.0f ions takes %.3g s at the rate of the device's "
                   "memory\n",
                   ley_bench_row_figure(&device->rows[i], "ions"), passes_s);
    }
    puts("papers, ions around a virus of a million atoms: 110 CPU hours; on three cards 27 minutes for the potential "
         "alone (Stone et al., J. Comput. Chem. 28, 2618, 2007)");
}

const bench_row ions_bench = {
    .option = {.name = "ions",
               .says =
                   "ions: ions around a box of water: the potential on a grid, what is left out of it, the placing, "
                   "and all of it"},
    .not_its = {{"dims", "they follow from --atoms"},
                {"math", "it measures what is taken without a choice"},
                {"sum", "it measures what is taken without a choice"}},
    .columns = BENCH_PHASES,
    .print = print,
};
