#include "run/strata.h"

#include "error.h"
#include "judge/accuracy.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Of the chosen points, those with the largest values, a quarter, and those of the strata between
 * these and the last one, an eighth each; each ends so many times as far as the one before. */
enum { LARGE = 4, SMALL = 8, WIDER = 4, MOST_STRATA = 5 };

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

/* Of places [first, end) so many, each once: they come first. */
static void draw(looked_at *all, size_t first, size_t end, size_t many, uint64_t *random)
{
    for (size_t k = first; k < first + many; k++) {
        const size_t taken = k + (size_t)(accuracy_random(random) % (uint64_t)(end - k));
        const looked_at other = all[taken];
        all[taken] = all[k];
        all[k] = other;
    }
}

/* Where each stratum ends: the first one, all of which are chosen, then each four times as far as
 * the one before, as there may be more large values than are chosen. */
static size_t find_ends(const strata *s, size_t end[MOST_STRATA])
{
    size_t n = 0;
    end[n++] = s->large;
    if (s->chosen / SMALL == 0 && s->large < s->count) {
        end[n++] = s->count;
        return n;
    }
    while (s->large > 0 && n + 1 < MOST_STRATA && 2 * WIDER * end[n - 1] < s->count) {
        end[n] = WIDER * end[n - 1];
        n++;
    }
    if (end[n - 1] < s->count)
        end[n++] = s->count;
    return n;
}

/* How many of each: an eighth of all, of the last one, which is the largest, the others; where that
 * is more than there are, the one before it has more. */
static void share_out(const strata *s, const size_t *end, size_t n, size_t *many)
{
    size_t left = s->chosen - s->large;
    many[0] = s->large;
    for (size_t k = n - 1; k > 0; k--) {
        const size_t size = end[k] - end[k - 1], before = k - 1, kept = s->chosen / SMALL * before;
        const size_t most = left > kept ? left - kept : left / k;
        many[k] = size < most ? size : most;
        left -= many[k];
    }
}

static void choose(looked_at *all, uint64_t *random, strata *s)
{
    size_t end[MOST_STRATA], many[MOST_STRATA], chosen = 0, others = s->chosen;
    s->large = s->chosen < s->count ? s->chosen / LARGE : s->chosen;
    qsort(all, s->count, sizeof *all, by_size);
    const size_t n = find_ends(s, end);
    share_out(s, end, n, many);
    for (size_t i = 0; i < n; i++) {
        const size_t first = i > 0 ? end[i - 1] : 0;
        if (many[i] < end[i] - first)
            draw(all, first, end[i], many[i], random);
        for (size_t k = first; k < end[i]; k++) {
            const bool is_chosen = k < first + many[i];
            if (is_chosen)
                s->weight[chosen] = (double)(end[i] - first) / (double)many[i];
            s->points[is_chosen ? chosen++ : others++] = all[k].point;
        }
    }
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
