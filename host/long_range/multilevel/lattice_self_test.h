/* Known-answer self-test of a freshly built lattice cutoff. */
#ifndef LEY_LONG_RANGE_MULTILEVEL_LATTICE_SELF_TEST_H
#define LEY_LONG_RANGE_MULTILEVEL_LATTICE_SELF_TEST_H

#include "long_range/multilevel/lattice_kernel.h"

/* Runs the kernel (program and choice set) on small hierarchies that take every path: several
 * regions along each axis and a part of one, two and more levels, launches that do not begin at the
 * first group, open and periodic axes, periods shorter than the neighbourhood; of few charges, so
 * that each weight shows alone, of many, and of such as a sum without compensation loses. Judges
 * node by node. LEY_ERROR_WRONG_RESULT when one is off. */
ley_status lattice_self_test(const lattice_kernel *kernel, ley_error *error);

#endif
