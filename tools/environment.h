/* What the command reads of its environment; the library's own variables are read in
 * platform/environment.c. NULL: not there, or empty. */
#ifndef LEY_TOOLS_ENVIRONMENT_H
#define LEY_TOOLS_ENVIRONMENT_H

const char *shell_path(void);             /* PATH: folders of programs, separated by colons */
const char *shell_temporary_folder(void); /* TMPDIR */
const char *shell_openmp_threads(void);   /* OMP_NUM_THREADS, which APBS obeys */

#endif
