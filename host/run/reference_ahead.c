#include "run/reference_ahead.h"

#include "clock.h"
#include "error.h"
#include "log.h"
#include "parallel.h"

#include <stdlib.h>

struct reference_ahead {
    pthread_t thread;
    bool is_running;
    reference_terms terms;
    size_t points;
    atomic_bool ends; /* nobody waits for it any more */
    double took_s;
    ley_status status;
    ley_error error;
};

/* What a thread of its own is worth, on one core. */
static const double least_s = 0.02;

static void *make(void *context)
{
    reference_ahead *a = context;
    const double start_s = ley_clock_s();
    a->status = reference_begin(&a->terms, a->points, &a->ends, &a->error);
    a->took_s = ley_clock_s() - start_s;
    return NULL;
}

static bool leaves_cores_idle(const ley_job *job)
{
    for (size_t i = 0; i < job->view.device_count; i++)
        if (job->view.devices[i].info->device_class == DEV_CPU)
            return false;
    return job->view.device_count > 0 && parallel_cores() > 1;
}

reference_ahead *reference_ahead_begin(ley_job *job, size_t points)
{
    reference_terms terms;
    if (job->method->terms == NULL || !leaves_cores_idle(job))
        return NULL;
    job->method->terms(job->task, &terms);
    if (terms.cell == NULL || terms.cell->dimensions == 0 || reference_images_seconds(&terms, points) < least_s)
        return NULL;
    reference_ahead *a = calloc(1, sizeof *a);
    if (a == NULL)
        return NULL;
    a->terms = terms;
    a->points = points;
    a->is_running = parallel_start(&a->thread, make, a) == 0;
    if (a->is_running)
        return a;
    free(a);
    return NULL;
}

static void wait_for(reference_ahead *a)
{
    if (a->is_running)
        pthread_join(a->thread, NULL);
    a->is_running = false;
}

/* Of what reference_begin() looks at. */
static bool is_alike(const reference_terms *a, const reference_terms *b)
{
    return a->atoms == b->atoms && a->cell == b->cell && a->kappa_per_A == b->kappa_per_A && a->r_min_A == b->r_min_A &&
           a->near_A == b->near_A && a->shares.lattice == b->shares.lattice && a->shares.place_A == b->shares.place_A;
}

ley_status reference_ahead_take(reference_ahead *a, reference_terms *terms, size_t points, const atomic_bool *cancelled,
                                ley_error *error)
{
    if (a == NULL || !is_alike(&a->terms, terms))
        return reference_begin(terms, points, cancelled, error);
    const double start_s = ley_clock_s();
    wait_for(a);
    log_say(LEY_LOG_DETAIL, "the reference was begun beside the devices: it took %.3g s, %.3g s of them waited for",
            a->took_s, ley_clock_s() - start_s);
    if (a->status != LEY_OK || a->terms.images == NULL)
        return reference_begin(terms, points, cancelled, error);
    terms->images = a->terms.images;
    a->terms.images = NULL;
    return LEY_OK;
}

void reference_ahead_end(reference_ahead *a)
{
    if (a == NULL)
        return;
    atomic_store(&a->ends, true);
    wait_for(a);
    reference_end(&a->terms);
    ley_error_clear(&a->error);
    free(a);
}
