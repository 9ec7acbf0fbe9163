/* Interpolation along axes, in CUDA C: cl/interpolation.cl as it stands. */
#include "dialect.cuh"
#include "interpolation.cl"
