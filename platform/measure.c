#include "measure.h"

#include "clock.h"
#include "error.h"
#include "watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A launch that is timed lasts so long at least: the clocks of some devices are coarse. On a
 * processor that other programs use as well a shorter one is less likely to be held up. */
static const double enough_s = 4e-3, enough_on_cpu_s = 1e-3;

/* So long after the first subject, which also waits for the driver's compiler to come to life, no
 * other one is begun that is not awaited. Rounds have what is left of it, and so much at least. */
static const double longest_s = 0.75, rounds_s = 0.25;

/* Distinct values among a subject's; on devices that have many work-items they come again. They are
 * written so many times at once. */
enum { DISTINCT = 1 << 16, REPEATED = 16 };

/* Rounds: so many, fewer when the order is clear and rates have settled. A card may take some to
 * wake up; of short launches more are needed, for some are held up. */
enum { MOST_ROUNDS = 9, FEWEST_ROUNDS = 3, MOST_SHORT_ROUNDS = 32, FEWEST_SHORT_ROUNDS = 8 };
static const double settled_gain = 1.03; /* what a rate grows in a round no more */
static const double clear_lead = 1.1;

/* What has so many times the rate, after this round, is beaten for good: a launch that something
 * else held up seems slow. Short launches of a busy processor may all be held up, at first. */
static double last_lead(int round, bool is_short)
{
    const int seen = is_short ? round - 4 : round;
    return seen < 0 ? INFINITY : seen == 0 ? 4 : seen == 1 ? 2 : 1.4;
}

/* One kernel in progress. */
typedef struct runner {
    measure_subject *subject;
    dev_kernel kernel;
    bool is_built, is_racing;
    int times;     /* steps of a launch */
    double best_s; /* of launches of so many steps */
    double gain;   /* of its rate in the last round */
} runner;

/* A buffer of one kind of input. */
typedef struct filled {
    double (*input)(double t);
    buffer_of_real buffer;
} filled;

enum { MOST_INPUTS = 4 };

struct measurement {
    dev *device;
    size_t count, groups;
    size_t values;   /* the most that one subject has */
    size_t distinct; /* of them; none has less */
    runner *runners;
    filled inputs[MOST_INPUTS];
    buffer_of_real out;
    dev_staging *staging;
    float *block;    /* distinct values, REPEATED times */
    double enough_s; /* of a launch */
    double until_s;
};

/* ---- Beginning and end ----------------------------------------------------------------------- */

static size_t values_of(const measurement *m, const measure_subject *s)
{
    const kernel_dialect *dialect = (const void *)s->spec; /* what all begin with */
    size_t size[3];
    s->kind->group(m->device->info, s->spec, size);
    return m->groups * size[0] * (size_t)s->chains * (size_t)dialect->width;
}

measurement *measure_begin(dev *device, measure_subject *subjects, size_t count)
{
    measurement *m = calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    m->device = device;
    m->groups = (size_t)device->info->compute_units * (device->info->device_class == DEV_GPU ? 32 : 16);
    m->distinct = DISTINCT;
    m->runners = calloc(count, sizeof *m->runners);
    m->block = malloc((size_t)DISTINCT * REPEATED * sizeof *m->block);
    if (m->runners == NULL || m->block == NULL) {
        measure_end(m);
        return NULL;
    }
    m->count = count;
    for (size_t i = 0; i < count; i++) {
        const size_t values = values_of(m, &subjects[i]);
        m->runners[i].subject = &subjects[i];
        m->values = values > m->values ? values : m->values;
        m->distinct = values < m->distinct ? values : m->distinct;
        subjects[i].is_known = false;
        subjects[i].error = INFINITY;
        subjects[i].per_s = 0;
    }
    return m;
}

