/* Input files of APBS, and what APBS itself says of them, for what tests of them share. */
#ifndef LEY_APBS_RUN_H
#define LEY_APBS_RUN_H

#include "apbs/input.h"

#include <stdbool.h>
#include <stddef.h>

/* What every multigrid section needs besides its grid. */
#define PHYSICS "mol 1 lpbe bcfl mdh pdie 2 sdie 78.5 chgm spl0 srfm spl2 swin 0.3 temp 300\n"
#define READ "read mol pqr one.pqr end\n"
#define GRID "dime 33 33 33 glen 20 20 20 gcent mol 1\n"

extern const char apbs_run_one_pqr[]; /* a molecule */

/* The group's set-up: makes the scratch directory the current one, with one.pqr in it. */
int apbs_run_begin(void **state);

void apbs_run_write_file(const char *name, const char *text, size_t size);
void apbs_run_write_text(const char *name, const char *text);

/* From malloc. */
char *apbs_run_read_file(const char *name);

/* This file, or a file of this text, which must be right. */
ley_apbs_input *apbs_run_read_fine(const char *name);
ley_apbs_input *apbs_run_read_text(const char *text);

/* Whether APBS is installed. */
bool apbs_run_is_there(void);

/* Everything that `apbs name` prints; from malloc. */
char *apbs_run(const char *name);

#endif
