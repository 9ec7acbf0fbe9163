/* The top of host/: all there is of what comes in kinds, in rows. */
#ifndef LEY_REGISTRY_H
#define LEY_REGISTRY_H

#include "kernel_kind.h"

/* Every kernel; NULL behind the last. */
extern const kernel_kind *const kernel_registry[];

#endif
