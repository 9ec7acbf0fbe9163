/* Atoms of frames by cells of the grid, as kernels take them (atom_density.cl): the same places in
 * the same order however many threads there are. */
#ifndef LEY_FIT_PLACES_H
#define LEY_FIT_PLACES_H

#include "fit/problem.h"

/* The grid in whole bricks. */
typedef struct fit_bricks {
    int32_t bricks[3], nodes[3]; /* along x, y, z */
    int32_t cells[3];
    size_t brick_count, node_count, cell_count;
} fit_bricks;

/* Bricks that are so many nodes wide along x. Errors: LEY_ERROR_INPUT, of a grid that is too
 * large. */
ley_status fit_bricks_make(const fit_problem *p, int width, fit_bricks *made, ley_error *error);

/* Of `frames` frames: [frames][atoms] {x, y, z, weight}, widths' falls (1/A^2, or NULL), and which
 * atoms of the frame they are; [frames][cells + 1] where cells begin. Atoms that reach no node are
 * left out. Errors: LEY_ERROR_INPUT, with a frame, from 0, in *bad, and the atom;
 * LEY_ERROR_MEMORY. */
typedef struct fit_places {
    float (*atom)[4], *fall;
    int32_t *order, *first;
} fit_places;

ley_status fit_places_make(const fit_problem *p, const fit_bricks *b, int frames, const float *position_A,
                           const fit_places *to, int *bad, ley_error *error);

/* log2(e) / (2 s^2). */
float fit_fall(double sigma_A);

#endif
