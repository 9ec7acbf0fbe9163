#include "run/verification.h"

#include "clock.h"
#include "core/map.h"
#include "dev_kernel.h"
#include "error.h"
#include "judge/accuracy.h"
#include "log.h"
#include "parallel.h"
#include "run/field_verification.h"
#include "run/method.h"
#include "run/reference_kernel.h"
#include "run/squares.h"
#include "run/strata.h"
#include "run/tolerance_floor.h"
#include "watch.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Points that are recomputed at least: of each device on the host; in all, unless the options say
 * otherwise. And how long the others may take. */
enum { LEAST_HOST_POINTS = 16, USUAL_LEAST_POINTS = 50 };
static const double share_of_run = 0.02, usual_s = 0.05;

/* For which a judge's kernel may be built, at least: others have the points then. */
static const double patience_s = 0.5;
static double replaced_s;

void verification_time_replace(double seconds)
{
    replaced_s = seconds;
}

static double budget_s(double run_s)
{
    return replaced_s > 0 ? replaced_s : fmax(share_of_run * run_s, usual_s);
}

typedef enum judge { NOBODY, HOST, DEVICE } judge;

typedef struct sampled_point {
    int64_t number; /* among the job's values */
    size_t device;  /* that computed it: its worker's index */
    double place_A[3], value;
    uint64_t rank; /* its place in the random order */
    double weight; /* for how many points it stands, as one of a stratum's, or as it was drawn */
    bool is_drawn_by_square;
    bool is_fixed; /* one of those that the seed alone decides */
    bool is_for_host;
    judge judge; /* who has recomputed it */
    reference_value right;
} sampled_point;

typedef struct sample {
    ley_job *job;
    reference_terms terms;
    accuracy_limits limits;
    size_t least; /* points in all */
    size_t count;
    sampled_point *points; /* in random order, those that the host must recompute first */
    strata strata;         /* for a tolerance: where the fixed ones come from */
    double squares;        /* without one: of all values of the map; 0: they are not known */
    size_t host_count;     /* of these */
    size_t now;            /* where host threads begin */
    struct judges *judges; /* the devices', while they are asked */
    double budget_s;
    double start_s;
    bool is_wider; /* the limits are wider than was said: all is to be judged again */
} sample;

/* The devices' judges, while their kernels are built. A device that is late keeps them and goes on,
 * for the build cache. */
typedef struct judges {
    struct sample *sample; /* not to be touched by the devices */
    reference_trial *trial;
    atomic_int holders;    /* the verification, and devices that were given the task: the last one frees it */
    pthread_mutex_t mutex; /* for what follows */
    struct {
        bool is_wanted, is_built;
        dev_kernel kernel;
    } of[]; /* [workers] */
} judges;

/* ---- Which points ---------------------------------------------------------------------------- */

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

/* Where the t-th of all points stands, counted through the job's pieces of work in order, whichever
 * slabs these were computed in. */
static sampled_point point_number(const sample *s, int64_t t)
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
        s->points[k] = point_number(s, drawn[i]);
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
        s->points[s->count] = point_number(s, all ? (int64_t)s->count : (int64_t)(drawn % (uint64_t)total));
        s->points[s->count].rank = all ? drawn : s->count;
        s->points[s->count].is_fixed = !all;
    }
}

static double value_of(const void *context, int64_t t)
{
    return point_number(context, t).value;
}

/* The others, too, where all are wanted. */
static ley_status add_others(sample *s, int64_t total, ley_error *error)
{
    bool *is_chosen = calloc((size_t)total, sizeof *is_chosen);
    if (is_chosen == NULL)
        return ley_fail_memory(error, (size_t)total * sizeof *is_chosen, "the verification");
    for (size_t k = 0; k < s->strata.chosen; k++)
        is_chosen[s->strata.points[k]] = true;
    for (int64_t t = 0; t < total; t++)
        if (!is_chosen[t]) {
            s->points[s->count] = point_number(s, t);
            s->points[s->count].rank = s->count;
            s->count++;
        }
    free(is_chosen);
    return LEY_OK;
}

/* No device is to blame for values that the map's file has lost. */
static ley_status check_store(const ley_job *job, ley_error *error)
{
    const ley_map *map = job->method->map != NULL ? job->method->map(job->task) : NULL;
    return map != NULL ? map_check_store(map, error) : LEY_OK;
}

