/* The benchmark: each device's own limits, then every kernel variant against them, kernels only. */
#include "bench/bench.h"

#include "cancel.h"
#include "clock.h"
#include "core/options.h"
#include "engine/selector.h"
#include "error.h"
#include "io/waterbox.h"
#include "machine.h"
#include "parallel.h"
#include "schedule/method.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int usual_rounds = 3;

struct ley_bench {
    size_t count;
    bench_device *devices;
    ley_bench_options options;
    const bench_subject *subject;
    pthread_mutex_t mutex; /* for: */
    const worker *turn;    /* whose turn it is: rates of devices must not disturb each other; NULL: the next one's */
    size_t gain_count;
    bench_gain gains[BENCH_MOST_GAINS];
    bool has_left; /* a device was left behind in its driver, which may still read what it was given */
};

void ley_bench_options_default(ley_bench_options *options)
{
    *options = (ley_bench_options){.size = sizeof *options,
                                   .method = "dcs",
                                   .repeats = 7,
                                   .salt_M = 0.15,
                                   .math = LEY_MATH_AUTO,
                                   .sum = LEY_SUM_FLOAT};
    ley_long_range_default(&options->range);
}

double bench_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
    return (double)(*state >> 11) / 9007199254740992.0;
}

void bench_put_times(bench_row *r, const bench_repeats *repeats, const double *seconds)
{
    const size_t n = (size_t)repeats->done;
    const bench_statistics times = bench_statistics_of(seconds, n);
    if (seconds != r->runs_s)
        memcpy(r->runs_s, seconds, n * sizeof *seconds);
    r->row.run_count = n;
    r->row.runs_wanted = (size_t)repeats->wanted;
    r->row.median_s = times.median_s;
    r->row.spread = times.spread;
}

void bench_put_size_times(bench_size *size, const double *seconds, size_t n)
{
    const bench_statistics times = bench_statistics_of(seconds, n);
    memcpy(size->runs_s, seconds, times.n * sizeof *seconds);
    size->size.run_count = times.n;
    size->size.spread = times.spread;
}

double bench_joules(energy_counter *counter, double before_J, double seconds, size_t runs)
{
    double now_J = 0;
    if (counter == NULL || runs == 0 || !energy_read(counter, &now_J) || seconds < energy_least_s(counter) ||
        !energy_is_plausible(now_J - before_J, seconds))
        return NAN;
    return (now_J - before_J) / (double)runs;
}

double ley_bench_row_figure(const ley_bench_row *row, const char *name)
{
    for (size_t i = 0; i < row->figure_count; i++)
        if (strcmp(row->figures[i].name, name) == 0)
            return row->figure[i];
    return 0;
}

void bench_put_figure(ley_bench_row *row, const char *name, double value)
{
    for (size_t i = 0; i < row->figure_count; i++)
        if (strcmp(row->figures[i].name, name) == 0)
            row->figure[i] = value;
}

double bench_memory_share(double bytes, double seconds, const ley_bench_device *limits)
{
    return seconds > 0 && limits->memory_bytes_per_s > 0 ? bytes / limits->memory_bytes_per_s / seconds : 0;
}

ley_status bench_open(const worker *w, ley_engine **engine, ley_error *error)
{
    char selector[64];
    const dev_list *list = &w->engine->list;
    size_t device = 0;
    while (device + 1 < list->count && &list->infos[device] != w->info)
        device++;
    selector_of(list, device, selector, sizeof selector);
    return ley_engine_create(selector, engine, error);
}

/* More launches, until a counter has gone on for long enough: only theirs are counted. */
static ley_status count_joules(ley_status (*run)(void *context, double *seconds, ley_error *error), void *context,
                               bench_row *r, ley_error *error)
{
    const double start_s = ley_clock_s();
    double before_J = 0, took_s = 0;
    size_t runs = 0;
    ley_status status = LEY_OK;
    if (r->energy == NULL || !energy_read(r->energy, &before_J))
        return LEY_OK;
    do {
        status = run(context, &took_s, error);
        runs++;
    } while (status == LEY_OK && ley_clock_s() - start_s < energy_least_s(r->energy));
    r->row.joules = bench_joules(r->energy, before_J, ley_clock_s() - start_s, runs);
    return status;
}

