/* Atoms into lists, in CUDA C: cl/link_atoms.cl as it stands. */
#include "dialect.cuh"
#include "link_atoms.cl"
