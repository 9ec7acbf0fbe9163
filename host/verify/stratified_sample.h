/* Points at which a result is measured for a tolerance. A few large values, such as those of points
 * on atoms, may make most of a map's mean square and of its error, and a small random sample has
 * none of them, or too many. So all values are looked at, or a large random sample where that
 * takes too long, and put into strata of values about as large as each other: of the largest ones
 * each is recomputed, of the others some stand for all of their stratum. Points that are known to
 * be worse than their values say are strata of their own. */
#ifndef LEY_VERIFY_STRATIFIED_SAMPLE_H
#define LEY_VERIFY_STRATIFIED_SAMPLE_H

#include "leyden.h"
#include "verify/strong_charges.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Of values that are asked for one by one so many are looked at; of maps in files that are larger
 * than this, as long as it takes to read so much, as well. */
enum { STRATA_POINTS = 1 << 22, STRATA_FILE_POINTS = 1 << 14 };
#define STRATA_LARGEST_FILE ((int64_t)1 << 31)

typedef double stratified_sample_value(const void *context, int64_t i);

/* `total` values, and where they are: those of a map, or (NULL) each is asked for, by several
 * threads. */
typedef struct stratified_sample_source {
    int64_t total;
    const ley_map *map;
    stratified_sample_value *value;
    const void *context;
    const atomic_bool *cancelled; /* may be NULL */
    const strong_point *strong;   /* of a map all of which is looked at: next to charges that stand out; or NULL */
    size_t strong_count;
} stratified_sample_source;

typedef struct stratified_sample {
    int64_t count;    /* points that were looked at */
    int64_t *sampled; /* their numbers, [count]; NULL: all there are, in order */
    size_t chosen;    /* of these, to be recomputed */
    size_t large;     /* of these, the ones with the largest values, which come first */
    int64_t *points;  /* their numbers, [chosen] */
    double *weight;   /* for how many points each of them stands, [chosen] */
    double squares;   /* the sum of all values squared that were looked at, of those that are numbers */
} stratified_sample;

/* `chosen` points at most are chosen, up to a quarter of them the largest ones, and of 64 points
 * and more a sixteenth or more in each shell around strong charges; the same ones for one state of
 * *random. Errors: LEY_ERROR_MEMORY, LEY_CANCELLED. */
ley_status stratified_sample_make(const stratified_sample_source *source, size_t chosen, uint64_t *random,
                                  stratified_sample *made, ley_error *error);

void stratified_sample_clear(stratified_sample *s);

/* The number of the k-th point that was looked at. */
static inline int64_t stratified_sample_point(const stratified_sample *s, int64_t k)
{
    return s->sampled != NULL ? s->sampled[k] : k;
}

/* sqrt(sum of weight e^2 / count), and the same relative to the right values of all points, which
 * are known as far as values are right. Of each chosen point, by its weight: error2; beyond2, the
 * value's square less the right one's; right2, that one. */
double stratified_sample_absolute_rms(const stratified_sample *s, double weighted_error2);
double stratified_sample_relative_rms(const stratified_sample *s, double weighted_error2, double weighted_beyond2,
                                      double weighted_right2);

#endif
