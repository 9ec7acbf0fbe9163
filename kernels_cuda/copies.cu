/* Copies values, in CUDA C: cl/copies.cl as it stands. */
#include "dialect.cuh"
#include "copies.cl"
