#include "dev_kernel.h"

#include "build_cache.h"
#include "clock.h"
#include "costs.h"
#include "error.h"
#include "log.h"
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An entry beside a kernel's own says that what it computed has proved wrong, so that it is to be
 * tested before it is used again. */
static cache_key suspicion_of(const cache_key *key)
{
    return cache_key_of_host(key->hex, "suspect kernel", "", "");
}

static bool is_suspect(const cache_key *key)
{
    const cache_key suspicion = suspicion_of(key);
    size_t size = 0;
    void *mark = cache_get(&suspicion, &size);
    free(mark);
    return mark != NULL;
}

static void suspect(const cache_key *key)
{
    const cache_key suspicion = suspicion_of(key);
    cache_put(&suspicion, "suspect", sizeof "suspect");
    if (!is_suspect(key)) /* it could not be stored */
        cache_remove(key);
}

static void clear_suspicion(const cache_key *key)
{
    const cache_key suspicion = suspicion_of(key);
    cache_remove(&suspicion);
}

static dev_program *take_cached(dev *device, const dev_source *source, const cache_key *key)
{
    size_t size = 0;
    dev_program *program = NULL;
    void *binary = cache_get(key, &size);
    if (binary == NULL)
        return NULL;
    const ley_status status = device->backend->build(device, source, binary, size, &program, NULL);
    if (status != LEY_OK)
        program = NULL;
    if (status != LEY_OK && status != LEY_CANCELLED) {
        cache_remove(key); /* whole, but the driver will not have it */
        log_say(LEY_LOG_NOTE, "%s: the driver does not take %s from the cache: removed there", device->info->name,
                source->kind->name);
    }
    free(binary);
    if (program != NULL)
        device->cached[device->cached_count++ % DEV_MOST_CACHED] = *key;
    return program;
}

/* The oldest program that the device has kept; false: it has none. */
static bool drop_kept(dev *device)
{
    const kept_program old = kept_programs_drop(&device->programs);
    if (old.program != NULL)
        device->backend->program_destroy(device, old.program);
    return old.program != NULL;
}

void kernels_distrust(dev *device)
{
    const size_t count = device->cached_count < DEV_MOST_CACHED ? device->cached_count : DEV_MOST_CACHED;
    for (size_t i = 0; i < count; i++)
        suspect(&device->cached[i]);
    if (count > 0)
        log_say(LEY_LOG_NOTE, "%s: its kernels from the cache are tested before they are used again",
                device->info->name);
    device->cached_count = 0;
    device->distrusts++;
    while (drop_kept(device))
        ;
}

static void put_cached(dev *device, dev_program *program, const cache_key *key)
{
    void *binary = NULL;
    size_t size = 0;
    if (device->backend->program_binary(device, program, &binary, &size, NULL) == LEY_OK)
        cache_put(key, binary, size);
    free(binary);
}

/* Of a program that took so long to build; on failure the kernel has none. */
static ley_status test_built(dev_kernel *k, const dev_source *source, double build_s, bool is_tested, void *context,
                             ley_error *error)
{
    const double built_s = ley_clock_s();
    const ley_status status = is_tested ? k->kind->test(k, context, error) : LEY_OK;
    if (status == LEY_OK && is_tested)
        log_say(LEY_LOG_NOTE, "%s: built %s in %.3f s, tested in %.3f s: %s", k->device->info->name, k->kind->name,
                build_s, ley_clock_s() - built_s, source->options);
    if (status == LEY_ERROR_WRONG_RESULT)
        ley_error_prefix(error, "self-test of %s failed on %s", k->kind->name, k->device->info->name);
    if (status != LEY_OK)
        kernel_destroy(k);
    return status;
}

static ley_status build_and_test(dev_kernel *k, const dev_source *source, bool is_tested, void *context,
                                 ley_error *error)
{
    const double start_s = ley_clock_s();
    const ley_status status = k->device->backend->build(k->device, source, NULL, 0, &k->program, error);
    if (status == LEY_OK)
        return test_built(k, source, ley_clock_s() - start_s, is_tested, context, error);
    k->program = NULL;
    kernel_destroy(k);
    return status;
}

/* One from the cache that is suspect is put to its kind's test; where it fails, it goes from there
 * and the kernel has no program. Errors: LEY_CANCELLED, and those of a lost device. */
