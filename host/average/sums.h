/* The sums of an average, to which devices add. */
#ifndef LEY_AVERAGE_SUMS_H
#define LEY_AVERAGE_SUMS_H

#include "average/state.h"

/* The block that a frame is of, and the first frame behind it; 0, and none, without blocks. */
int64_t sums_block(const average_problem *p, int64_t frame);
int64_t sums_block_end(const average_problem *p, int64_t frame);

/* Adds what was made of some frames; those that do not count for good become what is extra. A block
 * that is full is done with. After a failure the sums are what they were: the frames may be done
 * once more. */
ley_status sums_add(ley_average *a, const part_sums *part, ley_error *error);

/* Of all frames, those that are extra among them: value[nodes or points] in e, e / A, or the square
 * of that, of *frames frames together. */
typedef enum sums_kind { SUMS_CHARGE, SUMS_PHI, SUMS_SQUARE } sums_kind;
ley_status sums_values(ley_average *a, sums_kind kind, double *value, int64_t *frames, ley_error *error);

size_t sums_nodes(const average_problem *p);
size_t sums_points(const average_problem *p);

/* Charges in the planes of the mesh across each axis: planes[n[0] + n[1] + n[2]]. */
void sums_planes(const average_mesh *mesh, const double *charge_e, double *planes);
size_t sums_plane_count(const average_mesh *mesh);

/* Sums of frames without any, for this problem; ends them. */
ley_status sums_begin(const average_problem *p, frame_sums *s, ley_error *error);
void sums_end(frame_sums *s);

/* Room for so many blocks that are full. Blocks that are not: a new one, without frames; the one of
 * a number, which may be new; one that becomes one of those that are full, if it is; one that does
 * not count any more. */
ley_status sums_reserve_blocks(const average_problem *p, all_blocks *all, int64_t count, ley_error *error);
ley_status sums_open_block(ley_average *a, int64_t number, block_sums **made, ley_error *error);
ley_status sums_find_open(ley_average *a, int64_t number, block_sums **found, ley_error *error);
ley_status sums_end_block(ley_average *a, block_sums *b, ley_error *error);
void sums_drop_block(ley_average *a, block_sums *b);

/* One more frame's cell. */
void sums_widen_cell(ley_average *a, const double cell_A[9]);

/* *sum + *rest is the sum with twice a double's digits, in whatever order. */
void sums_add_exactly(double *sum, double *rest, double more);

void sums_destroy(ley_average *a);

#endif
