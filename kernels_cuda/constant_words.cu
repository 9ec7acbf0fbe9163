/* Constant memory, in CUDA C: cl/constant_words.cl as it stands. */
#include "dialect.cuh"
#include "constant_words.cl"
