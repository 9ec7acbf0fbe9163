/* Numbers of work-items, in CUDA C: cl/work_items.cl as it stands. */
#include "dialect.cuh"
#include "work_items.cl"
