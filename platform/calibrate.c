#include "calibrate.h"

#include "arguments.h"
#include "build_cache.h"
#include "clock.h"
#include "dev_kernel.h"
#include "error.h"
#include "log.h"
#include "source.h"
#include "watch.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOT_CHAINS = 8, FMA_CHAINS = 16, LOCAL_CHAINS = 8, LOCAL_BYTES = 16 };

static const double wrong_root = 1e-4;   /* relative error that no device's standard root has */
static const double nothing_per_s = 1e6; /* the rates of a device that interprets its kernels */

static const char *const root_names[LEY_ROOT_COUNT] = {
    [LEY_ROOT_STANDARD] = "rsqrt", [LEY_ROOT_RECIPROCAL] = "1/sqrt",        [LEY_ROOT_NATIVE] = "native_rsqrt",
    [LEY_ROOT_NEWTON] = "Newton",  [LEY_ROOT_PTX] = "PTX rsqrt.approx.ftz", [LEY_ROOT_AVX512] = "vrsqrt14ps + Newton",
};

static const char *const exp_names[LEY_EXP_COUNT] = {
    [LEY_EXP_STANDARD] = "exp2",
    [LEY_EXP_NATIVE] = "native_exp2",
    [LEY_EXP_POLYNOMIAL] = "polynomial",
    [LEY_EXP_PTX] = "PTX ex2.approx.ftz",
};

static const char *const root_words[LEY_ROOT_COUNT] = {"standard", "reciprocal", "native", "newton", "ptx", "avx512"};
static const char *const exp_words[LEY_EXP_COUNT] = {"standard", "native", "polynomial", "ptx"};

const char *calibrate_root_word(int root)
{
    return root_words[root];
}

const char *calibrate_exp_word(int exp)
{
    return exp_words[exp];
}

const char *calibrate_exp_name(int exp)
{
    return exp >= 0 && exp < LEY_EXP_COUNT ? exp_names[exp] : "?";
}

bool calibrate_exp_possible(const dev_info *info, int exp, int width)
{
    return exp != LEY_EXP_PTX || ((info->quirks & DEV_QUIRK_PTX) != 0 && width == 1);
}

const char *calibrate_root_name(int root)
{
    return root >= 0 && root < LEY_ROOT_COUNT ? root_names[root] : "?";
}

bool calibrate_root_possible(const dev_info *info, int root, int width)
{
    switch (root) {
    case LEY_ROOT_PTX:
        return (info->quirks & DEV_QUIRK_PTX) != 0 && width == 1;
    case LEY_ROOT_AVX512:
        return (info->quirks & DEV_QUIRK_AVX512) != 0 && width == 16;
    default:
        return true;
    }
}

int calibrate_width(const dev_info *info)
{
    static const int widths[] = {16, 8, 4};
    if (info->device_class == DEV_CPU)
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
            if (info->vector_width >= widths[i])
                return widths[i];
    return 1;
}

/* ---- The kernels ----------------------------------------------------------------------------- */

typedef struct exps_spec {
    LEY_EXPS_KEYS(KERNEL_KEY_FIELD)
} exps_spec;

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    const kernel_dialect *s = spec; /* what all begin with */
    const size_t wanted = info->device_class == DEV_GPU ? 256 : s->width > 1 ? 1 : 32;
    size[0] = wanted < info->max_work_group ? wanted : info->max_work_group;
    size[1] = size[2] = 1;
}

/* Every recipe that the device can be asked for. */
static void root_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    kernel_dialect spec = {.sum = LEY_SPEC_SUM_FLOAT, .width = calibrate_width(info)};
    char name[KERNEL_NAME];
    (void)depth;
    for (spec.root = 0; spec.root < LEY_ROOT_COUNT; spec.root++)
        if (calibrate_root_possible(info, spec.root, spec.width)) {
            snprintf(name, sizeof name, "roots-%s", root_words[spec.root]);
            visit(context, name, &spec);
        }
}

static void exp_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    exps_spec spec = {.sum = LEY_SPEC_SUM_FLOAT, .width = calibrate_width(info), .root = LEY_ROOT_STANDARD};
    char name[KERNEL_NAME];
    (void)depth;
    for (spec.exp = 0; spec.exp < LEY_EXP_COUNT; spec.exp++)
        if (calibrate_exp_possible(info, spec.exp, spec.width)) {
            snprintf(name, sizeof name, "exps-%s", exp_words[spec.exp]);
            visit(context, name, &spec);
        }
}

