/* The sums of all parts of what mdh computed, in CUDA C: cl/sum_parts.cl as it stands. */
#include "dialect.cuh"
#include "sum_parts.cl"
