/* Known-answer self-test of a freshly built DCS kernel. */
#ifndef LEY_DCS_SELF_TEST_H
#define LEY_DCS_SELF_TEST_H

#include "methods/dcs/kernel.h"

/* Runs the kernel (program and choice set, nothing loaded) on small problems that take every path:
 * atoms on grid points and within r_min, several tiles along x and y and a part of one, late
 * planes, several staged tiles, more atoms in a launch than a kernel sums before it flushes, more
 * than one launch, outputs full of not-a-numbers. Judges point by point. LEY_ERROR_WRONG_RESULT
 * when one is off. */
ley_status dcs_self_test(const dcs_kernel *kernel, ley_error *error);

#endif
