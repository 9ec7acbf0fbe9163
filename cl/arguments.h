/* Every kernel's arguments, once and in their order: read by the kernels and by the host.
 *
 * LEY_X_ARGUMENTS(FIRST, NEXT) of kernel x is FIRST(kind, type, name) for its first argument and
 * NEXT(kind, type, name) for each of the others. Where nothing has to stand between two
 * arguments, FIRST and NEXT are one macro. Kinds:
 *
 *   CONSTANT  a buffer of `type` that the kernel reads, from constant memory where its
 *             specification says so
 *   READ      a buffer of `type` that the kernel reads
 *   WRITE     a buffer of `type` that the kernel writes and may read
 *   INT       one int
 *   VALUE     one `type`, which the specification may change: float or double
 *
 * A kernel's parameters are made from its list:
 *
 *   LEY_KERNEL roots(LEY_PARAMETERS(LEY_ROOTS_ARGUMENTS))
 *
 * The comment at the head of the kernel's file says what each argument is. Preprocessor only, like
 * spec.h. */
#ifndef LEY_ARGUMENTS_H
#define LEY_ARGUMENTS_H

#define LEY_DCS_ARGUMENTS(FIRST, NEXT) \
    FIRST(CONSTANT, stored_atom, gm_atoms) \
    NEXT(INT, int, first_atom) \
    NEXT(INT, int, n_atoms) \
    NEXT(INT, int, first_plane) \
    NEXT(VALUE, atom, step) \
    NEXT(VALUE, atom, shear) \
    NEXT(INT, int, accumulate) \
    NEXT(WRITE, real, gm_phi)

#define LEY_MDH_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, placed, gm_atoms) \
    NEXT(INT, int, first_atom) \
    NEXT(INT, int, n_atoms) \
    NEXT(INT, int, part_atoms) \
    NEXT(READ, int4, gm_places) \
    NEXT(INT, int, n_places) \
    NEXT(VALUE, atom, step) \
    NEXT(VALUE, atom, step_low) \
    NEXT(INT, int, accumulate) \
    NEXT(WRITE, real, gm_parts) \
    NEXT(INT, int, part_values)

#define LEY_SUM_PARTS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, real, gm_parts) \
    NEXT(INT, int, n_parts) \
    NEXT(INT, int, part_values) \
    NEXT(WRITE, real, gm_sums)

/* Of kernels that interpolate a mesh along the map's axes: see interpolation.cl. */
#define LEY_INTERPOLATED_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float, gm_potentials) \
    NEXT(READ, int, gm_places) \
    NEXT(VALUE, int4, mesh) \
    NEXT(READ, int, gm_nodes) \
    NEXT(READ, float, gm_weights) \
    NEXT(VALUE, int4, axes)

#define LEY_CUTOFF_ARGUMENTS(FIRST, NEXT) \
    FIRST(CONSTANT, int4, gm_table) \
    NEXT(INT, int, n_table) \
    NEXT(READ, int2, gm_homes) \
    NEXT(READ, float, gm_begins) \
    NEXT(INT, int, first_region) \
    NEXT(READ, atom, gm_slots) \
    NEXT(READ, float2, gm_more) \
    NEXT(READ, int, gm_extra) \
    NEXT(INT, int, has_extra) \
    NEXT(VALUE, atom, step) \
    NEXT(VALUE, atom, step_low) \
    NEXT(VALUE, atom, shear) \
    NEXT(VALUE, atom, shear_low) \
    NEXT(VALUE, atom, side) \
    NEXT(VALUE, atom, limits) \
    NEXT(VALUE, atom, series) \
    NEXT(INT, int, n_close) \
    NEXT(VALUE, atom, fringe) \
    NEXT(VALUE, sixteen, numbers) \
    NEXT(VALUE, sixteen, more_numbers) \
    LEY_INTERPOLATED_ARGUMENTS(NEXT, NEXT) \
    NEXT(VALUE, int4, map) \
    NEXT(WRITE, float, gm_phi)

