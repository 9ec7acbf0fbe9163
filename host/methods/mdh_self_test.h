/* Known-answer self-test of freshly built Multiple Debye-Hueckel kernels. */
#ifndef LEY_MDH_SELF_TEST_H
#define LEY_MDH_SELF_TEST_H

#include "mdh_kernel.h"

/* Runs the kernels (programs and choice set, nothing loaded) on a small problem that takes every path: all faces, padding, several staged
 * tiles, parts and launches, rows that do not begin with a face. Compares every point with the reference. LEY_ERROR_WRONG_RESULT when it is
 * off. */
ley_status mdh_self_test(mdh_kernel *kernel, ley_error *error);

#endif
