#include "engine/engine.h"

#include "build_cache.h"
#include "clock.h"
#include "device_list.h"
#include "dump.h"
#include "engine/discovery.h"
#include "engine/selector.h"
#include "error.h"
#include "log.h"
#include "parallel.h"
#include "ranks.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)LEY_CLASS_GPU == (int)DEV_GPU && (int)LEY_CLASS_CPU == (int)DEV_CPU &&
                   (int)LEY_CLASS_OTHER == (int)DEV_OTHER && (int)LEY_CLASS_COUNT == (int)DEV_CLASS_COUNT,
               "ley_device_class is dev_class");

void engine_describe(const dev_info *info, ley_device_info *public_info)
{
    *public_info = (ley_device_info){
        .index = info->index,
        .path = info->backend->name,
        .platform = info->platform,
        .vendor = info->vendor,
        .name = info->name,
        .driver = info->driver,
        .version = info->version,
        .device_class = (ley_device_class)info->device_class,
        .compute_units = info->compute_units,
        .clock_MHz = info->clock_MHz,
        .max_work_group = info->max_work_group,
        .global_bytes = info->global_bytes,
        .max_allocation_bytes = info->max_allocation_bytes,
        .local_bytes = info->local_bytes,
        .constant_bytes = info->constant_bytes,
        .has_double = info->has_double,
        .quirks = info->quirks_text,
        .unusable = info->unusable[0] != '\0' ? info->unusable : NULL,
    };
}

/* ---- Workers --------------------------------------------------------------------------------- */

static void open_device(worker *w, void *context)
{
    (void)context;
    dev *device = w->device; /* it may be open already */
    ley_error_clear(&w->open_error);
    if (w->info->unusable[0] != '\0') {
        ley_fail(&w->open_error, LEY_ERROR_NO_DEVICE, "%s: %s", w->info->name, w->info->unusable);
        return;
    }
    if (device != NULL || w->info->backend->open(w->info, &device, &w->open_error) == LEY_OK) {
        w->device = device;
        w->public_info.has_timestamps = device->has_timestamps;
        log_say(LEY_LOG_DETAIL, "%s: opened by %s, times by %s", w->info->name, w->info->backend->name,
                device->has_timestamps ? "its own clock" : "the host's clock");
    } else {
        ley_error_prefix(&w->open_error, "%s", w->info->name);
        log_say(LEY_LOG_WARNING, "a device does not open: %s", w->open_error.message);
    }
}

static void close_device(worker *w, void *context)
{
    (void)context;
    dev *device = w->device;
    w->device = NULL;
    if (device != NULL)
        device->backend->close(device);
}

static void nothing_left(worker *w, void *context)
{
    (void)w, (void)context;
}

static void work(void *context)
{
    worker *w = context;
    if (w->may_return) { /* it was left behind, and its driver has come back */
        w->may_return = false;
        open_device(w, NULL);
    }
    w->task->run(w, w->context);
}

static void worker_start(worker *w)
{
    w->driver_thread = driver_thread_create();
    if (w->driver_thread == NULL)
        ley_fail(&w->open_error, LEY_ERROR_DEVICE, "no thread for device %s", w->info->name);
}

/* A device whose driver came back too late for a former task has another chance. */
static void worker_revive(worker *w)
{
    if (w->driver_thread != NULL || w->left == NULL || !w->may_return || !driver_thread_is_back(w->left))
        return;
    w->left = NULL;
    worker_start(w);
}

void engine_stay_alert(const ley_engine *engine, bool is_alert, bool *is_so)
{
    bool has_cores = engine != NULL;
    for (size_t i = 0; has_cores && i < engine->worker_count; i++)
        has_cores = engine->workers[i].info->device_class != DEV_CPU;
    if ((is_alert && has_cores) != *is_so)
        parallel_stay_alert(is_alert && has_cores);
    *is_so = is_alert && has_cores;
}

bool worker_is_idle(const worker *w)
{
    return w->driver_thread == NULL || driver_thread_is_idle(w->driver_thread);
}

dev *worker_device(const worker *w)
{
    return worker_is_idle(w) ? w->device : NULL;
}

