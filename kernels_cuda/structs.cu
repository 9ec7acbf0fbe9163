/* Layouts of types, in CUDA C: cl/structs.cl as it stands. */
#include "dialect.cuh"
#include "structs.cl"
