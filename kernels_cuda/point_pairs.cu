/* Short-range potentials at points, in CUDA C: cl/point_pairs.cl as it stands. */
#include "dialect.cuh"
#include "point_pairs.cl"
