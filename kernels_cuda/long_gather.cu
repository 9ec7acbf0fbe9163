/* The charges of a coarse mesh's nodes, in CUDA C: cl/long_gather.cl as it stands. */
#include "dialect.cuh"
#include "long_gather.cl"
