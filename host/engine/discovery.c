#include "engine/discovery.h"

#include "calibrate.h"
#include "clock.h"
#include "device_list.h"
#include "engine/driver_thread.h"
#include "engine/tuning.h"
#include "error.h"
#include "leyden.h"

#include <math.h>
#include <stdlib.h>

/* ---- All devices ----------------------------------------------------------------------------- */

typedef struct list_question {
    dev_list list;
    bool afresh;
    ley_status status;
    ley_error error;
} list_question;

static void ask_list(void *context)
{
    list_question *q = context;
    q->status = q->afresh ? dev_list_create_afresh(&q->list, &q->error) : dev_list_create(&q->list, &q->error);
}

ley_status discovery_list(dev_list *list, bool afresh, ley_error *error)
{
    list_question *q = calloc(1, sizeof *q);
    if (q == NULL)
        return ley_fail_memory(error, sizeof *q, "the device list");
    q->afresh = afresh;
    if (!driver_thread_run(ask_list, q, error)) {
        dev_keep(q);
        ley_error_prefix(error, "finding devices");
        return LEY_ERROR_DEVICE;
    }
    const ley_status status = q->status;
    *list = q->list;
    if (status != LEY_OK)
        ley_error_copy(error, &q->error);
    ley_error_clear(&q->error);
    free(q);
    return status;
}

/* ---- One device ------------------------------------------------------------------------------ */

typedef struct device_question {
    dev_info info; /* a copy, which may be kept */
    dev *device;
    bool has_timestamps;
    calibration facts;
    ley_status status;
} device_question;

static void ask_timestamps(void *context)
{
    device_question *q = context;
    if (q->info.backend->open(&q->info, &q->device, NULL) != LEY_OK)
        return;
    q->has_timestamps = q->device->has_timestamps;
    q->info.backend->close(q->device);
}

static void ask_facts(void *context)
{
    device_question *q = context;
    q->status = q->info.backend->open(&q->info, &q->device, NULL);
    if (q->status != LEY_OK)
        return;
    q->status = calibrate_get(q->device, tuning_speed_needs(&q->info), &q->facts, NULL);
}

/* Of those that are measured and not wanted. */
static void close_device(void *context)
{
    device_question *q = context;
    dev *device = q->device;
    q->device = NULL;
    if (device != NULL)
        q->info.backend->close(device);
}

static void close_and_free(void *context)
{
    close_device(context);
    free(context);
}

static device_question *question_create(const dev_info *info)
{
    device_question *q = calloc(1, sizeof *q);
    if (q == NULL)
        return NULL;
    q->info = *info;
    q->status = LEY_ERROR_DEVICE;
    return q;
}

static void question_keep(device_question *q)
{
    calibrate_leave(q->device);
    dev_keep(q);
}

/* One of the questions that are asked at once; no thread: it is answered, or nobody answers it. */
typedef struct asked {
    device_question *question;
    driver_thread *driver_thread;
    driver_thread *idle; /* that has answered */
} asked;

/* Whether it could be asked. */
static bool ask(asked *a, const dev_info *info, void (*task)(void *context))
{
    a->question = question_create(info);
    a->driver_thread = a->question != NULL ? driver_thread_create() : NULL;
    if (a->driver_thread != NULL)
        driver_thread_give(a->driver_thread, task, a->question);
    return a->driver_thread != NULL;
}

/* One look at a question; false: it is still open. No question is left where the driver does not
 * answer. */
static bool is_answered(asked *a)
{
    if (a->driver_thread == NULL)
        return true;
    if (driver_thread_is_idle(a->driver_thread)) {
        a->idle = a->driver_thread;
    } else if (driver_thread_leave(a->driver_thread, false, NULL)) {
        dev_keep(a->driver_thread);
        question_keep(a->question);
        a->question = NULL;
    } else {
        return false;
    }
    a->driver_thread = NULL;
    return true;
}

/* ---- The fastest ----------------------------------------------------------------------------- */

