#include "calibrate.h"

#include "build_cache.h"
#include "clock.h"
#include "error.h"
#include "log.h"
#include "measure.h"
#include "source.h"
#include "watch.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Values of a work-item: CHAINS of the kernels. */
enum { ROOT_CHAINS = 8, EXP_CHAINS = 8, FMA_CHAINS = 16, LOCAL_CHAINS = 8, LOCAL_BYTES = 16 };

static const double wrong_root = 1e-4;   /* relative error that no device's standard root has */
static const double nothing_per_s = 1e6; /* the rates of a device that interprets its kernels */

/* As people read them, and as names of files have them. */
typedef struct recipe_names {
    const char *name, *word;
} recipe_names;

static const recipe_names root_recipes[] = {
    [LEY_ROOT_STANDARD] = {"rsqrt", "standard"},
    [LEY_ROOT_RECIPROCAL] = {"1/sqrt", "reciprocal"},
    [LEY_ROOT_NATIVE] = {"native_rsqrt", "native"},
    [LEY_ROOT_NEWTON] = {"Newton", "newton"},
    [LEY_ROOT_PTX] = {"PTX rsqrt.approx.ftz", "ptx"},
    [LEY_ROOT_AVX512] = {"vrsqrt14ps + Newton", "avx512"},
    [LEY_ROOT_REFINED] = {"native_rsqrt + Newton", "refined"},
};
_Static_assert(sizeof root_recipes / sizeof *root_recipes == LEY_ROOT_COUNT, "each LEY_ROOT_... has a name and a word");

static const recipe_names exp_recipes[] = {
    [LEY_EXP_STANDARD] = {"exp2", "standard"},
    [LEY_EXP_NATIVE] = {"native_exp2", "native"},
    [LEY_EXP_POLYNOMIAL] = {"polynomial", "polynomial"},
    [LEY_EXP_PTX] = {"PTX ex2.approx.ftz", "ptx"},
};
_Static_assert(sizeof exp_recipes / sizeof *exp_recipes == LEY_EXP_COUNT, "each LEY_EXP_... has a name and a word");

const char *calibrate_root_word(int root)
{
    return root_recipes[root].word;
}

const char *calibrate_exp_word(int exp)
{
    return exp_recipes[exp].word;
}

const char *calibrate_exp_name(int exp)
{
    return exp >= 0 && exp < LEY_EXP_COUNT ? exp_recipes[exp].name : "?";
}

bool calibrate_exp_possible(const dev_info *info, int exp, int width)
{
    return exp != LEY_EXP_PTX || ((info->quirks & DEV_QUIRK_PTX) != 0 && width == 1);
}

const char *calibrate_root_name(int root)
{
    return root >= 0 && root < LEY_ROOT_COUNT ? root_recipes[root].name : "?";
}

