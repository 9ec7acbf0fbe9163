/* Known-answer tests of the transfers' kernels. Each runs on meshes of several tiles and a
 * partial one, open and periodic, stored in sub-cubes; each node or point has its own limit.
 * `context` of kernel_create() is the transfer_kernels that are being made. */
#ifndef LEY_LONG_RANGE_MESH_TRANSFER_SELF_TEST_H
#define LEY_LONG_RANGE_MESH_TRANSFER_SELF_TEST_H

#include "long_range/mesh/transfer.h"

ley_status transfer_test_anterpolation(const dev_kernel *built, void *context, ley_error *error);
ley_status transfer_test_restriction(const dev_kernel *built, void *context, ley_error *error);
ley_status transfer_test_prolongation(const dev_kernel *built, void *context, ley_error *error);
ley_status transfer_test_interpolation(const dev_kernel *built, void *context, ley_error *error);

#endif
