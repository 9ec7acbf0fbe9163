/* Kernels as compilers get them, in files: LEYDEN_DUMP names the folder. */
#ifndef LEY_DUMP_H
#define LEY_DUMP_H

#include "device.h"

/* Whether anybody wants the files. */
bool dump_is_wanted(void);

/* Writes the flattened source, the options and the build log of a kernel that was built, taken from
 * the cache, or not built: then `failure` says why, and has the log. `log` may be NULL. What cannot
 * be written is a warning in the log. The folder is made, and those that it is in. */
void dump_build(const dev_info *info, const dev_source *source, bool from_cache, const char *log,
                const ley_error *failure);

/* Why something could not be written, "PATH: why": the first reason in this process; NULL: none. */
const char *dump_complaint(void);

#endif