/* Leaves a worker behind that does not come back from its driver; false when it is not time yet. */
static bool worker_leave(worker *w, bool is_over)
{
    ley_error why = {0};
    if (w->task->left == NULL || !driver_thread_leave(w->driver_thread, is_over, &why))
        return false;
    ley_error_prefix(&why, "%s", w->info->name);
    ley_error_copy(&w->open_error, &why);
    ley_error_clear(&why);
    log_say(LEY_LOG_WARNING, "a device is left behind in its driver: %s", w->open_error.message);
    calibrate_leave(w->device);
    dev_keep(w->driver_thread);
    dev_keep(w->device);
    w->left = w->driver_thread;
    w->driver_thread = NULL;
    w->device = NULL;
    w->may_return = is_over;
    w->engine->has_left = true;
    w->task->left(w, w->context);
    return true;
}

static void worker_give(worker *w, const engine_task *task, void *context)
{
    w->part = WORKER_HAS_IT;
    w->task = task;
    w->context = context;
    if (task->given != NULL)
        task->given(w, context);
    driver_thread_give(w->driver_thread, work, w);
}

/* One look at a worker: gives it the task as soon as it can take it. Whether it need not be waited
 * for. */
static bool worker_is_done(worker *w, const engine_task *task, void *context, bool is_over, bool is_late)
{
    if (w->driver_thread == NULL)
        return true;
    if (driver_thread_is_idle(w->driver_thread)) {
        if (w->device != NULL)
            w->public_info.has_timestamps = w->device->has_timestamps;
        if (w->part == WORKER_HAS_IT)
            return true;
        worker_give(w, task, context);
        return false;
    }
    if (w->part == WORKER_WAITS && (is_over || (task->only_idle && is_late)))
        return true;
    if (w->part == WORKER_HAS_IT && is_over && task->let_go != NULL && task->let_go(w, context))
        return true;
    return worker_leave(w, is_over);
}

/* How long a worker may take to come to the end of what it is at, such as freeing a job's memory,
 * before it counts as busy with something else. */
static const double ending_s = 5e-3;

static void run(ley_engine *engine, size_t first, const engine_task *task, void *context)
{
    const double start_s = ley_clock_s();
    for (size_t i = first; i < engine->worker_count; i++) {
        worker_revive(&engine->workers[i]);
        engine->workers[i].part = WORKER_WAITS;
    }
    for (;;) {
        const unsigned long rings = driver_thread_rings();
        const bool is_over = task->is_over != NULL && task->is_over(context),
                   is_late = ley_clock_s() - start_s > ending_s;
        bool all = true;
        for (size_t i = first; i < engine->worker_count; i++)
            all = worker_is_done(&engine->workers[i], task, context, is_over, is_late) && all;
        if (all)
            return;
        if (task->only_idle && !is_late)
            driver_thread_wait_for(rings, ending_s);
        else
            driver_thread_wait(rings);
    }
}

