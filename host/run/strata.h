/* Points at which a result is measured for a tolerance. A few large values, such as those of points
 * on atoms, may make most of a map's mean square and of its error, and a small random sample has
 * none of them, or too many. So a large random sample is looked at, whose values are known; the
 * largest ones of it are a stratum of which each one is recomputed, the others one of which some
 * stand for all. */
#ifndef LEY_STRATA_H
#define LEY_STRATA_H

#include "leyden_status.h"

#include <stddef.h>
#include <stdint.h>

enum { STRATA_POINTS = 16384 };

typedef double strata_value(const void *context, int64_t i);

typedef struct strata {
    size_t count;    /* points that were looked at */
    size_t chosen;   /* of these, to be recomputed: the first ones of `points` */
    size_t large;    /* of these, the ones with the largest values, which come first */
    int64_t *points; /* their numbers, [count]; the chosen ones first */
    double *weight;  /* for how many of them each chosen one stands, [chosen] */
    double squares;  /* the sum of all values squared, of those that are numbers */
} strata;

/* Of `total` points, whose values are value(context, i); `chosen` at most are chosen. */
ley_status strata_make(int64_t total, size_t chosen, strata_value *value, const void *context, uint64_t *random,
                       strata *made, ley_error *error);

void strata_clear(strata *s);

/* sqrt(sum of weight e^2 / count), and the same relative to all values; error2: of each chosen
 * point. */
double strata_absolute_rms(const strata *s, double weighted_error2);
double strata_relative_rms(const strata *s, double weighted_error2);

#endif
