/* What atoms bring to the nodes of a coarse mesh, in CUDA C: cl/long_spread.cl as it stands. */
#include "dialect.cuh"
#include "long_spread.cl"
