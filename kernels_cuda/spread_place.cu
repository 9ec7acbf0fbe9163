/* Atoms as anterpolate.cu takes them, in CUDA C: cl/spread_place.cl as it stands. */
#include "dialect.cuh"
#include "spread_place.cl"
