/* A transform times the influence function, in CUDA C: cl/influence.cl as it stands. */
#include "dialect.cuh"
#include "influence.cl"
