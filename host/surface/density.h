/* The density of atoms' radii on a grid, of which the surface of a molecule is a level. */
#ifndef LEY_SURFACE_DENSITY_H
#define LEY_SURFACE_DENSITY_H

#include "leyden.h"

/* Less than this of an atom counts as nothing. */
#define DENSITY_LEAST 1e-6

/* How far from an atom of radius 1 its density is that much. */
double density_reach(double sharpness);

/* Fills the map, whose steps are along x, y and z, with sum_j exp(a (1 - |r - r_j|^2 / R_j^2)), on
 * all cores; the bytes do not depend on how many these are. It ends soon after *cancel, which may
 * be NULL, becomes true. Errors: LEY_ERROR_MEMORY, LEY_CANCELLED. */
ley_status density_fill(ley_map *map, const ley_atoms *atoms, double sharpness, const volatile bool *cancel,
                        ley_error *error);

/* What an atom takes of memory in the following, if it is near. */
#define DENSITY_NEAR_BYTES (4 * sizeof(double))

/* How far a place is from where the density is 1, along x, y or z, whichever is nearest: from all
 * atoms, in double precision. INFINITY: farther than `most_A`; not-a-number: there is no memory. */
double density_distance_A(const ley_atoms *atoms, double sharpness, const double place_A[3], double most_A);

#endif
