#include "costs.h"

#include "clock.h"
#include "kernel_wishes.h"
#include "log.h"
#include "machine.h"
#include "parallel.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Tries, whose least counts: a busy machine makes some longer, none shorter. More than the usual
 * number while they take no longer than this together; fewer where they take very long. */
enum { LEAST_TRIES = 2, USUAL_TRIES = 5, MOST_TRIES = 9 };
static const double trying_s = 3e-3, most_trying_s = 25e-3;

/* ---- Where they stand ------------------------------------------------------------------------ */

cache_key costs_key(const costs_kind *kind, const dev_info *info)
{
    char processor[DEV_TEXT], facts[128];
    snprintf(facts, sizeof facts, "cores %d, bytes %zu", parallel_cores(), kind->count * sizeof(double));
    if (info != NULL)
        return cache_key_make(info, "costs", kind->name, facts);
    machine_processor(processor, sizeof processor);
    return cache_key_of_host(processor, "costs", kind->name, facts);
}

/* ---- What this process knows ----------------------------------------------------------------- */

enum { MOST_KNOWN = 256 };
static struct {
    pthread_mutex_t mutex;
    size_t count;
    struct {
        cache_key key;
        bool is_absent; /* in the cache, when it was last looked for */
        double seconds[COSTS_MOST];
    } list[MOST_KNOWN];
} known = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The caller holds the mutex. */
static size_t place_of(const cache_key *key)
{
    size_t i = 0;
    while (i < known.count && strcmp(known.list[i].key.hex, key->hex) != 0)
        i++;
    return i;
}

static bool recall(const costs_kind *kind, const cache_key *key, double *seconds)
{
    pthread_mutex_lock(&known.mutex);
    const size_t i = place_of(key);
    const bool found = i < known.count && known.list[i].seconds[0] > 0;
    if (found)
        memcpy(seconds, known.list[i].seconds, kind->count * sizeof *seconds);
    pthread_mutex_unlock(&known.mutex);
    return found;
}

/* Whoever was first is right, so that all plans of a process are made of the same costs. */
static void remember(const costs_kind *kind, const cache_key *key, double *seconds, bool replaces)
{
    const size_t bytes = kind->count * sizeof *seconds;
    pthread_mutex_lock(&known.mutex);
    const size_t i = place_of(key);
    if (i < known.count && known.list[i].seconds[0] > 0 && !replaces) {
        memcpy(seconds, known.list[i].seconds, bytes);
    } else if (i < MOST_KNOWN) {
        known.list[i].key = *key;
        known.list[i].is_absent = false;
        memcpy(known.list[i].seconds, seconds, bytes);
        known.count += i == known.count;
    }
    pthread_mutex_unlock(&known.mutex);
}

/* The cache has no entry for it: until there is one, nobody looks again. */
static void note_absent(const cache_key *key)
{
    pthread_mutex_lock(&known.mutex);
    const size_t i = place_of(key);
    if (i < MOST_KNOWN) {
        known.count += i == known.count;
        known.list[i].key = *key;
        known.list[i].is_absent = true;
        known.list[i].seconds[0] = 0;
    }
    pthread_mutex_unlock(&known.mutex);
}

static bool is_absent(const cache_key *key)
{
    pthread_mutex_lock(&known.mutex);
    const size_t i = place_of(key);
    const bool is = i < known.count && known.list[i].is_absent;
    pthread_mutex_unlock(&known.mutex);
    return is;
}

void costs_plant(const costs_kind *kind, const dev_info *info, const double *seconds)
{
    double none[COSTS_MOST] = {0};
    const cache_key key = costs_key(kind, info);
    if (seconds != NULL)
        memcpy(none, seconds, kind->count * sizeof *seconds);
    remember(kind, &key, none, true);
}

/* Of an entry that is damaged, or that nothing could have measured, nothing is taken. */
static bool read_cache(const costs_kind *kind, const cache_key *key, double *seconds)
{
    size_t size = 0;
    double *stored = cache_get(key, &size);
    bool is_right = stored != NULL && size == kind->count * sizeof *stored;
    for (size_t i = 0; is_right && i < kind->count; i++)
        is_right = stored[i] >= kind->bounds[i].least_s && stored[i] <= kind->bounds[i].most_s;
    if (is_right)
        memcpy(seconds, stored, size);
    free(stored);
    return is_right;
}