ley_status bench_time(const ley_bench_options *o, double pairs,
                      ley_status (*run)(void *context, double *seconds, ley_error *error), void *context, bench_row *r,
                      ley_error *error)
{
    bench_repeats repeats = bench_repeats_begin(o->repeats, o->most_s);
    ley_status status = run(context, &repeats.spent_s, error); /* to warm up */
    while (status == LEY_OK && bench_repeats_go_on(&repeats)) {
        double *took_s = &r->runs_s[repeats.done++];
        *took_s = 0;
        status = run(context, took_s, error);
        repeats.spent_s += *took_s;
    }
    if (status != LEY_OK)
        return status;
    bench_put_times(r, &repeats, r->runs_s);
    r->row.evaluations_per_s = pairs / r->row.median_s;
    return count_joules(run, context, r, error);
}

bool bench_cancelled(const ley_bench_options *o)
{
    return cancel_flag_is_set(o->cancel);
}

/* What a job would take, as far as that is known before anything is measured; NULL: it is not. */
static const char *usual_of(const worker *w, const bench_subject *subject, const ley_bench_options *o,
                            const ley_bench_device *d)
{
    if (subject->usual != NULL)
        return subject->usual(w, o, d);
    return subject->kernel != NULL ? subject->kernel->usual(w->info, (int)o->sum) : NULL;
}

/* Of what is not timed on this device nothing may look as if it were. */
static void forget_times(bench_row *r)
{
    ley_bench_row *row = &r->row;
    row->evaluations_per_s = row->kernel_s = row->whole_s = row->root_share = row->fma_share = 0;
    for (size_t i = 0; i < row->figure_count; i++)
        row->figure[i] = row->figures[i].hangs_on_time ? 0 : row->figure[i];
    row->spread = row->median_s = row->joules = NAN;
    row->run_count = 0;
}

static const char *variant_at(const worker *w, const bench_subject *subject, const ley_bench_options *o,
                              const void *problem, size_t i)
{
    if (subject->kernel != NULL)
        return kernel_variant(subject->kernel, i);
    return subject->variant != NULL ? subject->variant(w, o, problem, i) : subject->named(i);
}

static void bench_variants(worker *w, const bench_subject *subject, const ley_bench_options *o, const void *problem,
                           bench_device *d)
{
    const char *name, *usual = usual_of(w, subject, o, &d->device);
    const char *only = o->variant == NULL && o->usual_only ? usual : o->variant;
    for (size_t i = 0;
         (name = variant_at(w, subject, o, problem, i)) != NULL && d->device.row_count < BENCH_MOST_VARIANTS; i++) {
        if ((only != NULL && strcmp(only, name) != 0) || bench_cancelled(o))
            continue;
        bench_row *r = &d->rows[d->device.row_count++];
        snprintf(r->name, sizeof r->name, "%s", name);
        r->row.variant = r->name;
        r->row.spread = r->row.median_s = r->row.joules = NAN;
        r->energy = d->energy;
        r->row.figures = subject->figures;
        while (subject->figures != NULL && subject->figures[r->row.figure_count].name != NULL)
            r->row.figure_count++;
        const char *why = subject->on_request != NULL && o->variant == NULL ? subject->on_request(w->info, name) : NULL;
        r->row.status = why != NULL ? ley_fail(&r->failure, LEY_ERROR_NO_DEVICE, "%s", why)
                                    : subject->measure(w, o, name, problem, &d->device, r);
        if (d->device.is_interpreter)
            forget_times(r);
        if (o->row_done != NULL)
            o->row_done(o->context);
    }
    usual = usual_of(w, subject, o, &d->device); /* by what is known now */
    for (size_t i = 0; i < d->device.row_count && usual != NULL; i++)
        d->rows[i].row.is_default = strcmp(d->rows[i].row.variant, usual) == 0;
}

/* Whether the variant that jobs take is among the rows, and right. */
static bool default_is_sound(const bench_device *d)
{
    for (size_t i = 0; i < d->device.row_count; i++)
        if (d->rows[i].row.is_default)
            return d->rows[i].row.status == LEY_OK && d->rows[i].row.accuracy.passed;
    return false;
}

