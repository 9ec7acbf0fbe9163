/* The direct-Coulomb-summation kernel on one device: chosen, built and tested, with its atoms in
 * place. */
#ifndef LEY_DCS_KERNEL_H
#define LEY_DCS_KERNEL_H

#include "arguments.h"
#include "dev_kernel.h"
#include "engine/command_sequence.h"
#include "layout/padding.h"
#include "leyden.h"
#include "methods/dcs/pack.h"
#include "methods/dcs/tuning.h"

/* What is to be summed where: phi = C sum_j q_j / max(r, r_min) on a grid, whose rows are along x
 * and whose planes are perpendicular to z (GRID_FRAME_ROWS_ALONG_X). The atoms must outlive it. */
typedef struct dcs_problem {
    const ley_atoms *atoms;
    ley_grid grid;
    double coulomb_constant, r_min_A;
    const atomic_bool *cancelled; /* stops the packing of atoms when it becomes true; or NULL */
} dcs_problem;

KERNEL_BUFFER_OF(stored_atom); /* as dcs_pack() packs them */
KERNEL_ARGUMENTS_STRUCT(dcs, LEY_DCS_ARGUMENTS);
extern const kernel_kind dcs_kind;

typedef struct dcs_batch {
    buffer_of_stored_atom atoms;
    int first, count;
} dcs_batch;

typedef struct dcs_kernel {
    dev *device;
    calibration facts;
    dcs_choice choice;
    dev_kernel kernel;
    dcs_problem problem;
    padded_slab layout; /* planes = 1 */
    size_t batch_count;
    dcs_batch *batches; /* one launch each */
    arena arena;
    flight flight;
} dcs_kernel;

/* What is promised of the error at each point, relative to the sum of the absolute terms there;
 * `variant` as in dcs_wish. */
double dcs_problem_promise(const dcs_problem *problem, const char *variant, ley_math math, ley_sum sum);

/* How a plane of this grid lies in the device's memory. */
padded_slab dcs_kernel_layout(const dcs_kernel *kernel, const ley_grid *grid);

/* Puts the problem's atoms on the device, cut into launches of at most `planes` planes that last
 * about `launch_s` each. */
ley_status dcs_kernel_load(dcs_kernel *kernel, const dcs_problem *problem, int64_t planes, double launch_s,
                           ley_error *error);

/* The same with `batch` atoms per launch, or as many as constant memory holds. */
ley_status dcs_kernel_load_batches(dcs_kernel *kernel, const dcs_problem *problem, size_t batch, ley_error *error);

/* The atoms have moved: they are put there anew, in launches of as many. */
ley_status dcs_kernel_reload(dcs_kernel *kernel, ley_error *error);

/* Pairs per second that this kernel will reach, roughly. */
double dcs_kernel_expected_rate(const dcs_kernel *kernel);

/* Some planes' way through the kernel, in batches of atoms, one launch each; and back. */
typedef struct dcs_run {
    dcs_kernel *kernel;
    int64_t first, planes;
    results phi;
    command_sequence command_sequence;
} dcs_run;

/* Makes a run's buffers, for at most so many planes. */
ley_status dcs_run_create(dcs_run *run, dcs_kernel *kernel, int64_t planes, ley_error *error);
void dcs_run_destroy(dcs_run *run);

/* Starts on planes [first, first + planes), and the way back. The run must stay where it is.
 * LEY_CANCELLED soon after *cancelled (may be NULL) turns true. */
ley_status dcs_run_begin(dcs_run *run, int64_t first, int64_t planes, const atomic_bool *cancelled, ley_error *error);

/* Waits for all, and stores the planes of each component, without their padding:
 * float[planes][n_y][n_x]. Of a kernel without the field there is one. */
ley_status dcs_run_finish(dcs_run *run, float *const *planes, ley_error *error);

void dcs_kernel_destroy(dcs_kernel *kernel);

#endif
