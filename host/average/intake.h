/* Frames as callers give them: looked at, and copied to chunks. */
#ifndef LEY_AVERAGE_INTAKE_H
#define LEY_AVERAGE_INTAKE_H

#include "average/state.h"

/* Whether these frames can be added: LEY_ERROR_INPUT with the frame's number and what is wrong with
 * its positions, or its cell. */
ley_status intake_check(const ley_average *a, size_t frames, const float *position_A, ley_error *error);
ley_status intake_check_cells(const ley_average *a, size_t frames, const double *cell_A, ley_error *error);

/* Appends frames to a chunk that has room for them. Unless they are checked, positions are looked
 * at on the way: the chunk is as it was where one is no good. */
ley_status intake_append(const ley_average *a, chunk *c, size_t frames, const float *position_A, const double *cell_A,
                         bool is_checked, ley_error *error);

/* Sums the structure factors of the frames of the chunk that is being filled which have none yet,
 * in their own cells and e, for the check of the mean; where frames are verified. */
ley_status intake_structures(ley_average *a, ley_error *error);

/* Adds sum q cos and -sum q sin of 2 pi turns, turns being wave[0] x + wave[1] y + wave[2] z + wave[3],
 * each term to 1e-7. */
void intake_add_turns(const float *position_A, const double *charge_e, const double wave[4], size_t count,
                      double sum[2]);

#endif