bool calibrate_root_possible(const dev_info *info, int root, int width)
{
    switch (root) {
    case LEY_ROOT_PTX:
        return (info->quirks & DEV_QUIRK_PTX) != 0 && width == 1;
    case LEY_ROOT_AVX512:
        return (info->quirks & DEV_QUIRK_AVX512) != 0 && width == 16;
    case LEY_ROOT_REFINED:
        return (info->quirks & DEV_QUIRK_ROUGH_ROOT) != 0;
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
            snprintf(name, sizeof name, "roots-%s", root_recipes[spec.root].word);
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
            snprintf(name, sizeof name, "exps-%s", exp_recipes[spec.exp].word);
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
KERNEL_DESCRIBE_ARGUMENTS(rate, LEY_RATE_ARGUMENTS)
const kernel_kind roots_kind = {KERNEL_DESCRIPTION(roots, LEY_DIALECT_KEYS, rate), .group = group_of,
                                .specs = root_specs};
const kernel_kind exps_kind = {KERNEL_DESCRIPTION(exps, LEY_EXPS_KEYS, rate), .group = group_of, .specs = exp_specs};
const kernel_kind multiply_adds_kind = {KERNEL_DESCRIPTION(multiply_adds, LEY_DIALECT_KEYS, rate), .group = group_of,
                                        .specs = multiply_add_specs};
const kernel_kind local_reads_kind = {KERNEL_DESCRIPTION(local_reads, LEY_DIALECT_KEYS, rate), .group = group_of,
                                      .specs = local_read_specs};

/* ---- Facts ----------------------------------------------------------------------------------- */

static calibration nothing_known(void)
{
    calibration c = {.known = 0};
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        c.root_error[root] = INFINITY;
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++)
        c.exp_error[exp] = INFINITY;
    return c;
}

/* On a device that interprets its kernels only the standard's recipes count, and no rate means
 * anything. */
static calibration assumed(void)
{
    calibration c = nothing_known();
    c.known = CALIBRATE_ALL;
    c.root_error[LEY_ROOT_STANDARD] = 2.4e-7; /* 2 ulp */
    c.exp_error[LEY_EXP_STANDARD] = 3.6e-7;   /* 3 ulp */
    c.roots_per_s[LEY_ROOT_STANDARD] = c.exps_per_s[LEY_EXP_STANDARD] = c.fma_per_s = nothing_per_s;
    return c;
}

/* What is usual, for jobs that are done before anything could be measured: the standard's recipes,
 * and what is known to be right and faster on such devices. NVIDIA's PTX promises 2^-22.9 of
 * rsqrt.approx, of which an eighth as many are made as multiply-adds
 * (https://docs.nvidia.com/cuda/parallel-thread-execution/). */
static calibration usual_facts(const dev_info *info)
{
    const bool is_card = info->device_class == DEV_GPU;
    const double lanes_per_s = 1e6 * 128 * info->compute_units * info->clock_MHz;
    const double roots_per_s = is_card ? lanes_per_s / 16 : 5e9, fma_per_s = is_card ? lanes_per_s : 6e10, faster = 2;
    const int root = calibrate_likely_root(info), exp = calibrate_likely_exp(info);
    calibration c = assumed();
    c.roots_per_s[LEY_ROOT_STANDARD] = c.exps_per_s[LEY_EXP_STANDARD] = roots_per_s;
    c.fma_per_s = fma_per_s;
    if (root == LEY_ROOT_AVX512 || root == LEY_ROOT_PTX) {
        c.root_error[root] = c.root_error[LEY_ROOT_STANDARD];
        c.roots_per_s[root] = faster * roots_per_s;
    }
    if (exp == LEY_EXP_POLYNOMIAL) {
        c.exp_error[exp] = c.exp_error[LEY_EXP_STANDARD];
        c.exps_per_s[exp] = faster * roots_per_s;
    }
    return c;
}

/* What of these facts can be measured here; with the standard's root, which every device has to get
 * right. */
static uint64_t possible_of(const dev_info *info, uint64_t facts)
{
    const int width = calibrate_width(info);
    facts = (facts & CALIBRATE_ALL) | CALIBRATE_ROOT(LEY_ROOT_STANDARD);
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        if (!calibrate_root_possible(info, root, width))
            facts &= ~CALIBRATE_ROOT(root);
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++)
        if (!calibrate_exp_possible(info, exp, width))
            facts &= ~CALIBRATE_EXP(exp);
    return facts;
}

/* Adds what `from` knows of `facts`, and `to` does not. */
static void add_facts(calibration *to, const calibration *from, uint64_t facts)
{
    facts &= from->known & ~to->known;
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        if (facts & CALIBRATE_ROOT(root)) {
            to->root_error[root] = from->root_error[root];
            to->roots_per_s[root] = from->roots_per_s[root];
        }
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++)
        if (facts & CALIBRATE_EXP(exp)) {
            to->exp_error[exp] = from->exp_error[exp];
            to->exps_per_s[exp] = from->exps_per_s[exp];
        }
    if (facts & CALIBRATE_MULTIPLY_ADDS)
        to->fma_per_s = from->fma_per_s;
    to->known |= facts;
}

/* ---- In the cache ---------------------------------------------------------------------------- */

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

/* Whether an error and a rate can have been measured. */
static bool is_sane(double error, double per_s)
{
    return error >= 0 && per_s >= 0 && per_s < INFINITY;
}