/* The same for a tolerance, by strata; the largest values come last, for the first points are the
 * host's alone. Those of a map are numbered in the order of its slabs. */
static ley_status choose_strata(sample *s, size_t wanted, size_t fixed, int64_t total, uint64_t *random,
                                ley_error *error)
{
    const method *m = s->job->method;
    const ley_map *map = m->map != NULL ? m->map(s->job->task) : NULL;
    strong_point *strong = NULL;
    strata_source source = {
        .total = total, .map = map, .value = value_of, .context = s, .cancelled = &s->job->cancelled};
    ley_status status = LEY_OK;
    if (map != NULL && s->terms.atoms != NULL)
        status = strong_charges_find(s->terms.atoms, ley_map_lattice(map), s->terms.cell, &strong, &source.strong_count,
                                     error);
    source.strong = strong;
    if (status == LEY_OK)
        status = strata_make(&source, fixed, random, &s->strata, error);
    free(strong);
    if (status == LEY_OK) /* values that were lost in between are no longer of their strata */
        status = check_store(s->job, error);
    if (status != LEY_OK)
        return status;
    const strata *from = &s->strata;
    for (; s->count < from->chosen; s->count++) {
        const size_t k = s->count;
        s->points[k] = point_number(s, from->points[k]);
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

/* First what the host must recompute, then what somebody must; the others in random order. */
static int by_urgency(const void *a, const void *b)
{
    const sampled_point *p = a, *q = b;
    const int difference = (int)q->is_for_host - (int)p->is_for_host,
              known = (int)(q->judge != NOBODY) - (int)(p->judge != NOBODY),
              fixed = (int)q->is_fixed - (int)p->is_fixed;
    return known != 0 ? known : difference != 0 ? difference : fixed != 0 ? fixed : by_rank(a, b);
}

static ley_status order_points(sample *s, ley_error *error)
{
    size_t *taken = calloc(s->job->engine->worker_count, sizeof *taken);
    if (taken == NULL)
        return ley_fail_memory(error, s->job->engine->worker_count * sizeof *taken, "the verification");
    qsort(s->points, s->count, sizeof *s->points, by_rank);
    for (size_t i = 0; i < s->count; i++) {
        if (i < s->least) /* of all points, too */
            s->points[i].is_fixed = true;
        s->points[i].is_for_host = taken[s->points[i].device]++ < LEAST_HOST_POINTS;
        s->host_count += s->points[i].is_for_host;
    }
    free(taken);
    qsort(s->points, s->count, sizeof *s->points, by_urgency);
    return LEY_OK;
}

/* Then devices are no judges: theirs sum all atoms. */
static bool excludes_atoms(const sample *s)
{
    const method *m = s->job->method;
    size_t count = 0;
    for (size_t i = 0; m->excluded != NULL && i < s->count && count == 0; i++)
        m->excluded(s->job->task, s->points[i].number, &count);
    return count > 0;
}

/* ---- On the host ----------------------------------------------------------------------------- */

static reference_value right_at(const sample *s, const sampled_point *p)
{
    const reference_terms terms = method_terms_at(s->job->method, s->job->task, &s->terms, p->number);
    return reference_sum(&terms, p->place_A);
}

static void recompute(void *context, size_t first, size_t last)
{
    sample *s = context;
    for (size_t i = s->now + first; i < s->now + last && !job_cancelled(s->job); i++) {
        s->points[i].right = right_at(s, &s->points[i]);
        s->points[i].judge = HOST;
    }
}

/* Points [first, end); seconds that it took. */
static double recompute_on_host(sample *s, size_t first, size_t end)
{
    const double start_s = ley_clock_s();
    s->now = first;
    parallel_ranges(end - first, recompute, s);
    return ley_clock_s() - start_s;
}

static double left_s(const sample *s)
{
    return s->budget_s - (ley_clock_s() - s->start_s);
}

/* ---- On the devices -------------------------------------------------------------------------- */

static void let_loose(judges *j)
{
    if (atomic_fetch_sub(&j->holders, 1) > 1)
        return;
    reference_trial_destroy(j->trial);
    pthread_mutex_destroy(&j->mutex);
    free(j);
}

/* NULL: no memory; then the host is the only judge. */
static judges *judges_create(sample *s)
{
    const ley_engine *engine = s->job->engine;
    judges *j = calloc(1, sizeof *j + engine->worker_count * sizeof j->of[0]);
    if (j == NULL)
        return NULL;
    if (reference_trial_create(&s->terms, &j->trial, NULL) != LEY_OK) {
        free(j);
        return NULL;
    }
    j->sample = s;
    pthread_mutex_init(&j->mutex, NULL);
    atomic_init(&j->holders, 1);
    for (size_t i = 0; i < engine->worker_count; i++) {
        size_t n = 0;
        for (size_t k = 0; k < s->count; k++)
            n += s->points[k].device == i;
        /* A processor's kernel would be no faster than the host's loop. */
        j->of[i].is_wanted = engine->workers[i].info->device_class != DEV_CPU && n > LEAST_HOST_POINTS;
    }
    return j;
}

static size_t index_of(const worker *w)
{
    return (size_t)(w - w->engine->workers);
}

static void hold(worker *w, void *context)
{
    (void)w;
    atomic_fetch_add(&((judges *)context)->holders, 1);
}

/* Runs on the device's thread. */
static void build_judge(worker *w, void *context)
{
    judges *j = context;
    const size_t i = index_of(w);
    dev_kernel built;
    watch_expect(0);
    pthread_mutex_lock(&j->mutex);
    const bool is_begun = j->of[i].is_wanted && w->device != NULL;
    pthread_mutex_unlock(&j->mutex);
    if (is_begun && reference_kernel_build(w->device, j->trial, &built, NULL) == LEY_OK) {
        pthread_mutex_lock(&j->mutex);
        const bool is_wanted = j->of[i].is_wanted;
        if (is_wanted)
            j->of[i].kernel = built;
        j->of[i].is_built = is_wanted;
        pthread_mutex_unlock(&j->mutex);
        if (!is_wanted)
            kernel_destroy(&built);
    }
    let_loose(j);
}

static bool is_tired(void *context)
{
    const sample *s = ((judges *)context)->sample;
    return job_cancelled(s->job) || (left_s(s) < 0 && left_s(s) < s->budget_s - patience_s);
}

/* Nobody waits any longer for a kernel that is not built. */
static bool let_go(worker *w, void *context)
{
    judges *j = context;
    const size_t i = index_of(w);
    pthread_mutex_lock(&j->mutex);
    const bool is_late = !j->of[i].is_built;
    if (is_late)
        j->of[i].is_wanted = false;
    pthread_mutex_unlock(&j->mutex);
    return is_late;
}

/* Some of a device's points through its own judge; false: it cannot, or its sums are not the
 * host's. */
static bool recompute_some(sample *s, const reference_kernel *k, const size_t *indices, size_t n)
{
    double(*place_A)[3] = malloc((n + 1) * sizeof *place_A);
    reference_value *right = malloc((n + 1) * sizeof *right);
    bool done = place_A != NULL && right != NULL;
    for (size_t i = 0; done && i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            place_A[i][axis] = s->points[indices[i]].place_A[axis];
    done = done && reference_kernel_run(k, n, (const double(*)[3])place_A, &s->job->cancelled, right, NULL) == LEY_OK;
    for (size_t i = 0; done && i < n; i++) /* a device that does not agree with the host is no judge */
        done = s->points[indices[i]].judge != HOST || reference_agrees(&right[i], &s->points[indices[i]].right);
    for (size_t i = 0; done && i < n; i++)
        if (s->points[indices[i]].judge == NOBODY) {
            s->points[indices[i]].right = right[i];
            s->points[indices[i]].judge = DEVICE;
        }
    free(place_A);
    free(right);
    return done;
}

/* First some that the host has and some more, which tells how long a point takes; then as many as
 * there is time for. */
static void recompute_list(sample *s, const reference_kernel *k, const size_t *indices, size_t n)
{
    const double start_s = ley_clock_s();
    const size_t first = n < s->least + LEAST_HOST_POINTS ? n : s->least + LEAST_HOST_POINTS;
    if (!recompute_some(s, k, indices, first) || first == n)
        return;
    const double each_s = (ley_clock_s() - start_s) / (double)first;
    const double more = fmin((double)(n - first), floor(left_s(s) / fmax(each_s, 1e-9)));
    if (more >= 1)
        recompute_some(s, k, indices + first, (size_t)more);
}

/* A device's part; runs on its worker thread. */
static void recompute_on_device(worker *w, void *context)
{
    sample *s = context;
    const size_t index = index_of(w);
    if (w->device == NULL || !s->judges->of[index].is_built)
        return;
    size_t *indices = calloc(s->count + 1, sizeof *indices), n = 0;
    reference_kernel kernel;
    watch_expect(0);
    size_t on_host = 0; /* the host's come first */
    for (size_t i = 0; indices != NULL && i < s->count; i++)
        if (s->points[i].device == index && (s->points[i].judge == NOBODY || on_host++ < LEAST_HOST_POINTS))
            indices[n++] = i;
    if (reference_kernel_create(&s->judges->of[index].kernel, &s->terms, &kernel, NULL) == LEY_OK) {
        recompute_list(s, &kernel, indices, n);
        reference_kernel_destroy(&kernel);
    }
    free(indices);
}

/* A device whose driver does not return: what it computed is judged by the host's points. */
static void leave(worker *w, void *context)
{
    sample *s = context;
    s->job->has_left = true;
    ley_error_copy(&s->job->records[w - s->job->engine->workers].failure, &w->open_error);
}

static void leave_judge(worker *w, void *context)
{
    leave(w, ((judges *)context)->sample);
}

/* Brings the points that somebody has recomputed before the others; how many they are, and those
 * that must be. */
static size_t known_first(sample *s, size_t *must)
{
    size_t known = 0, missing = 0;
    qsort(s->points, s->count, sizeof *s->points, by_urgency);
    for (size_t i = 0; i < s->count; i++) {
        known += s->points[i].judge != NOBODY;
        missing += s->points[i].judge == NOBODY && s->points[i].is_fixed;
    }
    *must = known + missing;
    return known;
}

/* Those that must be recomputed, and then ever more as long as these are predicted to be done in
 * time: how long a point takes is measured each time, for threads take a while to start. How many
 * are done; and how long the last ones took. */
static size_t recompute_growing(sample *s, double *each_s)
{
    size_t done = s->host_count, more = done;
    *each_s = recompute_on_host(s, 0, done) / (double)done;
    while (done < s->count && !job_cancelled(s->job)) {
        more = 4 * more < s->count - done ? 4 * more : s->count - done;
        if ((double)more * *each_s > left_s(s))
            break;
        *each_s = recompute_on_host(s, done, done + more) / (double)more;
        done += more;
    }
    return done;
}

/* Those of the devices that have their judges built in time, by these. */
static void recompute_on_devices(sample *s)
{
    static const engine_task build = {.run = build_judge,
                                      .given = hold,
                                      .only_idle = true,
                                      .is_over = is_tired,
                                      .let_go = let_go,
                                      .left = leave_judge},
                             task = {.run = recompute_on_device, .only_idle = true, .left = leave};
    s->judges = excludes_atoms(s) ? NULL : judges_create(s);
    if (s->judges == NULL)
        return;
    engine_run(s->job->engine, 0, &build, s->judges);
    engine_run(s->job->engine, 0, &task, s);
    let_loose(s->judges);
}

/* The host, then devices, then the host again where devices were not able to. */
static void recompute_all(sample *s)
{
    const size_t wanted = s->count < s->least ? s->count : s->least, cores = (size_t)parallel_cores();
    double each_s;
    size_t must = 0, known = recompute_growing(s, &each_s);
    if (known == s->count)
        return;
    recompute_on_devices(s);
    known = known_first(s, &must);
    const size_t least = must > wanted ? must : wanted;
    while (known < s->count && (known < least || left_s(s) > each_s * (double)cores) && !job_cancelled(s->job)) {
        const size_t next = known < least ? least : known + cores, end = next < s->count ? next : s->count;
        recompute_on_host(s, known, end);
        known = end;
    }
}

/* ---- Judged ---------------------------------------------------------------------------------- */

/* In place of a device. */
enum { ALL_POINTS = -1, FIXED_POINTS = -2 };

static bool is_among(const sampled_point *p, int64_t device)
{
    return p->judge != NOBODY &&
           (device == ALL_POINTS || (device == FIXED_POINTS && p->is_fixed) || device == (int64_t)p->device);
}

/* The points of one device, or of all, or those that the seed decides. `multiple`: of what is
 * right, where that is what is wrong; else 1. */
static ley_accuracy judge_points(const sample *s, int64_t device, double *values, reference_value *right,
                                 size_t *indices, size_t *worst, double *multiple)
{
    size_t n = 0, on_host = 0, at = 0;
    for (size_t i = 0; i < s->count; i++)
        if (is_among(&s->points[i], device)) {
            values[n] = s->points[i].value;
            right[n] = s->points[i].right;
            indices[n++] = i;
            on_host += s->points[i].judge == HOST;
        }
    ley_accuracy a = accuracy_compare(n, values, right, s->limits, &at);
    a.host_points = on_host;
    *worst = n > 0 ? indices[at] : 0;
    if (!a.passed || !accuracy_is_multiple(n, values, right, s->limits, multiple))
        *multiple = 1;
    a.passed = a.passed && *multiple == 1;
    return a;
}

/* Where a method's values are noisy: how large values are, from the points that are known and from
 * places beside some charges, wherever the points are. False: that is known, or not asked for. */
static bool find_noise(sample *s)
{
    enum { CHARGES = 16 };
    const size_t atoms = ley_atoms_count(s->terms.atoms);
    uint64_t random = s->job->options.verify_seed;
    double squares = 0;
    size_t n = 0;
    if (s->limits.share == 0 || s->limits.noise > 0 || atoms == 0)
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (is_among(&s->points[i], ALL_POINTS) && isfinite(s->points[i].right.value)) {
            squares += pow(s->points[i].right.value, 2);
            n++;
        }
    for (int i = 0; i < CHARGES; i++) {
        const double *at_A = ley_atoms_positions_A(s->terms.atoms) + 3 * random_below(&random, atoms);
        const double place_A[3] = {at_A[0] + 1, at_A[1] - 0.8, at_A[2] + 1.2};
        squares += pow(reference_sum(&s->terms, place_A).value, 2);
        n++;
    }
    s->limits.noise = s->limits.share * sqrt(squares / (double)n);
    return s->limits.noise > 0;
}

/* Nobody is blamed by a device's judge alone, whose first points only are the host's, too: the host
 * recomputes the worst point. If it says otherwise, that judge's sums are nobody's any more, and
 * the host's own, of enough points, take their place. */
static bool is_confirmed(sample *s, size_t device, size_t worst)
{
    const sampled_point p = s->points[worst];
    const reference_value own = right_at(s, &p);
    if (p.judge == HOST || reference_agrees(&p.right, &own))
        return true;
    for (size_t i = 0; i < s->count; i++)
        if (s->points[i].device == device && s->points[i].judge == DEVICE)
            s->points[i].judge = NOBODY;
    size_t must;
    const size_t known = known_first(s, &must), wanted = s->count < s->least ? s->count : s->least;
    const size_t end = must > wanted ? must : wanted;
    if (known < end)
        recompute_on_host(s, known, end);
    return false;
}

/* By how much the method's own steps may be off more than it expects of them, and of how many
 * points it is asked. */
static const double most_excess = 4;
enum { MOST_ASKED = 50 };

/* The point that is most in error and others of the device's. */
static size_t choose_asked(const sample *s, size_t device, size_t worst, size_t *indices)
{
    size_t n = 0, all = 0, passed = 0;
    indices[n++] = worst;
    for (size_t i = 0; i < s->count; i++)
        all += i != worst && is_among(&s->points[i], (int64_t)device);
    const size_t step = all / MOST_ASKED + 1;
    for (size_t i = 0; i < s->count; i++)
        if (i != worst && is_among(&s->points[i], (int64_t)device) && passed++ % step == 0 && n < MOST_ASKED)
            indices[n++] = i;
    return n;
}

/* Whether the values are what the method's steps make of the problem when each of them is right:
 * then these are somewhat more off than the method expected of itself, as with charges that lie in
 * step with its lattices, and the device is not to blame. */
static bool is_methods_own(const sample *s, size_t device, const ley_accuracy *a, size_t worst)
{
    const ley_job *job = s->job;
    size_t indices[MOST_ASKED], at;
    double place_A[MOST_ASKED][3], values[MOST_ASKED], made[MOST_ASKED];
    reference_value right[MOST_ASKED];
    if (job->method->by_steps == NULL || !(a->max_error <= most_excess * s->limits.tolerance))
        return false;
    const size_t n = choose_asked(s, device, worst, indices);
    for (size_t i = 0; i < n; i++)
        for (int axis = 0; axis < 3; axis++)
            place_A[i][axis] = s->points[indices[i]].place_A[axis];
    if (job->method->by_steps(job->task, n, (const double(*)[3])place_A, made, NULL) != LEY_OK)
        return false;
    for (size_t i = 0; i < n; i++) {
        values[i] = s->points[indices[i]].value;
        right[i] = s->points[indices[i]].right;
        if (excludes_atoms(s)) /* steps make the sum of all atoms */
            right[i].value += made[i] - reference_sum(&s->terms, place_A[i]).value;
        else
            right[i].value = made[i];
    }
    accuracy_limits limits = s->limits;
    limits.tolerance = limits.rounding;
    const ley_accuracy own = accuracy_compare(n, values, right, limits, &at);
    log_say(LEY_LOG_NOTE, "an error of %.3g, more than %.3g: by the method's own steps in double precision it is %.3g",
            a->max_error, s->limits.tolerance, own.max_error);
    return own.passed;
}

/* Why stands in the device's record. */
static void dismiss(ley_job *job, size_t device)
{
    log_say(LEY_LOG_WARNING, "a device leaves the job, its slabs are open again: %s",
            job->records[device].failure.message);
    if (worker_device(&job->engine->workers[device]) != NULL)
        kernels_distrust(worker_device(&job->engine->workers[device]));
    if (job->method->distrust != NULL)
        job->method->distrust(job->task);
    job_reopen_slabs(job, device);
}

/* Its values follow from what another device made, which may be the one that is wrong: from now on
 * it makes that itself. */
static bool is_excused(sample *s, size_t device)
{
    device_record *record = &s->job->records[device];
    if (record->lender == 0 || record->makes_own)
        return false;
    record->makes_own = true;
    log_say(LEY_LOG_WARNING, "%s: its values are wrong, and follow from what %s has made: it does without that",
            s->job->engine->workers[device].info->name, s->job->engine->workers[record->lender - 1].info->name);
    job_reopen_slabs(s->job, device);
    return true;
}

static void blame(sample *s, size_t device, const ley_accuracy *a, const sampled_point *worst, double multiple)
{
    ley_job *job = s->job;
    if (multiple != 1)
        ley_fail(&job->records[device].failure, LEY_ERROR_WRONG_RESULT,
                 "%s: verification failed: at %zu points the values are %.3g times what double precision says, such as "
                 "%.9g for %.9g at "
                 "(%.9g, %.9g, %.9g) A",
                 job->engine->workers[device].info->name, (size_t)a->points, multiple, worst->value, worst->right.value,
                 worst->place_A[0], worst->place_A[1], worst->place_A[2]);
    else
        ley_fail(&job->records[device].failure, LEY_ERROR_WRONG_RESULT,
                 "%s: verification failed: at (%.9g, %.9g, %.9g) A the value is %.9g, double precision says %.9g: an "
                 "error of %.3g of %s, at most %.3g is right",
                 job->engine->workers[device].info->name, worst->place_A[0], worst->place_A[1], worst->place_A[2],
                 worst->value, worst->right.value, a->max_error, job->report.error_scale, a->tolerance);
    dismiss(job, device);
}

static bool look_closer(sample *s)
{
    const method *m = s->job->method;
    s->is_wider = m->look_closer != NULL && m->look_closer(s->job->task);
    return s->is_wider;
}

/* For how many points each stands that was drawn from all alike or by its square: by how often both
 * together are expected to draw it. */
static void weigh_drawn(sample *s, int64_t group)
{
    double alike = 0, by_square = 0;
    for (size_t i = 0; i < s->count; i++)
        if (is_among(&s->points[i], group))
            *(s->points[i].is_drawn_by_square ? &by_square : &alike) += 1;
    for (size_t i = 0; i < s->count; i++) {
        const double square = s->points[i].value * s->points[i].value;
        s->points[i].weight = 1 / (alike / (double)s->job->report.points + by_square * square / s->squares);
    }
}

/* Of all values, as far as strata or draws tell, the others beside the group; that of values which
 * should be 0 stays what it is. */
static void measure_all_values(sample *s, int64_t group, ley_accuracy *a)
{
    double error2 = 0, beyond2 = 0, right2 = 0;
    strata of = s->strata;
    const bool is_drawn = of.count == 0 && s->squares > 0;
    if ((of.count == 0 && !is_drawn) || a->relative_rms == 0 || !isfinite(a->relative_rms) ||
        !isfinite(a->absolute_rms))
        return;
    if (is_drawn) {
        weigh_drawn(s, group);
        of = (strata){.count = s->job->report.points, .squares = s->squares};
    }
    for (size_t i = 0; i < s->count; i++)
        if (is_among(&s->points[i], is_drawn ? group : FIXED_POINTS)) {
            const sampled_point *p = &s->points[i];
            error2 += p->weight * pow(accuracy_difference(p->value, &p->right), 2);
            right2 += p->weight * p->right.value * p->right.value;
            beyond2 += p->weight * (p->value * p->value - p->right.value * p->right.value);
        }
    a->absolute_rms = strata_absolute_rms(&of, error2);
    a->relative_rms = strata_relative_rms(&of, error2, beyond2, right2);
}

static ley_status judge_all(sample *s, size_t *wrong, ley_error *error)
{
    double *values = malloc((s->count + 1) * sizeof *values);
    reference_value *right = malloc((s->count + 1) * sizeof *right);
    size_t *indices = malloc((s->count + 1) * sizeof *indices), worst;
    double multiple, own = 0;
    ley_status status = values == NULL || right == NULL || indices == NULL
                            ? ley_fail_memory(error, s->count * sizeof *right, "the verification")
                            : LEY_OK;
    for (size_t device = 0; status == LEY_OK && device < s->job->engine->worker_count; device++) {
        ley_accuracy a = judge_points(s, (int64_t)device, values, right, indices, &worst, &multiple);
        if (a.points > 0 && !a.passed && !is_confirmed(s, device, worst))
            a = judge_points(s, (int64_t)device, values, right, indices, &worst, &multiple);
        if (a.points > 0 && !a.passed && multiple == 1 && find_noise(s))
            a = judge_points(s, (int64_t)device, values, right, indices, &worst, &multiple);
        if (a.points > 0 && !a.passed && look_closer(s))
            break;
        if (a.points > 0 && !a.passed && multiple == 1 && is_methods_own(s, device, &a, worst)) {
            own = fmax(own, a.max_error);
            continue;
        }
        if (a.points == 0 || a.passed)
            continue;
        if (!is_excused(s, device))
            blame(s, device, &a, &s->points[worst], multiple);
        ++*wrong;
    }
    s->limits.tolerance = fmax(s->limits.tolerance, own);
    if (status == LEY_OK && !s->is_wider) {
        s->job->report.seeded_accuracy = judge_points(s, FIXED_POINTS, values, right, indices, &worst, &multiple);
        s->job->report.accuracy = judge_points(s, ALL_POINTS, values, right, indices, &worst, &multiple);
        measure_all_values(s, FIXED_POINTS, &s->job->report.seeded_accuracy);
        measure_all_values(s, ALL_POINTS, &s->job->report.accuracy);
    }
    free(values);
    free(right);
    free(indices);
    return status;
}

static ley_status judge_tolerance(const sample *s, ley_error *error)
{
    ley_job *job = s->job;
    tolerance_place *places = malloc((s->count + 1) * sizeof *places);
    size_t n = 0;
    if (places == NULL)
        return ley_fail_memory(error, s->count * sizeof *places, "the verification");
    for (size_t i = 0; i < s->count; i++)
        if (s->points[i].is_fixed && s->points[i].judge != NOBODY) {
            const reference_terms at = method_terms_at(job->method, job->task, &s->terms, s->points[i].number);
            places[n].weight = s->points[i].weight > 0 ? s->points[i].weight : 1;
            places[n].excluded = at.excluded;
            places[n].excluded_count = at.excluded_count;
            memcpy(places[n++].place_A, s->points[i].place_A, sizeof places->place_A);
        }
    tolerance_judge(&job->report, job->options.tolerance, &s->terms, n, places, &job->terms);
    free(places);
    return LEY_OK;
}

/* ---- Its field ------------------------------------------------------------------------------- */

/* Of the points of the strata, so many parts: on however many cores, the sum is the same. */
enum { FIELD_PARTS = 256 };

typedef struct field_sum {
    const sample *sample;
    double squares[FIELD_PARTS];
} field_sum;

static void square_parts(void *context, size_t first, size_t last)
{
    field_sum *f = context;
    const ley_job *job = f->sample->job;
    const strata *from = &f->sample->strata;
    for (size_t part = first; part < last; part++)
        for (size_t k = parallel_first((size_t)from->count, FIELD_PARTS, part);
             k < parallel_first((size_t)from->count, FIELD_PARTS, part + 1); k++) {
            const int64_t number = point_number(f->sample, strata_point(from, (int64_t)k)).number;
            const double *field = job->method->field(job->task, number);
            for (int axis = 0; axis < 3; axis++)
                f->squares[part] += isfinite(field[axis]) ? field[axis] * field[axis] : 0;
        }
}

/* 0: there are no strata. */
static double field_squares(const sample *s)
{
    field_sum f = {.sample = s};
    double sum = 0;
    parallel_ranges(FIELD_PARTS, square_parts, &f);
    for (size_t part = 0; part < FIELD_PARTS; part++)
        sum += f.squares[part];
    return sum;
}

/* At the points that the host has, where the values are right. */
static ley_status judge_field(sample *s, size_t *wrong, ley_error *error)
{
    ley_job *job = s->job;
    const size_t devices = job->engine->worker_count;
    if (*wrong > 0 || s->is_wider || s->count == 0 || !field_is_there(job, s->points[0].number))
        return LEY_OK;
    field_point *points = malloc(s->count * sizeof *points);
    bool *is_wrong = calloc(devices, sizeof *is_wrong);
    size_t n = 0;
    ley_status status = points == NULL || is_wrong == NULL
                            ? ley_fail_memory(error, s->count * sizeof *points, "the verification")
                            : LEY_OK;
    for (size_t i = 0; status == LEY_OK && i < s->count; i++) {
        const sampled_point *p = &s->points[i];
        if (!p->is_fixed && !p->is_for_host)
            continue;
        points[n] =
            (field_point){.number = p->number, .device = p->device, .is_fixed = p->is_fixed, .weight = p->weight};
        memcpy(points[n++].place_A, p->place_A, sizeof p->place_A);
    }
    if (status == LEY_OK)
        status = field_verification(job, &s->terms, s->limits, n, points, field_squares(s), is_wrong, error);
    for (size_t device = 0; status == LEY_OK && device < devices; device++) {
        if (is_wrong[device] && (s->is_wider || look_closer(s))) {
            ley_error_clear(&job->records[device].failure);
        } else if (is_wrong[device]) {
            dismiss(job, device);
            ++*wrong;
        }
    }
    free(points);
    free(is_wrong);
    return status;
}

static ley_status verify(ley_job *job, size_t *wrong, bool *is_wider, ley_error *error)
{
    const int64_t total = job->report.points;
    const size_t wanted = job->options.verify_points < (uint64_t)total ? job->options.verify_points : (size_t)total;
    uint64_t random = job->options.verify_seed;
    sample s = {.job = job, .start_s = ley_clock_s(), .limits = job->method->limits(job->task)};
    job->method->terms(job->task, &s.terms);
    s.least = job->options.verify_least > 0 ? job->options.verify_least : USUAL_LEAST_POINTS;
    s.budget_s = budget_s(job->report.compute_s);
    s.points = malloc((wanted + job->report.slab_count + 1) * sizeof *s.points);
    *wrong = 0;
    if (s.points == NULL)
        return ley_fail_memory(error, wanted * sizeof *s.points, "the verification");
    ley_status status = choose_points(&s, wanted, total, &random, error);
    if (status == LEY_OK)
        status = order_points(&s, error);
    if (status == LEY_OK)
        status = check_store(job, error);
    if (status == LEY_OK)
        status = reference_begin(&s.terms, s.least, &job->cancelled, error);
    if (status == LEY_OK) {
        recompute_all(&s);
        status = job_cancelled(job) ? ley_fail(error, LEY_CANCELLED, "cancelled") : judge_all(&s, wrong, error);
        if (status == LEY_OK)
            status = judge_field(&s, wrong, error);
        if (status == LEY_OK && *wrong == 0 && !s.is_wider)
            status = judge_tolerance(&s, error);
        reference_end(&s.terms);
    }
    *is_wider = s.is_wider;
    strata_clear(&s.strata);
    free(s.points);
    return status;
}

ley_status verification_run(ley_job *job, size_t *wrong, ley_error *error)
{
    bool is_wider = false;
    const ley_status status = verify(job, wrong, &is_wider, error);
    return status == LEY_OK && is_wider ? verify(job, wrong, &is_wider, error) : status;
}
