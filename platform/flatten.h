/* Puts a kernel file's own includes in their places. Used at build time to embed kernels, and at
 * run time for LEYDEN_KERNEL_DIR. */
#ifndef LEY_FLATTEN_H
#define LEY_FLATTEN_H

/* Text of `file` with every `#include "..."` replaced by that file, each once, by whatever names
 * and in whatever circles they include each other; files are looked for in the directories
 * (NULL-terminated) in turn. A name with a `*` stands for all files that it matches in the first
 * directory that has one, in the order of their names. A file X.cu that is nowhere is dialect.cuh
 * and then X.cl: a kernel as it stands, in CUDA C. From malloc; NULL when a file cannot be had,
 * with its name and the reason in `fault` (of `size` bytes): "x.h: No such file or directory". */
char *flatten_file(const char *const *directories, const char *file, char *fault, unsigned size);

#endif
