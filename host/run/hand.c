#include "run/hand.h"

#include "error.h"

#include <stdlib.h>
#include <time.h>

static const long moment_ns = 20000000; /* between two looks at a hand that is busy */

struct hand {
    watch watch; /* its mutex is for the rest, too */
    pthread_t thread;
    void (*task)(void *context); /* NULL: idle */
    void *context;
    bool quit;
};

static void *hand_main(void *argument)
{
    hand *h = argument;
    watch_this_thread(&h->watch);
    pthread_mutex_lock(&h->watch.mutex);
    for (;;) {
        while (h->task == NULL && !h->quit)
            pthread_cond_wait(&h->watch.changed, &h->watch.mutex);
        if (h->task == NULL)
            break;
        pthread_mutex_unlock(&h->watch.mutex);
        h->task(h->context);
        pthread_mutex_lock(&h->watch.mutex);
        h->task = NULL;
        pthread_cond_broadcast(&h->watch.changed);
    }
    pthread_mutex_unlock(&h->watch.mutex);
    return NULL;
}

hand *hand_create(void)
{
    hand *h = calloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    watch_init(&h->watch);
    if (pthread_create(&h->thread, NULL, hand_main, h) != 0) {
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
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += moment_ns;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int code = 0;
    pthread_mutex_lock(&h->watch.mutex);
    while (h->task != NULL && code == 0)
        code = pthread_cond_timedwait(&h->watch.changed, &h->watch.mutex, &until);
    const bool is_idle = h->task == NULL;
    pthread_mutex_unlock(&h->watch.mutex);
    return is_idle;
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
    hand_give(h, task, context);
    while (!hand_is_idle(h))
        if (hand_leave(h, false, error)) {
            dev_keep(h);
            return false;
        }
    hand_destroy(h);
    return true;
}
