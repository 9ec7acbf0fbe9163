/* Puts a kernel file's own includes in their places. Used at build time to embed kernels, and at run time for
 * LEYDEN_KERNEL_DIR. */
#ifndef LEY_FLATTEN_H
#define LEY_FLATTEN_H

/* Text of `directory`/`file` with every `#include "..."` replaced by that file of the same directory, each once. From
 * malloc; NULL when a file cannot be read, with its name in `missing` (of `size` bytes). */
char *flatten_file(const char *directory, const char *file, char *missing, unsigned size);

#endif
