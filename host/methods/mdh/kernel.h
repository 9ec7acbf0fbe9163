/* The Multiple Debye-Hueckel kernel on one device: chosen, built and tested, with its atoms in
 * place. */
#ifndef LEY_MDH_KERNEL_H
#define LEY_MDH_KERNEL_H

#include "arguments.h"
#include "core/boundary.h"
#include "dev_kernel.h"
#include "layout/patches.h"
#include "methods/mdh/tuning.h"
#include "run/work.h"

/* What is to be summed where: phi(r) = C sum_j q_j/d exp(-kappa (d - R_j)) / (1 + kappa R_j) at the
 * points of a boundary. */
typedef struct mdh_problem {
    const ley_atoms *atoms;
    const atomic_bool *cancelled; /* stops the packing of atoms when it becomes true; or NULL */
    const ley_boundary *boundary; /* its points; values go where the caller says */
    double coulomb_constant;      /* C, with the dielectric in it */
    double kappa_per_A;
    int screening;              /* LEY_SCREENING_... */
    double unit_per_A;          /* kernels' lengths are times this: kappa log2(e), or 1 */
    ley_lattice frame;          /* of cells and offsets: the boundary's lattice, or one of 1 A */
    patch patches[PATCH_COUNT]; /* of a lattice */
    int patch_count;            /* 0: a list */
    int64_t rows;               /* of all patches; of a list its points: what slabs count */
    int32_t *order;             /* of a list: its points' indices, such that neighbours are neighbours in space */
    double promise;             /* of the error in float: see mdh_problem_promise() */
} mdh_problem;

/* Of a solvent with this C (the dielectric in it) and this kappa. On failure there is nothing to
 * end. */
ley_status mdh_problem_init(mdh_problem *problem, const ley_atoms *atoms, const ley_boundary *boundary,
                            double coulomb_constant, double kappa_per_A, ley_error *error);

/* A zeroed problem may be ended, too. */
void mdh_problem_end(mdh_problem *problem);

/* What is promised of the error at each point by this arithmetic, relative to the sum of the
 * absolute terms there. */
double mdh_problem_promise(const mdh_problem *problem, ley_math math, ley_sum sum);

/* Points in rows [first, first + count). */
int64_t mdh_problem_points(const mdh_problem *problem, int64_t first, int64_t count);

/* Where the i-th point of rows [first, first + count) stands among the boundary's values. */
int64_t mdh_problem_value(const mdh_problem *problem, int64_t first, int64_t count, int64_t i);

KERNEL_BUFFER_OF(placed); /* as mdh_pack_atoms() packs them */
KERNEL_ARGUMENTS_STRUCT(mdh, LEY_MDH_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(sum_parts, LEY_SUM_PARTS_ARGUMENTS);
extern const kernel_kind mdh_kind, sum_parts_kind;

typedef struct mdh_kernel {
    dev *device;
    calibration facts;
    mdh_choice choice;
    dev_kernel kernel, sums;
    const mdh_problem *problem;
    buffer_of_placed atoms;
    int n_atoms;
    int most_part_atoms; /* 0: as short float sums ask for; tests set it */
    room room;
    flight flight;
} mdh_kernel;

/* Calibrates the device if need be, chooses the variant, and gets the kernels: from the cache, or
 * built and tested. */
ley_status mdh_kernel_create(dev *device, const mdh_wish *wish, mdh_kernel *kernel, ley_error *error);

/* Puts the problem's atoms on the device. */
ley_status mdh_kernel_load(mdh_kernel *kernel, const mdh_problem *problem, ley_error *error);

/* Pairs a second that this kernel will reach, roughly. */
double mdh_kernel_expected_rate(const mdh_kernel *kernel);

void mdh_kernel_destroy(mdh_kernel *kernel);

/* Work-items of a work-group of sum_parts. */
enum { MDH_SUM_GROUP = 64 };

/* A stretch of a face, as mdh.cl reads it. */
#define SEGMENT_FIELD(field) int32_t field;
typedef struct mdh_segment {
    LEY_SEGMENT_FIELDS(SEGMENT_FIELD)
    int32_t unused[2]; /* to whole int4 */
} mdh_segment;
#undef SEGMENT_FIELD

/* Some rows' way through the kernel. Work-groups share a row of atoms: each sums a part of them for
 * its points, so that there are enough of them for the device, and sum_parts adds the parts up. */
typedef struct mdh_run {
    mdh_kernel *kernel;
    int64_t first, count; /* rows */
    int segment_count;
    mdh_segment segments[PATCH_COUNT];
    size_t groups, parts, batches;
    int part_values, part_atoms, batch_atoms;
    buffer_of_int4 places;
    buffer_of_real part_sums;
    size_t place_bytes, part_bytes; /* of the buffers, which grow when need be */
    results sums;
    work work;
} mdh_run;

/* Starts on rows [first, first + count), and the way back. The run must stay where it is; its buffers
 * are kept for the next time. A fresh run is zero. LEY_CANCELLED soon after *cancelled (may be NULL)
 * turns true. */
ley_status mdh_run_begin(mdh_run *run, mdh_kernel *kernel, int64_t first, int64_t count, const atomic_bool *cancelled,
                         ley_error *error);

/* Waits for all, and stores the values at their places among the boundary's. */
ley_status mdh_run_finish(mdh_run *run, double *values, ley_error *error);

/* Starts sum_parts: of so many parts of so many values. */
void mdh_launch_sums(work *w, const mdh_kernel *kernel, buffer_of_real part_sums, int parts, int part_values,
                     buffer_of_real sums);

/* Ends the run's work and its buffers. */
void mdh_run_end(mdh_run *run);

#endif
