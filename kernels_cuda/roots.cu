/* Reciprocal square roots by the recipe LEY_ROOT, in CUDA C: cl/roots.cl as it stands. */
#include "dialect.cuh"
#include "roots.cl"
