/* The options and charges of an average. */
#ifndef LEY_AVERAGE_PROBLEM_H
#define LEY_AVERAGE_PROBLEM_H

#include "average/state.h"

/* Copies and checks. Errors: those of ley_average_create(); problem_destroy() ends it also then. */
ley_status problem_make(average_problem *p, const ley_atoms *atoms, const ley_average_options *options,
                        ley_error *error);
void problem_destroy(average_problem *p);

/* Frames between two readings of the sums of their potentials. */
enum { PROBLEM_FRAMES_OF_SUMS = 256 };

/* The first frame's cell, and how strong its potential is (signal.h), fix the map's points and the
 * mesh. */
ley_status problem_fix(average_problem *p, const double cell_A[9], double signal, ley_error *error);

/* The error that the mesh is expected to make in a cell. */
double problem_mesh_error(const average_problem *p, const double cell_A[9]);

#endif
