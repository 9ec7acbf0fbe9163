/* Lattice cutoff, in CUDA C: cl/lattice.cl as it stands. */
#include "dialect.cuh"
#include "lattice.cl"
