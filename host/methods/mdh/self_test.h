/* Known-answer self-test of freshly built Multiple Debye-Hueckel kernels. */
#ifndef LEY_MDH_SELF_TEST_H
#define LEY_MDH_SELF_TEST_H

#include "methods/mdh/kernel.h"

/* Runs the kernels (programs and choice set, nothing loaded) on small problems that take every
 * path: all faces, whole work-items and parts of them, several groups of them, several staged
 * tiles, parts and launches, rows that do not begin with a face, atoms near a face. Judges point by
 * point. LEY_ERROR_WRONG_RESULT when one is off. */
ley_status mdh_self_test(const mdh_kernel *kernel, ley_error *error);

/* The same of sum_parts alone. */
ley_status mdh_sums_self_test(const mdh_kernel *kernel, ley_error *error);

#endif
