/* What each step of a long-range potential takes at least, beside a device's limits. */
#ifndef LEY_LONG_RANGE_BENCH_STEPS_H
#define LEY_LONG_RANGE_BENCH_STEPS_H

#include "leyden.h"
#include "numerics/hierarchy.h"

/* On the host: bins, and what goes to the device before its first launch; on the device; and all of
 * it, from atoms in memory to the map in the host's memory. */
typedef enum msm_step {
    MSM_BINS,
    MSM_TABLES,
    MSM_ANTERPOLATION,
    MSM_RESTRICTION,
    MSM_LATTICE_CUTOFF,
    MSM_TOP_LEVEL,
    MSM_PROLONGATION,
    MSM_FORWARD,
    MSM_PRODUCT,
    MSM_BACK,
    MSM_INTERPOLATION,
    MSM_SHORT_RANGE,
    MSM_WHOLE,
    MSM_STEP_COUNT
} msm_step;

/* Of work that nothing leaves out: arithmetic, each thing read and written once. */
typedef struct step_needs {
    double multiply_adds, bytes;
} step_needs;

/* Of open meshes. `pairs`: those within the cutoff, each six multiply-adds beside its root. 0 of
 * steps of the host. */
step_needs msm_step_needs(msm_step step, const hierarchy *h, const ley_grid *points, int64_t atoms, double pairs);

/* Pairs of nodes whose weight is not 0, of a level but the top one. */
double msm_node_pairs(const hierarchy *h, int level);

#endif