void measure_end(measurement *m)
{
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->count; i++)
        kernel_destroy(&m->runners[i].kernel);
    for (size_t i = 0; i < MOST_INPUTS; i++)
        if (m->inputs[i].buffer.buffer != NULL)
            m->device->backend->buffer_destroy(m->device, m->inputs[i].buffer.buffer);
    if (m->out.buffer != NULL)
        m->device->backend->buffer_destroy(m->device, m->out.buffer);
    if (m->staging != NULL)
        m->device->backend->staging_destroy(m->device, m->staging);
    free(m->block);
    free(m->runners);
    free(m);
}

void measure_build(measurement *m)
{
    kernel_order *orders = calloc(m->count, sizeof *orders);
    if (orders == NULL || !kernels_are_built_at_once(m->device->info)) { /* then each in its turn */
        free(orders);
        return;
    }
    for (size_t i = 0; i < m->count; i++) {
        orders[i].kind = m->runners[i].subject->kind;
        orders[i].spec = m->runners[i].subject->spec;
    }
    kernels_create(m->device, orders, m->count);
    for (size_t i = 0; i < m->count; i++) {
        m->runners[i].kernel = orders[i].kernel;
        m->runners[i].is_built = orders[i].status == LEY_OK; /* what has failed is tried once more: then it says why */
        ley_error_clear(&orders[i].error);
    }
    free(orders);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* As kernels get it. */
static float input_at(const measurement *m, double (*input)(double t), size_t i)
{
    return (float)input((double)i / (double)m->distinct);
}

static ley_status fill(const measurement *m, const filled *f, ley_error *error)
{
    const size_t block = m->distinct * REPEATED;
    ley_status status = LEY_OK;
    for (size_t i = 0; i < m->distinct; i++)
        m->block[i] = input_at(m, f->input, i);
    for (size_t i = m->distinct; i < block; i++)
        m->block[i] = m->block[i - m->distinct];
    for (size_t at = 0; status == LEY_OK && at < m->values; at += block) {
        const size_t left = m->values - at;
        status = m->device->backend->write(m->device, f->buffer.buffer, at * sizeof(float), m->block,
                                           (left < block ? left : block) * sizeof(float), error);
    }
    return status;
}

/* The buffer with a subject's input, which it shares with others. */
static ley_status get_input(measurement *m, const measure_subject *s, buffer_of_real *in, ley_error *error)
{
    size_t i = 0;
    while (i < MOST_INPUTS && m->inputs[i].buffer.buffer != NULL && m->inputs[i].input != s->input)
        i++;
    if (i == MOST_INPUTS)
        return ley_fail(error, LEY_ERROR_MEMORY, "more kinds of input than a measurement has buffers for");
    filled *f = &m->inputs[i];
    if (f->buffer.buffer == NULL) {
        f->input = s->input;
        ley_status status = m->device->backend->buffer_create(m->device, m->values * sizeof(float), DEV_READ_ONLY,
                                                              &f->buffer.buffer, error);
        if (status == LEY_OK)
            status = fill(m, f, error);
        if (status != LEY_OK)
            return status;
    }
    *in = f->buffer;
    return LEY_OK;
}

static ley_status make_out(measurement *m, ley_error *error)
{
    const dev_backend *b = m->device->backend;
    ley_status status = LEY_OK;
    if (m->out.buffer == NULL)
        status = b->buffer_create(m->device, m->values * sizeof(float), DEV_READ_WRITE, &m->out.buffer, error);
    if (status == LEY_OK && m->staging == NULL)
        status = b->staging_create(m->device, m->distinct * sizeof(float), &m->staging, error);
    return status;
}

/* ---- Launches -------------------------------------------------------------------------------- */

static ley_status launch(measurement *m, runner *r, int times, double *seconds, ley_error *error)
{
    const size_t groups[3] = {m->groups, 1, 1};
    rate_arguments arguments = {.kind = r->kernel.kind, .times = times, .gm_out = m->out};
    dev_event *event = NULL;
    dev_times when;
    ley_status status = get_input(m, r->subject, &arguments.gm_in, error);
    if (status == LEY_OK)
        status = kernel_launch(&r->kernel, groups, &arguments, &event, error);
    if (status == LEY_OK)
        status = m->device->backend->wait(m->device, event, &when, error);
    if (status == LEY_OK)
        *seconds = when.end_s - when.start_s;
    return status;
}

/* Of what the last launch, of one step, has made of the input. */
static ley_status find_error(measurement *m, const runner *r, ley_error *error)
{
    const dev_backend *b = m->device->backend;
    measure_subject *s = r->subject;
    dev_event *event = NULL;
    ley_status status =
        b->read(m->device, m->out.buffer, 0, m->staging, m->distinct * sizeof(float), NULL, &event, error);
    if (status == LEY_OK)
        status = b->wait(m->device, event, NULL, error);
    if (status != LEY_OK)
        return status;
    const float *out = m->staging->bytes;
    double largest = 0;
    for (size_t i = 0; i < m->distinct; i++) {
        const double relative = fabs((double)out[i] / s->result((double)input_at(m, s->input, i)) - 1);
        largest = isnan(relative) ? INFINITY : fmax(largest, relative);
    }
    s->error = largest;
    return LEY_OK;
}

static bool is_late(const measurement *m)
{
    return ley_clock_s() > m->until_s;
}

/* Ever longer launches until one takes long enough to time. */
static ley_status find_times(measurement *m, runner *r, double first_s, ley_error *error)
{
    enum { MOST_TIMES = 1 << 24, FIRST_TIMES = 64 };
    r->times = first_s < m->enough_s ? FIRST_TIMES : 1;
    ley_status status = launch(m, r, r->times, &r->best_s, error);
    while (status == LEY_OK && r->best_s < m->enough_s && r->times < MOST_TIMES && !is_late(m)) {
        const double needed = m->enough_s / fmax(r->best_s, m->enough_s / FIRST_TIMES);
        for (double grown = 1; grown < needed && r->times < MOST_TIMES; grown *= 2)
            r->times *= 2;
        status = launch(m, r, r->times, &r->best_s, error);
    }
    return status;
}

static void note_rate(const measurement *m, runner *r)
{
    const double before = r->subject->per_s;
    if (r->best_s > 0)
        r->subject->per_s = (double)values_of(m, r->subject) * r->times / r->best_s;
    r->gain = before > 0 ? r->subject->per_s / before : INFINITY;
}

/* What does not run is not to be had. */
static void give_up(runner *r)
{
    r->subject->is_known = true;
    r->subject->error = INFINITY;
    r->subject->per_s = 0;
    r->is_racing = false;
}

/* A first look at a subject: its error, and its rate from one launch. */
static ley_status look(measurement *m, runner *r, ley_error *error)
{
    const measure_subject *s = r->subject;
    double first_s = 0;
    ley_status status = LEY_OK;
    if (!r->is_built)
        status = kernel_create(m->device, s->kind, s->spec, NULL, NULL, &r->kernel, error);
    r->is_built = status == LEY_OK;
    if (status == LEY_OK)
        status = make_out(m, error);
    if (status == LEY_OK)
        status = launch(m, r, 1, &first_s, error);
    if (status == LEY_OK && s->result != NULL)
        status = find_error(m, r, error);
    if (status == LEY_OK)
        status = find_times(m, r, first_s, error);
    if (status != LEY_OK)
        return status;
    r->subject->is_known = r->is_racing = true;
    note_rate(m, r);
    return LEY_OK;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* Whether `a` is so many times faster than `b`, and no less right: whatever error is asked for, a
 * is the better one. */
static bool beats(const runner *a, const runner *b, double lead, double tolerance)
{
    return a != b && a->subject->race == b->subject->race &&
           fmax(a->subject->error, tolerance) <= fmax(b->subject->error, tolerance) &&
           a->subject->per_s >= lead * b->subject->per_s;
}

/* Whether a rival is so many times faster than this one. */
static bool is_beaten(const measurement *m, const runner *r, double lead, double tolerance)
{
    bool beaten = false;
    for (size_t i = 0; i < m->count; i++) {
        const measure_subject *rival = m->runners[i].subject;
        beaten = beaten || (rival->is_known && rival->is_rival && beats(&m->runners[i], r, lead, tolerance));
    }
    return beaten;
}

static void drop_beaten(const measurement *m, double lead, double tolerance)
{
    for (size_t i = 0; i < m->count; i++)
        if (is_beaten(m, &m->runners[i], lead, tolerance))
            m->runners[i].is_racing = false;
}

/* Whether another one that is in front is nearly as fast. */
static bool is_close(const measurement *m, const runner *r, double tolerance)
{
    bool close = false;
    for (size_t i = 0; i < m->count; i++) {
        const runner *other = &m->runners[i];
        close = close || (other->is_racing && beats(r, other, 1, tolerance) && !beats(r, other, clear_lead, tolerance));
    }
    return close;
}

/* Whether rates have settled, and it is clear which ones are in front. */
static bool is_clear(const measurement *m, double tolerance)
{
    bool clear = true;
    for (size_t i = 0; i < m->count; i++) {
        const runner *r = &m->runners[i];
        const bool is_in_front = r->is_racing && !is_beaten(m, r, clear_lead, tolerance);
        clear = clear && !(r->is_racing && r->gain > settled_gain) && !(is_in_front && is_close(m, r, tolerance));
    }
    return clear;
}

static ley_status run_round(measurement *m, ley_error *error)
{
    for (size_t i = 0; i < m->count && !is_late(m); i++) {
        runner *r = &m->runners[i];
        double seconds = 0;
        if (!r->is_racing)
            continue;
        const ley_status status = launch(m, r, r->times, &seconds, r->subject->is_needed ? error : NULL);
        if (status == LEY_OK) {
            r->best_s = fmin(r->best_s, seconds);
            note_rate(m, r);
        } else if (status == LEY_CANCELLED || r->subject->is_needed) {
            return status;
        } else {
            give_up(r);
        }
    }
    return LEY_OK;
}

/* A first look at each, as long as there is time. */
static ley_status look_at_all(measurement *m, bool is_precise, ley_error *error)
{
    m->until_s = INFINITY;
    for (size_t i = 0; i < m->count; i++) {
        runner *r = &m->runners[i];
        const bool is_needed = r->subject->is_needed;
        if (!is_needed && !r->subject->is_awaited && is_late(m))
            continue;
        const ley_status status = look(m, r, is_needed ? error : NULL);
        if (watch_ends())
            return ley_fail(error, LEY_CANCELLED, "cancelled");
        if (status != LEY_OK && is_needed)
            return status;
        if (status != LEY_OK)
            give_up(r);
        if (i == 0 && !is_precise)
            m->until_s = ley_clock_s() + longest_s;
    }
    return LEY_OK;
}

ley_status measure_run(measurement *m, double tolerance, bool is_precise, ley_error *error)
{
    const bool is_short = !is_precise && m->device->info->device_class == DEV_CPU;
    const int most = is_short ? MOST_SHORT_ROUNDS : MOST_ROUNDS;
    const int fewest = is_short ? FEWEST_SHORT_ROUNDS : FEWEST_ROUNDS;
    m->enough_s = is_short ? enough_on_cpu_s : enough_s;
    ley_status status = look_at_all(m, is_precise, error);
    m->until_s = fmax(m->until_s, ley_clock_s() + rounds_s);
    for (int round = 0; status == LEY_OK && round < most && !is_late(m); round++) {
        drop_beaten(m, last_lead(round, is_short), tolerance);
        if (!is_precise && round >= fewest && is_clear(m, tolerance))
            break;
        status = run_round(m, error);
        if (watch_ends())
            status = ley_fail(error, LEY_CANCELLED, "cancelled");
    }
    return status;
}
