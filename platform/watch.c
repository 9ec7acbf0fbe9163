#include "watch.h"

#include "clock.h"
#include "dump.h"
#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

static const watch_patience usual = {.open_s = 120,
                                     .trial_s = 60,
                                     .apart_s = 30,
                                     .build_s = 600,
                                     .close_s = 10,
                                     .first_s = 300,
                                     .work_s = 30,
                                     .factor = 50,
                                     .over_s = 2,
                                     .turn_s = 2,
                                     .choose_s = 0.1};
static const watch_patience *patience = &usual;
static const double longest_look_s = 1;

static _Thread_local watch *mine;
static atomic_int stuck;

void watch_patience_replace(const watch_patience *replacement)
{
    patience = replacement != NULL ? replacement : &usual;
}

double watch_trial_s(void)
{
    return patience->trial_s > 0 ? patience->trial_s : usual.trial_s;
}

double watch_apart_s(void)
{
    return patience->apart_s > 0 ? patience->apart_s : usual.apart_s;
}

double watch_turn_s(void)
{
    return patience->turn_s;
}

double watch_choose_s(void)
{
    return patience->choose_s;
}

void watch_init(watch *w)
{
    *w = (watch){.call = NULL};
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
}

void watch_destroy(watch *w)
{
    pthread_mutex_destroy(&w->mutex);
    pthread_cond_destroy(&w->changed);
    ley_error_clear(&w->reason);
}

void watch_this_thread(watch *w)
{
    mine = w;
}

bool watch_ends(void)
{
    if (mine == NULL)
        return false;
    pthread_mutex_lock(&mine->mutex);
    const bool ends = mine->ends;
    pthread_mutex_unlock(&mine->mutex);
    return ends;
}

void watch_forget_reason(void)
{
    if (mine == NULL)
        return;
    pthread_mutex_lock(&mine->mutex);
    ley_error_clear(&mine->reason);
    pthread_mutex_unlock(&mine->mutex);
}

static void note(bool is_warm, double expected_s)
{
    if (mine == NULL)
        return;
    pthread_mutex_lock(&mine->mutex);
    mine->is_warm = is_warm;
    mine->expected_s = expected_s;
    pthread_mutex_unlock(&mine->mutex);
}

void watch_expect(double operation_s)
{
    note(false, operation_s);
}

void watch_warm(void)
{
    if (mine != NULL && !mine->is_warm) /* nobody else changes it */
        note(true, mine->expected_s);
}

