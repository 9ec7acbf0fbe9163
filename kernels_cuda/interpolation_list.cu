/* Interpolation at the points of a list, in CUDA C: cl/interpolation_list.cl as it stands. */
#include "dialect.cuh"
#include "interpolation_list.cl"
