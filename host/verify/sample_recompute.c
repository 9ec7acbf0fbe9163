#include "verify/sample_recompute.h"
#include "law/reference.h"

#include "clock.h"
#include "dev_kernel.h"
#include "error.h"
#include "parallel.h"
#include "schedule/method.h"
#include "verify/rank_sums.h"
#include "verify/reference_kernel.h"
#include "watch.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* For which a judge's kernel may be built, at least: others have the points then. */
static const double patience_s = 0.5;

/* ---- On the host ----------------------------------------------------------------------------- */

static reference_terms terms_at(const sample *s, const sampled_point *p)
{
    return method_terms_at(s->job->method, s->job->task, &s->terms, p->number);
}

static reference_value right_at(const sample *s, const sampled_point *p)
{
    const reference_terms terms = terms_at(s, p);
    return reference_sum(&terms, p->place_A);
}

/* Whether a point's sum is that of others: all atoms count, and the same is wanted. */
static bool goes_with(const reference_terms *terms, const sample *s, const sampled_point *p)
{
    const reference_terms own = terms_at(s, p);
    return terms->excluded_count == 0 && own.excluded_count == 0 && own.quantity == terms->quantity;
}

/* Several points together, as far as that is so. */
static void recompute(void *context, size_t first, size_t last)
{
    enum { TOGETHER = 16 };
    sample *s = context;
    for (size_t i = s->now + first, end = s->now + last, n; i < end && !job_cancelled(s->job); i += n) {
        double place_A[TOGETHER][3];
        reference_value right[TOGETHER];
        const reference_terms terms = terms_at(s, &s->points[i]);
        for (n = 0; n < TOGETHER && i + n < end; n++) {
            if (n > 0 && !goes_with(&terms, s, &s->points[i + n]))
                break;
            memcpy(place_A[n], s->points[i + n].place_A, sizeof place_A[n]);
        }
        reference_sums(&terms, n, (const double(*)[3])place_A, right);
        for (size_t k = 0; k < n; k++) {
            s->points[i + k].right = right[k];
            s->points[i + k].judge = JUDGE_HOST;
        }
    }
}

ley_status sample_sum_on_ranks(const sample *s, size_t n, sampled_point *points)
{
    ley_error why = {0};
    rank_sums_point *asked = malloc((n + 1) * sizeof *asked);
    reference_value *right = malloc((n + 1) * sizeof *right);
    for (size_t i = 0; i < n && asked != NULL; i++) {
        asked[i].number = points[i].number;
        memcpy(asked[i].place_A, points[i].place_A, sizeof asked[i].place_A);
    }
    const ley_status status = asked == NULL || right == NULL
                                  ? LEY_ERROR_MEMORY
                                  : rank_sums_ask(s->job, &s->terms, n, asked, false, right, &why);
    for (size_t i = 0; i < n && status == LEY_OK; i++) {
        points[i].right = right[i];
        points[i].judge = JUDGE_HOST;
    }
    free(asked);
    free(right);
    ley_error_clear(&why);
    return status;
}

/* Points [first, end); seconds that it took. */
static double recompute_on_host(sample *s, size_t first, size_t end)
{
    const double start_s = ley_clock_s();
    s->now = first;
    if (job_is_by_parts(s->job))
        sample_sum_on_ranks(s, end - first, s->points + first);
    else
        parallel_ranges(end - first, recompute, s);
    return ley_clock_s() - start_s;
}

static double left_s(const sample *s)
{
    return s->budget_s - (ley_clock_s() - s->start_s);
}

/* ---- On the devices -------------------------------------------------------------------------- */

/* The devices' judges, while their kernels are built. A device that is late keeps them and goes on,
 * for the build cache. */
typedef struct judges {
    sample *sample; /* not to be touched by the devices */
    reference_trial *trial;
    atomic_int holders;    /* the verification, and devices that were given the task: the last one frees it */
    pthread_mutex_t mutex; /* for what follows */
    struct {
        bool is_wanted, is_built;
        dev_kernel kernel;
    } of[]; /* [workers] */
} judges;

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
        j->of[i].is_wanted = engine->workers[i].info->device_class != DEV_CPU && n > SAMPLE_LEAST_HOST;
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
    done = done && reference_kernel_run(k, n, (const double(*)[3])place_A, s->job->cancelled, right, NULL) == LEY_OK;
    for (size_t i = 0; done && i < n; i++) /* a device that does not agree with the host is no judge */
        done = s->points[indices[i]].judge != JUDGE_HOST || reference_agrees(&right[i], &s->points[indices[i]].right);
    for (size_t i = 0; done && i < n; i++)
        if (s->points[indices[i]].judge == JUDGE_NOBODY) {
            s->points[indices[i]].right = right[i];
            s->points[indices[i]].judge = JUDGE_DEVICE;
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
    const size_t first = n < s->least + SAMPLE_LEAST_HOST ? n : s->least + SAMPLE_LEAST_HOST;
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
        if (s->points[i].device == index && (s->points[i].judge == JUDGE_NOBODY || on_host++ < SAMPLE_LEAST_HOST))
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
    sample_sort(s);
    for (size_t i = 0; i < s->count; i++) {
        known += s->points[i].judge != JUDGE_NOBODY;
        missing += s->points[i].judge == JUDGE_NOBODY && s->points[i].is_fixed;
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
    s->judges = sample_excludes_atoms(s) || job_is_by_parts(s->job) ? NULL : judges_create(s);
    if (s->judges == NULL)
        return;
    engine_run(s->job->engine, 0, &build, s->judges);
    engine_run(s->job->engine, 0, &task, s);
    let_loose(s->judges);
}

void sample_recompute(sample *s)
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

bool sample_is_confirmed(sample *s, size_t device, size_t worst)
{
    const sampled_point p = s->points[worst];
    if (p.judge == JUDGE_HOST)
        return true;
    const reference_value own = right_at(s, &p);
    if (reference_agrees(&p.right, &own))
        return true;
    for (size_t i = 0; i < s->count; i++)
        if (s->points[i].device == device && s->points[i].judge == JUDGE_DEVICE)
            s->points[i].judge = JUDGE_NOBODY;
    size_t must;
    const size_t known = known_first(s, &must), wanted = s->count < s->least ? s->count : s->least;
    const size_t end = must > wanted ? must : wanted;
    if (known < end)
        recompute_on_host(s, known, end);
    return false;
}
