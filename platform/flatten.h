/* Puts a kernel file's own includes in their places. Used at build time to embed kernels, and at run time for
 * LEYDEN_KERNEL_DIR. */
#ifndef LEY_FLATTEN_H
#define LEY_FLATTEN_H

/* Text of `file` with every `#include "..."` replaced by that file, each once; files are looked for in the directories (NULL-terminated)
 * in turn. From malloc; NULL when a file cannot be read, with its name in `missing` (of `size` bytes). */
char *flatten_file(const char *const *directories, const char *file, char *missing, unsigned size);

#endif