void watch_enter(const dev_info *info, watch_kind kind, const char *call)
{
    watch *w = mine;
    if (w == NULL)
        return;
    pthread_mutex_lock(&w->mutex);
    w->call = call;
    w->kind = kind;
    w->calls++;
    w->is_endless = info != NULL && (info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    pthread_mutex_unlock(&w->mutex);
}

/* Where threads stay that are given up. */
static void stay(watch *w)
{
    pthread_cond_broadcast(&w->changed);
    for (;;)
        pthread_cond_wait(&w->changed, &w->mutex);
}

void watch_come_back(const dev *device, const ley_error *error)
{
    watch *w = mine;
    if (w == NULL)
        return;
    pthread_mutex_lock(&w->mutex);
    if (error != NULL && error->status != LEY_OK)
        ley_error_copy(&w->reason, error);
    if (device != NULL && device->is_lost) {
        if (w->reason.message[0] == '\0') /* it came to pass where nobody could be told */
            ley_fail(&w->reason, LEY_ERROR_DEVICE, "%s", device->lost_by);
        w->is_lost = true;
        stay(w);
    }
    if (w->is_left) {
        w->is_back = true;
        atomic_fetch_sub(&stuck, 1);
        stay(w);
    }
    w->call = NULL;
    pthread_mutex_unlock(&w->mutex);
}

static double limit_s(const watch *w, bool is_over)
{
    if (is_over)
        return patience->over_s;
    switch (w->kind) {
    case WATCH_OPEN:
        return patience->open_s;
    case WATCH_CLOSE:
        return patience->close_s;
    case WATCH_BUILD:
        return w->is_endless ? INFINITY : patience->build_s;
    case WATCH_WORK:
        break;
    }
    const double work_s = fmax(patience->work_s, patience->factor * w->expected_s);
    return w->is_endless ? INFINITY : w->is_warm ? work_s : fmax(patience->first_s, work_s);
}

static void say_why(const watch *w, bool is_over, ley_error *why)
{
    if (w->is_lost)
        ley_fail(why, LEY_ERROR_DEVICE, "%s%sgiven up, since its work could not be finished", w->reason.message,
                 w->reason.message[0] != '\0' ? "; " : "");
    else if (is_over)
        ley_fail(why, LEY_ERROR_DEVICE, "was not used: still in the driver (%s) when the work was done", w->call);
    else
        ley_fail(why, LEY_ERROR_DEVICE, "no progress for %.3g s, the driver does not return (%s): given up",
                 w->silent_s, w->call);
}

bool watch_give_up(watch *w, bool is_over, ley_error *why)
{
    const double now_s = ley_clock_s();
    pthread_mutex_lock(&w->mutex);
    const bool is_same = w->call != NULL && w->calls == w->seen_calls;
    w->silent_s = is_same ? w->silent_s + fmin(now_s - w->seen_s, longest_look_s) : 0;
    w->seen_calls = w->calls;
    w->seen_s = now_s;
    if (w->call != NULL && (w->is_lost || w->silent_s > limit_s(w, is_over))) {
        w->is_left = true;
        atomic_fetch_add(&stuck, 1);
        say_why(w, is_over, why);
    }
    const bool is_left = w->is_left;
    pthread_mutex_unlock(&w->mutex);
    return is_left;
}

bool watch_is_back(watch *w)
{
    pthread_mutex_lock(&w->mutex);
    const bool is_back = w->is_back;
    pthread_mutex_unlock(&w->mutex);
    return is_back;
}

int watch_stuck(void)
{
    return atomic_load(&stuck);
}

/* ---- The device interface -------------------------------------------------------------------- */

/* A back end's interface, and the one before it. */
typedef struct watched {
    dev_backend interface;
    const dev_backend *own;
} watched;

static const dev_backend *own_backend(const dev_info *info)
{
    return ((const watched *)info->backend)->own;
}

/* The driver fills in an error on the thread's own stack: the caller's may be gone before it
 * returns. */
static ley_status come_back(const dev *device, ley_status status, ley_error *own, ley_error *error)
{
    watch_come_back(device, own);
    if (status != LEY_OK)
        ley_error_copy(error, own);
    ley_error_clear(own);
    return status;
}

static ley_status ended(ley_error *error)
{
    return ley_fail(error, LEY_CANCELLED, "cancelled");
}

/* Calls that end something. */
#define WATCHED_ANYWAY(device, info, kind, call) \
    ley_error own = {.status = LEY_OK}; \
    watch_enter(info, kind, __func__ + sizeof "watched_" - 1); \
    const ley_status status = own_backend(info)->call; \
    return come_back(device, status, &own, error)

/* Calls that begin something. `own` is for the call's error. */
#define WATCHED(device, info, kind, call) \
    if (watch_ends()) \
        return ended(error); \
    WATCHED_ANYWAY(device, info, kind, call)

static ley_status watched_open(const dev_info *info, dev **device, ley_error *error)
{
    ley_error own = {.status = LEY_OK};
    dev *opened = NULL;
    if (watch_ends())
        return ended(error);
    watch_enter(info, WATCH_OPEN, "open");
    const ley_status status = own_backend(info)->open(info, &opened, &own);
    if (status == LEY_OK) {
        opened->backend = info->backend;
        *device = opened;
    }
    return come_back(NULL, status, &own, error);
}

static void watched_close(dev *device)
{
    if (device == NULL)
        return;
    watch_enter(device->info, WATCH_CLOSE, "close");
    own_backend(device->info)->close(device);
    watch_come_back(NULL, NULL);
}

static ley_status watched_buffer_create(dev *device, size_t bytes, dev_access access, dev_buffer **buffer,
                                        ley_error *error)
{
    WATCHED(device, device->info, WATCH_WORK, buffer_create(device, bytes, access, buffer, &own));
}

static ley_status watched_staging_create(dev *device, size_t bytes, dev_staging **staging, ley_error *error)
{
    WATCHED(device, device->info, WATCH_WORK, staging_create(device, bytes, staging, &own));
}

static ley_status watched_write(dev *device, dev_buffer *buffer, size_t offset, const void *bytes, size_t size,
                                ley_error *error)
{
    WATCHED(device, device->info, WATCH_WORK, write(device, buffer, offset, bytes, size, &own));
}

static ley_status watched_send(dev *device, dev_buffer *buffer, size_t offset, const dev_staging *staging, size_t from,
                               size_t size, dev_event **done, ley_error *error)
{
    WATCHED(device, device->info, WATCH_WORK, send(device, buffer, offset, staging, from, size, done, &own));
}

static ley_status watched_fill(dev *device, dev_buffer *buffer, size_t offset, uint32_t pattern, size_t bytes,
                               dev_event **done, ley_error *error)
{
    WATCHED(device, device->info, WATCH_WORK, fill(device, buffer, offset, pattern, bytes, done, &own));
}

static ley_status watched_copy(dev *device, dev_buffer *to, size_t to_offset, dev_buffer *from, size_t from_offset,
                               size_t bytes, dev_event **done, ley_error *error)
{
    WATCHED(device, device->info, WATCH_WORK, copy(device, to, to_offset, from, from_offset, bytes, done, &own));
}

static ley_status watched_read(dev *device, dev_buffer *buffer, size_t offset, dev_staging *staging, size_t size,
                               dev_event *after, dev_event **done, ley_error *error)
{
    WATCHED(device, device->info, WATCH_WORK, read(device, buffer, offset, staging, size, after, done, &own));
}

static ley_status watched_build(dev *device, const dev_source *source, const void *binary, size_t binary_size,
                                dev_program **program, ley_error *error)
{
    const dev_backend *backend = own_backend(device->info);
    const bool is_dumped = dump_is_wanted();
    ley_error own = {.status = LEY_OK};
    char *log = NULL;
    if (watch_ends())
        return ended(error);
    watch_enter(device->info, WATCH_BUILD, "build");
    const ley_status status = backend->build(device, source, binary, binary_size, program, &own);
    if (status == LEY_OK && is_dumped && backend->program_log != NULL)
        log = backend->program_log(device, *program);
    watch_come_back(device, &own);
    if (is_dumped && (status == LEY_OK || binary == NULL)) /* what the cache had in vain is compiled */
        dump_build(device->info, source, binary != NULL, log, status != LEY_OK ? &own : NULL);
    free(log);
    if (status != LEY_OK)
        ley_error_copy(error, &own);
    ley_error_clear(&own);
    return status;
}

/* Several builds in one call. Threads that only compile are not watched: the one that waits for
 * them is. */
typedef struct many_builds {
    dev *device;
    dev_build *builds;
} many_builds;

static void build_one(void *context, size_t i)
{
    const many_builds *many = context;
    dev_build *b = &many->builds[i];
    const double start_s = ley_clock_s();
    b->status = own_backend(many->device->info)->build(many->device, &b->source, NULL, 0, &b->program, &b->error);
    b->seconds = ley_clock_s() - start_s;
}

/* How the last one ended that failed; NULL: none did. */
static const ley_error *failed_build(const dev_build *builds, size_t count)
{
    const ley_error *failed = NULL;
    for (size_t i = 0; i < count; i++)
        if (builds[i].status != LEY_OK)
            failed = &builds[i].error;
    return failed;
}

static void dump_one(dev *device, const dev_build *b)
{
    const dev_backend *backend = own_backend(device->info);
    const bool has_log = b->status == LEY_OK && backend->program_log != NULL;
    char *log = has_log ? backend->program_log(device, b->program) : NULL;
    dump_build(device->info, &b->source, false, log, b->status == LEY_OK ? NULL : &b->error);
    free(log);
}

static void watched_build_all(dev *device, dev_build *builds, size_t count)
{
    many_builds many = {device, builds};
    if (watch_ends()) {
        for (size_t i = 0; i < count; i++)
            builds[i].status = ended(&builds[i].error);
        return;
    }
    watch_enter(device->info, WATCH_BUILD, "build");
    if (device->info->quirks & DEV_QUIRK_ONE_COMPILER && own_backend(device->info)->build_apart != NULL)
        own_backend(device->info)->build_apart(device, builds, count);
    else
        parallel_each(count, build_one, &many);
    for (size_t i = 0; i < count && dump_is_wanted(); i++)
        dump_one(device, &builds[i]);
    watch_come_back(device, failed_build(builds, count));
}

static ley_status watched_program_binary(dev *device, dev_program *program, void **binary, size_t *size,
                                         ley_error *error)
{
    WATCHED(device, device->info, WATCH_BUILD, program_binary(device, program, binary, size, &own));
}

static ley_status watched_launch(dev *device, const dev_launch *launch, dev_event **done, ley_error *error)
{
    WATCHED(device, device->info, WATCH_WORK, launch(device, launch, done, &own));
}

static ley_status watched_wait(dev *device, dev_event *event, dev_times *times, ley_error *error)
{
    WATCHED_ANYWAY(device, device->info, WATCH_WORK, wait(device, event, times, &own));
}

/* Calls that cannot fail. */
#define WATCHED_END(call) \
    watch_enter(device->info, WATCH_WORK, __func__ + sizeof "watched_" - 1); \
    own_backend(device->info)->call; \
    watch_come_back(device, NULL)

static void watched_buffer_destroy(dev *device, dev_buffer *buffer)
{
    WATCHED_END(buffer_destroy(device, buffer));
}

static void watched_staging_destroy(dev *device, dev_staging *staging)
{
    WATCHED_END(staging_destroy(device, staging));
}

static void watched_program_destroy(dev *device, dev_program *program)
{
    WATCHED_END(program_destroy(device, program));
}

static void watched_forget(dev *device, dev_event *event)
{
    WATCHED_END(forget(device, event));
}

static ley_status watched_fft_plan(dev *device, size_t library, const dev_fft_shape *shape, const void *kept,
                                   size_t kept_size, dev_fft_plan **plan, ley_error *error)
{
    WATCHED(device, device->info, WATCH_BUILD, fft_plan(device, library, shape, kept, kept_size, plan, &own));
}

static ley_status watched_fft_keep(dev *device, dev_fft_plan *plan, void **bytes, size_t *size, ley_error *error)
{
    WATCHED(device, device->info, WATCH_BUILD, fft_keep(device, plan, bytes, size, &own));
}

static ley_status watched_fft_run(dev *device, dev_fft_plan *plan, bool forward, dev_buffer *from, dev_buffer *to,
                                  dev_buffer *scratch, dev_event **done, ley_error *error)
{
    WATCHED(device, device->info, WATCH_WORK, fft_run(device, plan, forward, from, to, scratch, done, &own));
}

static void watched_fft_end(dev *device, dev_fft_plan *plan)
{
    WATCHED_END(fft_end(device, plan));
}

/* What a back end need not have. */
static void fill_in_optional(watched *w)
{
    if (w->own->fft_plan == NULL)
        return;
    w->interface.fft_plan = watched_fft_plan;
    w->interface.fft_keep = watched_fft_keep;
    w->interface.fft_run = watched_fft_run;
    w->interface.fft_end = watched_fft_end;
}

static void fill_in(watched *w, const dev_backend *own)
{
    w->own = own;
    w->interface = *own;
    w->interface.open = watched_open;
    w->interface.close = watched_close;
    w->interface.buffer_create = watched_buffer_create;
    w->interface.buffer_destroy = watched_buffer_destroy;
    w->interface.staging_create = watched_staging_create;
    w->interface.staging_destroy = watched_staging_destroy;
    w->interface.write = watched_write;
    w->interface.send = watched_send;
    w->interface.fill = watched_fill;
    w->interface.copy = watched_copy;
    w->interface.read = watched_read;
    w->interface.build = watched_build;
    w->interface.build_all = watched_build_all;
    w->interface.program_binary = watched_program_binary;
    w->interface.program_destroy = watched_program_destroy;
    w->interface.launch = watched_launch;
    w->interface.wait = watched_wait;
    w->interface.forget = watched_forget;
    fill_in_optional(w);
}

const dev_backend *watched_interface(const dev_backend *own)
{
    enum { MOST_INTERFACES = 8 };
    static watched interfaces[MOST_INTERFACES];
    static size_t count;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    size_t i = 0;
    pthread_mutex_lock(&mutex);
    while (i < count && interfaces[i].own != own)
        i++;
    if (i == count && i < MOST_INTERFACES)
        fill_in(&interfaces[count++], own);
    pthread_mutex_unlock(&mutex);
    return i < MOST_INTERFACES ? &interfaces[i].interface : own;
}
