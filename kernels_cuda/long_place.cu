/* Atoms as long_spread.cu takes them, in CUDA C: cl/long_place.cl as it stands. */
#include "dialect.cuh"
#include "long_place.cl"
