/* Functions and their errors, in CUDA C: cl/functions.cl as it stands. */
#include "dialect.cuh"
#include "functions.cl"
