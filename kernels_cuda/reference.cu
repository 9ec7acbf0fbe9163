/* The judge on a device, in CUDA C: cl/reference.cl as it stands. */
#include "dialect.cuh"
#include "reference.cl"
