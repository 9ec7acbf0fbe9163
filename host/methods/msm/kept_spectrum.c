#include "methods/msm/kept_spectrum.h"

#include "error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct kept_spectrum {
    int holders; /* under the mutex; `latest` counts as one */
    hierarchy of;
    spectrum made;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static kept_spectrum *latest; /* NULL: none yet */

static bool same_splitting(const splitting *a, const splitting *b)
{
    return a->kind == b->kind && a->degree == b->degree && a->band == b->band && a->kappa_a == b->kappa_a &&
           memcmp(a->c, b->c, (size_t)(a->degree + 1) * sizeof *a->c) == 0;
}

/* Whatever an influence function follows from: not where the lattice is, nor what is on it. */
static bool same(const kept_spectrum *k, const hierarchy *h, const int64_t n[3])
{
    const hierarchy_level *a = &k->of.level[0], *b = &h->level[0];
    return memcmp(k->made.n, n, sizeof k->made.n) == 0 && memcmp(a->n, b->n, sizeof a->n) == 0 &&
           a->cutoff_A == b->cutoff_A && same_splitting(&a->split, &b->split) && k->of.window == h->window &&
           k->of.kappa_per_A == h->kappa_per_A && memcmp(k->of.step_A, h->step_A, sizeof h->step_A) == 0 &&
           memcmp(k->of.cell.periodic, h->cell.periodic, sizeof h->cell.periodic) == 0 &&
           memcmp(k->of.cell.vector_A, h->cell.vector_A, sizeof h->cell.vector_A) == 0;
}

const spectrum *kept_spectrum_of(const kept_spectrum *kept)
{
    return &kept->made;
}

void kept_spectrum_give_back(kept_spectrum *kept)
{
    if (kept == NULL)
        return;
    pthread_mutex_lock(&mutex);
    const bool is_last = --kept->holders == 0;
    pthread_mutex_unlock(&mutex);
    if (is_last) {
        spectrum_clear(&kept->made);
        free(kept);
    }
}

static kept_spectrum *look_up(const hierarchy *h, const int64_t n[3])
{
    pthread_mutex_lock(&mutex);
    kept_spectrum *found = latest != NULL && same(latest, h, n) ? latest : NULL;
    if (found != NULL)
        found->holders++;
    pthread_mutex_unlock(&mutex);
    return found;
}

/* In place of the former one; NULL: of it alone. */
static void replace_latest(kept_spectrum *k)
{
    pthread_mutex_lock(&mutex);
    kept_spectrum *former = latest;
    if (k != NULL)
        k->holders++;
    latest = k;
    pthread_mutex_unlock(&mutex);
    kept_spectrum_give_back(former);
}

void kept_spectrum_forget(void)
{
    replace_latest(NULL);
}

static void keep(kept_spectrum *k)
{
    if ((size_t)spectrum_waves(&k->made) * sizeof *k->made.values <= KEPT_SPECTRUM_MOST_BYTES)
        replace_latest(k);
}

ley_status kept_spectrum_get(const hierarchy *h, const int64_t n[3], const atomic_bool *cancelled, kept_spectrum **kept,
                             ley_error *error)
{
    *kept = look_up(h, n);
    if (*kept != NULL)
        return LEY_OK;
    kept_spectrum *k = malloc(sizeof *k);
    if (k == NULL)
        return ley_fail_memory(error, sizeof *k, "an influence function");
    *k = (kept_spectrum){.holders = 1, .of = *h};
    const ley_status status = spectrum_make(h, n, cancelled, &k->made, error);
    if (status != LEY_OK) {
        free(k);
        return status;
    }
    keep(k);
    *kept = k;
    return LEY_OK;
}