static ley_status test_suspect(dev_kernel *k, const cache_key *key, void *context, ley_error *error)
{
    ley_error why = {0};
    if (!is_suspect(key))
        return LEY_OK;
    const ley_status status = k->kind->test(k, context, &why);
    const bool is_undecided = status == LEY_CANCELLED || k->device->is_lost;
    if (!is_undecided)
        clear_suspicion(key);
    if (status == LEY_OK) {
        log_say(LEY_LOG_NOTE, "%s: %s from the cache was suspect and has passed its test", k->device->info->name,
                k->kind->name);
        return LEY_OK;
    }
    k->device->backend->program_destroy(k->device, k->program);
    k->program = NULL;
    if (is_undecided) {
        ley_error_copy(error, &why);
        ley_error_clear(&why);
        return status;
    }
    cache_remove(key);
    log_say(LEY_LOG_NOTE, "%s: %s from the cache is built anew: %s", k->device->info->name, k->kind->name, why.message);
    ley_error_clear(&why);
    return LEY_OK;
}

/* ---- What building takes --------------------------------------------------------------------- */

typedef struct build_cost {
    char name[80];
    costs_kind kind;
} build_cost;

/* Compilers that run on the host's processor for a processor take longest: PoCL 3.1, and NVRTC. */
static void make_build_cost(build_cost *c, const dev_info *info, const kernel_kind *kind)
{
    const double usual_s = info->device_class == DEV_CPU ? 0.75 : 0.15;
    snprintf(c->name, sizeof c->name, "build %s", kind->name);
    c->kind = (costs_kind){.name = c->name, .count = 1, .bounds = {{1e-3, usual_s, 60}}};
}

double kernel_build_s(const dev_info *info, const kernel_kind *kind)
{
    double seconds[COSTS_MOST];
    build_cost c;
    make_build_cost(&c, info, kind);
    costs_known(&c.kind, info, seconds);
    return seconds[0];
}

static void learn_build_s(const dev_info *info, const kernel_kind *kind, double took_s)
{
    build_cost c;
    make_build_cost(&c, info, kind);
    if ((info->quirks & DEV_QUIRK_INTERPRETER) == 0)
        costs_learn(&c.kind, info, &took_s);
}

/* ---- Building -------------------------------------------------------------------------------- */

static ley_status load_source(dev *device, const char *kernel, const char *prelude, char **text, ley_error *error)
{
    char *own = NULL, *whole;
    ley_status status = source_load(kernel, device->backend->source_suffix, &own, error);
    if (status != LEY_OK || prelude == NULL) {
        *text = own;
        return status;
    }
    const int size = asprintf(&whole, "%s\n%s", prelude, own);
    free(own);
    if (size < 0)
        return ley_fail_memory(error, strlen(prelude), "kernel source");
    *text = whole;
    return LEY_OK;
}

/* What is known of a kernel before it is built. */
static dev_kernel describe(dev *device, const kernel_kind *kind, const void *spec, char options[KERNEL_OPTIONS])
{
    dev_kernel k = {.device = device, .kind = kind};
    memcpy(k.spec, spec, kernel_key_count(kind) * sizeof(int));
    k.is_double = kernel_is_double(kind, k.spec);
    kind->group(device->info, k.spec, k.group_size);
    kernel_options(kind, k.spec, options, KERNEL_OPTIONS);
    return k;
}

static void note_wish(kernel_wishes *wishes, const kernel_kind *kind, const void *spec, const char *prelude)
{
    if (wishes->count == KERNEL_MOST_WISHES)
        return;
    kernel_wish *wish = &wishes->list[wishes->count++];
    *wish = (kernel_wish){.kind = kind, .prelude = prelude};
    memcpy(wish->spec, spec, kernel_key_count(kind) * sizeof(int));
}

