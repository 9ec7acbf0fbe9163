/* Another program: finding it, running it. And what the command itself takes from its
 * environment. */
#ifndef LEYDEN_PROGRAM_H
#define LEYDEN_PROGRAM_H

#include "console.h"

#include <stdbool.h>

/* The path of a program in PATH, or NULL; the caller frees it. */
char *program_find(const char *name);

/* OpenMP threads that a program will use: OMP_NUM_THREADS, else the processors that may be used. */
int program_threads(void);

typedef struct program_result {
    int code;   /* its exit code; 128 + the signal that killed it */
    int signal; /* that signal, or 0 */
    double elapsed_s;
} program_result;

/* Runs it here, with our standard streams, in a process group of its own, to its end. Signals that
 * came to us are passed on to the group; three seconds later, or at the third signal, what is left
 * of it is killed. LEY_ERROR_FILE when it cannot be started. */
ley_status program_run(const char *path, char *const *arguments, program_result *result, ley_error *error);

/* A word as a shell takes it: in quotation marks if it needs them. To be freed. */
char *quoted_word(const char *word);
void print_word(const char *word);

#endif