static void visit_only(const dev_info *info, const char *name, kernel_visit *visit, void *context)
{
    const kernel_dialect spec = {.sum = LEY_SPEC_SUM_FLOAT, .width = calibrate_width(info), .root = LEY_ROOT_STANDARD};
    visit(context, name, &spec);
}

static void multiply_add_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)depth;
    visit_only(info, "multiply_adds", visit, context);
}

static void local_read_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)depth;
    visit_only(info, "local_reads", visit, context);
}

/* All of them take the same arguments. */
KERNEL_ARGUMENTS_STRUCT(rate, LEY_RATE_ARGUMENTS);
KERNEL_DESCRIBE_ARGUMENTS(rate, LEY_RATE_ARGUMENTS)
const kernel_kind roots_kind = {KERNEL_DESCRIPTION(roots, LEY_DIALECT_KEYS, rate), .group = group_of,
                                .specs = root_specs};
const kernel_kind exps_kind = {KERNEL_DESCRIPTION(exps, LEY_EXPS_KEYS, rate), .group = group_of, .specs = exp_specs};
const kernel_kind multiply_adds_kind = {KERNEL_DESCRIPTION(multiply_adds, LEY_DIALECT_KEYS, rate), .group = group_of,
                                        .specs = multiply_add_specs};
const kernel_kind local_reads_kind = {KERNEL_DESCRIPTION(local_reads, LEY_DIALECT_KEYS, rate), .group = group_of,
                                      .specs = local_read_specs};

/* ---- A measurement --------------------------------------------------------------------------- */

/* One in progress: one kernel, its input and output. */
typedef struct probe {
    dev *device;
    dev_kernel kernel;
    buffer_of_real in, out;
    dev_staging *staging;
    size_t groups, chains, values; /* values: floats in a buffer */
    float *input;
} probe;

static void probe_end(probe *p)
{
    const dev_backend *b = p->device->backend;
    b->staging_destroy(p->device, p->staging);
    b->buffer_destroy(p->device, p->out.buffer);
    b->buffer_destroy(p->device, p->in.buffer);
    kernel_destroy(&p->kernel);
    free(p->input);
}

/* Inputs of the kernels, for t in [0, 1): roots of numbers spread evenly on a logarithmic scale,
 * exponentials within a float's range. */
static double root_input(double t)
{
    return pow(10, -5 + 14 * t);
}
static double exp_input(double t)
{
    return 120 * t;
}

/* What a recipe's result should be, for its relative error. */
static double root_result(double x)
{
    return 1 / sqrt(x);
}
static double exp_result(double x)
{
    return exp2(-x);
}

typedef double (*probe_function)(double);

static ley_status probe_buffers(probe *p, ley_error *error)
{
    const dev_backend *b = p->device->backend;
    const size_t bytes = p->values * sizeof(float);
    ley_status status = b->buffer_create(p->device, bytes, DEV_READ_ONLY, &p->in.buffer, error);
    if (status == LEY_OK)
        status = b->buffer_create(p->device, bytes, DEV_READ_WRITE, &p->out.buffer, error);
    if (status == LEY_OK)
        status = b->staging_create(p->device, bytes, &p->staging, error);
    return status == LEY_OK ? b->write(p->device, p->in.buffer, 0, p->input, bytes, error) : status;
}

/* Builds a kernel with these recipes, and fills its input. */
static ley_status probe_begin(probe *p, dev *device, const kernel_kind *kind, int root, int exp, probe_function input,
                              size_t chains, ley_error *error)
{
    const dev_info *info = device->info;
    const int width = calibrate_width(info);
    const exps_spec spec = {.sum = LEY_SPEC_SUM_FLOAT, .width = width, .root = root, .exp = exp};
    size_t group_size[3];
    *p = (probe){.device = device, .chains = chains};
    kind->group(info, &spec, group_size);
    p->groups = (size_t)info->compute_units * (info->device_class == DEV_GPU ? 32 : 16);
    p->values = p->groups * group_size[0] * chains * (size_t)width;
    p->input = malloc(p->values * sizeof(float));
    if (p->input == NULL)
        return ley_fail_memory(error, p->values * sizeof(float), "calibration");
    for (size_t i = 0; i < p->values; i++)
        p->input[i] = (float)input((double)i / (double)p->values);
    ley_status status = kernel_create(device, kind, &spec, NULL, NULL, &p->kernel, error);
    return status == LEY_OK ? probe_buffers(p, error) : status;
}

