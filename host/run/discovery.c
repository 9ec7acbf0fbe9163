#include "run/discovery.h"

#include "calibrate.h"
#include "error.h"
#include "leyden.h"
#include "run/hand.h"
#include "run/tuning.h"

#include <stdlib.h>

/* ---- All devices ----------------------------------------------------------------------------- */

typedef struct list_question {
    dev_list list;
    ley_status status;
    ley_error error;
} list_question;

static void ask_list(void *context)
{
    list_question *q = context;
    q->status = dev_list_create(&q->list, &q->error);
}

ley_status discovery_list(dev_list *list, ley_error *error)
{
    list_question *q = calloc(1, sizeof *q);
    if (q == NULL)
        return ley_fail_memory(error, sizeof *q, "the device list");
    if (!hand_run(ask_list, q, error)) {
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
    q->status = calibrate_measure(q->device, &q->facts, NULL);
    q->info.backend->close(q->device);
}

/* The answered question, or NULL. */
static device_question *ask(const dev_info *info, void (*task)(void *context))
{
    device_question *q = calloc(1, sizeof *q);
    if (q == NULL)
        return NULL;
    q->info = *info;
    q->status = LEY_ERROR_DEVICE;
    if (hand_run(task, q, NULL))
        return q;
    calibrate_leave(q->device);
    dev_keep(q);
    return NULL;
}

double discovery_speed(const dev_info *info)
{
    calibration facts;
    if (!calibrate_cached(info, &facts)) {
        device_question *q = ask(info, ask_facts);
        const bool is_known = q != NULL && q->status == LEY_OK;
        if (is_known)
            facts = q->facts;
        free(q);
        if (!is_known)
            return 0;
    }
    return tuning_speed(info, &facts);
}

bool discovery_timestamps(const dev_info *info)
{
    device_question *q = info->unusable[0] == '\0' ? ask(info, ask_timestamps) : NULL;
    const bool has_timestamps = q != NULL && q->has_timestamps;
    free(q);
    return has_timestamps;
}