#define LEY_POINT_PAIRS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, int4, gm_groups) \
    NEXT(READ, float, gm_offsets) \
    NEXT(READ, int, gm_bins) \
    NEXT(READ, atom, gm_slots) \
    NEXT(READ, float2, gm_more) \
    NEXT(READ, int, gm_extra) \
    NEXT(INT, int, has_extra) \
    NEXT(VALUE, int4, n) \
    NEXT(VALUE, atom, side) \
    NEXT(VALUE, atom, limits) \
    NEXT(VALUE, atom, series) \
    NEXT(VALUE, atom, fringe) \
    NEXT(VALUE, sixteen, numbers) \
    NEXT(VALUE, sixteen, more_numbers) \
    NEXT(WRITE, real, gm_phi)

#define LEY_LATTICE_ARGUMENTS(FIRST, NEXT) \
    FIRST(CONSTANT, float, gm_weights) \
    NEXT(READ, int4, gm_levels) \
    NEXT(INT, int, n_levels) \
    NEXT(INT, int, first_group) \
    NEXT(READ, int, gm_places) \
    NEXT(READ, float, gm_charges) \
    NEXT(WRITE, float, gm_potentials)

#define LEY_ANTERPOLATE_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float, gm_window) \
    NEXT(READ, int2, gm_tiles) \
    NEXT(VALUE, int4, tiles) \
    NEXT(READ, int2, gm_sources) \
    NEXT(VALUE, int4, bins) \
    NEXT(READ, int, gm_first) \
    NEXT(READ, float4, gm_atoms) \
    NEXT(READ, int, gm_corners) \
    NEXT(READ, int, gm_places) \
    NEXT(VALUE, int4, places) \
    NEXT(WRITE, float, gm_charges)

#define LEY_BETWEEN_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float, gm_two_scale) \
    NEXT(READ, int, gm_places) \
    NEXT(VALUE, int4, fine) \
    NEXT(VALUE, int4, coarse) \
    NEXT(VALUE, int4, shift) \
    NEXT(VALUE, int4, nodes) \
    NEXT(READ, float, gm_from) \
    NEXT(WRITE, float, gm_to)
#define LEY_RESTRICTION_ARGUMENTS(FIRST, NEXT) LEY_BETWEEN_ARGUMENTS(FIRST, NEXT)
#define LEY_PROLONGATION_ARGUMENTS(FIRST, NEXT) LEY_BETWEEN_ARGUMENTS(FIRST, NEXT)

#define LEY_INTERPOLATION_ARGUMENTS(FIRST, NEXT) \
    LEY_INTERPOLATED_ARGUMENTS(FIRST, NEXT) \
    NEXT(VALUE, int4, points) \
    NEXT(VALUE, int4, map) \
    NEXT(VALUE, atom, shear) \
    NEXT(INT, int, accumulate) \
    NEXT(WRITE, float, gm_phi)

#define LEY_INTERPOLATION_GATHER_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float, gm_window) \
    NEXT(READ, float, gm_potentials) \
    NEXT(READ, int, gm_places) \
    NEXT(VALUE, int4, mesh) \
    NEXT(READ, int2, gm_index) \
    NEXT(VALUE, int4, whole) \
    NEXT(VALUE, int4, points) \
    NEXT(VALUE, int4, map) \
    NEXT(INT, int, accumulate) \
    NEXT(WRITE, float, gm_phi)

#define LEY_INTERPOLATION_LIST_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float, gm_window) \
    NEXT(READ, float, gm_potentials) \
    NEXT(READ, int, gm_places) \
    NEXT(VALUE, int4, mesh) \
    NEXT(READ, int4, gm_cells) \
    NEXT(READ, float4, gm_fractions) \
    NEXT(INT, int, count) \
    NEXT(WRITE, float, gm_phi)

#define LEY_SEPARABLE_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, int4, gm_terms) \
    NEXT(INT, int, n_terms) \
    NEXT(READ, float, gm_x) \
    NEXT(READ, float, gm_y) \
    NEXT(READ, float, gm_z) \
    NEXT(READ, float, gm_x_most) \
    NEXT(READ, float, gm_y_most) \
    NEXT(READ, float, gm_coefficients) \
    NEXT(READ, float2, gm_weights) \
    NEXT(VALUE, int4, size) \
    NEXT(VALUE, int4, slab) \
    NEXT(VALUE, int4, orbitals) \
    NEXT(VALUE, int4, places) \
    NEXT(WRITE, float, gm_values)

