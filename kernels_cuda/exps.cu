/* 2^x by the recipe LEY_EXP, in CUDA C: cl/exps.cl as it stands. */
#include "dialect.cuh"
#include "exps.cl"