static void set_usual(const costs_kind *kind, double *seconds)
{
    for (size_t i = 0; i < kind->count; i++)
        seconds[i] = kind->bounds[i].usual_s;
}

static bool find(const costs_kind *kind, const cache_key *key, double *seconds)
{
    if (recall(kind, key, seconds))
        return true;
    if (is_absent(key))
        return false;
    if (!read_cache(kind, key, seconds)) {
        note_absent(key);
        return false;
    }
    remember(kind, key, seconds, false);
    return true;
}

bool costs_known(const costs_kind *kind, const dev_info *info, double *seconds)
{
    const cache_key key = costs_key(kind, info);
    const bool is_known = find(kind, &key, seconds);
    if (!is_known)
        set_usual(kind, seconds);
    return is_known;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static double within(const cost_bounds *b, double s)
{
    return fmin(fmax(s, b->least_s), b->most_s);
}

static bool is_enough(int tries, double spent_s)
{
    return tries >= MOST_TRIES || (tries >= USUAL_TRIES && spent_s > trying_s) ||
           (tries >= LEAST_TRIES && spent_s > most_trying_s);
}

/* False: not one try came to its end. */
static bool try_often(const costs_kind *kind, void *context, double *seconds)
{
    const double start_s = ley_clock_s();
    double tried[COSTS_MOST];
    int tries = 0;
    while (!is_enough(tries, ley_clock_s() - start_s) && kind->measure(context, tried)) {
        for (size_t i = 0; i < kind->count; i++)
            seconds[i] = tries == 0 ? tried[i] : fmin(seconds[i], tried[i]);
        tries++;
    }
    for (size_t i = 0; i < kind->count && tries > 0; i++)
        seconds[i] = within(&kind->bounds[i], seconds[i]);
    return tries > 0;
}

static void log_costs(const costs_kind *kind, const dev_info *info, const double *seconds, double measured_s)
{
    char list[COSTS_MOST * 16] = "";
    for (size_t i = 0, at = 0; i < kind->count; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, " %.3g", seconds[i]);
    log_say(LEY_LOG_DETAIL, "%s: costs of %s measured in %.3g s:%s s per unit", info != NULL ? info->name : "the host",
            kind->name, measured_s, list);
}

void costs_get(const costs_kind *kind, const dev_info *info, void *context, double *seconds)
{
    const cache_key key = costs_key(kind, info);
    const double start_s = ley_clock_s();
    if (find(kind, &key, seconds))
        return;
    if (info != NULL && kernels_noted() != NULL) {
        set_usual(kind, seconds);
        return;
    }
    const bool is_interpreter = info != NULL && (info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    if (is_interpreter || kind->measure == NULL || !try_often(kind, context, seconds)) {
        set_usual(kind, seconds);
        return;
    }
    log_costs(kind, info, seconds, ley_clock_s() - start_s);
    cache_put(&key, seconds, kind->count * sizeof *seconds);
    remember(kind, &key, seconds, false);
}

void costs_keep(const costs_kind *kind, const dev_info *info, const double *seconds)
{
    double kept[COSTS_MOST];
    const cache_key key = costs_key(kind, info);
    for (size_t i = 0; i < kind->count; i++)
        kept[i] = within(&kind->bounds[i], seconds[i]);
    cache_put(&key, kept, kind->count * sizeof *kept);
    remember(kind, &key, kept, true);
}

/* What is known and what was found, as one. */
static double learned(double known_s, double found_s)
{
    const double much = 2, little = 0.9;
    return found_s < little * known_s ? found_s : found_s > much * known_s ? sqrt(found_s * known_s) : known_s;
}

void costs_learn(const costs_kind *kind, const dev_info *info, const double *seconds)
{
    double learned_s[COSTS_MOST];
    const bool is_known = costs_known(kind, info, learned_s);
    bool is_new = !is_known;
    for (size_t i = 0; i < kind->count; i++) {
        const double s = is_known ? learned(learned_s[i], seconds[i]) : seconds[i];
        is_new = is_new || s != learned_s[i];
        learned_s[i] = s;
    }
    if (is_new)
        costs_keep(kind, info, learned_s);
}

/* ---- The host's memory ----------------------------------------------------------------------- */

enum { TOUCHED = 1 << 20, PAGE = 4096 };

static bool measure_memory(void *context, double *seconds)
{
    (void)context;
    void *const fresh = mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED)
        return false;
    const double start_s = ley_clock_s();
    for (size_t at = 0; at < TOUCHED; at += PAGE)
        ((volatile char *)fresh)[at] = 1;
    seconds[COST_TOUCH] = (ley_clock_s() - start_s) / TOUCHED;
    munmap(fresh, TOUCHED);
    return true;
}

const costs_kind memory_costs = {
    .name = "memory", .count = 1, .bounds = {[COST_TOUCH] = {1e-12, 1e-10, 1e-8}}, .measure = measure_memory};

/* ---- The way to a device --------------------------------------------------------------------- */

enum { LARGE = 2 << 20, SMALL = 64 };

/* What is written comes from memory like any other, what is read through staging. */
typedef struct bus_probe {
    dev *device;
    dev_buffer *buffer;
    dev_staging *staging;
    void *bytes;
} bus_probe;

/* Something small, begun and waited for: it ends behind all that was begun before. */
static ley_status round_trip(const bus_probe *p)
{
    const dev_backend *b = p->device->backend;
    dev_event *event = NULL;
    const ley_status status = b->fill(p->device, p->buffer, 0, 0, SMALL, &event, NULL);
    return status == LEY_OK ? b->wait(p->device, event, NULL, NULL) : status;
}

static ley_status read_back(const bus_probe *p)
{
    const dev_backend *b = p->device->backend;
    dev_event *event = NULL;
    const ley_status status = b->read(p->device, p->buffer, 0, p->staging, LARGE, NULL, &event, NULL);
    return status == LEY_OK ? b->wait(p->device, event, NULL, NULL) : status;
}

static bool time_ways(const bus_probe *p, double *seconds)
{
    const double start_s = ley_clock_s();
    ley_status status = round_trip(p);
    const double begun_s = ley_clock_s();
    if (status == LEY_OK)
        status = p->device->backend->write(p->device, p->buffer, 0, p->bytes, LARGE, NULL);
    if (status == LEY_OK)
        status = round_trip(p);
    const double written_s = ley_clock_s();
    if (status == LEY_OK)
        status = read_back(p);
    const double read_s = ley_clock_s();
    seconds[COST_START] = begun_s - start_s;
    seconds[COST_TO_DEVICE] = (written_s - begun_s) / LARGE; /* beside which a start is next to nothing */
    seconds[COST_TO_HOST] = (read_s - written_s) / LARGE;
    return status == LEY_OK;
}

static bool measure_bus(void *context, double *seconds)
{
    bus_probe p = {.device = context, .bytes = calloc(1, LARGE)};
    const dev_backend *b = p.device->backend;
    bool done = p.bytes != NULL && b->buffer_create(p.device, LARGE, DEV_READ_WRITE, &p.buffer, NULL) == LEY_OK;
    if (done) {
        done = b->staging_create(p.device, LARGE, &p.staging, NULL) == LEY_OK;
        if (p.staging != NULL)
            memset(p.staging->bytes, 0, LARGE);
        done = done && time_ways(&p, seconds);
        if (p.staging != NULL)
            b->staging_destroy(p.device, p.staging);
        b->buffer_destroy(p.device, p.buffer);
    }
    free(p.bytes);
    return done;
}

const costs_kind bus_costs = {.name = "bus",
                              .count = 3,
                              .bounds = {[COST_TO_DEVICE] = {1e-12, 1.25e-10, 1e-7},
                                         [COST_TO_HOST] = {1e-12, 1.25e-10, 1e-7},
                                         [COST_START] = {1e-7, 2.5e-4, 1e-2}},
                              .measure = measure_bus};