#define LEY_DENSITY_MATRIX_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, int4, gm_shells) \
    NEXT(READ, float4, gm_centres) \
    NEXT(INT, int, n_shells) \
    NEXT(READ, float2, gm_primitives) \
    NEXT(READ, int, gm_functions) \
    NEXT(INT, int, n_functions) \
    NEXT(READ, float, gm_matrix) \
    NEXT(READ, float2, gm_axes) \
    NEXT(VALUE, int4, size) \
    NEXT(VALUE, int4, slab) \
    NEXT(VALUE, int4, places) \
    NEXT(WRITE, float, gm_values)

#define LEY_GAUSSIANS_ARGUMENTS(FIRST, NEXT) \
    FIRST(CONSTANT, atom, gm_basis) \
    NEXT(READ, int2, gm_tiles) \
    NEXT(INT, int, n_tiles) \
    NEXT(INT, int, first) \
    NEXT(READ, float, gm_points) \
    NEXT(INT, int, pitch) \
    NEXT(READ, scalar, gm_weights) \
    NEXT(INT, int, first_weight) \
    NEXT(INT, int, n_orbitals) \
    NEXT(VALUE, int4, places) \
    NEXT(WRITE, scalar, gm_values)

#define LEY_HERMITE_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_places) \
    NEXT(READ, float, gm_coefficients) \
    NEXT(READ, float4, gm_clusters) \
    NEXT(READ, int, gm_firsts) \
    NEXT(INT, int, n_clusters) \
    NEXT(INT, int, first) \
    NEXT(INT, int, n_charges) \
    NEXT(READ, float, gm_boys) \
    NEXT(INT, int, n_pieces) \
    NEXT(VALUE, scalar, multipole_t) \
    NEXT(READ, float, gm_points) \
    NEXT(INT, int, pitch) \
    NEXT(VALUE, atom, reach) \
    NEXT(INT, int, accumulate) \
    NEXT(WRITE, float, gm_values)

#define LEY_INFLUENCE_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float, gm_influence) \
    NEXT(VALUE, int4, waves) \
    NEXT(VALUE, int4, stored) \
    NEXT(READ, float2, gm_mean) \
    NEXT(VALUE, int4, mean) \
    NEXT(READ, float2, gm_long) \
    NEXT(VALUE, int4, longs) \
    NEXT(WRITE, float2, gm_spectrum)

#define LEY_DENSITY_SPREAD_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float, gm_positions) \
    NEXT(READ, float, gm_charges) \
    NEXT(INT, int, n_atoms) \
    NEXT(READ, float4, gm_cells) \
    NEXT(READ, float, gm_window) \
    NEXT(VALUE, int4, mesh) \
    NEXT(INT, int, first_frame) \
    NEXT(WRITE, float, gm_parts) \
    NEXT(WRITE, int2, gm_density)

#define LEY_DENSITY_MERGE_ARGUMENTS(FIRST, NEXT) \
    FIRST(WRITE, float, gm_parts) \
    NEXT(INT, int, parts) \
    NEXT(VALUE, int4, mesh) \
    NEXT(WRITE, int2, gm_density)

#define LEY_DENSITY_FLOATS_ARGUMENTS(FIRST, NEXT) \
    FIRST(WRITE, int2, gm_frame) \
    NEXT(INT, int, nodes) \
    NEXT(VALUE, scalar, scale) \
    NEXT(WRITE, int2, gm_sum) \
    NEXT(WRITE, float, gm_mesh)

#define LEY_DENSITY_FOLD_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float2, gm_spectrum) \
    NEXT(VALUE, int4, mesh) \
    NEXT(VALUE, int4, points) \
    NEXT(READ, float, gm_splines) \
    NEXT(READ, float4, gm_cells) \
    NEXT(INT, int, frame) \
    NEXT(VALUE, scalar, half_square) \
    NEXT(WRITE, float2, gm_folded)

#define LEY_POTENTIAL_SUMS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float, gm_phi) \
    NEXT(INT, int, points) \
    NEXT(VALUE, scalar, most) \
    NEXT(VALUE, scalar, scale) \
    NEXT(VALUE, scalar, square_scale) \
    NEXT(WRITE, int2, gm_sum) \
    NEXT(WRITE, int2, gm_square) \
    NEXT(WRITE, int, gm_beyond)

