/* A device's own limits, as the benchmark needs them: the best of several measurements, held
 * against what the device can do at all. */
#ifndef LEY_BENCH_LIMITS_H
#define LEY_BENCH_LIMITS_H

#include "calibrate.h"

typedef struct bench_limits {
    calibration facts; /* of all rounds the best rates */
    int rounds;
    double spread;         /* (best - worst) / best rate of multiply-adds; not a number where there was one round */
    double peak_fma_per_s; /* 0: unknown */
    double others;         /* processors that others kept busy meanwhile; negative: unknown */
    int processors;        /* of the machine */
    char peak_text[96];    /* empty: unknown */
    char doubt[256];       /* empty: there is none */
} bench_limits;

/* Measures all facts so many times. Errors: those of calibrate_measure(). */
ley_status bench_limits_measure(dev *device, int rounds, bench_limits *limits, ley_error *error);

/* Multiply-adds per second that a device like this one can do at most, and how that is reckoned;
 * 0 where not all of it is known. */
double bench_limits_peak(const dev_info *info, char *text, size_t size);

/* Why these limits cannot be right, into limits->doubt: a rate of multiply-adds far from what the
 * device can do at most, rounds that differ by more than a third, processors that others used. */
void bench_limits_judge(const dev_info *info, bench_limits *limits);

#endif
