/* The task of long-range potentials, on a map or at points, and what both have in common. */
#ifndef LEY_LONG_RANGE_TASK_H
#define LEY_LONG_RANGE_TASK_H

#include "long_range/host_threads.h"
#include "long_range/mesh_share.h"
#include "long_range/model/short_range_part.h"
#include "long_range/solver.h"
#include "methods/cutoff/point_stages.h"

enum { MSM_WHY_SIZE = 256 };

typedef struct msm_task {
    union { /* the first member: cutoff's stages take this for their task */
        cutoff_task near;
        cutoff_points_task listed; /* at points */
    };
    ley_grid points;        /* the map's, or one over the points of a list */
    ley_long_range options; /* the solver resolved; but for `fft`: */
    char library[16];       /* empty: whichever is fastest */
    hierarchy meshes;       /* none, of 0 levels, where screening leaves nothing to them */
    double constant;        /* C */
    double expected;        /* expected_error() of the meshes, once the sums are done */
    double coherence;       /* of the charges: coherence_find(); 1 until somebody looks closer */
    bool is_coherence_known;
    char extents[160];           /* "60 x 60 x 60, 33 x 33 x 33" */
    char transforms[160];        /* whose: "vkfft 1.2.26"; and in place of whose, and why. Under the mutex of `near`: */
    char passed_over[256];       /* "clfft: its known answer was wrong" */
    double field_expected_per_A; /* of the field, where points have it: expected_field_error() */
    double spread_s, step_s[WORK_STEPS]; /* under the mutex of `near`, of the slowest device; and: */
    double meshes_s, predicted_s, spectrum_s;
    ley_place long_place;       /* who puts charges into the mesh of long waves; LEY_PLACE_AUTO: nobody */
    double long_s, long_wait_s; /* how long a device took for that, and how long it waited for the waves */

    ley_long_range asked; /* as the job was created with, but for `fft` */
    ley_long_range other; /* in place of the options, where no device has transforms; and why that was taken: */
    bool has_other;
    char why[MSM_WHY_SIZE]; /* empty: it was not */

    mesh_share share;          /* of the ranks, and */
    host_threads host_threads; /* from prepare() to release() */
} msm_task;

/* Of checked options; `map` is NULL at points. The solver is what there is room for on the engine's
 * devices, unless engine is NULL. On failure there is nothing to end. */
ley_status msm_task_init(msm_task *task, ley_engine *engine, const ley_atoms *atoms, ley_map *map,
                         const ley_grid *points, const ley_long_range *range, const ley_run_options *options,
                         ley_error *error);
void msm_task_end(void *task);

/* Whether the map or the points have a field. */
bool msm_has_field(const msm_task *task);

/* Atoms have moved: whether they still lie within the meshes, and what follows from where they are
 * is made anew; `spreads`: into bins by the host. LEY_ERROR_USAGE: meshes are to be made anew. */
ley_status msm_task_renew(msm_task *task, bool spreads, ley_error *error);

/* What the meshes leave out of every value, in its unit: the mean potential of a screened net
 * charge and its images (numerics/hierarchy.h). */
double msm_mean(const msm_task *task);

/* LEY_ERROR_INPUT: that is more than floats hold. */
ley_status msm_check_mean(const hierarchy *meshes, const ley_atoms *atoms, ley_error *error);

/* What was begun ends; for release(). */
void msm_task_leave(msm_task *task, bool is_kept);

/* The sum over pairs that goes with meshes; an expression's text is the formula's. */
ley_short_range msm_near_of(const ley_long_range *range, const hierarchy *meshes, pairs_formula *formula);

/* No device can do it, and why: done otherwise from now on. */
bool msm_task_otherwise(void *task, const char *why);

/* What a plan says is checked and taken; steps have taken no time yet. */
ley_status msm_task_begin(msm_task *task, const job_view *job, ley_error *error);

/* Who puts charges into the mesh of long waves, as the plan says, or as is predicted to be
 * soonest; `are_there`: devices have the atoms anyway. */
void msm_task_place_long(msm_task *task, const job_view *job, bool are_there);

/* Threads of the host's begin beside the devices; of them that of the influence function as the
 * first device with transforms wants it. `spreads`: the atoms will be wanted in bins. */
void msm_task_begin_host_threads(msm_task *task, const job_view *job, bool spreads);

/* What a job of these meshes takes of the host's memory beside its map or points, from its input
 * alone; and what of that meshes and the charges of so many atoms take. */
void msm_problem_needs(const ley_atoms *atoms, const ley_grid *grid, const ley_long_range *range,
                       const hierarchy *meshes, struct job_needs *needs);
void msm_add_needs(const hierarchy *meshes, const ley_atoms *atoms, struct job_needs *needs);

/* At the end: what the meshes are expected to be off by. */
void msm_task_expect(msm_task *task);

/* ---- For the rows of methods ----------------------------------------------------------------- */

void msm_outline(const void *context, notes *n);
void msm_note_meshes(const void *context, notes *n);
void msm_decide_meshes(const void *context, job_plan *made);
extern const char *const msm_solver_words[];
/* clang-format off */
#define MSM_PLAN_ROWS \
    {.name = "splitting", .words = msm_splitting_words}, {.name = "window", .words = msm_window_words}, \
    {.name = "cutoff", .high = 10000, .is_real = true}, {.name = "spacing", .high = 10000, .is_real = true}, \
    {.name = "long_waves", .high = 10, .is_real = true}, {.name = "long_waves_by", .words = plan_places}, \
    {.name = "contact", .high = 1, .is_real = true}, \
    {.name = "solver", .words = msm_solver_words}, {.name = "levels", .low = 2, .high = HIERARCHY_MOST_LEVELS}, \
    {.name = "local_levels", .high = HIERARCHY_MOST_LEVELS}, \
    {.name = "fft", .of_device = true, .words = msm_library_words}
/* clang-format on */

void msm_terms(const void *context, reference_terms *t);
bool msm_by_host(const void *context, struct host_sum *sum);
accuracy_limits msm_limits(const void *context);
bool msm_look_closer(void *context);
ley_status msm_by_steps(const void *context, size_t n, const double (*place_A)[3], double *value, ley_error *error);
void msm_distrust(const void *context);

#endif
