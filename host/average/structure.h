/* The structure factor of charges on the mesh, of one long wave: that of the charges themselves,
 * which intake.c sums for every frame, but for what the mesh is off by. So each sum of frames is
 * known to have all of them, once each. */
#ifndef LEY_AVERAGE_STRUCTURE_H
#define LEY_AVERAGE_STRUCTURE_H

#include "average/state.h"

/* Multiples of the reciprocal vectors. */
enum { STRUCTURE_X = 1, STRUCTURE_Y = 1, STRUCTURE_Z = 1 };

/* In e, of charges in e; of integers in quanta of 2^-exponent e. */
void structure_of_charges(const average_mesh *mesh, const double *charge_e, double structure[2]);
void structure_of_quanta(const average_mesh *mesh, const int64_t *quanta, int exponent, double structure[2]);

/* The same wave of potentials at the map's points, in e / A; and what a unit of a structure factor
 * makes of it, in a cell. */
void structure_of_potentials(const average_problem *p, const int64_t *phi, double structure[2]);
double structure_response(const average_problem *p, const double cell_A[9]);

/* Whether one of `frames` frames together, whose own ones come to `right` and their squares to
 * `square`, is off by no more than the mesh may be: `responses` is what a unit of each frame's
 * factor makes of it, all together; *error, as a share of sqrt(square). */
bool structure_is_right(const average_problem *p, const double structure[2], const double right[2], double square,
                        double responses, double *error);

#endif