#define LEY_BORN_PAIRS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_at) \
    NEXT(READ, float4, gm_spheres) \
    NEXT(READ, float4, gm_states) \
    NEXT(READ, float, gm_neck) \
    NEXT(READ, float4, gm_cell) \
    NEXT(READ, int4, gm_ranges) \
    NEXT(VALUE, int4, size) \
    NEXT(VALUE, sixteen, numbers) \
    NEXT(WRITE, float, gm_parts)

#define LEY_BORN_PARTICLES_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float, gm_parts) \
    NEXT(READ, int4, gm_ranges) \
    NEXT(READ, float4, gm_factors) \
    NEXT(VALUE, int4, size) \
    NEXT(VALUE, atom, numbers) \
    NEXT(WRITE, float4, gm_states) \
    NEXT(WRITE, float, gm_energy) \
    NEXT(WRITE, float, gm_column) \
    NEXT(WRITE, float, gm_radius) \
    NEXT(WRITE, float, gm_slope) \
    NEXT(WRITE, float4, gm_force)

#define LEY_LINK_ATOMS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, double, gm_position) \
    NEXT(READ, double, gm_charge) \
    NEXT(INT, int, n_atoms) \
    NEXT(VALUE, atom, origin) \
    NEXT(VALUE, atom, low) \
    NEXT(VALUE, atom, high) \
    NEXT(VALUE, atom, side) \
    NEXT(VALUE, atom, bins_per_A) \
    NEXT(VALUE, atom, zero) \
    NEXT(VALUE, int4, n) \
    NEXT(VALUE, atom, vector_a) \
    NEXT(VALUE, atom, vector_b) \
    NEXT(VALUE, atom, vector_c) \
    NEXT(VALUE, atom, dual_a) \
    NEXT(VALUE, atom, dual_b) \
    NEXT(VALUE, atom, dual_c) \
    NEXT(VALUE, atom, image_low) \
    NEXT(VALUE, atom, image_high) \
    NEXT(INT, int, n_images) \
    NEXT(WRITE, int, gm_count) \
    NEXT(WRITE, int, gm_head) \
    NEXT(WRITE, int, gm_next) \
    NEXT(WRITE, float4, gm_records)

#define LEY_FILL_BINS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, int, gm_count) \
    NEXT(READ, int, gm_head) \
    NEXT(READ, int, gm_next) \
    NEXT(READ, atom, gm_records) \
    NEXT(READ, int, gm_extra) \
    NEXT(INT, int, bins) \
    NEXT(INT, int, depth) \
    NEXT(VALUE, atom, far) \
    NEXT(WRITE, atom, gm_slots)

/* Of kernels that look for the bins of atoms: see spread.h. */
#define LEY_HOMES_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, double, gm_position) \
    NEXT(READ, double, gm_charge) \
    NEXT(INT, int, n_atoms) \
    NEXT(VALUE, atom, origin) \
    NEXT(VALUE, atom, along_x) \
    NEXT(VALUE, atom, along_y) \
    NEXT(VALUE, atom, along_z) \
    NEXT(VALUE, atom, whole) \
    NEXT(VALUE, int4, nodes) \
    NEXT(VALUE, int4, bins)

#define LEY_SPREAD_COUNT_ARGUMENTS(FIRST, NEXT) \
    LEY_HOMES_ARGUMENTS(FIRST, NEXT) \
    NEXT(WRITE, int, gm_count) \
    NEXT(WRITE, int, gm_bin) \
    NEXT(WRITE, int, gm_place)

#define LEY_SPREAD_LIST_ARGUMENTS(FIRST, NEXT) \
    FIRST(INT, int, n_atoms) \
    NEXT(READ, int, gm_bin) \
    NEXT(READ, int, gm_place) \
    NEXT(READ, int, gm_first) \
    NEXT(WRITE, int, gm_list)