/* What of a cached entry makes sense. */
static uint64_t sane_facts(const calibration *c)
{
    uint64_t facts = c->known & CALIBRATE_ALL;
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        if (!is_sane(c->root_error[root], c->roots_per_s[root]))
            facts &= ~CALIBRATE_ROOT(root);
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++)
        if (!is_sane(c->exp_error[exp], c->exps_per_s[exp]))
            facts &= ~CALIBRATE_EXP(exp);
    return is_sane(0, c->fma_per_s) ? facts : facts & ~CALIBRATE_MULTIPLY_ADDS;
}

/* Adds what the cache knows of `facts`. */
static void add_cached(const dev_info *info, uint64_t facts, calibration *c)
{
    size_t size = 0;
    const cache_key key = key_of(info);
    calibration *cached = cache_get(&key, &size);
    if (cached != NULL && size == sizeof *cached)
        add_facts(c, cached, facts & sane_facts(cached));
    free(cached);
}

/* These take the place of what stands there; facts that only others have measured stay. */
static void put_cached(const dev_info *info, const calibration *c)
{
    calibration whole = *c;
    const cache_key key = key_of(info);
    add_cached(info, CALIBRATE_ALL, &whole);
    cache_put(&key, &whole, sizeof whole);
}

bool calibrate_cached(const dev_info *info, uint64_t facts, calibration *result)
{
    *result = nothing_known();
    add_cached(info, CALIBRATE_ALL, result);
    return (possible_of(info, facts) & ~result->known) == 0;
}

bool calibrate_known(const dev *device, const dev_info *info, uint64_t facts, calibration *result)
{
    const uint64_t asked = device != NULL ? device->asked : 0;
    *result = asked != 0 ? device->facts : nothing_known();
    facts = possible_of(info, facts);
    if ((facts & ~asked) != 0)
        add_cached(info, ~asked, result);
    return (facts & ~asked & ~result->known) == 0;
}

/* ---- A measurement --------------------------------------------------------------------------- */

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

enum { RACE_ROOTS, RACE_EXPS, RACE_MULTIPLY_ADDS, MOST_SUBJECTS = LEY_ROOT_COUNT + LEY_EXP_COUNT + 1 };

/* The facts of a device that are to be measured, the more important ones first. */
typedef struct plan {
    const dev_info *info;
    uint64_t facts; /* still to be listed */
    size_t count;
    uint64_t fact[MOST_SUBJECTS]; /* of each subject */
    measure_subject subjects[MOST_SUBJECTS];
    uint64_t beside; /* facts that are known: they are measured as a yardstick for the others of their race only */
} plan;

static void list_subject(plan *p, uint64_t fact, const measure_subject *subject, int root, int exp)
{
    const exps_spec spec = {.sum = LEY_SPEC_SUM_FLOAT, .width = calibrate_width(p->info), .root = root, .exp = exp};
    if ((p->facts & fact) == 0)
        return;
    p->facts &= ~fact;
    p->fact[p->count] = fact;
    p->subjects[p->count] = *subject;
    memcpy(p->subjects[p->count].spec, &spec, sizeof spec); /* kernels of roots read what it begins with */
    p->count++;
}

/* Whether vectors of every width have it, so that nobody needs what it beats. */
static bool is_everywhere(const dev_info *info, bool (*possible)(const dev_info *info, int recipe, int width),
                          int recipe)
{
    static const int narrower[] = {1, 4, 8};
    bool everywhere = true;
    for (size_t i = 0; calibrate_width(info) > 1 && i < sizeof narrower / sizeof *narrower; i++)
        everywhere = everywhere && possible(info, recipe, narrower[i]);
    return everywhere;
}

static void list_root(plan *p, int root, bool is_awaited)
{
    const measure_subject subject = {.kind = &roots_kind,
                                     .chains = ROOT_CHAINS,
                                     .race = RACE_ROOTS,
                                     .input = root_input,
                                     .result = root_result,
                                     .is_needed = root == LEY_ROOT_STANDARD,
                                     .is_awaited = is_awaited,
                                     .is_rival = is_everywhere(p->info, calibrate_root_possible, root)};
    list_subject(p, CALIBRATE_ROOT(root), &subject, root, 0);
}

