/* Known-answer self-test of a freshly built short-range kernel. */
#ifndef LEY_CUTOFF_SELF_TEST_H
#define LEY_CUTOFF_SELF_TEST_H

#include "methods/cutoff/kernel.h"

/* Runs the kernel (program and choice set, nothing loaded; `problem` that of the job, whose
 * expression it may hold) on small problems that take every path: several regions along each axis
 * and a part of one, an atom in each of the bins around a region, atoms on points and within r_min,
 * bins that overflow, several staged tiles, runs that do not begin at plane 0, outputs full of
 * not-a-numbers. Judges point by point. LEY_ERROR_WRONG_RESULT when one is off. Kernels that only
 * count are not tested. */
ley_status cutoff_self_test(const cutoff_kernel *kernel, ley_error *error);

/* What a kernel for this function is tested with, for short-range kernels of any kind. The range:
 * of a user's own function the job's, of which `problem` is. The least distance that counts. What
 * an error may be where roots have this one, and what of the absolute terms at the median point is
 * added to those of others. */
ley_short_range cutoff_test_range(int pair, int depth, const cutoff_problem *problem);
double cutoff_test_r_min_A(const ley_short_range *range);
double cutoff_test_tolerance(int pair, double root_error);
double cutoff_test_least_share(int pair);

#endif
