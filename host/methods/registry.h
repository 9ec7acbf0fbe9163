/* The top of host/: all there is of what comes in kinds, a row each. */
#ifndef LEY_REGISTRY_H
#define LEY_REGISTRY_H

#include "schedule/method.h"

/* X: method_X. A plan and ley_method_name() have them in this order. */
#define METHODS(METHOD) \
    METHOD(dcs) \
    METHOD(mdh) \
    METHOD(cutoff) \
    METHOD(msm) \
    METHOD(wavefunction) \
    METHOD(esp)

/* X: law_X. */
#define LAWS(LAW) LAW(pairs) LAW(dcs) LAW(mdh) LAW(long_range)

/* X: X_kind. What measures devices; what examines drivers; the judge; and methods. */
#define KERNELS(KERNEL) \
    KERNEL(roots) \
    KERNEL(exps) \
    KERNEL(multiply_adds) \
    KERNEL(local_reads) \
    KERNEL(copies) \
    KERNEL(functions) \
    KERNEL(structs) \
    KERNEL(local_words) \
    KERNEL(constant_words) \
    KERNEL(work_items) \
    KERNEL(reference) \
    KERNEL(dcs) \
    KERNEL(mdh) \
    KERNEL(sum_parts) \
    KERNEL(cutoff) \
    KERNEL(point_pairs) \
    KERNEL(link_atoms) \
    KERNEL(fill_bins) \
    KERNEL(lattice) \
    KERNEL(spread_count) \
    KERNEL(spread_list) \
    KERNEL(spread_place) \
    KERNEL(long_place) \
    KERNEL(long_spread) \
    KERNEL(long_gather) \
    KERNEL(anterpolate) \
    KERNEL(restriction) \
    KERNEL(prolongation) \
    KERNEL(interpolation) \
    KERNEL(interpolation_gather) \
    KERNEL(interpolation_list) \
    KERNEL(influence) \
    KERNEL(density_spread) \
    KERNEL(density_merge) \
    KERNEL(density_floats) \
    KERNEL(density_fold) \
    KERNEL(potential_sums) \
    KERNEL(pair_energies) \
    KERNEL(pairs_14) \
    KERNEL(lcpo) \
    KERNEL(group_sums) \
    KERNEL(list_bins) \
    KERNEL(list_first) \
    KERNEL(list_place) \
    KERNEL(list_boxes) \
    KERNEL(list_blocks) \
    KERNEL(list_move) \
    KERNEL(list_tiles) \
    KERNEL(listed_pairs) \
    KERNEL(listed_gather) \
    KERNEL(patch_pairs) \
    KERNEL(mesh_points) \
    KERNEL(mesh_gather) \
    KERNEL(born_pairs) \
    KERNEL(born_particles) \
    KERNEL(atom_density) \
    KERNEL(fit_cells) \
    KERNEL(fit_place) \
    KERNEL(fit_windows) \
    KERNEL(fit_gradient) \
    KERNEL(ions_mask) \
    KERNEL(ions_bricks) \
    KERNEL(ions_nodes) \
    KERNEL(separable) \
    KERNEL(density_matrix) \
    KERNEL(gaussians) \
    KERNEL(hermite)

#define DECLARE_METHOD(name) extern const method method_##name;
#define DECLARE_LAW(name) extern const law law_##name;
#define DECLARE_KERNEL(name) extern const kernel_kind name##_kind;
METHODS(DECLARE_METHOD)
LAWS(DECLARE_LAW)
KERNELS(DECLARE_KERNEL)

/* Rows of the tables, which end with NULL: method_registry (schedule/method.h), law_registry
 * (law/law.h), and every kernel. */
/* clang-format off */
#define LIST_METHOD(name) &method_##name,
#define LIST_LAW(name) &law_##name,
#define LIST_KERNEL(name) &name##_kind,
/* clang-format on */
extern const kernel_kind *const kernel_registry[];

#endif
