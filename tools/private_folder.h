/* A temporary folder for us alone. It is locked while its owner lives, so that the next one can
 * tell, and removes, what a killed process left. */
#ifndef LEYDEN_PRIVATE_FOLDER_H
#define LEYDEN_PRIVATE_FOLDER_H

#include "leyden.h"

typedef struct private_folder {
    char *path; /* NULL: there is none */
    int lock;
} private_folder;

/* Makes one in this folder, NULL: TMPDIR or /tmp, and removes those of dead owners there. Goes with
 * the command when a signal ends it at once; its files must be noted for that
 * (interrupt_removes()), unless the library notes them. */
ley_status private_folder_create(private_folder *folder, const char *parent, ley_error *error);

/* Removes it with all that the command writes there. */
void private_folder_remove(private_folder *folder);

#endif
