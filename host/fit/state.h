/* What prepared densities are, as their files share it. */
#ifndef LEY_FIT_STATE_H
#define LEY_FIT_STATE_H

#include "fit/part.h"

#include <math.h>

/* Frames that are being computed: arrays of the caller's. */
typedef struct fit_run {
    const float *position_A;
    const double *threshold;
    ley_fit_results results;
} fit_run;

struct ley_fit {
    frame_queue queue; /* whose mutex is the totals', too */
    fit_problem problem;
    bool may_open; /* an engine, which has not been opened */
    double host_s; /* that the host would have taken for all so far */
    fit_run run;
    ley_fit_totals totals;
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
