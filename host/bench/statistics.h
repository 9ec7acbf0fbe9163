/* How often something is timed, and what its times come to. */
#ifndef LEY_BENCH_STATISTICS_H
#define LEY_BENCH_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* Of n times: their median, of an even number the mean of the two in the middle, and (slowest -
 * fastest) / median, which is not a number where there is only one. Without any, the median is not
 * a number, either. */
typedef struct bench_statistics {
    size_t n;
    double median_s, spread;
} bench_statistics;

bench_statistics bench_statistics_of(const double *seconds, size_t n);

/* When repeating ends: after as many as are wanted; and before, once `most_s` are spent, though not
 * before there are three, or four times as much is. One is timed in any case. */
typedef struct bench_repeats {
    int wanted, done;
    double most_s, spent_s; /* with what is not counted, to warm up */
} bench_repeats;

enum { BENCH_MOST_REPEATS = 1000 };

/* 0: the usual number of repeats and seconds. */
bench_repeats bench_repeats_begin(int wanted, double most_s);
bool bench_repeats_go_on(const bench_repeats *repeats);

#endif
