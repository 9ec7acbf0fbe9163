#include "bench/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double usual_most_s = 3, patience = 4;
enum { LEAST_REPEATS = 3 };

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bench_statistics bench_statistics_of(const double *seconds, size_t n)
{
    double sorted[BENCH_MOST_REPEATS];
    if (n > BENCH_MOST_REPEATS)
        n = BENCH_MOST_REPEATS;
    if (n == 0)
        return (bench_statistics){0, NAN, NAN};
    memcpy(sorted, seconds, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    const double median_s = 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
    const bool has_spread = n > 1 && median_s > 0;
    return (bench_statistics){n, median_s, has_spread ? (sorted[n - 1] - sorted[0]) / median_s : NAN};
}

bench_repeats bench_repeats_begin(int wanted, double most_s)
{
    return (bench_repeats){.wanted = wanted < 1                    ? 1
                                     : wanted > BENCH_MOST_REPEATS ? BENCH_MOST_REPEATS
                                                                   : wanted,
                           .most_s = most_s > 0 ? most_s : usual_most_s};
}

bool bench_repeats_go_on(const bench_repeats *r)
{
    const bool has_time = r->spent_s < r->most_s || (r->done < LEAST_REPEATS && r->spent_s < patience * r->most_s);
    return r->done < r->wanted && (r->done == 0 || has_time);
}