static ley_status probe_run(probe *p, int times, double *seconds, ley_error *error)
{
    const size_t groups[3] = {p->groups, 1, 1};
    const rate_arguments arguments = {.kind = p->kernel.kind, .gm_in = p->in, .times = times, .gm_out = p->out};
    dev_event *event = NULL;
    dev_times when;
    ley_status status = kernel_launch(&p->kernel, groups, &arguments, &event, error);
    if (status == LEY_OK)
        status = p->device->backend->wait(p->device, event, &when, error);
    if (status == LEY_OK)
        *seconds = when.end_s - when.start_s;
    return status;
}

/* Operations per second: ever longer runs until one takes long enough to time, then the best of
 * nine: a card may take a while to wake up. */
static ley_status probe_rate(probe *p, double *per_s, ley_error *error)
{
    const double enough_s = 4e-3;
    double best_s = 0;
    int times = 64;
    ley_status status = probe_run(p, times, &best_s, error);
    while (status == LEY_OK && best_s < enough_s && times < 1 << 24) {
        times *= best_s > enough_s / 16 ? 2 : 8;
        status = probe_run(p, times, &best_s, error);
    }
    for (int again = 0; status == LEY_OK && again < 9; again++) {
        double s = best_s;
        status = probe_run(p, times, &s, error);
        best_s = fmin(best_s, s);
    }
    *per_s = status == LEY_OK && best_s > 0 ? (double)p->values * times / best_s : 0;
    return status;
}

static ley_status probe_error(probe *p, probe_function result, double *largest, ley_error *error)
{
    const dev_backend *b = p->device->backend;
    double seconds;
    dev_event *event = NULL;
    ley_status status = probe_run(p, 1, &seconds, error);
    if (status == LEY_OK)
        status = b->read(p->device, p->out.buffer, 0, p->staging, p->values * sizeof(float), NULL, &event, error);
    if (status == LEY_OK)
        status = b->wait(p->device, event, NULL, error);
    if (status != LEY_OK)
        return status;
    const float *out = p->staging->bytes;
    *largest = 0;
    for (size_t i = 0; i < p->values; i++) {
        double relative = fabs((double)out[i] / result((double)p->input[i]) - 1);
        *largest = isnan(relative) ? INFINITY : fmax(*largest, relative);
    }
    return LEY_OK;
}

static ley_status measure_root(dev *device, int root, calibration *c, ley_error *error)
{
    probe p;
    ley_status status = probe_begin(&p, device, &roots_kind, root, 0, root_input, ROOT_CHAINS, error);
    if (status == LEY_OK)
        status = probe_error(&p, root_result, &c->root_error[root], error);
    if (status == LEY_OK)
        status = probe_rate(&p, &c->roots_per_s[root], error);
    probe_end(&p);
    return status;
}

static ley_status measure_exp(dev *device, int exp, calibration *c, ley_error *error)
{
    probe p;
    ley_status status = probe_begin(&p, device, &exps_kind, LEY_ROOT_STANDARD, exp, exp_input, ROOT_CHAINS, error);
    if (status == LEY_OK)
        status = probe_error(&p, exp_result, &c->exp_error[exp], error);
    if (status == LEY_OK)
        status = probe_rate(&p, &c->exps_per_s[exp], error);
    probe_end(&p);
    return status;
}

static ley_status measure_fma(dev *device, calibration *c, ley_error *error)
{
    probe p;
    ley_status status =
        probe_begin(&p, device, &multiply_adds_kind, LEY_ROOT_STANDARD, 0, root_input, FMA_CHAINS, error);
    if (status == LEY_OK)
        status = probe_rate(&p, &c->fma_per_s, error);
    probe_end(&p);
    return status;
}

/* A read is one work-item's, however wide its results are. */
double calibrate_local_bytes(dev *device)
{
    probe p;
    double reads_per_s = 0;
    if (device->info->quirks & DEV_QUIRK_INTERPRETER)
        return nothing_per_s;
    ley_status status = probe_begin(&p, device, &local_reads_kind, LEY_ROOT_STANDARD, 0, exp_input, LOCAL_CHAINS, NULL);
    if (status == LEY_OK)
        status = probe_rate(&p, &reads_per_s, NULL);
    probe_end(&p);
    return status == LEY_OK ? reads_per_s * LOCAL_BYTES / calibrate_width(device->info) : 0;
}

