#include "run/strata.h"

#include "error.h"
#include "judge/accuracy.h"

#include <math.h>
#include <stdlib.h>

/* Of the chosen points, those with the largest values: a quarter. */
enum { LARGE = 4 };

typedef struct looked_at {
    int64_t point;
    double size;
    size_t order; /* points of one value stay in order */
} looked_at;

static int by_size(const void *a, const void *b)
{
    const looked_at *p = a, *q = b;
    return p->size != q->size ? (p->size < q->size) - (p->size > q->size)
                              : (p->order > q->order) - (p->order < q->order);
}

/* A value that is no number is as large as any. */
static void look_at(int64_t total, size_t count, strata_value *value, const void *context, uint64_t *random,
                    looked_at *all, strata *s)
{
    for (size_t k = 0; k < count; k++) {
        const int64_t i = (int64_t)count == total ? (int64_t)k : (int64_t)(accuracy_random(random) % (uint64_t)total);
        const double at = fabs(value(context, i));
        all[k] = (looked_at){.point = i, .size = isfinite(at) ? at : INFINITY, .order = k};
        s->squares += isfinite(at) ? at * at : 0;
    }
}

static void choose(looked_at *all, uint64_t *random, strata *s)
{
    const size_t large = s->chosen < s->count ? s->chosen / LARGE : s->chosen, others = s->chosen - large;
    s->large = large;
    qsort(all, s->count, sizeof *all, by_size);
    for (size_t k = large; k < s->chosen; k++) { /* any of the others, each once */
        const size_t taken = k + (size_t)(accuracy_random(random) % (uint64_t)(s->count - k));
        const looked_at other = all[taken];
        all[taken] = all[k];
        all[k] = other;
    }
    for (size_t k = 0; k < s->count; k++)
        s->points[k] = all[k].point;
    for (size_t k = 0; k < s->chosen; k++)
        s->weight[k] = k < large ? 1 : (double)(s->count - large) / (double)others;
}

ley_status strata_make(int64_t total, size_t chosen, strata_value *value, const void *context, uint64_t *random,
                       strata *made, ley_error *error)
{
    const size_t count = total < STRATA_POINTS ? (size_t)total : STRATA_POINTS;
    strata s = {.count = count, .chosen = chosen < count ? chosen : count};
    looked_at *all = malloc((count + 1) * sizeof *all);
    s.points = malloc((count + 1) * sizeof *s.points);
    s.weight = malloc((s.chosen + 1) * sizeof *s.weight);
    if (all == NULL || s.points == NULL || s.weight == NULL) {
        free(all);
        strata_clear(&s);
        return ley_fail_memory(error, (count + 1) * sizeof *all, "the verification");
    }
    look_at(total, count, value, context, random, all, &s);
    choose(all, random, &s);
    free(all);
    *made = s;
    return LEY_OK;
}

void strata_clear(strata *s)
{
    free(s->points);
    free(s->weight);
    *s = (strata){.count = 0};
}

double strata_absolute_rms(const strata *s, double weighted_error2)
{
    return s->count > 0 ? sqrt(weighted_error2 / (double)s->count) : 0;
}

double strata_relative_rms(const strata *s, double weighted_error2)
{
    return s->squares > 0 ? sqrt(weighted_error2 / s->squares) : weighted_error2 > 0 ? INFINITY : 0;
}
