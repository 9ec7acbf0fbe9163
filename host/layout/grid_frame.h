/* A grid in a frame of axes of its own, and atoms there. Distances are the same in every frame, so
 * that sums over pairs may be computed in one in which the grid's steps are a triangular matrix. A
 * grid whose steps are perpendicular to each other is orthogonal there, however it lies in space,
 * whatever the order and the handedness of its steps. */
#ifndef LEY_LAYOUT_GRID_FRAME_H
#define LEY_LAYOUT_GRID_FRAME_H

#include "leyden.h"

/* Which numbers of the steps are 0. */
typedef enum grid_frame_order {
    GRID_FRAME_ROWS_ALONG_X,   /* steps (x, 0, 0), (x, y, 0), (x, y, z): z is the same in a plane, y in a row */
    GRID_FRAME_COLUMNS_ALONG_Z /* steps (x, y, z), (0, y, z), (0, 0, z): x and y are the same in a column */
} grid_frame_order;

typedef struct grid_frame {
    bool is_turned;                 /* false: the frame is the world's, as of any orthogonal grid */
    double origin_A[3], axis[3][3]; /* the frame's, in the world; the axes are unit vectors */
    ley_grid grid;                  /* in the frame: where it is turned, from the frame's origin on */
} grid_frame;

/* The grid must have passed its check. */
void grid_frame_make(const ley_grid *grid, grid_frame_order order, grid_frame *frame);

/* A vector of the world in the frame. */
void grid_frame_vector(const grid_frame *frame, const double world[3], double own[3]);

/* Vectors of the frame in the world, x, y and z of each in an array: such as a field. */
void grid_frame_turn_back(const grid_frame *frame, size_t count, float *const vector[3]);

/* The atoms in a frame that is turned: copies, to be destroyed by the caller. Errors: those of
 * ley_atoms_create(). */
ley_status grid_frame_atoms(const grid_frame *frame, const ley_atoms *atoms, ley_atoms **turned, ley_error *error);

/* The same for atoms that have moved since: the copies follow them. */
ley_status grid_frame_move(const grid_frame *frame, const ley_atoms *atoms, ley_atoms *turned, ley_error *error);

/* The smallest box around n[0] x n[1] x n[2] points with the grid's steps, from the first of
 * them. */
void grid_frame_bounds_A(const ley_grid *grid, const int64_t n[3], double low_A[3], double high_A[3]);

#endif
