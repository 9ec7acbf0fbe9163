/* leyden_check.h: devices one after the other, each on a thread that is given up when its driver
 * does not return. */
#include "check/runner.h"

#include "cancel.h"
#include "engine/discovery.h"
#include "engine/driver_thread.h"
#include "engine/engine.h"
#include "engine/selector.h"
#include "error.h"

#include <stdlib.h>
#include <string.h>

struct ley_check {
    dev_list list;
    size_t count;
    ley_check_device *devices;
    check_session **sessions;
};

size_t ley_check_row_count(void)
{
    return check_table_count;
}

const ley_check_row *ley_check_row_get(size_t i)
{
    return &check_table[i].row;
}

size_t ley_check_device_count(const ley_check *check)
{
    return check->count;
}

const ley_check_device *ley_check_get(const ley_check *check, size_t i)
{
    return &check->devices[i];
}

void ley_check_destroy(ley_check *check)
{
    if (check == NULL)
        return;
    for (size_t i = 0; i < check->count; i++)
        session_destroy(check->sessions[i]);
    free(check->sessions);
    free(check->devices);
    dev_list_clear(&check->list);
    free(check);
}

/* ---- One device ------------------------------------------------------------------------------ */

static bool is_cancelled(const ley_check_options *options)
{
    return cancel_flag_is_set(options->cancel);
}

/* Hands results that are new to the caller. */
static void tell(const ley_check_options *options, const ley_check_device *device, check_session *s, size_t *told)
{
    for (;;) {
        pthread_mutex_lock(&s->mutex);
        const bool any = *told < s->count;
        const ley_check_result result = any ? s->results[*told] : (ley_check_result){.group = NULL};
        pthread_mutex_unlock(&s->mutex);
        if (!any)
            return;
        ++*told;
        if (options->done != NULL)
            options->done(options->context, &device->info, &result);
    }
}

static void sum_up(ley_check_device *device, check_session *s)
{
    pthread_mutex_lock(&s->mutex);
    device->results = s->results;
    device->result_count = s->count;
    for (size_t i = 0; i < s->count; i++) {
        device->outcomes[s->results[i].outcome]++;
        device->elapsed_s += s->results[i].elapsed_s;
    }
    pthread_mutex_unlock(&s->mutex);
}

static void end_session(void *session)
{
    session_destroy(session);
}

/* Somebody has asked that it ends: the thread goes when its driver returns, and the session with
 * it, unless it has come to its end just now. */
static ley_status leave(driver_thread *h, check_session **s, ley_error *error)
{
    if (driver_thread_dismiss(h, true, end_session, *s))
        *s = NULL;
    else
        driver_thread_destroy(h);
    return ley_fail(error, LEY_CANCELLED, "cancelled");
}

static ley_status run_device(const ley_check_options *options, ley_check_device *device, check_session **session,
                             ley_error *error)
{
    check_session *s = *session;
    size_t told = 0;
    ley_error why = {.status = LEY_OK};
    driver_thread *h = driver_thread_create();
    if (h == NULL)
        return ley_fail_memory(error, 0, "a thread");
    driver_thread_give(h, runner_run, s);
    for (unsigned long rings = driver_thread_rings(); !driver_thread_is_idle(h); rings = driver_thread_rings()) {
        tell(options, device, s, &told);
        if (is_cancelled(options))
            return leave(h, session, error);
        if (driver_thread_leave(h, false, &why)) {
            dev_keep(h);
            runner_give_up(s, why.message);
            h = NULL;
            break;
        }
        driver_thread_wait(rings);
    }
    tell(options, device, s, &told);
    ley_error_clear(&why);
    if (h != NULL)
        driver_thread_destroy(h);
    sum_up(device, s);
    return LEY_OK;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static ley_status check_names(const ley_check_options *options, ley_error *error)
{
    for (size_t i = 0; i < options->name_count; i++) {
        bool is_known = false;
        for (size_t k = 0; k < check_table_count; k++)
            is_known = is_known || session_is_named(options->names[i], &check_table[k].row);
        if (!is_known)
            return ley_fail(error, LEY_ERROR_USAGE,
                            "there is no check, and no group of checks, '%s' (their list has them all)",
                            options->names[i]);
    }
    return LEY_OK;
}

/* Without a selector every device that can be used, by each of its paths. */
static ley_status choose(const dev_list *list, const char *selector, size_t *chosen, size_t *count, ley_error *error)
{
    size_t joining = 0;
    discovered first = {.device = NULL};
    *count = 0;
    if (selector != NULL)
        return selector_choose(list, selector, chosen, count, &joining, &first, error);
    for (size_t i = 0; i < list->count; i++)
        if (list->infos[i].unusable[0] == '\0')
            chosen[(*count)++] = i;
    return *count > 0 ? LEY_OK : ley_fail(error, LEY_ERROR_NO_DEVICE, "there is no device that can be used");
}

static ley_status run_all(const ley_check_options *options, ley_check *c, const size_t *chosen, size_t count,
                          ley_error *error)
{
    c->devices = calloc(count, sizeof *c->devices);
    c->sessions = calloc(count, sizeof *c->sessions);
    if (c->devices == NULL || c->sessions == NULL)
        return ley_fail_memory(error, count * sizeof *c->devices, "the checks");
    ley_status status = LEY_OK;
    for (size_t i = 0; i < count && status == LEY_OK; i++) {
        const dev_info *info = &c->list.infos[chosen[i]];
        c->count = i + 1;
        engine_describe(info, &c->devices[i].info);
        c->sessions[i] = session_create(info, options);
        status = c->sessions[i] != NULL ? run_device(options, &c->devices[i], &c->sessions[i], error)
                                        : ley_fail_memory(error, sizeof *c->sessions[i], "the checks");
    }
    return status;
}

/* Names of variants are known by what came of them only: one that no device has is a misspelt one,
 * which may not pass for a check that passed. What failed is told first. */
static ley_status check_cases(const ley_check_options *options, const ley_check *c, ley_error *error)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->devices[i].outcomes[LEY_CHECK_FAILED] > 0)
            return LEY_OK;
    for (size_t k = 0; k < options->name_count; k++) {
        bool is_there = false;
        for (size_t i = 0; i < c->count && !is_there; i++)
            is_there = session_has(c->sessions[i], options->names[k]);
        if (!is_there)
            return ley_fail(error, LEY_ERROR_USAGE, "no device that was checked has a case '%s'%s", options->names[k],
                            options->quick ? " among the quick ones" : "");
    }
    return LEY_OK;
}

ley_status ley_check_run(const ley_check_options *options, ley_check **check, ley_error *error)
{
    ley_status status = check_names(options, error);
    if (status != LEY_OK)
        return status;
    ley_check *c = calloc(1, sizeof *c);
    if (c == NULL)
        return ley_fail_memory(error, sizeof *c, "the checks");
    size_t count = 0, *chosen = NULL;
    status = discovery_list(&c->list, true, error);
    if (status == LEY_OK) {
        chosen = calloc(c->list.count + 1, sizeof *chosen);
        status = chosen != NULL ? choose(&c->list, options->devices, chosen, &count, error)
                                : ley_fail_memory(error, c->list.count * sizeof *chosen, "the checks");
    }
    if (status == LEY_OK)
        status = run_all(options, c, chosen, count, error);
    if (status == LEY_OK)
        status = check_cases(options, c, error);
    free(chosen);
    if (status == LEY_OK)
        *check = c;
    else
        ley_check_destroy(c);
    return status;
}
