/* Long-range sums on meshes in plain double precision: the judge of what devices do. Every step
 * is a function of its own, written from its formula: multilevel summation (Hardy, Stone, Schulten
 * 2009, equations 12 to 17), or one mesh and its transform. Values are those of unit charges, in
 * e/A: without Coulomb's constant and permittivity.
 *
 * Meshes are double[n[2]][n[1]][n[0]] of a level's nodes (numerics/hierarchy.h). */
#ifndef LEY_LAW_LONG_RANGE_H
#define LEY_LAW_LONG_RANGE_H

#include "leyden_status.h"
#include "numerics/hierarchy.h"

#include <stddef.h>

/* Equation 12: adds charges to the nodes of the finest level, each by its window's weights. */
void long_range_anterpolate(const hierarchy *h, size_t n, const double *position_A, const double *charge_e,
                            double *charge);

/* Equation 13: sets the nodes of level `fine` + 1. */
void long_range_restrict(const hierarchy *h, int fine, const double *fine_charge, double *coarse_charge);

/* Equation 14: sets the potential at the nodes of a level but the top one: the sum over all nodes,
 * and their images, within the level's lattice cutoff. Errors: LEY_ERROR_MEMORY. */
ley_status long_range_cutoff(const hierarchy *h, int level, const double *charge, double *potential, ley_error *error);

/* Equation 15: sets the potential at the nodes of the top level: the sum over all nodes, and all of
 * their images, without the hierarchy's mean. Errors: LEY_ERROR_MEMORY, those of
 * lattice_sum_create(). */
ley_status long_range_top(const hierarchy *h, const double *charge, double *potential, ley_error *error);

/* Equation 16: adds what the nodes of level `fine` + 1 bring to those of level `fine`. */
void long_range_prolongate(const hierarchy *h, int fine, const double *coarse, double *fine_potential);

/* Equation 17: the value at a point. */
double long_range_interpolate(const hierarchy *h, const double *potential, const double point_A[3]);

/* In place of 13 to 16: the mesh's transform, times the influence function, transformed back.
 * Errors: LEY_ERROR_MEMORY. */
ley_status long_range_transform(const hierarchy *h, const double *charge, double *potential, ley_error *error);

/* 13 to 16 or the transform, as the hierarchy's solver says: from charges to potentials at the
 * nodes of the finest level. */
ley_status long_range_solve(const hierarchy *h, const double *charge, double *potential, ley_error *error);

/* Equation 11: the short-range part at a point, of all images within the cutoff; distances below
 * r_min count as r_min, but in gamma, of which the far part has as much. */
double long_range_short(const hierarchy *h, size_t n, const double *position_A, const double *charge_e, double r_min_A,
                        const double point_A[3]);

/* All of it: far[i] + near[i] is the potential at point i; either may be NULL. Errors: those of
 * hierarchy_check_charge(), LEY_ERROR_MEMORY. */
ley_status long_range_potential(const hierarchy *h, size_t n, const double *position_A, const double *charge_e,
                                double r_min_A, size_t points, const double *point_A, double *far, double *near,
                                ley_error *error);

#endif
