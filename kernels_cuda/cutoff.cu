/* Short-range potentials, in CUDA C: cl/cutoff.cl as it stands. */
#include "dialect.cuh"
#include "cutoff.cl"
