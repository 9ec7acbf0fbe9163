/* What prepared energies are, as their files share it. */
#ifndef LEY_ENERGY_STATE_H
#define LEY_ENERGY_STATE_H

#include "energy/part.h"
#include "law/energy.h"

/* Frames that are being computed: arrays of the caller's. */
typedef struct energy_run {
    const float *position_A;
    const double *cell_A;
    ley_energy_results results;
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
    frame_queue queue; /* whose mutex is the totals', too */
    energy_problem problem;
    energy_run run;
    energy_origins origins;
    ley_energy_totals totals;
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
