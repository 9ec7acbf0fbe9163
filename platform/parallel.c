#include "parallel.h"

#include "clock.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MAX_THREADS = 256 };

int parallel_cores(void)
{
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : cores;
}

int parallel_start(pthread_t *thread, void *(*body)(void *context), void *context)
{
    const size_t least = (size_t)8 << 20; /* what Linux gives to a program's first thread */
    pthread_attr_t attributes;
    size_t size = 0;
    int code = pthread_attr_init(&attributes);
    if (code != 0)
        return code;
    pthread_attr_getstacksize(&attributes, &size);
    if (size < least)
        pthread_attr_setstacksize(&attributes, least);
    code = pthread_create(thread, &attributes, body, context);
    pthread_attr_destroy(&attributes);
    return code;
}

/* ---- A thread each --------------------------------------------------------------------------- */

/* A thread for each of them is a matter of a few. */
typedef struct one {
    pthread_t thread;
    bool is_running;
    size_t i;
    void (*body)(void *context, size_t i);
    void *context;
} one;

static void *run_one(void *argument)
{
    one *o = argument;
    o->body(o->context, o->i);
    return NULL;
}

void parallel_each(size_t n, void (*body)(void *context, size_t i), void *context)
{
    one *all = calloc(n, sizeof *all);
    for (size_t i = 0; i < n; i++) {
        const one o = {.i = i, .body = body, .context = context};
        if (all == NULL || i + 1 == n) { /* the caller does the last one, and what no thread does */
            body(context, i);
            continue;
        }
        all[i] = o;
        all[i].is_running = parallel_start(&all[i].thread, run_one, &all[i]) == 0;
        if (!all[i].is_running)
            body(context, i);
    }
    for (size_t i = 0; all != NULL && i < n; i++)
        if (all[i].is_running)
            pthread_join(all[i].thread, NULL);
    free(all);
}

/* ---- In order ------------------------------------------------------------------------------- */

/* A worker that waits for its turn, or for that of another item. */
typedef struct waiting {
    pthread_cond_t called;
    size_t items; /* it waits until so many have been put; SIZE_MAX: it does not wait */
} waiting;

struct parallel_order {
    pthread_mutex_t mutex;
    size_t n, workers, taken, done;
    bool has_failed;
    waiting waiting[MAX_THREADS];
    void (*make)(parallel_order *order, void *context, size_t i, size_t worker);
    bool (*put)(void *context, size_t i, size_t worker);
    void *context;
};

static _Thread_local size_t own_worker; /* of parallel_await()'s caller */

/* The caller holds the mutex. */
static bool await_items(parallel_order *order, size_t worker, size_t items)
{
    waiting *own = &order->waiting[worker];
    own->items = items;
    while (order->done < items && !order->has_failed)
        pthread_cond_wait(&own->called, &order->mutex);
    own->items = SIZE_MAX;
    return !order->has_failed;
}

bool parallel_await(parallel_order *order, size_t items)
{
    pthread_mutex_lock(&order->mutex);
    const bool are_there = await_items(order, own_worker, items);
    pthread_mutex_unlock(&order->mutex);
    return are_there;
}

static void work_in_order(void *context, size_t worker)
{
    parallel_order *order = context;
    const size_t outer = own_worker;
    own_worker = worker;
    pthread_mutex_lock(&order->mutex);
    while (order->taken < order->n && !order->has_failed) {
        const size_t i = order->taken++;
        pthread_mutex_unlock(&order->mutex);
        order->make(order, order->context, i, worker);
        pthread_mutex_lock(&order->mutex);
        if (!await_items(order, worker, i))
            break;
        pthread_mutex_unlock(&order->mutex);
        const bool is_put = order->put(order->context, i, worker);
        pthread_mutex_lock(&order->mutex);
        order->done++;
        order->has_failed = !is_put;
        for (size_t other = 0; other < order->workers; other++)
            if (order->waiting[other].items != SIZE_MAX && (order->waiting[other].items <= order->done || !is_put))
                pthread_cond_signal(&order->waiting[other].called);
    }
    pthread_mutex_unlock(&order->mutex);
    own_worker = outer;
}

