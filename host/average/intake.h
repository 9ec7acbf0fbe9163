/* Frames as callers give them: looked at, and copied to chunks. */
#ifndef LEY_AVERAGE_INTAKE_H
#define LEY_AVERAGE_INTAKE_H

#include "average/state.h"

/* Whether these frames can be added: LEY_ERROR_INPUT with the frame's number and what is wrong with
 * it. And where charges are, for the check of the mean: structure[frames][2], the frames' structure
 * factors in their own cells, in e; or NULL. */
ley_status intake_check(const ley_average *a, size_t frames, const float *position_A, const double *cell_A,
                        double (*structure)[2], ley_error *error);

/* The same of one cell alone, of cell_A[.][9]. */
ley_status intake_check_cell(const ley_average *a, size_t frame, const double *cell_A, ley_error *error);

/* Appends a frame to a chunk that has room; `structure`: NULL, nobody knows. */
void intake_copy(const ley_average *a, chunk *c, const float *position_A, const double *cell_A,
                 const double structure[2]);

#endif
