/* From atoms to the potentials of the finest mesh on one device, the way that the hierarchy
 * says: by the V-cycle, whose top level may be done by Fourier transforms, or by these alone. */
#ifndef LEY_LONG_RANGE_SOLVER_H
#define LEY_LONG_RANGE_SOLVER_H

#include "long_range/fourier/spectral.h"
#include "long_range/multilevel/v_cycle.h"

typedef struct solver {
    hierarchy_solver kind;
    v_cycle v_cycle;   /* HIERARCHY_MULTILEVEL, HIERARCHY_MIXED, HIERARCHY_LOWER */
    spectral spectral; /* HIERARCHY_FOURIER */
} solver;

/* Kernels and transforms, built and tested: v_cycle_ready(), or spectral_ready(). `sum` is the
 * lattice cutoff's; `fft` may be NULL. */
ley_status solver_ready(solver *s, dev *device, const hierarchy *h, const transfer_wish *wish, int sum,
                        const fft_wish *fft, ley_error *error);

/* Meshes, weights and atoms go to the device: charges that have a potential
 * (hierarchy_check_charge()). Where `atoms` has no more than bins and tiles (spread_begin()), the
 * atoms themselves have been put into solver_atoms(), in solver_room(). */
ley_status solver_load(solver *s, const spread *atoms, ley_error *error);

/* Within a sequence of operations, as often as wanted. */
void solver_run(const solver *s, command_sequence *w);

/* From now on it begins with these charges of nodes (mesh_rows.h), in the place of atoms; NULL: no
 * longer. And some layers of such charges, of its atoms; of HIERARCHY_LOWER those of its top level,
 * whose potentials it is to be given before it runs. And all potentials that come of its
 * charges. */
void solver_take_charges(solver *s, const float *rows);
ley_status solver_spread(const solver *s, flight *f, spread_layers layers, float *rows, ley_error *error);
void solver_take_top_potentials(solver *s, const float *rows);
ley_status solver_run_to_rows(const solver *s, flight *f, float *rows, ley_error *error);

/* Of transforms: before it is loaded, that it will have potentials in place of all that it does;
 * and these. */
void solver_await_potentials(solver *s, bool awaits);
void solver_take_potentials(solver *s, const float *rows);

/* How long that is predicted to take with so many atoms, once it is ready; 0: nobody knows. */
double solver_seconds(const solver *s, size_t atoms);

/* Learns from what its steps were predicted to take, and took. */
void solver_learn(const solver *s, const sequence_times *times);

/* For forecasts, in place of solver_ready(): transforms are predicted, and not made. Then: bytes of
 * its meshes on the device, and of the largest of its buffers; how long plans of transforms take;
 * its transforms or levels, in words; and the kernels behind it. */
ley_status solver_foresee(solver *s, dev *device, const hierarchy *h, const transfer_wish *wish, int sum,
                          const fft_wish *fft, ley_error *error);
double solver_prepare_s(const solver *s);
double solver_bytes(const solver *s, double *largest);
void solver_describe(const solver *s, char *text, size_t size);
const transfer_kernels *solver_kernels(const solver *s);

/* What it does by transforms: all of it, or the top level; NULL: nothing. */
const spectral *solver_spectral(const solver *s);

/* From now on what takes the host long ends soon after *cancelled turns true. */
void solver_cancel_by(solver *s, const atomic_bool *cancelled);

/* Before it is loaded: who has long waves, where the hierarchy asks for them. It is asked while the
 * solver runs, when it has begun all that comes before them. */
void solver_take_long_waves(solver *s, long_wavelengths_source from);

/* Its buffers go; it may be loaded again. */
void solver_unload(solver *s);

/* Of one that is loaded, in two steps, between which atoms on the device may be put into
 * solver_atoms(): the atoms go, and with them all that follows from where they are; and other ones
 * come, with the same charges, in meshes that stay. Errors: those of solver_load(). */
void solver_unload_atoms(solver *s);
bool solver_looks_at_charges(const solver *s); /* beside the device's: at spread.total_e, ... */
ley_status solver_load_atoms(solver *s, const spread *atoms, ley_error *error);

/* The potentials as they are stored, for another device's solver that is ready for the same
 * hierarchy: so many bytes, from the first of solver_potentials() on. And in place of loading and
 * running it: a buffer of as many bytes, to be written. */
size_t solver_lent_bytes(const solver *s);
ley_status solver_borrow(solver *s, ley_error *error);

void solver_end(solver *s);

/* For transfer_map_create() and transfer_interpolate(): once it is loaded. */
const transfer_meshes *solver_meshes(const solver *s);
const coordinate_table *solver_array(const solver *s);
buffer_of_float solver_potentials(const solver *s);
arena *solver_room(solver *s);
transfer_atoms *solver_atoms(solver *s);

#endif
