/* Known-answer self-test of a freshly built DCS kernel. */
#ifndef LEY_DCS_SELF_TEST_H
#define LEY_DCS_SELF_TEST_H

#include "dcs_kernel.h"

/* Runs the kernel (program and choice set, nothing loaded) on a small problem that takes every path: atoms on lattice
 * points and within r_min, several staged tiles, more than one launch, padding, a slab that does not begin at plane 0, an
 * output full of not-a-numbers. Compares every point with the reference. LEY_ERROR_WRONG_RESULT when it is off. */
ley_status dcs_self_test(dcs_kernel *kernel, ley_error *error);

#endif
