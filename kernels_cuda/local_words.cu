/* Local memory, in CUDA C: cl/local_words.cl as it stands. */
#include "dialect.cuh"
#include "local_words.cl"
