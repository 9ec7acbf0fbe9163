/* Loops on all of the host's cores: each item once, loops within loops, from several threads at a
 * time, and in forked processes. */
#include "parallel.h"
#include "support.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1000 };

typedef struct visits {
    atomic_int of[MOST];
    atomic_int calls;
} visits;

static void visit(void *context, size_t first, size_t last)
{
    visits *v = context;
    atomic_fetch_add(&v->calls, 1);
    for (size_t i = first; i < last; i++)
        atomic_fetch_add(&v->of[i], 1);
}

static bool each_once(const visits *v, size_t n)
{
    bool right = true;
    for (size_t i = 0; i < MOST; i++)
        right = right && atomic_load(&v->of[i]) == (i < n);
    return right;
}

static bool visits_each_once(size_t n)
{
    visits *v = calloc(1, sizeof *v);
    parallel_ranges(n, visit, v);
    const bool right = each_once(v, n) && atomic_load(&v->calls) <= parallel_cores() && (n > 0) == (v->calls > 0);
    free(v);
    return right;
}

static void test_each_item_once(void **state)
{
    for (size_t n = 0; n < 40; n++)
        assert_true(visits_each_once(n));
    assert_true(visits_each_once(MOST));
}

/* Zeros of all sizes around those of the stretches that threads write. */
static void test_zeros(void **state)
{
    enum { STRETCH = 2 << 20 };
    static const size_t bytes[] = {0, 1, STRETCH - 1, STRETCH, STRETCH + 1, 5 * STRETCH, 7654321};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        char *dirty = malloc(bytes[i] + 1), *zeros;
        memset(dirty, 7, bytes[i] + 1);
        free(dirty);
        zeros = parallel_zeros(bytes[i]);
        assert_non_null(zeros);
        for (size_t k = 0; k < bytes[i]; k++)
            assert_true(zeros[k] == 0);
        free(zeros);
    }
}

/* ---- Threads --------------------------------------------------------------------------------- */

static atomic_int at_once, most_at_once;

static void meet(void *context, size_t first, size_t last)
{
    const int here = atomic_fetch_add(&at_once, 1) + 1;
    for (int most = atomic_load(&most_at_once); here > most;)
        if (atomic_compare_exchange_weak(&most_at_once, &most, here))
            break;
    for (int i = 0; i < 5000 && atomic_load(&most_at_once) < parallel_cores(); i++) /* 5 s */
        usleep(1000);
    atomic_fetch_sub(&at_once, 1);
}

/* One for each core, and no others. */
static void test_all_cores(void **state)
{
    atomic_store(&most_at_once, 0);
    for (int i = 0; i < 5; i++)
        parallel_ranges(64, meet, NULL);
    assert_int_equal(atomic_load(&most_at_once), parallel_cores());
}

typedef struct threads {
    pthread_mutex_t mutex;
    pthread_t list[MOST];
    int count;
} threads;

static void note_thread(void *context, size_t first, size_t last)
{
    threads *t = context;
    pthread_mutex_lock(&t->mutex);
    bool is_new = true;
    for (int i = 0; i < t->count; i++)
        is_new = is_new && pthread_equal(t->list[i], pthread_self()) == 0;
    if (is_new && t->count < MOST)
        t->list[t->count++] = pthread_self();
    pthread_mutex_unlock(&t->mutex);
}

/* The next loop has those of the one before. */
static void test_threads_stay(void **state)
{
    threads *t = calloc(1, sizeof *t);
    pthread_mutex_init(&t->mutex, NULL);
    for (int i = 0; i < 200; i++)
        parallel_ranges(64, note_thread, t);
    assert_in_range(t->count, 1, 2 * parallel_cores());
    pthread_mutex_destroy(&t->mutex);
    free(t);
}

/* ---- Several loops --------------------------------------------------------------------------- */

static void visit_all(void *context, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++)
        parallel_ranges(MOST, visit, (visits *)context + i);
}

static void test_loops_within_loops(void **state)
{
    enum { LOOPS = 30 };
    visits *v = calloc(LOOPS, sizeof *v);
    parallel_ranges(LOOPS, visit_all, v);
    for (size_t i = 0; i < LOOPS; i++)
        assert_true(each_once(&v[i], MOST));
    free(v);
}

static void *run_many(void *context)
{
    bool *right = context;
    *right = true;
    for (size_t i = 0; i < 300; i++)
        *right = *right && visits_each_once(i % 50);
    return NULL;
}

static void test_several_callers(void **state)
{
    enum { CALLERS = 6 };
    pthread_t callers[CALLERS];
    bool right[CALLERS];
    for (size_t i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, run_many, &right[i]), 0);
    for (size_t i = 0; i < CALLERS; i++) {
        pthread_join(callers[i], NULL);
        assert_true(right[i]);
    }
}

/* A forked process has none of its parent's threads, and may be forked while they are at work. */
static void test_forked(void **state)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* it ends forked processes that start threads */
#endif
    pthread_t caller;
    bool right = false;
    assert_int_equal(pthread_create(&caller, NULL, run_many, &right), 0);
    for (int i = 0; i < 10; i++) {
        const pid_t child = fork();
        if (child == 0)
            _exit(visits_each_once(MOST) && visits_each_once(7) ? 0 : 1);
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    pthread_join(caller, NULL);
    assert_true(right);
}

/* ---- In order -------------------------------------------------------------------------------- */

typedef struct line_up {
    size_t workers, put, fails_at;
    size_t item_of[300]; /* what each worker has made */
    atomic_int made;
    bool is_right;
} line_up;

/* Every third one waits for what was put long before. */
static void make_one(parallel_order *order, void *context, size_t i, size_t worker)
{
    line_up *l = context;
    l->item_of[worker] = i;
    atomic_fetch_add(&l->made, 1);
    if (i % 3 == 2)
        parallel_await(order, i / 2);
    if (i % 7 == 0)
        usleep(50);
}

static bool put_one(void *context, size_t i, size_t worker)
{
    line_up *l = context;
    l->is_right = l->is_right && worker < l->workers && l->item_of[worker] == i && l->put == i;
    l->put++;
    return i != l->fails_at;
}

static void test_put_in_order(void **state)
{
    static const size_t workers[] = {1, 2, 3, 16, 256};
    for (size_t w = 0; w < sizeof workers / sizeof *workers; w++)
        for (size_t n = 0; n <= MOST; n = 3 * n + 1) {
            line_up l = {.workers = workers[w], .fails_at = SIZE_MAX, .is_right = true};
            parallel_in_order(n, workers[w], make_one, put_one, &l);
            assert_true(l.is_right && l.put == n && (size_t)atomic_load(&l.made) == n);
            line_up failing = {.workers = workers[w], .fails_at = n / 2, .is_right = true};
            parallel_in_order(n, workers[w], make_one, put_one, &failing);
            assert_true(failing.is_right && failing.put == (n > 0 ? n / 2 + 1 : 0));
            assert_true((size_t)atomic_load(&failing.made) <= failing.put + workers[w]);
        }
}

int main(void)
{
    return RUN_TESTS(test_each_item_once, test_zeros, test_all_cores, test_threads_stay, test_loops_within_loops,
                     test_several_callers, test_forked, test_put_in_order);
}