ley_status kernel_create(dev *device, const kernel_kind *kind, const void *spec, const char *prelude, void *context,
                         dev_kernel *kernel, ley_error *error)
{
    char *text = NULL, options[KERNEL_OPTIONS];
    *kernel = (dev_kernel){.device = device};
    if (kernels_noted() != NULL && kind->test != NULL) {
        note_wish(kernels_noted(), kind, spec, prelude);
        return LEY_OK;
    }
    ley_status status = load_source(device, kind->name, prelude, &text, error);
    if (status != LEY_OK)
        return status;
    dev_kernel k = describe(device, kind, spec, options);
    const dev_source source = {.kind = kind, .spec = k.spec, .text = text, .options = options};
    const bool cacheable = kind->test != NULL && !(device->info->quirks & DEV_QUIRK_NO_BINARY);
    const cache_key key = cache_key_make(device->info, "kernel", text, options);
    const double start_s = ley_clock_s();
    const kept_program kept = kept_programs_take(&device->programs, &key);
    k.distrusts = device->distrusts;
    k.program = kept.program != NULL ? kept.program : cacheable ? take_cached(device, &source, &key) : NULL;
    if (k.program != NULL && kept.program == NULL)
        status = test_suspect(&k, &key, context, error);
    const bool is_ahead = kept.build_s > 0;
    k.from_cache = k.program != NULL && !is_ahead;
    if (k.from_cache && kept.program == NULL)
        log_say(LEY_LOG_NOTE, "%s: took %s from the cache in %.3f s: %s", device->info->name, kind->name,
                ley_clock_s() - start_s, options);
    if (status == LEY_OK && !k.from_cache) {
        status = is_ahead ? test_built(&k, &source, kept.build_s, true, context, error)
                          : build_and_test(&k, &source, kind->test != NULL, context, error);
        if (status == LEY_OK && cacheable) {
            put_cached(device, k.program, &key);
            learn_build_s(device->info, kind, kept.build_s + ley_clock_s() - start_s);
        }
    }
    if (status == LEY_OK && kind->test != NULL)
        k.key = key;
    free(text);
    if (status == LEY_OK)
        *kernel = k;
    return status;
}

ley_status kernel_create_anew(dev *device, const kernel_kind *kind, const void *spec, bool is_tested, void *context,
                              dev_kernel *kernel, ley_error *error)
{
    char *text = NULL, options[KERNEL_OPTIONS];
    *kernel = (dev_kernel){.device = device};
    ley_status status = load_source(device, kind->name, NULL, &text, error);
    if (status != LEY_OK)
        return status;
    dev_kernel k = describe(device, kind, spec, options);
    const dev_source source = {.kind = kind, .spec = k.spec, .text = text, .options = options};
    status = build_and_test(&k, &source, is_tested && kind->test != NULL, context, error);
    free(text);
    if (status == LEY_OK)
        *kernel = k;
    return status;
}

bool kernels_are_built_at_once(const dev_info *info)
{
    return info->backend->builds_at_once && info->backend->build_all != NULL &&
           !(info->quirks & DEV_QUIRK_ONE_COMPILER);
}

/* What one order becomes at the device interface. */
typedef struct order_build {
    kernel_order *order;
    char *text, options[KERNEL_OPTIONS];
} order_build;

/* The orders whose source is there, as builds; how many. */
static size_t make_builds(dev *device, kernel_order *orders, size_t count, order_build *parts, dev_build *builds)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        kernel_order *o = &orders[i];
        order_build *part = &parts[n];
        o->status = load_source(device, o->kind->name, NULL, &part->text, &o->error);
        if (o->status != LEY_OK)
            continue;
        part->order = o;
        o->kernel = describe(device, o->kind, o->spec, part->options);
        builds[n++] = (dev_build){
            .source = {.kind = o->kind, .spec = o->kernel.spec, .text = part->text, .options = part->options}};
    }
    return n;
}

static void take_build(order_build *part, dev_build *build)
{
    kernel_order *o = part->order;
    o->status = build->status;
    if (build->status == LEY_OK)
        o->kernel.program = build->program;
    else
        ley_error_copy(&o->error, &build->error);
    ley_error_clear(&build->error);
    free(part->text);
}

void kernels_create(dev *device, kernel_order *orders, size_t count)
{
    order_build *parts = calloc(count, sizeof *parts);
    dev_build *builds = calloc(count, sizeof *builds);
    const bool at_once = kernels_are_built_at_once(device->info) && parts != NULL && builds != NULL;
    for (size_t i = 0; i < count; i++) {
        kernel_order *o = &orders[i];
        o->kernel = (dev_kernel){.device = device};
        if (!at_once)
            o->status = kernel_create(device, o->kind, o->spec, NULL, NULL, &o->kernel, &o->error);
    }
    const size_t n = at_once ? make_builds(device, orders, count, parts, builds) : 0;
    if (n > 0)
        device->backend->build_all(device, builds, n);
    for (size_t i = 0; i < n; i++)
        take_build(&parts[i], &builds[i]);
    free(builds);
    free(parts);
}

