#include "engine/driver_thread.h"

#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static const double moment_s = 20e-3; /* between two looks at hands that are busy */

struct hand {
    watch watch; /* its mutex is for the rest, too */
    pthread_t thread;
    void (*task)(void *context); /* NULL: idle */
    void *context;
    bool quit, is_dismissed;
    void (*last)(void *context); /* of one that is dismissed */
    void *last_context;
};

static atomic_int adrift;

/* ---- The bell -------------------------------------------------------------------------------- */

/* Rung by every hand that becomes idle. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t rung;
    unsigned long rings;
} bell = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void ring(void)
{
    pthread_mutex_lock(&bell.mutex);
    bell.rings++;
    pthread_cond_broadcast(&bell.rung);
    pthread_mutex_unlock(&bell.mutex);
}

unsigned long hand_rings(void)
{
    pthread_mutex_lock(&bell.mutex);
    const unsigned long rings = bell.rings;
    pthread_mutex_unlock(&bell.mutex);
    return rings;
}

void hand_wait(unsigned long rings)
{
    hand_wait_for(rings, moment_s);
}

void hand_wait_for(unsigned long rings, double most_s)
{
    struct timespec until;
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

static void go(hand *h)
{
    if (h->last != NULL)
        h->last(h->last_context);
    watch_this_thread(NULL);
    watch_destroy(&h->watch);
    free(h);
    atomic_fetch_sub(&adrift, 1);
}

static void *hand_main(void *argument)
{
    hand *h = argument;
    watch_this_thread(&h->watch);
    pthread_mutex_lock(&h->watch.mutex);
    while (!h->is_dismissed) {
        while (h->task == NULL && !h->quit)
            pthread_cond_wait(&h->watch.changed, &h->watch.mutex);
        if (h->task == NULL)
            break;
        pthread_mutex_unlock(&h->watch.mutex);
        h->task(h->context);
        pthread_mutex_lock(&h->watch.mutex);
        h->task = NULL;
        if (!h->is_dismissed)
            ring();
    }
    const bool is_dismissed = h->is_dismissed;
    pthread_mutex_unlock(&h->watch.mutex);
    if (is_dismissed)
        go(h);
    return NULL;
}

hand *hand_create(void)
{
    hand *h = calloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    watch_init(&h->watch);
    if (parallel_start(&h->thread, hand_main, h) != 0) {
        watch_destroy(&h->watch);
        free(h);
        return NULL;
    }
    return h;
}

void hand_give(hand *h, void (*task)(void *context), void *context)
{
    pthread_mutex_lock(&h->watch.mutex);
    h->context = context;
    h->task = task;
    pthread_cond_broadcast(&h->watch.changed);
    pthread_mutex_unlock(&h->watch.mutex);
}

bool hand_is_idle(hand *h)
{
    pthread_mutex_lock(&h->watch.mutex);
    const bool is_idle = h->task == NULL;
    pthread_mutex_unlock(&h->watch.mutex);
    return is_idle;
}

const char *hand_call(hand *h)
{
    pthread_mutex_lock(&h->watch.mutex);
    const char *call = h->watch.call;
    pthread_mutex_unlock(&h->watch.mutex);
    return call;
}

bool hand_leave(hand *h, bool is_over, ley_error *why)
{
    const bool is_left = watch_give_up(&h->watch, is_over, why);
    if (is_left)
        pthread_detach(h->thread);
    return is_left;
}

bool hand_is_back(hand *h)
{
    return watch_is_back(&h->watch);
}

bool hand_dismiss(hand *h, bool stop, void (*last)(void *context), void *context)
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

int hand_adrift(void)
{
    return atomic_load(&adrift);
}

void hand_destroy(hand *h)
{
    pthread_mutex_lock(&h->watch.mutex);
    h->quit = true;
    pthread_cond_broadcast(&h->watch.changed);
    pthread_mutex_unlock(&h->watch.mutex);
    pthread_join(h->thread, NULL);
    watch_destroy(&h->watch);
    free(h);
}

bool hand_run(void (*task)(void *context), void *context, ley_error *error)
{
    hand *h = hand_create();
    if (h == NULL) {
        task(context); /* nobody can watch it then */
        return true;
    }
    unsigned long rings = hand_rings();
    hand_give(h, task, context);
    for (; !hand_is_idle(h); rings = hand_rings()) {
        if (hand_leave(h, false, error)) {
            dev_keep(h);
            return false;
        }
        hand_wait(rings);
    }
    hand_destroy(h);
    return true;
}