static ley_status bench_problem(worker *w, const bench_subject *subject, const ley_bench_options *o, bench_device *d,
                                ley_error *error)
{
    void *problem = NULL;
    ley_status status = subject->make(o, &d->device, &problem, error);
    if (status == LEY_OK && subject->count != NULL)
        status = subject->count(w, o, problem, &d->device, error);
    if (status == LEY_OK) {
        bench_variants(w, subject, o, problem, d);
        if (subject->whole != NULL && !o->usual_only && default_is_sound(d) && !bench_cancelled(o))
            status = subject->whole(w, o, problem, &d->device, error);
    }
    if (status == LEY_OK && subject->host_loop != NULL && !o->usual_only && w->info->device_class == DEV_CPU &&
        !(w->info->quirks & DEV_QUIRK_INTERPRETER) && !bench_cancelled(o))
        status = subject->host_loop(o, problem, &d->device, error);
    subject->end(problem);
    return status;
}

static void put_limits(bench_device *d)
{
    const bench_limits *l = &d->limits;
    d->device.limit_rounds = l->rounds;
    d->device.limit_spread = l->spread;
    d->device.peak_fma_per_s = l->peak_fma_per_s;
    d->device.peak_text = l->peak_text[0] != '\0' ? l->peak_text : NULL;
    d->device.limit_doubt = l->doubt[0] != '\0' ? l->doubt : NULL;
}

/* Where kernels are interpreted, what stood for limits was made up. */
static void forget_limits(ley_bench_device *d)
{
    d->roots_per_s = d->exps_per_s = d->fma_per_s = d->memory_bytes_per_s = d->local_bytes_per_s = 0;
    d->peak_fma_per_s = d->whole_s = d->exponent = d->pairs_exponent = 0;
    d->limit_spread = d->whole_spread = NAN;
    d->limit_doubt = d->whole_variant = NULL;
    d->size_count = 0;
}

static void put_load(const machine_load *before, ley_bench_load *load)
{
    machine_load after;
    machine_load_now(&after);
    *load = (ley_bench_load){before->average, after.average, machine_load_of_others(before, &after), after.processors};
}

static void put_state(const dev_info *info, ley_bench_device *d)
{
    energy_state now;
    energy_state_now(info, &now);
    d->clock_MHz = now.clock_MHz;
    d->memory_clock_MHz = now.memory_clock_MHz;
    d->power_limit_W = now.power_limit_W;
}

static ley_status bench_one(worker *w, const ley_bench *bench, bench_device *d, ley_error *error)
{
    ley_bench_options own = bench->options;
    const ley_bench_options *o = &own;
    const bench_subject *subject = bench->subject;
    const bool needs_facts = !subject->needs_no_facts;
    if (w->device == NULL && !subject->is_of_host) {
        ley_error_copy(error, &w->open_error);
        return w->open_error.status;
    }
    const bench_limits *known = o->limits_of != NULL ? &o->limits_of->devices[d - bench->devices].limits : NULL;
    const bool is_measured = needs_facts && (known == NULL || known->rounds == 0);
    ley_status status = LEY_OK;
    if (is_measured)
        status =
            bench_limits_measure(w->device, o->limit_rounds > 0 ? o->limit_rounds : usual_rounds, &d->limits, error);
    else if (needs_facts)
        d->limits = *known;
    if (status != LEY_OK)
        return status;
    if (needs_facts)
        put_limits(d);
    d->device.is_interpreter = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0 && !subject->is_of_host;
    own.repeats = d->device.is_interpreter ? 1 : own.repeats;
    subject->choose(w, needs_facts ? &d->limits.facts : NULL, o, &d->device);
    status = o->linear ? subject->scale(w, o, &d->device, d->sizes, error) : bench_problem(w, subject, o, d, error);
    if (d->device.is_interpreter)
        forget_limits(&d->device);
    return status;
}

typedef struct bench_context {
    ley_bench *bench;
    ley_engine *engine;
} bench_context;