void parallel_in_order(size_t n, size_t workers,
                       void (*make)(parallel_order *order, void *context, size_t i, size_t worker),
                       bool (*put)(void *context, size_t i, size_t worker), void *context)
{
    parallel_order order = {
        .n = n, .workers = workers < MAX_THREADS ? workers : MAX_THREADS, .make = make, .put = put, .context = context};
    pthread_mutex_init(&order.mutex, NULL);
    for (size_t i = 0; i < order.workers; i++) {
        pthread_cond_init(&order.waiting[i].called, NULL);
        order.waiting[i].items = SIZE_MAX;
    }
    parallel_each(order.workers, work_in_order, &order);
    for (size_t i = 0; i < order.workers; i++)
        pthread_cond_destroy(&order.waiting[i].called);
    pthread_mutex_destroy(&order.mutex);
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* Threads wait for the next loop: to start fifteen of them takes as long as many a loop. Whoever
 * has a loop does shares of it, too, so that none waits for threads that others keep busy, and
 * loops may be begun within loops. */
typedef struct loop {
    struct loop *next;
    void (*body)(void *context, size_t first, size_t last);
    void *context;
    size_t n, shares, taken, done;
} loop;

enum { IDLE_S = 2 }; /* a thread without work for so long ends */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t wanted, done, gone;
    _Atomic(loop *) first;       /* of those that have shares that nobody has taken */
    int threads, busy, watchful; /* all, those at work, and those that look out for a loop and are not asleep */
    atomic_int alerts;           /* calls of parallel_stay_alert() */
    bool is_over, is_known_to_fork;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER,
          .wanted = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER,
          .gone = PTHREAD_COND_INITIALIZER};

/* A forked process has none of the threads, nor what they were at. */
static void forget_threads(void)
{
    pthread_mutex_init(&pool.mutex, NULL);
    pthread_cond_init(&pool.wanted, NULL);
    pthread_cond_init(&pool.done, NULL);
    pthread_cond_init(&pool.gone, NULL);
    pool.first = NULL;
    pool.threads = pool.busy = pool.watchful = 0;
}

/* ---- Alert ----------------------------------------------------------------------------------- */

/* Threads that look out, and for how long after what they did last. */
enum { MOST_WATCHFUL = 7 };
static const double look_out_s = 1e-3;

void parallel_stay_alert(bool is_alert)
{
    atomic_fetch_add(&pool.alerts, is_alert ? 1 : -1);
}

static inline void pause_a_moment(void)
{
#ifdef __SSE2__
    _mm_pause();
#endif
}

bool parallel_look_out(bool (*has_come)(void *context), void *context)
{
    bool has = has_come(context);
    if (has || atomic_load(&pool.alerts) <= 0)
        return has;
    const double until_s = ley_clock_s() + look_out_s;
    for (int i = 1; !has && (i % 64 != 0 || (atomic_load(&pool.alerts) > 0 && ley_clock_s() < until_s)); i++) {
        pause_a_moment();
        has = has_come(context);
    }
    return has;
}

static bool has_loop(void *context)
{
    (void)context;
    return atomic_load_explicit(&pool.first, memory_order_acquire) != NULL;
}

/* The caller holds the mutex; not while it looks out. */
static void look_out(void)
{
    if (pool.watchful >= MOST_WATCHFUL || atomic_load(&pool.alerts) <= 0)
        return;
    pool.watchful++;
    pthread_mutex_unlock(&pool.mutex);
    parallel_look_out(has_loop, NULL);
    pthread_mutex_lock(&pool.mutex);
    pool.watchful--;
}