void kernel_destroy(dev_kernel *k)
{
    dev *device = k->device;
    if (k->program != NULL && k->key.hex[0] != '\0' && k->distrusts == device->distrusts && !device->is_lost) {
        if (device->programs.count == KEPT_PROGRAMS_MOST)
            drop_kept(device);
        kept_programs_put(&device->programs, (kept_program){.key = k->key, .program = k->program});
    } else if (k->program != NULL) {
        device->backend->program_destroy(device, k->program);
    }
    *k = (dev_kernel){.device = k->device};
}

/* ---- Ahead of their use ---------------------------------------------------------------------- */

/* One of them on its way. */
typedef struct ahead_build {
    dev_kernel kernel;
    cache_key key;
    char *text, options[KERNEL_OPTIONS];
} ahead_build;

static bool is_kept(const dev *device, const cache_key *key)
{
    bool is = false;
    for (size_t i = 0; i < device->programs.count; i++)
        is = is || strcmp(device->programs.list[i].key.hex, key->hex) == 0;
    return is;
}

/* Whether it is still to be built. */
static bool is_missing(dev *device, const kernel_wish *wish, ahead_build *b)
{
    size_t size = 0;
    b->text = NULL;
    if (load_source(device, wish->kind->name, wish->prelude, &b->text, NULL) != LEY_OK)
        return false;
    b->kernel = describe(device, wish->kind, wish->spec, b->options);
    b->key = cache_key_make(device->info, "kernel", b->text, b->options);
    void *bytes = is_kept(device, &b->key) ? NULL : cache_get(&b->key, &size);
    const bool is = bytes == NULL && !is_kept(device, &b->key);
    free(bytes);
    if (!is)
        free(b->text);
    return is;
}

/* Into the device's keeping, for kernel_create(). */
static void keep_ahead(dev *device, const ahead_build *b, dev_build *build)
{
    if (build->status == LEY_OK) {
        if (device->programs.count == KEPT_PROGRAMS_MOST)
            drop_kept(device);
        kept_programs_put(&device->programs, (kept_program){b->key, build->program, build->seconds});
    }
    ley_error_clear(&build->error);
}

void kernels_build_ahead(dev *device, const kernel_wishes *wishes)
{
    const bool is_able = device->backend->builds_at_once && device->backend->build_all != NULL &&
                         !(device->info->quirks & (DEV_QUIRK_NO_BINARY | DEV_QUIRK_INTERPRETER));
    ahead_build *parts = is_able && wishes->count > 1 ? calloc(wishes->count, sizeof *parts) : NULL;
    dev_build builds[KERNEL_MOST_WISHES];
    size_t n = 0;
    for (size_t i = 0; parts != NULL && i < wishes->count; i++) {
        ahead_build *b = &parts[n];
        if (!is_missing(device, &wishes->list[i], b))
            continue;
        builds[n++] = (dev_build){
            .source = {.kind = b->kernel.kind, .spec = b->kernel.spec, .text = b->text, .options = b->options}};
    }
    if (n > 1) {
        const double start_s = ley_clock_s();
        double sum_s = 0;
        device->backend->build_all(device, builds, n);
        const double took_s = ley_clock_s() - start_s;
        for (size_t i = 0; i < n; i++)
            sum_s += builds[i].seconds;
        for (size_t i = 0; i < n; i++) { /* they wait for each other: together they take no longer than that */
            builds[i].seconds *= sum_s > took_s ? took_s / sum_s : 1;
            keep_ahead(device, &parts[i], &builds[i]);
        }
    }
    for (size_t i = 0; i < n; i++)
        free(parts[i].text);
    free(parts);
}

ley_status kernel_launch(const dev_kernel *k, const size_t groups[3], const void *arguments, dev_event **done,
                         ley_error *error)
{
    const kernel_kind *whose;
    dev_argument packed[KERNEL_MOST_ARGUMENTS];
    memcpy(&whose, arguments, sizeof whose);
    if (whose != k->kind)
        return ley_fail(error, LEY_ERROR_DEVICE, "kernel %s was given the arguments of %s", k->kind->name,
                        whose != NULL ? whose->name : "none");
    k->kind->pack(arguments, k->is_double, packed);
    const dev_launch launch = {.program = k->program,
                               .groups = {groups[0], groups[1], groups[2]},
                               .group_size = {k->group_size[0], k->group_size[1], k->group_size[2]},
                               .argument_count = k->kind->argument_count,
                               .arguments = packed};
    return k->device->backend->launch(k->device, &launch, done, error);
}
