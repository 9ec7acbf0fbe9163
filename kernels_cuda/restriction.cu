/* Restriction, in CUDA C: cl/restriction.cl as it stands. */
#include "dialect.cuh"
#include "restriction.cl"
