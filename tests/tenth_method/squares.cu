/* Sums of rows, in CUDA C: squares.cl as it stands. */
#include "dialect.cuh"
#include "squares.cl"
