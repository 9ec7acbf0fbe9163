/* Several devices against one, in `leyden bench`. */
#include "bench_row.h"
#include "registry.h"

#include <stdio.h>

static void print(const ley_bench_device *device)
{
    (void)device;
    puts("whole jobs by the first device alone, from what is in the host's memory to results there; a map of 'map' is "
         "to "
         "1e-4. 'alone' below are these, 'together' the first 2, 4, 8 ... devices");
}

const bench_row gain_bench = {
    .option = {.name = "gain",
               .says = "gain: what 2, 4, 8 ... of the devices gain over one: direct summation, maps by the papers' "
                       "meshes and to 1e-4, averages, orbitals, and many molecules"},
    .not_its = {{"dims", "its problems are the same everywhere"}, {"atoms", "its problems are the same everywhere"}},
    .columns = BENCH_PHASES,
    .print = print,
};