/* False: the caller wants no more. */
static bool take_turn(ley_bench *bench, const worker *w)
{
    bool has_turn = false;
    while (!has_turn && !bench_cancelled(&bench->options)) {
        pthread_mutex_lock(&bench->mutex);
        has_turn = bench->turn == NULL;
        bench->turn = has_turn ? w : bench->turn;
        pthread_mutex_unlock(&bench->mutex);
        if (!has_turn)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return has_turn;
}

static void end_turn(ley_bench *bench, const worker *w)
{
    pthread_mutex_lock(&bench->mutex);
    bench->turn = bench->turn == w ? NULL : bench->turn;
    pthread_mutex_unlock(&bench->mutex);
}

static void bench_task(worker *w, void *context)
{
    const bench_context *c = context;
    bench_device *d = &c->bench->devices[w - c->engine->workers];
    d->device.device = &w->public_info;
    if (!take_turn(c->bench, w))
        return;
    machine_load before;
    machine_load_now(&before);
    const bool is_silent = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0 || c->bench->subject->is_of_host;
    d->energy = is_silent ? NULL : energy_open(w->info);
    d->device.energy_counter = d->energy != NULL ? energy_name(d->energy) : NULL;
    d->device.status = bench_one(w, c->bench, d, &d->failure);
    put_state(w->info, &d->device);
    put_load(&before, &d->device.load);
    d->device.failure = d->device.status != LEY_OK ? d->failure.message : NULL;
    d->device.rows = d->public_rows;
    d->device.sizes = d->public_sizes;
    for (size_t i = 0; i < d->device.size_count; i++) {
        d->public_sizes[i] = d->sizes[i].size;
        d->public_sizes[i].runs_s = d->sizes[i].runs_s;
    }
    for (size_t i = 0; i < d->device.row_count; i++) {
        bench_row *r = &d->rows[i];
        r->row.variant = r->name;
        r->row.specification = r->specification;
        r->row.runs_s = r->runs_s;
        r->row.failure = r->row.status != LEY_OK ? r->failure.message : NULL;
        d->public_rows[i] = r->row;
    }
    end_turn(c->bench, w);
}

static bool bench_is_over(void *context)
{
    return bench_cancelled(&((const bench_context *)context)->bench->options);
}

/* In a driver that does not return, or, once the caller wants no more, has not soon returned: some
 * libraries prepare a transform for half a minute in one call. */
static void leave_bench(worker *w, void *context)
{
    const bench_context *c = context;
    bench_device *d = &c->bench->devices[w - c->engine->workers];
    c->bench->has_left = true;
    d->device.row_count = 0;
    ley_error_copy(&d->failure, &w->open_error);
    d->device.status = d->failure.status;
    d->device.failure = d->failure.message;
    end_turn(c->bench, w);
}

const bench_subject *bench_find(const char *name)
{
    for (size_t i = 0; name != NULL && bench_registry[i] != NULL; i++)
        if (strcmp(bench_registry[i]->name, name) == 0)
            return bench_registry[i];
    for (size_t i = 0; name != NULL && method_registry[i] != NULL; i++)
        if (strcmp(method_registry[i]->name, name) == 0)
            return method_registry[i]->bench;
    return NULL;
}

const char *bench_variant(const bench_subject *subject, size_t i)
{
    if (subject->kernel != NULL)
        return kernel_variant(subject->kernel, i);
    return subject->named != NULL ? subject->named(i) : NULL;
}

const char *ley_variant_name(const char *name, ley_target_kind target, size_t i)
{
    for (size_t k = 0; method_registry[k] != NULL; k++) {
        const method *m = method_registry[k];
        if (strcmp(m->name, name) != 0)
            continue;
        if (target == LEY_TARGET_POINTS && m->at_points != NULL)
            m = m->at_points;
        return m->kernel != NULL ? kernel_variant(m->kernel, i) : NULL;
    }
    const bench_subject *measured = bench_find(name);
    return measured != NULL ? bench_variant(measured, i) : NULL;
}

ley_status bench_check_box(const ley_engine *engine, const ley_bench_options *o, ley_error *error)
{
    (void)engine;
    return o->atoms != 0 ? waterbox_check(o->atoms, error) : LEY_OK;
}

static ley_status check_options(const ley_engine *engine, const ley_bench_options *options,
                                const bench_subject *subject, ley_error *error)
{
    if (options->method == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "no method is named");
    if (subject == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "no method with a benchmark is named %s", options->method);
    if ((unsigned)options->math >= LEY_MATH_COUNT || (unsigned)options->sum > LEY_SUM_DOUBLE)
        return ley_fail(error, LEY_ERROR_USAGE, "unknown arithmetic, or one that follows from a job's error");
    if (options->linear && subject->scale == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "this method is not measured on ever larger problems");
    if (subject->makes_grid && (options->n[0] > 0 || options->n[1] > 0 || options->n[2] > 0))
        return ley_fail(error, LEY_ERROR_USAGE, "the grid of this benchmark follows from its atoms");
    if (options->fft != NULL && options->preset != NULL && strcmp(options->preset, "fft") != 0)
        return ley_fail(error, LEY_ERROR_USAGE, "preset %s has no transforms: %s is for preset fft", options->preset,
                        options->fft);
    const char *name;
    bool known = options->variant == NULL;
    for (size_t i = 0; !known && (name = bench_variant(subject, i)) != NULL; i++)
        known = strcmp(name, options->variant) == 0;
    if (!known)
        return ley_fail(error, LEY_ERROR_USAGE, "no kernel variant is named %s", options->variant);
    return subject->check != NULL ? subject->check(engine, options, error) : LEY_OK;
}

static void put_gains(ley_engine *engine, ley_bench *b)
{
    b->gain_count = b->subject->together(engine, &b->options, b->devices, b->gains);
    for (size_t i = 0; i < b->gain_count; i++) {
        bench_gain *g = &b->gains[i];
        g->gain.name = g->name;
        g->gain.runs_s = g->runs_s;
        g->gain.failure = g->gain.status != LEY_OK ? g->failure.message : NULL;
    }
}

ley_status ley_bench_run(ley_engine *engine, const ley_bench_options *options, ley_bench **bench, ley_error *error)
{
    ley_bench_options taken;
    ley_status status = OPTIONS_TAKE(ley_bench_options, cancel, &taken, options, error);
    const bench_subject *subject = status == LEY_OK ? bench_find(taken.method) : NULL;
    if (status == LEY_OK)
        status = check_options(engine, &taken, subject, error);
    if (status != LEY_OK)
        return status;
    ley_bench *b = calloc(1, sizeof *b);
    if (b != NULL)
        b->devices = calloc(engine->worker_count, sizeof *b->devices);
    if (b == NULL || b->devices == NULL) {
        free(b);
        return ley_fail_memory(error, engine->worker_count * sizeof *b->devices, "the benchmark");
    }
    b->count = subject->is_of_host ? 1 : engine->worker_count;
    b->options = taken;
    b->subject = subject;
    pthread_mutex_init(&b->mutex, NULL);
    static const engine_task task = {.run = bench_task, .is_over = bench_is_over, .left = leave_bench};
    bench_context context = {b, engine};
    if (subject->is_of_host)
        bench_task(&engine->workers[0], &context);
    else
        engine_run(engine, 0, &task, &context);
    if (subject->together != NULL && !taken.linear && !b->has_left && !bench_cancelled(&taken))
        put_gains(engine, b);
    *bench = b;
    return LEY_OK;
}

void ley_host_describe(ley_host_info *host)
{
    machine_processor(host->processor, sizeof host->processor);
    machine_system(host->system, sizeof host->system);
    host->processors = parallel_cores();
}

void ley_bench_destroy(ley_bench *bench)
{
    if (bench == NULL)
        return;
    if (bench->has_left) {
        dev_keep(bench);
        return;
    }
    for (size_t d = 0; d < bench->count; d++) {
        for (size_t i = 0; i < BENCH_MOST_VARIANTS; i++)
            ley_error_clear(&bench->devices[d].rows[i].failure);
        ley_error_clear(&bench->devices[d].failure);
        energy_close(bench->devices[d].energy);
    }
    for (size_t i = 0; i < bench->gain_count; i++)
        ley_error_clear(&bench->gains[i].failure);
    pthread_mutex_destroy(&bench->mutex);
    free(bench->devices);
    free(bench);
}

size_t ley_bench_gain_count(const ley_bench *bench)
{
    return bench->gain_count;
}

const ley_bench_gain *ley_bench_gain_get(const ley_bench *bench, size_t i)
{
    return &bench->gains[i].gain;
}

size_t ley_bench_device_count(const ley_bench *bench)
{
    return bench->count;
}

const ley_bench_device *ley_bench_get(const ley_bench *bench, size_t i)
{
    return &bench->devices[i].device;
}