static void list_exp(plan *p, int exp, bool is_awaited)
{
    const measure_subject subject = {.kind = &exps_kind,
                                     .chains = EXP_CHAINS,
                                     .race = RACE_EXPS,
                                     .input = exp_input,
                                     .result = exp_result,
                                     .is_needed = exp == LEY_EXP_STANDARD,
                                     .is_awaited = is_awaited,
                                     .is_rival = is_everywhere(p->info, calibrate_exp_possible, exp)};
    list_subject(p, CALIBRATE_EXP(exp), &subject, LEY_ROOT_STANDARD, exp);
}

static void list_multiply_adds(plan *p)
{
    const measure_subject subject = {.kind = &multiply_adds_kind,
                                     .chains = FMA_CHAINS,
                                     .race = RACE_MULTIPLY_ADDS,
                                     .input = root_input,
                                     .is_needed = true};
    list_subject(p, CALIBRATE_MULTIPLY_ADDS, &subject, LEY_ROOT_STANDARD, 0);
}

/* Of recipes of which some are known, the fastest that is: rates of different times cannot be
 * compared. */
static uint64_t yardsticks(const dev_info *info, const calibration *known, uint64_t facts)
{
    const int width = calibrate_width(info);
    uint64_t beside = 0;
    if ((facts & CALIBRATE_ROOTS) != 0)
        beside |= CALIBRATE_ROOT(calibrate_fastest_root(info, known, width, CALIBRATE_FINEST));
    if ((facts & CALIBRATE_EXPS) != 0)
        beside |= CALIBRATE_EXP(calibrate_fastest_exp(info, known, width, CALIBRATE_FINEST));
    return beside & known->known & ~facts;
}

/* First what every device has, and what has proved the fastest on such ones: on a machine that has
 * too much to do, others may have to wait for another time. */
static plan plan_of(const dev_info *info, const calibration *known, uint64_t facts)
{
    plan p = {.info = info, .beside = yardsticks(info, known, facts)};
    p.facts = facts | p.beside;
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        if (root == LEY_ROOT_STANDARD || root == calibrate_likely_root(info) || (p.beside & CALIBRATE_ROOT(root)) != 0)
            list_root(&p, root, true);
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++)
        if (exp == LEY_EXP_STANDARD || exp == calibrate_likely_exp(info) || (p.beside & CALIBRATE_EXP(exp)) != 0)
            list_exp(&p, exp, true);
    list_multiply_adds(&p);
    for (int root = LEY_ROOT_COUNT - 1; root >= 0; root--)
        list_root(&p, root, false);
    for (int exp = LEY_EXP_COUNT - 1; exp >= 0; exp--)
        list_exp(&p, exp, false);
    return p;
}

/* The place of a fact. */
static void place_of(calibration *c, const measure_subject *s, double **error, double **per_s)
{
    const exps_spec *spec = (const void *)s->spec;
    *error = s->race == RACE_ROOTS  ? &c->root_error[spec->root]
             : s->race == RACE_EXPS ? &c->exp_error[spec->exp]
                                    : NULL;
    *per_s = s->race == RACE_ROOTS  ? &c->roots_per_s[spec->root]
             : s->race == RACE_EXPS ? &c->exps_per_s[spec->exp]
                                    : &c->fma_per_s;
}

/* How many times faster the device was when the other rates of this race were measured. */
static double faster_then(const plan *p, const calibration *known, int race)
{
    for (size_t i = 0; i < p->count; i++) {
        const measure_subject *s = &p->subjects[i];
        calibration then = *known;
        double *error, *per_s;
        place_of(&then, s, &error, &per_s);
        if ((p->fact[i] & p->beside) != 0 && s->race == race && s->per_s > 0 && *per_s > 0)
            return *per_s / s->per_s;
    }
    return 1;
}

