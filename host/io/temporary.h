/* The hidden files that outputs are written to before they take their names. A name never repeats;
 * its file is locked while its writer lives, so that whoever writes the same target next can tell,
 * and removes, what a killed process left. */
#ifndef LEY_IO_TEMPORARY_H
#define LEY_IO_TEMPORARY_H

#include <stdbool.h>

typedef struct ley_temporary {
    char *path; /* NULL: there is none */
    int slot;   /* of the list of files under way */
    bool stays; /* it is no hidden file, and stays where it is until it is renamed */
} ley_temporary;

/* Opens a new file beside `target`, a path with a folder, for writing, with the permissions that
 * the umask leaves. What dead writers of the same target left goes first. Returns 0 or an errno. */
int ley_temporary_create(ley_temporary *temporary, const char *target, int *fd);

/* Opens `path`, which may be there already, in place of such a file: it stays when its writer ends
 * early. Returns 0 or an errno, EWOULDBLOCK where another process writes it. */
int ley_temporary_keep(ley_temporary *temporary, const char *path, int *fd);

/* Takes a file that is not to stay, and may not be there yet, for such a one: ley_files_abandon()
 * and ley_temporary_remove() remove it. Returns 0 or an errno. */
int ley_temporary_note(ley_temporary *temporary, const char *path);

/* Renames it to its target; returns 0 or an errno, with which it is still there. */
int ley_temporary_rename(ley_temporary *temporary, const char *target);

/* Removes it, if there is one. */
void ley_temporary_remove(ley_temporary *temporary);

#endif
