/* Kernel sources: embedded in the binary at build time, or from LEYDEN_KERNEL_DIR while
 * developing. */
#ifndef LEY_SOURCE_H
#define LEY_SOURCE_H

#include "leyden_status.h"

/* The flattened source of a kernel ("dcs", "cl" -> dcs.cl with its includes in place), from malloc.
 * Errors: LEY_ERROR_DEVICE naming the missing file. */
ley_status source_load(const char *kernel, const char *suffix, char **text, ley_error *error);

#endif