/* Adds what was measured: other facts stay as they are. */
static void take_results(const plan *p, calibration *c)
{
    const calibration known = *c;
    for (size_t i = 0; i < p->count; i++) {
        const measure_subject *s = &p->subjects[i];
        double *error, *per_s;
        if (!s->is_known || (p->fact[i] & p->beside) != 0)
            continue;
        place_of(c, s, &error, &per_s);
        if (error != NULL)
            *error = s->error;
        *per_s = s->per_s * faster_then(p, &known, s->race);
        c->known |= p->fact[i];
    }
}

/* A read is one work-item's, however wide its results are. */
double calibrate_local_bytes(dev *device)
{
    measure_subject subject = {
        .kind = &local_reads_kind, .chains = LOCAL_CHAINS, .input = exp_input, .is_needed = true};
    const kernel_dialect spec = {
        .sum = LEY_SPEC_SUM_FLOAT, .width = calibrate_width(device->info), .root = LEY_ROOT_STANDARD};
    if (device->info->quirks & DEV_QUIRK_INTERPRETER)
        return nothing_per_s;
    memcpy(subject.spec, &spec, sizeof spec);
    measurement *m = measure_begin(device, &subject, 1);
    if (m != NULL)
        measure_run(m, CALIBRATE_FINEST, true, NULL);
    measure_end(m);
    return subject.per_s * LOCAL_BYTES / calibrate_width(device->info);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

/* Devices that share a card, or the host's cores, are measured one at a time, for what is measured
 * is kept. */
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
    if (c->fma_per_s > 0)
        log_say(LEY_LOG_DETAIL, "%s: %.3g multiply-adds/s", info->name, c->fma_per_s);
    for (int root = 0; root < LEY_ROOT_COUNT; root++)
        if (c->roots_per_s[root] > 0)
            log_say(LEY_LOG_DETAIL, "%s: root %s: %.3g/s, error %.2g", info->name, root_recipes[root].name,
                    c->roots_per_s[root], c->root_error[root]);
    for (int exp = 0; exp < LEY_EXP_COUNT; exp++)
        if (c->exps_per_s[exp] > 0)
            log_say(LEY_LOG_DETAIL, "%s: exponential %s: %.3g/s, error %.2g", info->name, exp_recipes[exp].name,
                    c->exps_per_s[exp], c->exp_error[exp]);
}

/* Measures facts. Compilers take the host's cores: those for a processor have to have their turn,
 * too, and those for a card do not hold up another path to it. */
static ley_status measure_plan(dev *device, plan *p, bool is_precise, ley_error *error)
{
    const bool is_host = device->info->device_class == DEV_CPU;
    measurement *m = measure_begin(device, p->subjects, p->count);
    if (m == NULL)
        return ley_fail_memory(error, sizeof *p, "calibration");
    if (is_host)
        take_turn(device);
    measure_build(m);
    if (!is_host)
        take_turn(device);
    ley_status status = measure_run(m, CALIBRATE_FINEST, is_precise, error);
    measure_end(m);
    calibrate_leave(device);
    return status;
}

/* A device whose roots are wrong is not well: nothing is kept for when it is. */
static ley_status check_roots(const plan *p, ley_error *error)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->fact[i] == CALIBRATE_ROOT(LEY_ROOT_STANDARD) && !(p->subjects[i].error <= wrong_root))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "calibration failed: its square roots are off by %.3g",
                            p->subjects[i].error);
    return LEY_OK;
}

static ley_status measure(dev *device, uint64_t facts, bool is_precise, calibration *c, ley_error *error)
{
    const double start_s = ley_clock_s();
    plan p = plan_of(device->info, c, facts);
    ley_status status = measure_plan(device, &p, is_precise, error);
    if (status == LEY_OK)
        status = check_roots(&p, error);
    if (status == LEY_OK && watch_ends())
        status = ley_fail(error, LEY_CANCELLED, "cancelled");
    if (status != LEY_OK)
        return status;
    take_results(&p, c);
    put_cached(device->info, c);
    log_calibration(device->info, c, ley_clock_s() - start_s);
    return LEY_OK;
}