void engine_run(ley_engine *engine, size_t first, const engine_task *task, void *context)
{
    pthread_mutex_lock(&engine->running);
    run(engine, first, task, context);
    pthread_mutex_unlock(&engine->running);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Devices that open together are all there when the engine is; one that takes longer than this
 * after the first one joins when it is ready. */
static const double together_s = 0.05;

typedef struct opening {
    const ley_engine *engine;
    size_t first;         /* workers [first, worker_count) */
    bool is_first_needed; /* else nobody waits at all */
    double opened_s;      /* when the first one was seen to be open; 0: none is */
} opening;

static bool need_no_more(void *context)
{
    opening *o = context;
    for (size_t i = o->first; i < o->engine->worker_count && o->opened_s == 0; i++)
        if (worker_device(&o->engine->workers[i]) != NULL)
            o->opened_s = ley_clock_s();
    return !o->is_first_needed || (o->opened_s > 0 && ley_clock_s() > o->opened_s + together_s);
}

static bool let_go(worker *w, void *context)
{
    (void)w, (void)context;
    return true;
}

/* Opens workers [first, worker_count). */
static void open_workers(ley_engine *engine, size_t first, bool is_first_needed)
{
    static const engine_task task = {
        .run = open_device, .is_over = need_no_more, .let_go = let_go, .left = nothing_left};
    opening o = {.engine = engine, .first = first, .is_first_needed = is_first_needed};
    for (size_t i = first; i < engine->worker_count; i++)
        if (engine->workers[i].driver_thread == NULL)
            worker_start(&engine->workers[i]);
    engine_run(engine, first, &task, &o);
}

bool engine_take_next(ley_engine *engine)
{
    while (engine->worker_count < engine->candidate_count) {
        const worker *w = &engine->workers[engine->worker_count++];
        open_workers(engine, engine->worker_count - 1, true);
        if (worker_device(w) != NULL)
            return true;
    }
    return false;
}

/* LEY_OK when at least one device is open; else why the first one is not. */
static ley_status any_open(const ley_engine *engine, ley_error *error)
{
    for (size_t i = 0; i < engine->worker_count; i++)
        if (worker_device(&engine->workers[i]) != NULL)
            return LEY_OK;
    const ley_error *first = &engine->workers[0].open_error;
    ley_error_copy(error, first);
    return first->status;
}

static ley_status open_selected(ley_engine *engine, const char *selector, ley_error *error)
{
    size_t *chosen = calloc(engine->list.count + 1, sizeof *chosen), count = 0, joining = 0;
    engine->workers = calloc(engine->list.count + 1, sizeof *engine->workers);
    if (chosen == NULL || engine->workers == NULL) {
        free(chosen);
        return ley_fail_memory(error, engine->list.count * sizeof(worker), "the devices");
    }
    discovered opened;
    ley_status status = selector_choose(&engine->list, selector, chosen, &count, &joining, &opened, error);
    engine->workers[0].device = opened.device;
    engine->workers[0].driver_thread = opened.driver_thread;
    for (size_t i = 0; i < count; i++) {
        worker *w = &engine->workers[i];
        w->engine = engine;
        w->info = &engine->list.infos[chosen[i]];
        engine_describe(w->info, &w->public_info);
    }
    free(chosen);
    if (status != LEY_OK)
        return status;
    engine->candidate_count = count;
    if (selector != NULL) {
        engine->worker_count = count;
        open_workers(engine, 0, true);
    } else if (engine_take_next(engine) && engine->worker_count <= joining) {
        const size_t first = engine->worker_count;
        engine->worker_count = joining + 1;
        open_workers(engine, first, false);
    }
    return any_open(engine, error);
}

/* The first rank decides whether devices do a job at all; another one without any takes no
 * slab. */
ley_status ley_engine_create(const char *selector, ley_engine **engine, ley_error *error)
{
    ley_engine *e = calloc(1, sizeof *e);
    if (e == NULL)
        return ley_fail_memory(error, sizeof *e, "the engine");
    atomic_init(&e->holders, 1);
    pthread_mutex_init(&e->running, NULL);
    ley_status status = discovery_list(&e->list, false, error);
    if (status == LEY_OK)
        status = open_selected(e, selector, error);
    if (error != NULL && status == LEY_ERROR_NO_DEVICE && selector == NULL && ranks_own() > 0) {
        ley_error_copy(&e->lacking, error);
        ley_error_clear(error);
        e->worker_count = e->candidate_count = 0;
        status = LEY_OK;
    }
    if (status != LEY_OK) {
        ley_engine_destroy(e);
        return status;
    }
    *engine = e;
    return LEY_OK;
}

/* ---- The end --------------------------------------------------------------------------------- */

static void let_loose(ley_engine *engine)
{
    if (atomic_fetch_sub(&engine->holders, 1) > 1)
        return;
    for (size_t i = 0; i < engine->worker_count; i++)
        ley_error_clear(&engine->workers[i].open_error);
    if (engine->has_left) { /* drivers that have not returned may still read what describes their devices */
        dev_keep(engine);
        return;
    }
    ley_error_clear(&engine->lacking);
    free(engine->workers);
    dev_list_clear(&engine->list);
    pthread_mutex_destroy(&engine->running);
    free(engine);
}

/* A late worker's last task, on its thread. */
static void close_late(void *context)
{
    worker *w = context;
    close_device(w, NULL);
    let_loose(w->engine);
}

/* Workers that are late come to an end by themselves. */
static void dismiss_late(ley_engine *engine)
{
    for (size_t i = 0; i < engine->worker_count; i++) {
        worker *w = &engine->workers[i];
        if (w->driver_thread == NULL || driver_thread_is_idle(w->driver_thread))
            continue;
        atomic_fetch_add(&engine->holders, 1);
        if (driver_thread_dismiss(w->driver_thread, true, close_late, w))
            w->driver_thread = NULL;
        else
            atomic_fetch_sub(&engine->holders, 1);
    }
}

/* No device is opened anew. What a busy worker has is its thread's, also once it is dismissed. */
static void revive_no_more(ley_engine *engine)
{
    for (size_t i = 0; i < engine->worker_count; i++) {
        worker *w = &engine->workers[i];
        w->left = NULL;
        if (worker_is_idle(w))
            w->may_return = false;
    }
}

void ley_engine_destroy(ley_engine *engine)
{
    static const engine_task close_task = {.run = close_device, .left = nothing_left};
    if (engine == NULL)
        return;
    revive_no_more(engine);
    dismiss_late(engine);
    engine_run(engine, 0, &close_task, NULL);
    for (size_t i = 0; i < engine->worker_count; i++)
        if (engine->workers[i].driver_thread != NULL)
            driver_thread_destroy(engine->workers[i].driver_thread);
    let_loose(engine);
}

bool ley_driver_is_stuck(void)
{
    return watch_stuck() > 0 || driver_thread_adrift() > 0;
}

double ley_engine_speed(const ley_engine *engine)
{
    double sum = 0;
    for (size_t i = 0; i < engine->worker_count; i++) {
        calibration known;
        double fastest = 0;
        calibrate_cached(engine->workers[i].info, CALIBRATE_ROOTS, &known);
        for (int root = 0; root < LEY_ROOT_COUNT; root++)
            fastest = known.roots_per_s[root] > fastest ? known.roots_per_s[root] : fastest;
        if (fastest == 0)
            return 0;
        sum += fastest;
    }
    return sum;
}

size_t ley_engine_device_count(const ley_engine *engine)
{
    return engine->worker_count;
}

const ley_device_info *ley_engine_device(const ley_engine *engine, size_t i)
{
    return &engine->workers[i].public_info;
}

struct ley_device_list {
    dev_list list;
    ley_device_info *infos;
};

ley_status ley_device_list_create(ley_device_list **list, ley_error *error)
{
    ley_device_list *l = calloc(1, sizeof *l);
    if (l == NULL)
        return ley_fail_memory(error, sizeof *l, "the device list");
    ley_status status = discovery_list(&l->list, true, error);
    if (status == LEY_OK && (l->infos = calloc(l->list.count + 1, sizeof *l->infos)) == NULL)
        status = ley_fail_memory(error, l->list.count * sizeof *l->infos, "the device list");
    if (status != LEY_OK) {
        ley_device_list_destroy(l);
        return status;
    }
    bool *has_timestamps = calloc(l->list.count + 1, sizeof *has_timestamps);
    if (has_timestamps == NULL) {
        ley_device_list_destroy(l);
        return ley_fail_memory(error, l->list.count, "the device list");
    }
    discovery_timestamps(&l->list, has_timestamps);
    for (size_t i = 0; i < l->list.count; i++) {
        engine_describe(&l->list.infos[i], &l->infos[i]);
        l->infos[i].has_timestamps = has_timestamps[i];
    }
    free(has_timestamps);
    *list = l;
    return LEY_OK;
}

void ley_device_list_destroy(ley_device_list *list)
{
    if (list == NULL)
        return;
    dev_list_clear(&list->list);
    free(list->infos);
    free(list);
}

size_t ley_device_list_count(const ley_device_list *list)
{
    return list->list.count;
}

const ley_device_info *ley_device_list_get(const ley_device_list *list, size_t i)
{
    return &list->infos[i];
}

size_t ley_device_list_note_count(const ley_device_list *list)
{
    return list->list.note_count;
}

const char *ley_device_list_note(const ley_device_list *list, size_t i)
{
    return list->list.notes[i];
}

const char *ley_driver_complaint(void)
{
    return dev_driver_complaint();
}

const char *ley_cache_complaint(void)
{
    return cache_complaint();
}

const char *ley_dump_complaint(void)
{
    return dump_complaint();
}
