/* Kernels of a device, timed against each other: the largest error of each and its rate, as far as
 * it matters. Kernels that do the same thing are in a race: rounds, in which each runs once, go on
 * until the order of those in front is clear, and those that are behind for good drop out. All of
 * it ends in a bounded time, whatever else the machine has to do. */
#ifndef LEY_MEASURE_H
#define LEY_MEASURE_H

#include "arguments.h"
#include "dev_kernel.h"

/* The arguments of kernels that are measured: gm_in, times, gm_out. */
KERNEL_ARGUMENTS_STRUCT(rate, LEY_RATE_ARGUMENTS);

typedef struct measure_subject {
    const kernel_kind *kind; /* takes the arguments above, and has no test */
    int spec[KERNEL_MOST_KEYS];
    int chains; /* values of each work-item */
    int race;   /* those of the same number do the same thing */

    /* What it is given, for t in [0, 1), and what it should make of that. Without the latter it has
     * no error. */
    double (*input)(double t);
    double (*result)(double value);

    bool is_needed;  /* when it fails, all fails */
    bool is_awaited; /* measured at any rate; others only while there is time */
    bool is_rival;   /* what it beats, by error and by rate, drops out */

    /* What was found, when `is_known`: error infinite and rate 0 where it does not run. A rate is
     * rough where it has dropped out. */
    bool is_known;
    double error, per_s;
} measure_subject;

typedef struct measurement measurement;

/* Begins to measure subjects, the more important ones first; they are the caller's, and stay until
 * the end. NULL: out of memory. */
measurement *measure_begin(dev *device, measure_subject *subjects, size_t count);

/* Builds all kernels now, where the driver does so in less time than one by one. */
void measure_build(measurement *m);

/* Measures. Errors up to `tolerance` count as the same. `is_precise`: all rounds, and no limit in
 * time. */
ley_status measure_run(measurement *m, double tolerance, bool is_precise, ley_error *error);

void measure_end(measurement *m);

#endif
