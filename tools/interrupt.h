/* Ctrl-C (SIGINT) and SIGTERM. Until told otherwise either ends the command at once, with exit code 130 or 143; from
 * interrupt_defer() on it only asks the work at hand to stop, so that nothing half-done stays behind. A second signal
 * then kills. */
#ifndef LEYDEN_INTERRUPT_H
#define LEYDEN_INTERRUPT_H

#include "leyden.h"

#include <stdbool.h>

void interrupt_install(void);

/* From here on signals set the flag only. */
void interrupt_defer(void);

/* A signal also cancels this job; NULL: no longer. Must be NULL again before the job is destroyed. */
void interrupt_cancels(ley_job *job);

/* True once a signal came: what the library's `cancel` arguments take. */
const volatile bool *interrupt_flag(void);

/* 128 + the signal's number; 130 when none came. */
int interrupt_exit_code(void);

#endif
