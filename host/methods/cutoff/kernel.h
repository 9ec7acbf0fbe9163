/* The short-range kernel on one device: chosen, built and tested, with its bins in place. */
#ifndef LEY_CUTOFF_KERNEL_H
#define LEY_CUTOFF_KERNEL_H

#include "arguments.h"
#include "core/expression.h"
#include "dev_kernel.h"
#include "judge/reference.h"
#include "layout/binning.h"
#include "layout/padding.h"
#include "layout/transpose.h"
#include "leyden.h"
#include "methods/cutoff/overflow.h"
#include "methods/cutoff/tuning.h"
#include "run/job_memory.h"
#include "run/work.h"

/* What is to be summed where: phi = constant * sum over r < a of f(max(r, r_min)) on a lattice, and
 * the atoms in their bins. Kernels compute in units: lengths are multiplied by unit_per_A, values
 * come out in A when divided by it, which is in the atoms' first numbers. */
typedef struct cutoff_problem {
    const ley_atoms *atoms;
    ley_lattice lattice;
    const ley_short_range *range;
    double constant, r_min_A;
    double cutoff_A; /* the range's, or shorter where screening leaves nothing beyond */
    double unit_per_A;
    double charge_scale;                   /* from charges to first numbers */
    float limits[4], series[4], fringe[4]; /* the kernel's arguments */
    expression *formula;                   /* of LEY_PAIR_EXPRESSION */
    char *prelude;                         /* its source, for the kernel */
    binning_plan plan;
    binned_atoms *binned;
    float (*more)[2]; /* [bins and extra bins][depth] second and third numbers, where LEY_PAIR has them */
    bool with_extra;  /* devices sum the overflow, from bins behind the others */
} cutoff_problem;

/* Everything but the bins. The range must be checked, and outlive the problem, as must the atoms. */
ley_status cutoff_problem_init(cutoff_problem *problem, const ley_atoms *atoms, const ley_lattice *lattice,
                               const ley_short_range *range, double coulomb_constant, double dielectric, double r_min_A,
                               ley_error *error);

/* What kernels take for r_min: no more than their cutoff, which may have become shorter than it. */
double cutoff_problem_r_min_A(const cutoff_problem *problem);

/* The longest edge of a bin or a region: what positions are rounded by. */
double cutoff_problem_largest_A(const cutoff_problem *problem);

/* Puts the atoms into bins, on the host. */
ley_status cutoff_problem_bin(cutoff_problem *problem, ley_error *error);

/* Gives devices the overflow, too. */
ley_status cutoff_problem_add_extra(cutoff_problem *problem, ley_error *error);

/* Pairs within the cutoff, estimated from a sample. */
double cutoff_problem_pairs(const cutoff_problem *problem);

/* The pairs, without bins: from a sample of the atoms, which must have no images. */
double cutoff_problem_expected_pairs(const cutoff_problem *problem);

/* The first and further numbers of an atom as the kernels take them. */
void cutoff_problem_numbers(const cutoff_problem *problem, size_t atom, float numbers[3]);

/* What host threads take of the problem. */
overflow_terms cutoff_problem_terms(const cutoff_problem *problem);

/* What is summed, for the judge. */
reference_terms cutoff_problem_sum(const cutoff_problem *problem);

/* The double-precision value of a cutoff_problem at a point: an accuracy_reference. */
reference_value cutoff_problem_reference(const void *problem, const double point_A[3]);

/* What a job of this takes of the host's memory beside its map, from its input alone. */
void cutoff_problem_needs(const ley_atoms *atoms, const ley_lattice *lattice, const ley_short_range *range,
                          job_needs *needs);

/* Layers of CUTOFF_LAYER planes. */
static inline int64_t cutoff_layers(const ley_lattice *lattice)
{
    return (lattice->n[2] + CUTOFF_LAYER - 1) / CUTOFF_LAYER;
}

void cutoff_problem_clear(cutoff_problem *problem);

/* ---- A device's part ------------------------------------------------------------------------- */

/* Slots behind the last bin's on a device: vectors read four at a time, of bins of any depth. What
 * stands there counts for nothing. */
enum { CUTOFF_SPARE_SLOTS = 3 };

KERNEL_ARGUMENTS_STRUCT(cutoff, LEY_CUTOFF_ARGUMENTS);
extern const kernel_kind cutoff_kind;

typedef struct cutoff_kernel {
    dev *device;
    calibration facts;
    cutoff_choice choice;
    dev_kernel kernel;
    const cutoff_problem *problem;
    int64_t region[3], regions[3]; /* points of one; how many */
    int n_table, n_close;          /* entries; of these the first ones, which may cover a region */
    buffer_of_int4 table;
    buffer_of_int2 homes;
    buffer_of_atom slots;
    buffer_of_float2 more; /* none: atoms have no more numbers */
    buffer_of_int extra;   /* none: devices do not sum the overflow */
    room room;             /* slots and extra bins may be somebody else's */
    flight flight;
    double layer_s; /* how long a layer is predicted to take; 0: nobody knows */
} cutoff_kernel;

/* Calibrates the device if need be, chooses the variant, and gets the kernel: from the cache, or
 * built and tested. The problem need not have its bins yet. */
ley_status cutoff_kernel_create(dev *device, const cutoff_wish *wish, const cutoff_problem *problem,
                                cutoff_kernel *kernel, ley_error *error);

/* Puts the problem's bins on the device, unless the kernel has its slots already: device_binning.h. */
ley_status cutoff_kernel_load(cutoff_kernel *kernel, const cutoff_problem *problem, ley_error *error);

void cutoff_kernel_destroy(cutoff_kernel *kernel);

/* Bytes of a slab of so many layers of CUTOFF_LAYER planes, as the device has it; false when they
 * overflow. */
bool cutoff_kernel_bytes(const cutoff_kernel *kernel, int64_t layers, int64_t *bytes);

/* Some layers' way through the kernel, and back. */
typedef struct cutoff_run {
    cutoff_kernel *kernel;
    int64_t first, planes; /* the first plane; those that the lattice has */
    results phi;
    work work;
} cutoff_run;

/* Makes a run's buffers, for at most so many layers. */
ley_status cutoff_run_create(cutoff_run *run, cutoff_kernel *kernel, int64_t layers, ley_error *error);
void cutoff_run_destroy(cutoff_run *run);

/* Starts on layers [first, first + count), and the way back. The run must stay where it is.
 * LEY_CANCELLED soon after *cancelled (may be NULL) turns true. */
ley_status cutoff_run_begin(cutoff_run *run, int64_t first, int64_t count, const atomic_bool *cancelled,
                            ley_error *error);

/* Waits for all, and stores the planes in the map, float[n_z][n_y][n_x]. `store_s` (how long that
 * took) may be NULL. */
ley_status cutoff_run_finish(cutoff_run *run, float *map, double *store_s, ley_error *error);

#endif
