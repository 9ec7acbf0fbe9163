/* Ctrl-C (SIGINT), SIGTERM, SIGHUP and SIGPIPE. Until told otherwise each of them ends the command
 * at once, with exit code 128 and its number; from interrupt_defer() on it only asks the work at
 * hand to stop, and a second one ends the command at once. Whenever that happens, files under way
 * and what was noted by interrupt_removes() are removed first. */
#ifndef LEYDEN_INTERRUPT_H
#define LEYDEN_INTERRUPT_H

#include "leyden.h"

#include <stdbool.h>

void interrupt_install(void);

/* Every signal ends the command at once: launchers of several ranks have little patience. */
void interrupt_defers_nothing(void);

/* From here on the first signal sets the flag only. */
void interrupt_defer(void);

/* A signal also cancels this job of the calling thread; NULL: no longer. Must be NULL again before
 * the job is destroyed, and before the thread has another one. So many threads may have one. */
enum { INTERRUPT_JOBS = 32 };
void interrupt_cancels(ley_job *job);

/* Whether a signal came; and that as what the library's `cancel` arguments take. */
bool interrupt_came(void);
const volatile bool *interrupt_flag(void);

/* 128 + the number of the first signal; 130 when none came. */
int interrupt_exit_code(void);

/* ---- What goes when the command ends at once ------------------------------------------------- */

/* Notes a file before it is made; the last one noted goes first. At most INTERRUPT_REMOVES. */
enum { INTERRUPT_REMOVES = 32 };
void interrupt_removes(const char *path);

/* Makes and notes a folder that only its owner enters; there is no moment at which it is there and
 * would be left. Returns 0 or an errno. */
int interrupt_make_folder(const char *path);

/* All that was noted is gone, or is to stay. */
void interrupt_keeps_all(void);

/* ---- Around another program ------------------------------------------------------------------ */

/* While it runs, signals are only counted, however many come: whoever waits for the program passes
 * them on. So is Ctrl-Z. */
void interrupt_hold(bool hold);
int interrupt_count(void);

/* Whether Ctrl-Z came since the last call. */
bool interrupt_suspends(void);

/* Keeps signals back from this thread until interrupt_release(), so that none gets lost between
 * fork() and exec(). */
void interrupt_block(void);
void interrupt_release(void);

/* In the forked process, before exec(): signals do again what they did before interrupt_install();
 * the end of its own children is reported to it; a terminal does not stop it. Ends what
 * interrupt_block() began. */
void interrupt_restore(void);

#endif
