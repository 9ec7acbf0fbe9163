/* Interpolation anywhere, in CUDA C: cl/interpolation_gather.cl as it stands. */
#include "dialect.cuh"
#include "interpolation_gather.cl"