#define LEY_SPREAD_PLACE_ARGUMENTS(FIRST, NEXT) \
    LEY_HOMES_ARGUMENTS(FIRST, NEXT) \
    NEXT(READ, int, gm_bin) \
    NEXT(READ, int, gm_first) \
    NEXT(READ, int, gm_list) \
    NEXT(WRITE, float4, gm_atoms) \
    NEXT(WRITE, int, gm_corners)

#define LEY_LONG_PLACE_ARGUMENTS(FIRST, NEXT) \
    LEY_HOMES_ARGUMENTS(FIRST, NEXT) \
    NEXT(READ, int, gm_bin) \
    NEXT(READ, int, gm_first) \
    NEXT(READ, int, gm_list) \
    NEXT(WRITE, atom, gm_atoms)

#define LEY_LONG_SPREAD_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, atom, gm_atoms) \
    NEXT(READ, int, gm_first) \
    NEXT(READ, double, gm_window) \
    NEXT(INT, int, first_bin) \
    NEXT(WRITE, double, gm_parts)

#define LEY_LONG_GATHER_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, double, gm_parts) \
    NEXT(VALUE, int4, nodes) \
    NEXT(VALUE, int4, bins) \
    NEXT(WRITE, double, gm_values)

#define LEY_REFERENCE_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, atom, gm_atoms) \
    NEXT(READ, double, gm_more) \
    NEXT(INT, int, first_atom) \
    NEXT(INT, int, n_atoms) \
    NEXT(READ, atom, gm_points) \
    NEXT(READ, atom, gm_cell) \
    NEXT(VALUE, atom, numbers) \
    NEXT(INT, int, accumulate) \
    NEXT(WRITE, atom, gm_sums)

/* Of what measures a rate: numbers in, how often, numbers out. */
#define LEY_RATE_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, real, gm_in) \
    NEXT(INT, int, times) \
    NEXT(WRITE, real, gm_out)

#define LEY_ROOTS_ARGUMENTS(FIRST, NEXT) LEY_RATE_ARGUMENTS(FIRST, NEXT)
#define LEY_EXPS_ARGUMENTS(FIRST, NEXT) LEY_RATE_ARGUMENTS(FIRST, NEXT)
#define LEY_MULTIPLY_ADDS_ARGUMENTS(FIRST, NEXT) LEY_RATE_ARGUMENTS(FIRST, NEXT)
#define LEY_LOCAL_READS_ARGUMENTS(FIRST, NEXT) LEY_RATE_ARGUMENTS(FIRST, NEXT)
#define LEY_COPIES_ARGUMENTS(FIRST, NEXT) LEY_RATE_ARGUMENTS(FIRST, NEXT)

/* Of what examines drivers: see functions.cl, structs.cl, local_words.cl, constant_words.cl and
 * work_items.cl. */
#define LEY_FUNCTIONS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, real, gm_x) \
    NEXT(READ, real, gm_y) \
    NEXT(READ, real, gm_z) \
    NEXT(INT, int, which) \
    NEXT(WRITE, real, gm_out)

#define LEY_STRUCTS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_row) \
    NEXT(VALUE, scalar, one) \
    NEXT(INT, int, number) \
    NEXT(VALUE, atom, four) \
    NEXT(VALUE, int4, ints) \
    NEXT(VALUE, sixteen, many) \
    NEXT(WRITE, int, gm_sizes) \
    NEXT(WRITE, real, gm_values)

#define LEY_LOCAL_WORDS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, int, gm_in) \
    NEXT(INT, int, turns) \
    NEXT(WRITE, int, gm_out)

#define LEY_CONSTANT_WORDS_ARGUMENTS(FIRST, NEXT) \
    FIRST(CONSTANT, int, gm_words) \
    NEXT(INT, int, n_words) \
    NEXT(WRITE, int, gm_out)

#define LEY_WORK_ITEMS_ARGUMENTS(FIRST, NEXT) \
    FIRST(INT, int, first) \
    NEXT(WRITE, int, gm_count) \
    NEXT(WRITE, int4, gm_out)

/* Of kernels of lists of pairs: see list.h and each kernel. */
#define LEY_LIST_BINS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_position) \
    NEXT(INT, int, particles) \
    NEXT(INT, int, padded) \
    NEXT(READ, float4, gm_frames) \
    NEXT(INT, int, bits) \
    NEXT(WRITE, int, gm_count) \
    NEXT(WRITE, int, gm_head) \
    NEXT(WRITE, int, gm_next) \
    NEXT(WRITE, int, gm_bin)

