/* host/methods/registry.c with a row more in each table. */
#include "methods/registry.h"

DECLARE_METHOD(squares)
DECLARE_LAW(squares)
DECLARE_KERNEL(squares)

const method *const method_registry[] = {METHODS(LIST_METHOD) LIST_METHOD(squares) NULL};

const law *const law_registry[] = {LAWS(LIST_LAW) LIST_LAW(squares) NULL};

const kernel_kind *const kernel_registry[] = {KERNELS(LIST_KERNEL) LIST_KERNEL(squares) NULL};