static cache_key key_of(const dev_info *info)
{
    char *roots = NULL, *exps = NULL, *texts = NULL, facts[256];
    cache_key key = {""};
    snprintf(facts, sizeof facts, "quirks %u, width %d, units %d, group %zu, recipes %d %d, bytes %zu", info->quirks,
             calibrate_width(info), info->compute_units, info->max_work_group, LEY_ROOT_COUNT, LEY_EXP_COUNT,
             sizeof(calibration));
    if (source_load("roots", info->backend->source_suffix, &roots, NULL) == LEY_OK &&
        source_load("exps", info->backend->source_suffix, &exps, NULL) == LEY_OK &&
        asprintf(&texts, "%s%s", roots, exps) >= 0)
        key = cache_key_make(info, "calibration", texts, facts);
    free(texts);
    free(exps);
    free(roots);
    return key;
}

/* On a device that interprets its kernels only the standard's root counts, and no rate means
 * anything. */
static void assume(calibration *c)
{
    c->root_error[LEY_ROOT_STANDARD] = 2.4e-7; /* 2 ulp */
    c->exp_error[LEY_EXP_STANDARD] = 3.6e-7;   /* 3 ulp */
    c->roots_per_s[LEY_ROOT_STANDARD] = c->exps_per_s[LEY_EXP_STANDARD] = c->fma_per_s = nothing_per_s;
}

/* What does not run is not to be had. Whether nobody wants the result any more shows at the end. */
static void measure_recipes(dev *device, calibration *c)
{
    const dev_info *info = device->info;
    const int width = calibrate_width(info);
    for (int root = LEY_ROOT_STANDARD + 1; root < LEY_ROOT_COUNT; root++)
        if (calibrate_root_possible(info, root, width) && measure_root(device, root, c, NULL) != LEY_OK) {
            c->root_error[root] = INFINITY;
            c->roots_per_s[root] = 0;
        }
    for (int exp = LEY_EXP_STANDARD + 1; exp < LEY_EXP_COUNT; exp++)
        if (calibrate_exp_possible(info, exp, width) && measure_exp(device, exp, c, NULL) != LEY_OK) {
            c->exp_error[exp] = INFINITY;
            c->exps_per_s[exp] = 0;
        }
}

static ley_status measure(dev *device, calibration *result, ley_error *error)
{
    calibration c = {.fma_per_s = 0};
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        c.root_error[root] = INFINITY;
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++)
        c.exp_error[exp] = INFINITY;
    if (device->info->quirks & DEV_QUIRK_INTERPRETER) {
        assume(&c);
        *result = c;
        return LEY_OK;
    }
    ley_status status = measure_root(device, LEY_ROOT_STANDARD, &c, error);
    if (status == LEY_OK &&
        !(c.root_error[LEY_ROOT_STANDARD] <= wrong_root)) /* not to be kept for when the device is well again */
        status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "calibration failed: its square roots are off by %.3g",
                          c.root_error[LEY_ROOT_STANDARD]);
    if (status == LEY_OK)
        status = measure_exp(device, LEY_EXP_STANDARD, &c, error);
    if (status == LEY_OK)
        status = measure_fma(device, &c, error);
    if (status != LEY_OK)
        return status;
    measure_recipes(device, &c);
    if (watch_ends())
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    const cache_key key = key_of(device->info);
    cache_put(&key, &c, sizeof c);
    *result = c;
    return LEY_OK;
}

bool calibrate_cached(const dev_info *info, calibration *result)
{
    size_t size = 0;
    const cache_key key = key_of(info);
    void *bytes = cache_get(&key, &size);
    bool found = bytes != NULL && size == sizeof *result;
    if (found)
        memcpy(result, bytes, sizeof *result);
    free(bytes);
    return found;
}

bool calibrate_known(const dev *device, const dev_info *info, calibration *result)
{
    if (device == NULL || !device->is_calibrated)
        return calibrate_cached(info, result);
    *result = device->facts;
    return true;
}

/* Devices that share a card, or the host's cores, are measured one at a time, for what is measured
 * is kept. Who waits may find what it would measure. */
enum { MOST_TURNS = 64 };
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    const dev *holders[MOST_TURNS];
} turns = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {NULL}};

static bool share(const dev_info *a, const dev_info *b)
{
    return a->index == b->index || (a->device_class == DEV_CPU && b->device_class == DEV_CPU);
}