#define LEY_LIST_FIRST_ARGUMENTS(FIRST, NEXT) \
    FIRST(INT, int, bins) \
    NEXT(INT, int, each) \
    NEXT(INT, int, parts) \
    NEXT(INT, int, is_second) \
    NEXT(READ, int, gm_count) \
    NEXT(WRITE, int, gm_part) \
    NEXT(WRITE, int, gm_first)

#define LEY_LIST_PLACE_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_position) \
    NEXT(INT, int, particles) \
    NEXT(INT, int, padded) \
    NEXT(READ, int, gm_type) \
    NEXT(INT, int, slots) \
    NEXT(INT, int, bins) \
    NEXT(READ, int, gm_first) \
    NEXT(READ, int, gm_head) \
    NEXT(READ, int, gm_next) \
    NEXT(READ, int, gm_bin) \
    NEXT(WRITE, int, gm_slot) \
    NEXT(WRITE, int, gm_own) \
    NEXT(WRITE, float4, gm_sorted) \
    NEXT(WRITE, int, gm_sorted_type)

#define LEY_LIST_BOXES_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_sorted) \
    NEXT(INT, int, clusters) \
    NEXT(INT, int, pitch) \
    NEXT(WRITE, float, gm_box)

#define LEY_LIST_BLOCKS_ARGUMENTS(FIRST, NEXT) \
    FIRST(INT, int, blocks) \
    NEXT(INT, int, pitch) \
    NEXT(WRITE, float, gm_box)

#define LEY_LIST_MOVE_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_position) \
    NEXT(INT, int, padded) \
    NEXT(READ, float4, gm_frames) \
    NEXT(READ, int, gm_own) \
    NEXT(INT, int, slots) \
    NEXT(WRITE, float4, gm_sorted) \
    NEXT(WRITE, int, gm_slot)

#define LEY_LIST_TILES_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_sorted) \
    NEXT(READ, int, gm_own) \
    NEXT(READ, int, gm_slot) \
    NEXT(INT, int, padded) \
    NEXT(INT, int, clusters) \
    NEXT(READ, float, gm_box) \
    NEXT(INT, int, pitch) \
    NEXT(READ, float4, gm_frames) \
    NEXT(READ, int, gm_first) \
    NEXT(READ, int, gm_excluded) \
    NEXT(VALUE, scalar, reach) \
    NEXT(VALUE, int4, room) \
    NEXT(WRITE, int2, gm_rows) \
    NEXT(WRITE, int, gm_tiles) \
    NEXT(WRITE, int, gm_masks) \
    NEXT(WRITE, int, gm_near) \
    NEXT(WRITE, int, gm_beyond)

#define LEY_LISTED_PAIRS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_sorted) \
    NEXT(READ, int, gm_sorted_type) \
    NEXT(INT, int, clusters) \
    NEXT(READ, float4, gm_frames) \
    NEXT(READ, int2, gm_rows) \
    NEXT(READ, int, gm_tiles) \
    NEXT(READ, int, gm_masks) \
    NEXT(READ, int, gm_near) \
    NEXT(VALUE, int4, room) \
    NEXT(READ, float2, gm_table) \
    NEXT(VALUE, sixteen, numbers) \
    NEXT(VALUE, sixteen, series) \
    NEXT(VALUE, atom, scale) \
    NEXT(WRITE, int2, gm_sums) \
    NEXT(WRITE, float, gm_floats) \
    NEXT(WRITE, int2, gm_done)

#define LEY_PATCH_PAIRS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_sorted) \
    NEXT(READ, int4, gm_which) \
    NEXT(READ, int, gm_first) \
    NEXT(VALUE, int4, size) \
    NEXT(READ, float4, gm_cell) \
    NEXT(READ, int, gm_bits) \
    NEXT(INT, int, types) \
    NEXT(READ, float2, gm_table) \
    NEXT(VALUE, sixteen, numbers) \
    NEXT(VALUE, sixteen, series) \
    NEXT(VALUE, scalar, scale) \
    NEXT(WRITE, float, gm_floats)

