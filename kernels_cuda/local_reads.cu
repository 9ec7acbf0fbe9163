/* Reads from local memory, in CUDA C: cl/local_reads.cl as it stands. */
#include "dialect.cuh"
#include "local_reads.cl"