static void begin(asked *a, const dev_info *info, double *speed)
{
    calibration facts;
    *speed = DISCOVERY_NONE;
    if (calibrate_cached(info, tuning_speed_needs(info), &facts))
        *speed = tuning_speed(info, &facts);
    else if (ask(a, info, ask_facts))
        *speed = DISCOVERY_LATE;
}

/* One look at a question that may be open. */
static void look(asked *a, double *speed)
{
    if (a->driver_thread == NULL || !is_answered(a))
        return;
    const device_question *q = a->question;
    *speed = q != NULL && q->status == LEY_OK ? tuning_speed(&q->info, &q->facts) : DISCOVERY_NONE;
}

/* What is not answered goes on by itself; what is has a device to close. Nobody waits for either
 * of them. */
static void end(asked *a)
{
    driver_thread *h = a->driver_thread != NULL ? a->driver_thread : a->idle;
    if (a->idle != NULL)
        driver_thread_give(h, close_device, a->question);
    if (h != NULL && driver_thread_dismiss(h, false, close_and_free, a->question))
        return;
    if (h != NULL) { /* it has come to its end just now */
        driver_thread_give(h, close_device, a->question);
        driver_thread_destroy(h);
    }
    free(a->question);
}

/* The device goes on under the list's description of it. */
static void hand_over(asked *a, const dev_info *info, discovered *found)
{
    if (a->idle == NULL || a->question->device == NULL)
        return;
    *found = (discovered){.device = a->question->device, .driver_thread = a->idle};
    found->device->info = info;
    a->question->device = NULL;
    a->idle = NULL;
}

static void wait_for_answers(asked *all, size_t count, double *speed)
{
    const double start_s = ley_clock_s();
    double until_s = INFINITY;
    for (;;) {
        const unsigned long rings = driver_thread_rings();
        size_t open = 0;
        for (size_t i = 0; i < count; i++) {
            look(&all[i], &speed[i]);
            open += all[i].driver_thread != NULL;
            if (speed[i] > 0 && until_s == INFINITY)
                until_s = ley_clock_s() + fmax(ley_clock_s() - start_s, watch_choose_s());
        }
        if (open == 0 || ley_clock_s() > until_s)
            return;
        driver_thread_wait(rings);
    }
}

void discovery_speeds(const dev_list *list, const size_t *devices, size_t count, double *speed, discovered *fastest)
{
    asked *all = calloc(count, sizeof *all);
    size_t first = 0;
    *fastest = (discovered){.device = NULL};
    for (size_t i = 0; i < count; i++)
        speed[i] = DISCOVERY_NONE;
    if (all == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        begin(&all[i], &list->infos[devices[i]], &speed[i]);
    wait_for_answers(all, count, speed);
    for (size_t i = 1; i < count; i++)
        if (speed[i] > speed[first])
            first = i;
    if (count > 0 && speed[first] > 0)
        hand_over(&all[first], &list->infos[devices[first]], fastest);
    for (size_t i = 0; i < count; i++)
        end(&all[i]);
    free(all);
}

/* ---- Time stamps ----------------------------------------------------------------------------- */

static bool are_answered(asked *all, size_t count)
{
    bool are = true;
    for (size_t i = 0; i < count; i++)
        are = is_answered(&all[i]) && are;
    return are;
}

void discovery_timestamps(const dev_list *list, bool *has_timestamps)
{
    asked *all = calloc(list->count + 1, sizeof *all);
    for (size_t i = 0; all != NULL && i < list->count; i++)
        if (list->infos[i].unusable[0] == '\0')
            ask(&all[i], &list->infos[i], ask_timestamps);
    for (unsigned long rings = driver_thread_rings(); all != NULL && !are_answered(all, list->count);
         rings = driver_thread_rings())
        driver_thread_wait(rings);
    for (size_t i = 0; i < list->count; i++) {
        const device_question *q = all != NULL ? all[i].question : NULL;
        has_timestamps[i] = q != NULL && q->has_timestamps;
    }
    for (size_t i = 0; all != NULL && i < list->count; i++) {
        if (all[i].idle != NULL)
            driver_thread_destroy(all[i].idle);
        free(all[i].question);
    }
    free(all);
}
