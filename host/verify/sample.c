#include "verify/sample.h"

#include "error.h"
#include "schedule/method.h"
#include "target/map.h"
#include "verify/squares.h"

#include <stdlib.h>

static uint64_t random_below(uint64_t *state, uint64_t n)
{
    return accuracy_random(state) % n;
}

static sampled_point point_of(const sample *s, size_t slab_index, int64_t i)
{
    const ley_job *job = s->job;
    const ley_slab_report *r = &job->slabs[slab_index];
    sampled_point p = {.device = r->device, .number = job->method->point(job->task, (slab){r->first, r->count}, i)};
    p.value = job->method->value(job->task, p.number, p.place_A);
    return p;
}

sampled_point sample_point(const sample *s, int64_t t)
{
    const ley_job *job = s->job;
    for (size_t i = 0; i < job->report.slab_count; i++) {
        const ley_slab_report *r = &job->slabs[i];
        const int64_t first = t - job->method->points(job->task, (slab){0, r->first});
        if (first >= 0 && first < job->method->points(job->task, (slab){r->first, r->count}))
            return point_of(s, i, first);
    }
    return point_of(s, 0, 0); /* not reached: every point is in a slab */
}

/* Anywhere: every so-manieth point would be in the same few columns of maps of some sizes. */
static double within_stretch(uint64_t *random, double stretch)
{
    return stretch * ((double)random_below(random, 1 << 20) / (1 << 20));
}

/* In place of some of the fixed points, one in BY_SQUARE: a few large values may have most of the
 * error. Of fewer points there is none to spare for them. */
enum { BY_SQUARE = 2, LEAST_FOR_SQUARES = 32 };

static ley_status draw_some_by_square(sample *s, uint64_t *random, ley_error *error)
{
    const ley_map *map = s->job->method->map != NULL ? s->job->method->map(s->job->task) : NULL;
    int64_t *drawn = malloc((s->count + 1) * sizeof *drawn);
    const size_t n = s->count / BY_SQUARE;
    ley_status status = drawn == NULL ? ley_fail_memory(error, s->count * sizeof *drawn, "the verification") : LEY_OK;
    if (status == LEY_OK && map != NULL && s->count >= LEAST_FOR_SQUARES)
        status = squares_draw(map, n, random, drawn, &s->squares, error);
    for (size_t i = 0; status == LEY_OK && i < n && s->squares > 0; i++) {
        const size_t k = BY_SQUARE * i + BY_SQUARE - 1;
        const uint64_t rank = s->points[k].rank;
        s->points[k] = sample_point(s, drawn[i]);
        s->points[k].rank = rank;
        s->points[k].is_fixed = s->points[k].is_drawn_by_square = true;
    }
    free(drawn);
    return status;
}

/* Those that depend on the seed alone; or all. */
static void choose_fixed(sample *s, size_t wanted, size_t fixed, int64_t total, uint64_t *random)
{
    const bool all = (int64_t)wanted == total;
    for (; s->count < (all ? wanted : fixed); s->count++) {
        const uint64_t drawn = accuracy_random(random);
        s->points[s->count] = sample_point(s, all ? (int64_t)s->count : (int64_t)(drawn % (uint64_t)total));
        s->points[s->count].rank = all ? drawn : s->count;
        s->points[s->count].is_fixed = !all;
    }
}

static double value_of(const void *context, int64_t t)
{
    return sample_point(context, t).value;
}

/* The others, too, where all are wanted. */
static ley_status add_others(sample *s, int64_t total, ley_error *error)
{
    bool *is_chosen = calloc((size_t)total, sizeof *is_chosen);
    if (is_chosen == NULL)
        return ley_fail_memory(error, (size_t)total * sizeof *is_chosen, "the verification");
    for (size_t k = 0; k < s->stratified_sample.chosen; k++)
        is_chosen[s->stratified_sample.points[k]] = true;
    for (int64_t t = 0; t < total; t++)
        if (!is_chosen[t]) {
            s->points[s->count] = sample_point(s, t);
            s->points[s->count].rank = s->count;
            s->count++;
        }
    free(is_chosen);
    return LEY_OK;
}

ley_status sample_check_store(const ley_job *job, ley_error *error)
{
    const ley_map *map = job->method->map != NULL ? job->method->map(job->task) : NULL;
    return map != NULL ? map_check_store(map, error) : LEY_OK;
}

/* The same for a tolerance, by a stratified sample; the largest values come last, for the first
 * points are the host's alone. Those of a map are numbered in the order of its slabs. */