#define LEY_LISTED_GATHER_ARGUMENTS(FIRST, NEXT) \
    FIRST(INT, int, particles) \
    NEXT(INT, int, padded) \
    NEXT(READ, int, gm_slot) \
    NEXT(READ, int, gm_own) \
    NEXT(INT, int, slots) \
    NEXT(INT, int, parts) \
    NEXT(READ, int2, gm_sums) \
    NEXT(READ, float, gm_floats) \
    NEXT(READ, int2, gm_done) \
    NEXT(VALUE, atom, per_quantum) \
    NEXT(INT, int, has_forces) \
    NEXT(VALUE, int4, terms) \
    NEXT(WRITE, float, gm_energy) \
    NEXT(WRITE, float4, gm_force)

#define LEY_MESH_POINTS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_position) \
    NEXT(INT, int, particles) \
    NEXT(INT, int, padded) \
    NEXT(WRITE, float, gm_to)

#define LEY_MESH_GATHER_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_position) \
    NEXT(INT, int, particles) \
    NEXT(INT, int, padded) \
    NEXT(READ, float4, gm_places) \
    NEXT(READ, float4, gm_cells) \
    NEXT(READ, float, gm_window) \
    NEXT(VALUE, int4, mesh) \
    NEXT(READ, float, gm_phi) \
    NEXT(READ, int, gm_first) \
    NEXT(READ, int, gm_excluded) \
    NEXT(VALUE, atom, factors) \
    NEXT(INT, int, has_forces) \
    NEXT(VALUE, int4, terms) \
    NEXT(WRITE, float, gm_energy) \
    NEXT(WRITE, float4, gm_force)

/* Of kernels that work on the bricks of a grid: see ions_bricks.cl. */
#define LEY_IONS_MASK_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_atoms) \
    NEXT(READ, int, gm_first) \
    NEXT(INT, int, first_brick) \
    NEXT(VALUE, int4, bricks) \
    NEXT(VALUE, int4, bins) \
    NEXT(VALUE, sixteen, box) \
    NEXT(VALUE, sixteen, metric) \
    NEXT(WRITE, float, gm_phi)

#define LEY_IONS_BRICKS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, int4, gm_work) \
    NEXT(INT, int, first_work) \
    NEXT(INT, int, tag) \
    NEXT(READ, float4, gm_effects) \
    NEXT(VALUE, int4, grid) \
    NEXT(VALUE, int4, bricks) \
    NEXT(VALUE, sixteen, metric) \
    NEXT(READ, float, gm_table) \
    NEXT(WRITE, float, gm_phi) \
    NEXT(WRITE, float4, gm_records)

#define LEY_IONS_NODES_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, int4, gm_work) \
    NEXT(INT, int, first_work) \
    NEXT(VALUE, int4, grid) \
    NEXT(VALUE, int4, bricks) \
    NEXT(VALUE, int4, numbers) \
    NEXT(VALUE, scalar, factor) \
    NEXT(VALUE, scalar, limit) \
    NEXT(READ, float, gm_phi) \
    NEXT(WRITE, int4, gm_found)

/* Of kernels that compute energies of particles: see pair_energies.cl. */
#define LEY_PAIR_ENERGIES_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_position) \
    NEXT(READ, float4, gm_cell) \
    NEXT(READ, int, gm_type) \
    NEXT(READ, float, gm_table) \
    NEXT(READ, int, gm_first) \
    NEXT(READ, int, gm_tile) \
    NEXT(READ, int, gm_mask) \
    NEXT(READ, int, gm_column) \
    NEXT(INT, int, n) \
    NEXT(INT, int, padded) \
    NEXT(INT, int, types) \
    NEXT(INT, int, columns) \
    NEXT(VALUE, scalar, scale) \
    NEXT(VALUE, sixteen, numbers) \
    NEXT(VALUE, sixteen, series) \
    NEXT(WRITE, float, gm_energy) \
    NEXT(WRITE, float, gm_parts) \
    NEXT(WRITE, float4, gm_force)

#define LEY_PAIRS_14_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_position) \
    NEXT(READ, float4, gm_cell) \
    NEXT(READ, int, gm_first) \
    NEXT(READ, int, gm_partner) \
    NEXT(READ, float4, gm_numbers) \
    NEXT(INT, int, padded) \
    NEXT(WRITE, float, gm_energy) \
    NEXT(WRITE, float4, gm_force)

