/* Known-answer self-test of a freshly built short-range kernel. */
#ifndef LEY_CUTOFF_SELF_TEST_H
#define LEY_CUTOFF_SELF_TEST_H

#include "cutoff_kernel.h"

/* Runs the kernel (program and choice set, nothing loaded; `problem` that of the job, whose expression it may hold) on a small problem that
 * takes every path: lattices that are no multiple of regions, atoms on points and within r_min, bins that overflow, more than one
 * staged tile, runs that do not begin at plane 0, outputs full of not-a-numbers. Compares with the reference. LEY_ERROR_WRONG_RESULT
 * when it is off. Kernels that only count are not tested. */
ley_status cutoff_self_test(cutoff_kernel *kernel, ley_error *error);

#endif
