/* Anterpolation, in CUDA C: cl/anterpolate.cl as it stands. */
#include "dialect.cuh"
#include "anterpolate.cl"
