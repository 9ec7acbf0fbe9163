#include "methods/registry.h"

const method *const method_registry[] = {METHODS(LIST_METHOD) NULL};

const law *const law_registry[] = {LAWS(LIST_LAW) NULL};

const kernel_kind *const kernel_registry[] = {KERNELS(LIST_KERNEL) NULL};
