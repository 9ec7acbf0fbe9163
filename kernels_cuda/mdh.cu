/* Multiple Debye-Hueckel potentials, in CUDA C: cl/mdh.cl as it stands. */
#include "dialect.cuh"
#include "mdh.cl"
