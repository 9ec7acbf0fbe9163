/* The V-cycle of multilevel summation on one device: from atoms to the potentials of the finest
 * mesh, all on the device. Hardy, Stone, Schulten, Parallel Computing 35, 164 (2009), equations
 * 12 to 16. With HIERARCHY_MIXED the top level is done by Fourier transforms (spectral.h), in a
 * buffer of its own. With HIERARCHY_LOWER the top level's potentials are given. */
#ifndef LEY_LONG_RANGE_MULTILEVEL_V_CYCLE_H
#define LEY_LONG_RANGE_MULTILEVEL_V_CYCLE_H

#include "long_range/fourier/spectral.h"
#include "long_range/multilevel/lattice_kernel.h"

/* Steps of work that a cycle's launches are told apart by. */
enum {
    CYCLE_ANTERPOLATION,
    CYCLE_RESTRICTION,
    CYCLE_LATTICE_CUTOFF,
    CYCLE_TOP_LEVEL,
    CYCLE_PROLONGATION,
    CYCLE_FORWARD, /* with HIERARCHY_MIXED, in the place of the top level */
    CYCLE_PRODUCT,
    CYCLE_BACK,
    CYCLE_STEPS
};
_Static_assert((int)CYCLE_STEPS <= (int)WORK_STEPS, "a sequence tells them apart");

typedef struct v_cycle {
    const hierarchy *hierarchy;
    const atomic_bool *cancelled; /* looked at while weights are made; may be NULL */
    const float *given_charges;   /* of nodes, in the place of atoms (mesh_rows.h); or NULL */
    const float *top_potentials;  /* of nodes, with HIERARCHY_LOWER */
    bool is_mixed;                /* the top level is done by transforms: */
    hierarchy top_level;
    spectral spectral;
    bool by_level; /* each level has weights and a launch of its own, as screened sums take; else one serves all */
    transfer_kernels transfer;
    lattice_kernel cutoff, top; /* of all levels but the top one; all pairs of that, where it is not mixed */
    arena arena;                /* of: */
    coordinate_table arrays[HIERARCHY_MOST_LEVELS];
    transfer_meshes meshes;
    transfer_atoms atoms;
    lattice_tables cutoff_tables, top_tables;
    buffer_of_float weights[HIERARCHY_MOST_LEVELS]; /* of level 0 for all but the top one, or of each */
    buffer_of_float charges, potentials;
    size_t bytes; /* of charges, and of potentials, without a top level that is done by transforms */
} v_cycle;

/* Whether kernels can number all nodes of all levels. */
bool v_cycle_can_number(const hierarchy *h);

/* Kernels, built and tested; `fft` is of the top level of HIERARCHY_MIXED, as of spectral_ready(),
 * and transforms are only predicted where they are `foreseen`. Errors: those of kernel_create();
 * LEY_ERROR_USAGE for a top level of more nodes along an axis than a kernel reaches, or a cutoff of
 * more; with HIERARCHY_MIXED also those of spectral_ready(). */
ley_status v_cycle_ready(v_cycle *c, dev *device, const hierarchy *h, const transfer_wish *wish, int sum,
                         const fft_wish *fft, bool foreseen, ley_error *error);

/* Meshes, weights and atoms go to the device: charges that have a potential
 * (hierarchy_check_charge()). Errors: those of lattice_sum_create(). */
ley_status v_cycle_load(v_cycle *c, const spread *atoms, ley_error *error);

/* The cycle itself, within a sequence of operations; and its way up alone, which makes the charges
 * of all levels. */
void v_cycle_run(const v_cycle *c, command_sequence *w);
void v_cycle_run_up(const v_cycle *c, command_sequence *w);

/* How long it is predicted to take with so many atoms, once it is ready; 0: nobody knows. */
double v_cycle_seconds(const v_cycle *c, size_t atoms);

/* Bytes of its meshes on the device, of one that is ready; and of the largest of its buffers. */
double v_cycle_bytes(const v_cycle *c, double *largest);

/* The finest level, as solver_lent_bytes() says; and a buffer for it, in place of what
 * v_cycle_load() makes. */
size_t v_cycle_lent_bytes(const v_cycle *c);
ley_status v_cycle_borrow(v_cycle *c, ley_error *error);

/* Learns from what its steps were predicted to take, and took. */
void v_cycle_learn(const v_cycle *c, const sequence_times *times);

/* Its buffers go; it may be loaded again. */
void v_cycle_unload(v_cycle *c);

void v_cycle_end(v_cycle *c);

#endif
