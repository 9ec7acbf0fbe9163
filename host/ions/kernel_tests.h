/* Known-answer tests of the kernels for ions: whole numbers, against plain loops on the host. */
#ifndef LEY_IONS_KERNEL_TESTS_H
#define LEY_IONS_KERNEL_TESTS_H

#include "dev_kernel.h"

ley_status ions_test_mask(const dev_kernel *kernel, void *context, ley_error *error);
ley_status ions_test_bricks(const dev_kernel *kernel, void *context, ley_error *error);
ley_status ions_test_nodes(const dev_kernel *kernel, void *context, ley_error *error);

#endif
