/* A driver tried in a process of its own: whether it lives through being loaded, and its devices
 * through being listed and opened. */
#ifndef LEY_OPENCL_TRIAL_H
#define LEY_OPENCL_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { TRIAL_TEXT = 160, TRIAL_PATH = 1024 };

typedef enum trial_end {
    TRIAL_LIVES,  /* whatever it answered */
    TRIAL_KILLED, /* by a signal */
    TRIAL_EXITED, /* the process ended where it should not */
    TRIAL_HUNG,   /* it did not return in time */
    TRIAL_UNKNOWN /* nothing could be tried */
} trial_end;

typedef struct trial_result {
    trial_end end;
    int number;             /* the signal, or the exit code */
    char call[64];          /* the driver's, in which it ended */
    char words[TRIAL_TEXT]; /* the last line that it printed; empty: none */
    char file[TRIAL_PATH];  /* the library's; empty: none was found */
} trial_result;

/* Tries all of these libraries at once, each for so long at most, in a second process of its own
 * when the first one is late. */
void trial_run(const char *const *libraries, size_t count, double limit_s, trial_result *results);

#endif
