/* The reciprocal part of Ewald's sum, on a mesh (smooth particle mesh Ewald: U. Essmann et al., J.
 * Chem. Phys. 103, 8577 (1995)): charges by host/average's spreading, transforms there and back,
 * potentials and fields at particles by cl/mesh_gather.cl. */
#ifndef LEY_ENERGY_RECIPROCAL_H
#define LEY_ENERGY_RECIPROCAL_H

#include "average/mesh.h"
#include "energy/module.h"
#include "kernel_kind.h"

typedef struct mesh_gather_spec {
    LEY_MESH_GATHER_KEYS(KERNEL_KEY_FIELD)
} mesh_gather_spec;

extern const kernel_kind mesh_points_kind, mesh_gather_kind;
KERNEL_ARGUMENTS_STRUCT(mesh_points, LEY_MESH_POINTS_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(mesh_gather, LEY_MESH_GATHER_ARGUMENTS);

/* alpha, of a cutoff and a tolerance: what is left out beyond the cutoff is less than half of the
 * error that is allowed, in the root mean square (J. Kolafa and J. W. Perram, Mol. Simul. 9, 351
 * (1992), with the density of water's atoms and charges). */
double reciprocal_alpha(const ley_energy_options *options);

/* The relative error of forces that a mesh is expected to make, its nodes at most h_A apart, with
 * B-splines of an order. */
double reciprocal_error(int order, double alpha_per_A, double h_A);

/* The mesh that is expected to be the fastest of those whose error is small enough; its expected
 * error is that of forces. Errors: LEY_ERROR_INPUT for a cell that is too large. */
ley_status reciprocal_mesh(const ley_energy_options *options, const double cell_A[9], size_t particles, bool on_card,
                           average_mesh *made, ley_error *error);

/* For options with Ewald's sum; it adds to Coulomb energies and forces. */
extern const energy_module energy_reciprocal;

#endif