/* The caller holds the mutex; not while it does the share. */
static void do_share(loop *l)
{
    const size_t share = l->taken++, first = l->n / l->shares * share,
                 last = share + 1 == l->shares ? l->n : l->n / l->shares * (share + 1);
    if (l->taken == l->shares) {
        if (pool.first == l) {
            pool.first = l->next;
        } else {
            loop *before = pool.first;
            while (before->next != l)
                before = before->next;
            before->next = l->next;
        }
    }
    pthread_mutex_unlock(&pool.mutex);
    l->body(l->context, first, last);
    pthread_mutex_lock(&pool.mutex);
    if (++l->done == l->shares)
        pthread_cond_broadcast(&pool.done); /* the loop is its caller's, who may leave at once */
}

/* False: nothing came for so long. The caller holds the mutex. */
static bool await_loop(void)
{
    struct timespec until;
    int waited = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += IDLE_S;
    if (pool.first == NULL && !pool.is_over)
        look_out();
    while (pool.first == NULL && !pool.is_over && waited == 0)
        waited = pthread_cond_timedwait(&pool.wanted, &pool.mutex, &until);
    return pool.first != NULL && !pool.is_over;
}

static void *work(void *context)
{
    (void)context;
    pthread_mutex_lock(&pool.mutex);
    while (await_loop()) {
        pool.busy++;
        do_share(pool.first);
        pool.busy--;
    }
    pool.threads--;
    pthread_cond_broadcast(&pool.gone);
    pthread_mutex_unlock(&pool.mutex);
    return NULL;
}

/* Wakes threads for so many shares, and starts those that are not there yet. The caller holds the
 * mutex. */
static void call_threads(size_t shares)
{
    pthread_t thread;
    const int wanted = (int)shares, others = pool.threads - pool.busy, ready = others < wanted ? others : wanted;
    /* Those that look out come by themselves. */
    if (!pool.is_known_to_fork)
        pool.is_known_to_fork = pthread_atfork(NULL, NULL, forget_threads) == 0;
    for (int i = pool.watchful; i < ready; i++) /* those that have not come to wait yet see for themselves */
        pthread_cond_signal(&pool.wanted);
    for (int i = ready; i < wanted && pool.threads < MAX_THREADS && parallel_start(&thread, work, NULL) == 0; i++) {
        pthread_detach(thread);
        pool.threads++;
    }
}

void parallel_ranges(size_t n, void (*body)(void *context, size_t first, size_t last), void *context)
{
    const size_t cores = (size_t)parallel_cores();
    loop l = {.body = body, .context = context, .n = n, .shares = cores < n ? cores : n};
    if (l.shares <= 1) {
        if (n > 0)
            body(context, 0, n);
        return;
    }
    pthread_mutex_lock(&pool.mutex);
    l.next = pool.first;
    pool.first = &l;
    call_threads(l.shares - 1);
    while (l.taken < l.shares)
        do_share(&l);
    while (l.done < l.shares)
        pthread_cond_wait(&pool.done, &pool.mutex);
    pthread_mutex_unlock(&pool.mutex);
}

/* Where the library is unloaded, so is its threads' code. One that is at work ends with it. */
__attribute__((destructor)) static void end_threads(void)
{
    struct timespec until;
    int waited = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&pool.mutex);
    pool.is_over = true;
    pthread_cond_broadcast(&pool.wanted);
    while (pool.threads > pool.busy && waited == 0)
        waited = pthread_cond_timedwait(&pool.gone, &pool.mutex, &until);
    pthread_mutex_unlock(&pool.mutex);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

enum { STRETCH = 2 << 20 }; /* a large page */

typedef struct zeros {
    char *memory;
    size_t bytes;
} zeros;

static void write_stretches(void *context, size_t first, size_t last)
{
    const zeros *z = context;
    const size_t end = last * STRETCH < z->bytes ? last * STRETCH : z->bytes;
    memset(z->memory + first * STRETCH, 0, end - first * STRETCH);
}

void *parallel_zeros(size_t bytes)
{
    const size_t stretches = bytes / STRETCH + 1;
    if (stretches == 1)
        return calloc(bytes > 0 ? bytes : 1, 1);
    zeros z = {aligned_alloc(STRETCH, stretches * STRETCH), bytes};
    if (z.memory != NULL)
        parallel_ranges(stretches, write_stretches, &z);
    return z.memory;
}
