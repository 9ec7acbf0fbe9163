#include "long_range/fourier/kept_spectrum.h"

#include "cancel.h"
#include "error.h"
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_NS = 10 * 1000 * 1000 }; /* how often who waits looks whether it is cancelled */

struct kept_spectrum { /* under the mutex, but for `made` once that is made: */
    kept_spectrum *next;
    int holders; /* whoever got it or waits for it, whoever makes it, and `latest` */
    enum { BEING_MADE, MADE, FAILED } state;
    hierarchy of;
    int64_t n[3];
    uint64_t name;
    spectrum made;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_over = PTHREAD_COND_INITIALIZER; /* of any that was being made */
static kept_spectrum *listed;                             /* those that others may have, too */
static kept_spectrum *latest;                             /* NULL: none yet */
static uint64_t last_name;

static bool same_splitting(const splitting *a, const splitting *b)
{
    return a->kind == b->kind && a->degree == b->degree && a->band == b->band && a->kappa_a == b->kappa_a &&
           memcmp(a->c, b->c, (size_t)(a->degree + 1) * sizeof *a->c) == 0;
}

/* Whatever an influence function follows from: not where the mesh is, nor what is on it. */
static bool same(const kept_spectrum *k, const hierarchy *h, const int64_t n[3])
{
    const hierarchy_level *a = &k->of.level[0], *b = &h->level[0];
    return memcmp(k->n, n, sizeof k->n) == 0 && memcmp(a->n, b->n, sizeof a->n) == 0 && a->cutoff_A == b->cutoff_A &&
           same_splitting(&a->split, &b->split) && k->of.window == h->window && k->of.kappa_per_A == h->kappa_per_A &&
           memcmp(k->of.step_A, h->step_A, sizeof h->step_A) == 0 &&
           memcmp(k->of.cell.periodic, h->cell.periodic, sizeof h->cell.periodic) == 0 &&
           memcmp(k->of.cell.vector_A, h->cell.vector_A, sizeof h->cell.vector_A) == 0;
}

const spectrum *kept_spectrum_of(const kept_spectrum *kept)
{
    return &kept->made;
}

uint64_t kept_spectrum_name(const kept_spectrum *kept)
{
    return kept->name;
}

/* ---- Who has which; the caller holds the mutex ----------------------------------------------- */

static void take_off_list(const kept_spectrum *k)
{
    kept_spectrum **link = &listed;
    while (*link != NULL && *link != k)
        link = &(*link)->next;
    if (*link != NULL)
        *link = k->next;
}

static bool is_listed(const kept_spectrum *k)
{
    const kept_spectrum *at = listed;
    while (at != NULL && at != k)
        at = at->next;
    return at != NULL;
}

static kept_spectrum *look_up(const hierarchy *h, const int64_t n[3])
{
    kept_spectrum *at = listed;
    while (at != NULL && !same(at, h, n))
        at = at->next;
    return at;
}

static void let_go(kept_spectrum *k)
{
    if (k == NULL || --k->holders > 0)
        return;
    take_off_list(k);
    spectrum_clear(&k->made);
    free(k);
}

/* In place of the former one. */
static void keep(kept_spectrum *k)
{
    const double bytes = (double)spectrum_waves(&k->made) * sizeof *k->made.values;
    if (bytes > KEPT_SPECTRUM_USUAL_BYTES && bytes > KEPT_SPECTRUM_MOST_SHARE * memory_available().bytes)
        return;
    let_go(latest);
    k->holders++;
    latest = k;
}

static void await(const kept_spectrum *k, const atomic_bool *cancelled)
{
    struct timespec soon;
    while (k->state == BEING_MADE && !cancel_is_asked(cancelled)) {
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += LOOK_NS;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&is_over, &mutex, &soon);
    }
}

/* One that is made or being made, for the caller; NULL: there is none. */
static kept_spectrum *find(const hierarchy *h, const int64_t n[3], const atomic_bool *cancelled)
{
    for (kept_spectrum *k = look_up(h, n); k != NULL; k = look_up(h, n)) {
        k->holders++;
        await(k, cancelled);
        if (k->state != FAILED)
            return k;
        let_go(k); /* whoever made it wants it no more: it is off the list */
    }
    return NULL;
}

/* ---- From outside ---------------------------------------------------------------------------- */

void kept_spectrum_give_back(kept_spectrum *kept)
{
    pthread_mutex_lock(&mutex);
    let_go(kept);
    pthread_mutex_unlock(&mutex);
}

uint64_t kept_spectrum_find_name(const hierarchy *h, const int64_t n[3])
{
    pthread_mutex_lock(&mutex);
    const kept_spectrum *at = look_up(h, n);
    const uint64_t name = at != NULL && at->state == MADE ? at->name : 0;
    pthread_mutex_unlock(&mutex);
    return name;
}

void kept_spectrum_forget(void)
{
    pthread_mutex_lock(&mutex);
    listed = NULL;
    let_go(latest);
    latest = NULL;
    pthread_mutex_unlock(&mutex);
}

static ley_status make(kept_spectrum *k, const atomic_bool *cancelled, ley_error *error)
{
    const ley_status status = spectrum_make(&k->of, k->n, cancelled, &k->made, error);
    pthread_mutex_lock(&mutex);
    k->state = status == LEY_OK ? MADE : FAILED;
    if (status != LEY_OK)
        take_off_list(k);
    else if (is_listed(k))
        keep(k);
    pthread_cond_broadcast(&is_over);
    pthread_mutex_unlock(&mutex);
    return status;
}

ley_status kept_spectrum_get(const hierarchy *h, const int64_t n[3], const atomic_bool *cancelled, kept_spectrum **kept,
                             ley_error *error)
{
    kept_spectrum *own = malloc(sizeof *own);
    if (own == NULL)
        return ley_fail_memory(error, sizeof *own, "an influence function");
    *own = (kept_spectrum){.holders = 1, .of = *h, .n = {n[0], n[1], n[2]}};
    pthread_mutex_lock(&mutex);
    *kept = find(h, n, cancelled);
    const bool is_there = *kept != NULL, is_made = is_there && (*kept)->state == MADE;
    if (is_there && !is_made) {
        let_go(*kept);
        *kept = NULL;
    }
    if (!is_there) {
        own->name = ++last_name;
        own->next = listed;
        listed = own;
    }
    pthread_mutex_unlock(&mutex);
    if (is_there) {
        free(own);
        return is_made ? LEY_OK : ley_fail(error, LEY_CANCELLED, "cancelled");
    }
    const ley_status status = make(own, cancelled, error);
    *kept = status == LEY_OK ? own : NULL;
    if (status != LEY_OK)
        kept_spectrum_give_back(own);
    return status;
}