#define LEY_LCPO_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_position) \
    NEXT(READ, float4, gm_cell) \
    NEXT(READ, float, gm_radius) \
    NEXT(READ, float4, gm_factors) \
    NEXT(INT, int, n) \
    NEXT(INT, int, padded) \
    NEXT(INT, int, room) \
    NEXT(VALUE, scalar, offset) \
    NEXT(WRITE, int, gm_list) \
    NEXT(WRITE, float, gm_energy)

#define LEY_GROUP_SUMS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float, gm_parts) \
    NEXT(READ, int, gm_column) \
    NEXT(INT, int, columns) \
    NEXT(INT, int, padded) \
    NEXT(WRITE, float2, gm_matrix)

/* Of kernels that compute densities of atoms: see atom_density.cl. */
#define LEY_ATOM_DENSITY_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_atoms) \
    NEXT(READ, float, gm_falls) \
    NEXT(READ, int, gm_first) \
    NEXT(READ, int, gm_count) \
    NEXT(INT, int, n_atoms) \
    NEXT(INT, int, parts) \
    NEXT(VALUE, int4, bricks) \
    NEXT(VALUE, int4, block) \
    NEXT(VALUE, int4, reach) \
    NEXT(VALUE, sixteen, numbers) \
    NEXT(READ, float, gm_map) \
    NEXT(READ, float, gm_mask) \
    NEXT(READ, float, gm_threshold) \
    NEXT(WRITE, float, gm_density) \
    NEXT(WRITE, float, gm_parts)

#define LEY_FIT_CELLS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float, gm_position) \
    NEXT(READ, float, gm_weight) \
    NEXT(INT, int, n_atoms) \
    NEXT(VALUE, int4, size) \
    NEXT(VALUE, int4, cells) \
    NEXT(VALUE, atom, reach) \
    NEXT(VALUE, sixteen, numbers) \
    NEXT(WRITE, int, gm_cell) \
    NEXT(WRITE, int, gm_count) \
    NEXT(WRITE, int2, gm_next) \
    NEXT(WRITE, int, gm_rank)

#define LEY_FIT_PLACE_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float, gm_position) \
    NEXT(READ, float, gm_weight) \
    NEXT(READ, float, gm_fall) \
    NEXT(INT, int, n_atoms) \
    NEXT(INT, int, cells) \
    NEXT(INT, int, parts) \
    NEXT(VALUE, sixteen, numbers) \
    NEXT(READ, int, gm_cell) \
    NEXT(WRITE, int, gm_count) \
    NEXT(READ, int2, gm_next) \
    NEXT(READ, int, gm_rank) \
    NEXT(READ, int, gm_first) \
    NEXT(WRITE, float4, gm_atoms) \
    NEXT(WRITE, float, gm_falls) \
    NEXT(WRITE, int, gm_order)

#define LEY_FIT_WINDOWS_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_places) \
    NEXT(READ, float4, gm_boxes) \
    NEXT(READ, int, gm_window) \
    NEXT(INT, int, windows) \
    NEXT(INT, int, n_places) \
    NEXT(INT, int, n_boxes) \
    NEXT(VALUE, int4, size) \
    NEXT(VALUE, sixteen, numbers) \
    NEXT(READ, float, gm_map) \
    NEXT(READ, float, gm_density) \
    NEXT(WRITE, float, gm_sums)

#define LEY_FIT_GRADIENT_ARGUMENTS(FIRST, NEXT) \
    FIRST(READ, float4, gm_atoms) \
    NEXT(READ, float, gm_falls) \
    NEXT(READ, int, gm_cell) \
    NEXT(READ, int, gm_order) \
    NEXT(READ, int, gm_first) \
    NEXT(INT, int, n_atoms) \
    NEXT(INT, int, bins) \
    NEXT(VALUE, int4, size) \
    NEXT(VALUE, sixteen, numbers) \
    NEXT(READ, float, gm_map) \
    NEXT(READ, float, gm_density) \
    NEXT(WRITE, float, gm_sums)

#endif