/* The caller holds the mutex. */
static bool is_free(const dev *device)
{
    for (int i = 0; i < MOST_TURNS; i++)
        if (turns.holders[i] != NULL && share(turns.holders[i]->info, device->info))
            return false;
    return true;
}

/* A device that is very slow, or hangs, does not keep the others. */
static void take_turn(const dev *device)
{
    const double until_s = ley_clock_s() + watch_turn_s();
    int i = 0;
    pthread_mutex_lock(&turns.mutex);
    while (!is_free(device) && ley_clock_s() < until_s && !watch_ends()) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 100000000;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&turns.changed, &turns.mutex, &soon);
    }
    while (i < MOST_TURNS && turns.holders[i] != NULL)
        i++;
    if (i < MOST_TURNS)
        turns.holders[i] = device;
    pthread_mutex_unlock(&turns.mutex);
}

void calibrate_leave(const dev *device)
{
    pthread_mutex_lock(&turns.mutex);
    for (int i = 0; i < MOST_TURNS; i++)
        if (turns.holders[i] == device)
            turns.holders[i] = NULL;
    pthread_cond_broadcast(&turns.changed);
    pthread_mutex_unlock(&turns.mutex);
}

static void log_calibration(const dev_info *info, const calibration *c, double measured_s)
{
    if (measured_s < 0)
        log_say(LEY_LOG_DETAIL, "%s: rates and errors of its recipes are in the cache", info->name);
    else
        log_say(LEY_LOG_NOTE, "%s: rates and errors of its recipes measured in %.3f s", info->name, measured_s);
    if (!log_wants(LEY_LOG_DETAIL))
        return;
    log_say(LEY_LOG_DETAIL, "%s: %.3g multiply-adds/s", info->name, c->fma_per_s);
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        if (c->roots_per_s[root] > 0)
            log_say(LEY_LOG_DETAIL, "%s: root %s: %.3g/s, error %.2g", info->name, root_names[root],
                    c->roots_per_s[root], c->root_error[root]);
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++)
        if (c->exps_per_s[exp] > 0)
            log_say(LEY_LOG_DETAIL, "%s: exponential %s: %.3g/s, error %.2g", info->name, exp_names[exp],
                    c->exps_per_s[exp], c->exp_error[exp]);
}

static ley_status measure_in_turn(dev *device, bool anew, calibration *result, ley_error *error)
{
    take_turn(device);
    const double start_s = ley_clock_s();
    const bool is_cached = !anew && calibrate_cached(device->info, result);
    ley_status status = is_cached ? LEY_OK : measure(device, result, error);
    calibrate_leave(device);
    if (status == LEY_OK)
        log_calibration(device->info, result, is_cached ? -1 : ley_clock_s() - start_s);
    if (status == LEY_OK) {
        device->facts = *result;
        device->is_calibrated = true;
    }
    return status;
}

ley_status calibrate_measure(dev *device, calibration *result, ley_error *error)
{
    return measure_in_turn(device, true, result, error);
}

ley_status calibrate_get(dev *device, calibration *result, ley_error *error)
{
    if (!device->is_calibrated)
        return measure_in_turn(device, false, result, error);
    *result = device->facts;
    return LEY_OK;
}

/* The fastest of those whose error is at most `need`; the nearest when there is none. A recipe that
 * is impossible has an infinite error. */
static int fastest(int count, const double *errors, const double *rates, double need)
{
    int best = -1, nearest = 0;
    for (int i = 0; i < count; i++) {
        if (errors[i] < errors[nearest])
            nearest = i;
        if (errors[i] <= need && rates[i] > 0 && (best < 0 || rates[i] > rates[best]))
            best = i;
    }
    return best >= 0 ? best : nearest;
}

int calibrate_fastest_root(const dev_info *info, const calibration *c, int width, double need)
{
    double errors[LEY_ROOT_COUNT];
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        errors[root] = calibrate_root_possible(info, root, width) ? c->root_error[root] : INFINITY;
    return fastest(LEY_ROOT_COUNT, errors, c->roots_per_s, need);
}

int calibrate_fastest_exp(const dev_info *info, const calibration *c, int width, double need)
{
    double errors[LEY_EXP_COUNT];
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++)
        errors[exp] = calibrate_exp_possible(info, exp, width) ? c->exp_error[exp] : INFINITY;
    return fastest(LEY_EXP_COUNT, errors, c->exps_per_s, need);
}
