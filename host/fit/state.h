/* What prepared densities are, as their files share it. */
#ifndef LEY_FIT_STATE_H
#define LEY_FIT_STATE_H

#include "engine/engine.h"
#include "fit/part.h"

#include <math.h>
#include <pthread.h>

typedef struct fit_range {
    int64_t first, count;
} fit_range;

/* What one device has of them. */
typedef struct fit_device {
    ley_fit *fit; /* not to be touched by a device that was left behind */
    const dev_info *info;
    bool is_ready, has_failed, has_passed;
    bool is_beginning, was_let_go; /* it touches nothing of the run's; the run has not waited for it */
    fit_part part;
    ley_error failure;
} fit_device;

/* Frames that are being computed. */
typedef struct fit_run {
    int64_t frames;
    const float *position_A;
    const double *threshold;
    ley_fit_results results;
    int64_t next;     /* from here on none has been dealt, */
    fit_range *again; /* [FIT_BATCHES for each device]: these are to be dealt again */
    size_t again_count;
    int64_t left;      /* that are not done */
    ley_error failure; /* all ends */
} fit_run;

struct ley_fit {
    fit_problem problem;
    ley_engine *engine;         /* NULL: none, the host computes all */
    bool owns_engine, may_open; /* one was opened here; it may still be */
    double host_s;              /* that the host would have taken for all so far */
    atomic_bool is_cancelled, is_running;
    int64_t before; /* frames of runs before */
    fit_run run;
    ley_fit_totals totals;
    pthread_mutex_t mutex; /* for what devices share: the run's frames, the totals, devices' flags */
    fit_device **devices;  /* [engine->candidate_count] */
};

/* A frame of the run. */
static inline const float *fit_positions(const ley_fit *fit, int64_t frame)
{
    return fit->run.position_A + 3 * (int64_t)fit->problem.model.count * frame;
}

static inline double fit_threshold(const ley_fit *fit, int64_t frame)
{
    return fit->run.threshold != NULL ? fit->run.threshold[frame] : (double)INFINITY;
}

/* Where a frame's results go. */
static inline ley_fit_results fit_results_of(const ley_fit *fit, int64_t frame)
{
    const fit_problem *p = &fit->problem;
    ley_fit_results r = fit->run.results;
    r.score = r.score != NULL ? r.score + LEY_FIT_SCORES * frame : NULL;
    r.window = r.window != NULL ? r.window + p->windows * frame : NULL;
    r.gradient = r.gradient != NULL ? r.gradient + 3 * (int64_t)p->model.count * frame : NULL;
    r.density = r.density != NULL ? r.density + p->nodes * frame : NULL;
    return r;
}

#endif
