/* Fused multiply-adds, in CUDA C: cl/multiply_adds.cl as it stands. */
#include "dialect.cuh"
#include "multiply_adds.cl"
