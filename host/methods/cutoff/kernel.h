/* The short-range kernel on one device: chosen, built and tested, with its bins in place. */
#ifndef LEY_CUTOFF_KERNEL_H
#define LEY_CUTOFF_KERNEL_H

#include "arguments.h"
#include "dev_kernel.h"
#include "engine/command_sequence.h"
#include "layout/padding.h"
#include "layout/transpose.h"
#include "leyden.h"
#include "methods/cutoff/problem.h"
#include "methods/cutoff/tuning.h"

/* Slots behind the last bin's on a device: vectors read four at a time, of bins of any depth. What
 * stands there counts for nothing. */
enum { CUTOFF_SPARE_SLOTS = 3 };

KERNEL_ARGUMENTS_STRUCT(cutoff, LEY_CUTOFF_ARGUMENTS);
extern const kernel_kind cutoff_kind;

/* What a kernel whose specification has nodes adds, as cl/interpolation.cl reads it. */
typedef struct cutoff_mesh {
    buffer_of_float potentials, weights;
    buffer_of_int places, nodes;
    int32_t mesh[4], axes[4];
} cutoff_mesh;

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
    buffer_of_float begins;
    buffer_of_atom slots;
    buffer_of_float2 more; /* none: atoms have no more numbers */
    buffer_of_int extra;   /* none: nothing overflows */
    arena arena;           /* slots and extra bins may be somebody else's */
    flight flight;
    double layer_s; /* how long a layer is predicted to take; 0: nobody knows */

    /* What else is done to planes [first, first + planes) of a run, behind the kernel and before
     * they come back; NULL: nothing. The field's components are so many values apart. */
    void (*add)(void *added, command_sequence *w, int64_t first, int64_t planes, int64_t component,
                buffer_of_float phi);
    void *added;
    cutoff_mesh mesh; /* what the kernel adds by itself, where it has room for nodes */
} cutoff_kernel;

/* How a run's points lie in the device's memory: in rows of pitch[0] points, of which pitch[1] make
 * a plane; or in cubes of `edge` points, of which pitch[0] are along x and pitch[1] along y. */
typedef struct cutoff_layout {
    bool in_cubes;
    int edge;
    int64_t pitch[2];
} cutoff_layout;

cutoff_layout cutoff_kernel_layout(const cutoff_kernel *kernel);

/* Puts the problem's bins on the device, unless the kernel has its slots already:
 * device_binning.h. */
/* How the map is cut into regions, without loading anything. */
ley_status cutoff_kernel_lay_out(cutoff_kernel *kernel, const cutoff_problem *problem, ley_error *error);

ley_status cutoff_kernel_load(cutoff_kernel *kernel, const cutoff_problem *problem, ley_error *error);

/* The bins alone, and behind them those of the overflow, whose numbers are those of the bins
 * counted on: slots, more, extra. The kernel has its arena and its problem. */
ley_status cutoff_kernel_upload_bins(cutoff_kernel *kernel, const cutoff_problem *problem, ley_error *error);

/* Frees what cutoff_kernel_upload_bins() has made. */
void cutoff_kernel_free_bins(cutoff_kernel *kernel);

void cutoff_kernel_destroy(cutoff_kernel *kernel);

/* Bytes of a slab of so many layers of CUTOFF_LAYER planes, as the device has it, all components of
 * each point; false when they overflow. */
bool cutoff_kernel_bytes(const cutoff_kernel *kernel, int64_t layers, int64_t *bytes);

/* Some layers' way through the kernel, and back. */
typedef struct cutoff_run {
    cutoff_kernel *kernel;
    int64_t first, planes; /* the first plane; those that the grid has */
    results phi;
    command_sequence command_sequence;
} cutoff_run;

/* Makes a run's buffers, for at most so many layers. */
ley_status cutoff_run_create(cutoff_run *run, cutoff_kernel *kernel, int64_t layers, ley_error *error);
void cutoff_run_destroy(cutoff_run *run);

/* Starts on layers [first, first + count), and the way back. The run must stay where it is.
 * LEY_CANCELLED soon after *cancelled (may be NULL) turns true. */
ley_status cutoff_run_begin(cutoff_run *run, int64_t first, int64_t count, const atomic_bool *cancelled,
                            ley_error *error);

/* Waits for all, and stores the planes of each component, float[planes][n_y][n_x]; of a kernel
 * without the field there is one. `store_s` (how long that took) may be NULL. */
ley_status cutoff_run_finish(cutoff_run *run, float *const *planes, double *store_s, ley_error *error);

/* Where they begin in a map. */
static inline float *cutoff_run_place(const cutoff_run *run, float *map)
{
    const int64_t *n = run->kernel->problem->grid.n;
    return map + run->first * n[0] * n[1];
}

#endif
