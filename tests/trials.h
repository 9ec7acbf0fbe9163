/* Programs that start themselves again with faults of OpenCL before them (faulty_opencl/): many
 * trials, some of them at a time, since most of them wait for what hangs. */
#ifndef LEY_TEST_TRIALS_H
#define LEY_TEST_TRIALS_H

#include "watch.h"

#include <stdbool.h>
#include <sys/types.h>

/* Exit codes of a child; others are those of the command. */
enum { TRIAL_RIGHT = 0, TRIAL_BROKEN = 1 };

typedef struct trial_outcome {
    int code; /* of the child; -1: ended by a signal; -2: had to be ended */
    bool struck;
    char says[2048];
} trial_outcome;

/* A case, and the child that is at it: this program with the arguments "child", the selector and
 * the factor. Its devices are two of PoCL. */
typedef struct trial {
    const char *call, *fault, *selector;
    char faults[256];
    bool begins_cold; /* with no kernels that have passed their tests */
    bool (*is_right)(const struct trial *t, const trial_outcome *o);
    double patience_factor;
    /* While it runs: */
    int tries, number; /* of the child's folder */
    pid_t pid;         /* 0: it is not running */
    double start_s;
} trial;

/* A new case of a call's fault, of device 0; `more`: further words of faulty_opencl. The rest is
 * the caller's to fill in. */
trial *trials_add(const char *call, const char *fault, int at, const char *more);

/* How many there are. */
int trials_count(void);

/* Runs all cases since the last time; returns how many of their faults did not come to pass. Fails
 * the test where one ends otherwise than is right. */
int trials_run(void);

/* A right map, or an error with its reason where no other device is there. */
bool trial_is_right_job(const trial *t, const trial_outcome *o);

/* Of a child: short, so that what hangs is given up soon; `factor` times as long where the machine
 * is slow. */
watch_patience trial_patience(double factor);

#endif