static ley_status choose_strata(sample *s, size_t wanted, size_t fixed, int64_t total, uint64_t *random,
                                ley_error *error)
{
    const method *m = s->job->method;
    const ley_map *map = m->map != NULL ? m->map(s->job->task) : NULL;
    strong_point *strong = NULL;
    stratified_sample_source source = {
        .total = total, .map = map, .value = value_of, .context = s, .cancelled = s->job->cancelled};
    ley_status status = LEY_OK;
    if (map != NULL && s->terms.atoms != NULL)
        status = strong_charges_find(job_is_by_parts(s->job) ? s->job->atoms : s->terms.atoms, ley_map_grid(map),
                                     s->terms.cell, &strong, &source.strong_count, error);
    source.strong = strong;
    if (status == LEY_OK)
        status = stratified_sample_make(&source, fixed, random, &s->stratified_sample, error);
    free(strong);
    if (status == LEY_OK) /* values that were lost in between are no longer of their strata */
        status = sample_check_store(s->job, error);
    if (status != LEY_OK)
        return status;
    const stratified_sample *from = &s->stratified_sample;
    for (; s->count < from->chosen; s->count++) {
        const size_t k = s->count;
        s->points[k] = sample_point(s, from->points[k]);
        s->points[k].rank = (k + from->chosen - from->large) % from->chosen;
        s->points[k].weight = from->weight[k];
        s->points[k].is_fixed = true;
    }
    return (int64_t)wanted == total ? add_others(s, total, error) : LEY_OK;
}

/* Those that depend on the seed alone; then one of each slab where there are enough, and for the
 * others one of each stretch of equally many points, anywhere in it. Or all. */
static ley_status choose_points(sample *s, size_t wanted, int64_t total, uint64_t *random, ley_error *error)
{
    const ley_job *job = s->job;
    const size_t fixed = wanted < s->least ? wanted : s->least, left = wanted - fixed, slabs = job->report.slab_count;
    if (job->options.tolerance > 0) {
        const ley_status status = choose_strata(s, wanted, fixed, total, random, error);
        if (status != LEY_OK)
            return status;
    } else {
        choose_fixed(s, wanted, fixed, total, random);
        const ley_status status = (int64_t)wanted < total ? draw_some_by_square(s, random, error) : LEY_OK;
        if (status != LEY_OK)
            return status;
    }
    if ((int64_t)wanted == total || left == 0)
        return LEY_OK;
    const size_t each = slabs <= left ? 1 : 0;
    const double stretch = (double)total / (double)(left - each * slabs > 0 ? left - each * slabs : 1);
    double stretches = 0, next = within_stretch(random, stretch), passed = 0;
    for (size_t i = 0; i < slabs; i++) {
        const int64_t points = job->method->points(job->task, (slab){job->slabs[i].first, job->slabs[i].count});
        if (each > 0)
            s->points[s->count++] = point_of(s, i, (int64_t)random_below(random, (uint64_t)points));
        for (; next < passed + (double)points && s->count < wanted;
             next = ++stretches * stretch + within_stretch(random, stretch))
            s->points[s->count++] = point_of(s, i, (int64_t)(next - passed));
        passed += (double)points;
    }
    for (size_t i = fixed; i < s->count; i++)
        s->points[i].rank = s->least + (accuracy_random(random) >> 1);
    return LEY_OK;
}

static int by_rank(const void *a, const void *b)
{
    const sampled_point *p = a, *q = b;
    return (p->rank > q->rank) - (p->rank < q->rank);
}

static int by_urgency(const void *a, const void *b)
{
    const sampled_point *p = a, *q = b;
    const int difference = (int)q->is_for_host - (int)p->is_for_host,
              known = (int)(q->judge != JUDGE_NOBODY) - (int)(p->judge != JUDGE_NOBODY),
              fixed = (int)q->is_fixed - (int)p->is_fixed;
    return known != 0 ? known : difference != 0 ? difference : fixed != 0 ? fixed : by_rank(a, b);
}

void sample_sort(sample *s)
{
    qsort(s->points, s->count, sizeof *s->points, by_urgency);
}

static ley_status order_points(sample *s, ley_error *error)
{
    const size_t records = job_record_count(s->job);
    size_t *taken = calloc(records, sizeof *taken);
    if (taken == NULL)
        return ley_fail_memory(error, records * sizeof *taken, "the verification");
    qsort(s->points, s->count, sizeof *s->points, by_rank);
    for (size_t i = 0; i < s->count; i++) {
        if (i < s->least) /* of all points, too */
            s->points[i].is_fixed = true;
        s->points[i].is_for_host = taken[s->points[i].device]++ < SAMPLE_LEAST_HOST;
        s->host_count += s->points[i].is_for_host;
    }
    free(taken);
    sample_sort(s);
    return LEY_OK;
}

ley_status sample_choose(sample *s, size_t wanted, int64_t total, uint64_t *random, ley_error *error)
{
    const ley_status status = choose_points(s, wanted, total, random, error);
    return status == LEY_OK ? order_points(s, error) : status;
}

bool sample_excludes_atoms(const sample *s)
{
    const method *m = s->job->method;
    size_t count = 0;
    for (size_t i = 0; m->excluded != NULL && i < s->count && count == 0; i++)
        m->excluded(s->job->task, s->points[i].number, &count);
    return count > 0;
}
