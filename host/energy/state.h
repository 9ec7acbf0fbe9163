/* What prepared energies are, as their files share it. */
#ifndef LEY_ENERGY_STATE_H
#define LEY_ENERGY_STATE_H

#include "energy/part.h"
#include "engine/engine.h"
#include "law/energy.h"

#include <pthread.h>

typedef struct energy_range {
    int64_t first, count;
} energy_range;

/* What one device has of them. */
typedef struct energy_device {
    ley_energy *energy; /* not to be touched by a device that was left behind */
    const dev_info *info;
    bool is_ready, has_failed;
    bool has_passed;               /* a frame of its has been verified */
    bool is_beginning, was_let_go; /* it touches nothing of the run's; the run has not waited for it */
    energy_part part;
    ley_error failure;
} energy_device;

/* Frames that are being computed. */
typedef struct energy_run {
    int64_t frames;
    const float *position_A;
    const double *cell_A;
    ley_energy_results results;
    int64_t next;        /* from here on none has been dealt, */
    energy_range *again; /* [2 for each device]: these are to be dealt again */
    size_t again_count;
    int64_t left;      /* that are not done */
    ley_error failure; /* all ends */
} energy_run;

/* What frames of a run have as origins (origins.h). */
typedef struct energy_origins {
    pthread_mutex_t mutex;
    int64_t *first;  /* [frames]: the origin's number; -1: none, the frame has a list of its own. NULL: none was asked
                        for */
    int64_t decided; /* of so many frames */
    int64_t before;  /* frames of all runs before, whether they were done or not */
} energy_origins;

struct ley_energy {
    energy_problem problem;
    ley_engine *engine; /* NULL: none, the host computes all */
    bool owns_engine;
    atomic_bool is_cancelled, is_running;
    int64_t before; /* frames of runs before */
    energy_run run;
    energy_origins origins;
    ley_energy_totals totals;
    pthread_mutex_t mutex;   /* for what devices share: the run's frames, the totals, devices' flags */
    energy_device **devices; /* [engine->candidate_count] */
};

/* A frame of the run, as the law has it. */
static inline energy_frame energy_run_frame(const ley_energy *e, int64_t frame)
{
    return (energy_frame){.particles = &e->problem.arrays,
                          .options = &e->problem.law_options,
                          .position_A = e->run.position_A + 3 * e->problem.arrays.particles * frame,
                          .cell_A = e->run.cell_A != NULL ? e->run.cell_A + 9 * frame : NULL};
}

/* Where a frame's results go. */
static inline ley_energy_results energy_run_results(const ley_energy *e, int64_t frame)
{
    const int64_t n = e->problem.arrays.particles, groups = e->problem.law_options.groups;
    ley_energy_results r = e->run.results;
    r.terms = r.terms != NULL ? r.terms + LEY_ENERGY_TERMS * frame : NULL;
    r.by_particle = r.by_particle != NULL ? r.by_particle + LEY_ENERGY_TERMS * n * frame : NULL;
    r.matrix = r.matrix != NULL ? r.matrix + LEY_ENERGY_TERMS * groups * groups * frame : NULL;
    r.forces = r.forces != NULL ? r.forces + 3 * n * frame : NULL;
    r.born_radii = r.born_radii != NULL ? r.born_radii + n * frame : NULL;
    return r;
}

#endif
