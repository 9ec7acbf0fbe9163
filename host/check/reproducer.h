/* The files of a program that does what a case did, and needs nothing of leyden: for the report of
 * a driver's fault. */
#ifndef LEY_CHECK_REPRODUCER_H
#define LEY_CHECK_REPRODUCER_H

#include "recorder.h"

typedef struct reproducer_fault {
    const char *group, *name, *variant, *message;
    const dev_info *info;
    double found, right, allowed; /* the value that was read, what is right, and by how much it may be off */
} reproducer_fault;

/* Writes repro.c, repro_data.h and a kernel_N.cl for each program into FOLDER/GROUP-NAME-VARIANT,
 * whose path is from malloc. NULL: the case was not written down as a whole, the value is nowhere
 * in what was read, or the files cannot be written. */
char *reproducer_write(const char *folder, const recorder *r, const reproducer_fault *fault);

#endif
