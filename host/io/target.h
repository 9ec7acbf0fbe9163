/* What a path that is to be written means: which file is replaced, behind symbolic links, or what
 * is written straight. */
#ifndef LEY_IO_TARGET_H
#define LEY_IO_TARGET_H

#include <stdbool.h>

/* Whether this is the name of an open descriptor, as /dev/stdout and /dev/fd/3 are: to replace the
 * file behind it would not be what the caller means, and it has no ending. */
bool ley_target_is_descriptor(const char *path);

/* The number of the open descriptor of this process that `path` names, as /dev/stdout and /dev/fd/3
 * do; -1 of other names. */
int ley_target_descriptor(const char *path);

/* The file to make or to replace, an absolute path without symbolic links, from malloc; NULL in
 * *file when what `path` names is no regular file (a pipe, a device, an open descriptor) and gets
 * its bytes straight. A symbolic link that leads nowhere names the file that it would lead to.
 * Returns 0 or an errno: EISDIR, EACCES for a file marked as read-only, ... */
int ley_target_find(const char *path, char **file);

#endif
