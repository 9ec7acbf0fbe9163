/* The atoms of each bin of a mesh, in CUDA C: cl/spread_list.cl as it stands. */
#include "dialect.cuh"
#include "spread_list.cl"
