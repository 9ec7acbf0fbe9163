/* Known answers of generalised Born's kernels: one pass of a few particles against its formulas in
 * double precision. */
#ifndef LEY_ENERGY_BORN_SELF_TEST_H
#define LEY_ENERGY_BORN_SELF_TEST_H

#include "energy/born_spec.h"

/* Of a kernel that was just built; `context` is not looked at. Errors: LEY_ERROR_WRONG_RESULT, and
 * those of devices. */
ley_status born_test_pairs(const dev_kernel *built, void *context, ley_error *error);
ley_status born_test_particles(const dev_kernel *built, void *context, ley_error *error);

#endif
