/* Verification of frames: what a device spread of one, against the formula, at some nodes of the
 * mesh, in double precision on the host's threads. */
#ifndef LEY_AVERAGE_VERIFY_H
#define LEY_AVERAGE_VERIFY_H

#include "average/state.h"

/* Whether a frame, counted from 0, is to be verified: the first one; one of so many, as long as
 * that takes no more than a twentieth of the time; and those whose own cell is too large for the
 * mesh to be fine enough without a doubt. */
bool verify_wants(ley_average *a, int64_t frame, const double cell_A[9]);

/* A frame's density, [nodes] of the mesh. Notes what was found. Errors:
 * LEY_ERROR_WRONG_RESULT, which names the frame, where it is off by more than the tolerance. */
ley_status verify_density(ley_average *a, int64_t frame, const frame_place *place, const float *position_A,
                          const int64_t *quanta, ley_error *error);

/* Judges the mesh by the first frame, before any device has it, ranks together. Errors:
 * LEY_ERROR_WRONG_RESULT: it is too coarse. */
ley_status verify_mesh(ley_average *a, const frame_place *place, const float *position_A, ley_error *error);

/* The same of a frame's potential at the map's points, float[points] in e / A, in its own cell. */
ley_status verify_potential(ley_average *a, int64_t frame, const frame_place *place, const double cell_A[9],
                            const float *position_A, const float *value, ley_error *error);

#endif
