#include "engine/driver_thread.h"

#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static const double moment_s = 20e-3; /* between two looks at driver threads that are busy */

struct driver_thread {
    watch watch; /* its mutex is for the rest, too */
    pthread_t thread;
    void (*task)(void *context); /* NULL: idle */
    atomic_bool is_given;        /* it is not; to be looked at without the mutex */
    void *context;
    bool quit, is_dismissed;
    void (*last)(void *context); /* of one that is dismissed */
    void *last_context;
};

static atomic_int adrift;

/* ---- The bell -------------------------------------------------------------------------------- */

/* Rung by every driver thread that becomes idle. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t rung;
    atomic_ulong rings;
} bell = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void ring(void)
{
    pthread_mutex_lock(&bell.mutex);
    bell.rings++;
    pthread_cond_broadcast(&bell.rung);
    pthread_mutex_unlock(&bell.mutex);
}

unsigned long driver_thread_rings(void)
{
    return atomic_load(&bell.rings);
}

void driver_thread_wait(unsigned long rings)
{
    driver_thread_wait_for(rings, moment_s);
}

static bool has_rung(void *rings)
{
    return atomic_load(&bell.rings) != *(const unsigned long *)rings;
}

void driver_thread_wait_for(unsigned long rings, double most_s)
{
    struct timespec until;
    if (parallel_look_out(has_rung, &rings))
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(1e9 * fmin(most_s, moment_s));
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int code = 0;
    pthread_mutex_lock(&bell.mutex);
    while (bell.rings == rings && code == 0)
        code = pthread_cond_timedwait(&bell.rung, &bell.mutex, &until);
    pthread_mutex_unlock(&bell.mutex);
}

/* ---- The thread ------------------------------------------------------------------------------ */

static void go(driver_thread *h)
{
    if (h->last != NULL)
        h->last(h->last_context);
    watch_this_thread(NULL);
    watch_destroy(&h->watch);
    free(h);
    atomic_fetch_sub(&adrift, 1);
}

static bool has_task(void *argument)
{
    return atomic_load(&((driver_thread *)argument)->is_given);
}

static void *driver_thread_main(void *argument)
{
    driver_thread *h = argument;
    watch_this_thread(&h->watch);
    pthread_mutex_lock(&h->watch.mutex);
    while (!h->is_dismissed) {
        pthread_mutex_unlock(&h->watch.mutex);
        parallel_look_out(has_task, h);
        pthread_mutex_lock(&h->watch.mutex);
        while (h->task == NULL && !h->quit)
            pthread_cond_wait(&h->watch.changed, &h->watch.mutex);
        if (h->task == NULL)
            break;
        pthread_mutex_unlock(&h->watch.mutex);
        h->task(h->context);
        pthread_mutex_lock(&h->watch.mutex);
        h->task = NULL;
        atomic_store(&h->is_given, false);
        if (!h->is_dismissed)
            ring();
    }
    const bool is_dismissed = h->is_dismissed;
    pthread_mutex_unlock(&h->watch.mutex);
    if (is_dismissed)
        go(h);
    return NULL;
}

driver_thread *driver_thread_create(void)
{
    driver_thread *h = calloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    watch_init(&h->watch);
    if (parallel_start(&h->thread, driver_thread_main, h) != 0) {
        watch_destroy(&h->watch);
        free(h);
        return NULL;
    }
    return h;
}

void driver_thread_give(driver_thread *h, void (*task)(void *context), void *context)
{
    pthread_mutex_lock(&h->watch.mutex);
    h->context = context;
    h->task = task;
    atomic_store(&h->is_given, true);
    pthread_cond_broadcast(&h->watch.changed);
    pthread_mutex_unlock(&h->watch.mutex);
}

bool driver_thread_is_idle(driver_thread *h)
{
    pthread_mutex_lock(&h->watch.mutex);
    const bool is_idle = h->task == NULL;
    pthread_mutex_unlock(&h->watch.mutex);
    return is_idle;
}

const char *driver_thread_call(driver_thread *h)
{
    pthread_mutex_lock(&h->watch.mutex);
    const char *call = h->watch.call;
    pthread_mutex_unlock(&h->watch.mutex);
    return call;
}

bool driver_thread_leave(driver_thread *h, bool is_over, ley_error *why)
{
    const bool is_left = watch_give_up(&h->watch, is_over, why);
    if (is_left)
        pthread_detach(h->thread);
    return is_left;
}

bool driver_thread_is_back(driver_thread *h)
{
    return watch_is_back(&h->watch);
}

bool driver_thread_dismiss(driver_thread *h, bool stop, void (*last)(void *context), void *context)
{
    pthread_mutex_lock(&h->watch.mutex);
    const bool is_busy = h->task != NULL;
    if (is_busy) {
        h->is_dismissed = true;
        h->last = last;
        h->last_context = context;
        h->watch.ends = stop;
        atomic_fetch_add(&adrift, 1);
        pthread_detach(h->thread);
    }
    pthread_mutex_unlock(&h->watch.mutex);
    return is_busy;
}

int driver_thread_adrift(void)
{
    return atomic_load(&adrift);
}

void driver_thread_destroy(driver_thread *h)
{
    pthread_mutex_lock(&h->watch.mutex);
    h->quit = true;
    pthread_cond_broadcast(&h->watch.changed);
    pthread_mutex_unlock(&h->watch.mutex);
    pthread_join(h->thread, NULL);
    watch_destroy(&h->watch);
    free(h);
}

bool driver_thread_run(void (*task)(void *context), void *context, ley_error *error)
{
    driver_thread *h = driver_thread_create();
    if (h == NULL) {
        task(context); /* nobody can watch it then */
        return true;
    }
    unsigned long rings = driver_thread_rings();
    driver_thread_give(h, task, context);
    for (; !driver_thread_is_idle(h); rings = driver_thread_rings()) {
        if (driver_thread_leave(h, false, error)) {
            dev_keep(h);
            return false;
        }
        driver_thread_wait(rings);
    }
    driver_thread_destroy(h);
    return true;
}
