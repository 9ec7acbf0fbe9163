/* Slots of bins from lists of atoms, in CUDA C: cl/fill_bins.cl as it stands. */
#include "dialect.cuh"
#include "fill_bins.cl"