static calibration facts_of(const dev *device)
{
    return device->asked != 0 ? device->facts : nothing_known();
}

ley_status calibrate_measure(dev *device, uint64_t facts, calibration *result, ley_error *error)
{
    const uint64_t wanted = possible_of(device->info, facts);
    const bool is_measured = !(device->info->quirks & DEV_QUIRK_INTERPRETER);
    calibration c = is_measured ? facts_of(device) : assumed();
    ley_status status = is_measured ? measure(device, wanted, true, &c, error) : LEY_OK;
    if (status != LEY_OK)
        return status;
    device->facts = *result = c;
    device->asked |= wanted;
    return LEY_OK;
}

/* Facts that nobody has asked for while the device is open. */
static ley_status get_new(dev *device, uint64_t wanted, ley_error *error)
{
    const dev_info *info = device->info;
    calibration c = facts_of(device);
    ley_status status = LEY_OK;
    add_cached(info, ~device->asked, &c);
    const uint64_t missing = wanted & ~c.known;
    if (missing != 0)
        status = measure(device, missing, false, &c, error);
    else
        log_calibration(info, &c, -1);
    if (status != LEY_OK)
        return status;
    device->facts = c;
    device->asked |= wanted;
    return LEY_OK;
}

/* Kernels that measure take two seconds to compile on processors whose driver compiles one at a
 * time, and up to a second on NVIDIA's cards, which would sum a trillion pairs in a third of one;
 * the best recipe saves half of a job's pairs at most. 0: such devices are always measured. Nothing
 * is promised of exponentials by PTX that would be near enough. */
static double few_pairs(const dev_info *info, uint64_t facts)
{
    if (info->device_class == DEV_CPU)
        return info->quirks & DEV_QUIRK_ONE_COMPILER ? 1e10 : 0;
    const bool is_usual = (info->quirks & DEV_QUIRK_PTX) != 0 && info->clock_MHz > 0;
    return is_usual && (facts & CALIBRATE_EXP(LEY_EXP_PTX)) == 0 ? 1e12 : 0;
}

/* Whether the job at hand gets usual facts. */
static bool takes_usual(dev *device, uint64_t facts)
{
    const dev_info *info = device->info;
    calibration known;
    if (!(device->pairs > 0 && device->pairs < few_pairs(info, facts)))
        return false;
    if (!device->has_usual && !calibrate_known(device, info, facts, &known)) {
        device->usual = usual_facts(info);
        device->has_usual = true;
        log_say(LEY_LOG_DETAIL, "%s: a job of %.2g pairs is not worth measuring its recipes: usual ones are taken",
                info->name, device->pairs);
    }
    return device->has_usual;
}

ley_status calibrate_get(dev *device, uint64_t facts, calibration *result, ley_error *error)
{
    if (takes_usual(device, facts)) {
        *result = device->usual;
        return LEY_OK;
    }
    const uint64_t wanted = possible_of(device->info, facts) & ~device->asked;
    ley_status status = LEY_OK;
    if (device->info->quirks & DEV_QUIRK_INTERPRETER) {
        device->facts = assumed();
        device->asked = CALIBRATE_ALL;
    } else if (wanted != 0) {
        status = get_new(device, wanted, error);
    }
    if (status == LEY_OK)
        *result = device->facts;
    return status;
}

/* ---- Choice ---------------------------------------------------------------------------------- */

int calibrate_likely_root(const dev_info *info)
{
    return info->quirks & DEV_QUIRK_PTX          ? LEY_ROOT_PTX
           : info->quirks & DEV_QUIRK_AVX512     ? LEY_ROOT_AVX512
           : info->quirks & DEV_QUIRK_ROUGH_ROOT ? LEY_ROOT_REFINED
                                                 : LEY_ROOT_NATIVE;
}

int calibrate_likely_exp(const dev_info *info)
{
    return info->quirks & DEV_QUIRK_PTX    ? LEY_EXP_PTX
           : info->device_class == DEV_CPU ? LEY_EXP_POLYNOMIAL
                                           : LEY_EXP_NATIVE;
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
