/* How many atoms are in each bin of a mesh, in CUDA C: cl/spread_count.cl as it stands. */
#include "dialect.cuh"
#include "spread_count.cl"
