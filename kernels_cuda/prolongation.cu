/* Prolongation, in CUDA C: cl/prolongation.cl as it stands. */
#include "dialect.cuh"
#include "prolongation.cl"
