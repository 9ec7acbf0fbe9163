/* Where an atom is on the mesh, in a frame's own cell: from a position in A to nodes,
 *
 *     s_i = sum over d of along[i][d] x_d + first[i],    first[i] = -n_i origin_i,
 *
 * so that node 0 is the first point of the map. */
#ifndef LEY_AVERAGE_PLACE_H
#define LEY_AVERAGE_PLACE_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct frame_place {
    double along[3][3], first[3];
} frame_place;

/* False: the cell is not finite or spans no volume. `cell_A`: vectors a, b, c. */
bool place_make(const double cell_A[9], const int64_t n[3], const double origin[3], frame_place *made);

/* The same as kernels have it, [2][3][4]: see cl/density_spread.cl. */
enum { PLACE_FLOATS = 24 };
void place_floats(const frame_place *p, float made[PLACE_FLOATS]);

/* Of a cell that spans a volume: reciprocal[i] . cell[j] is 1 where i = j, else 0; the volume. */
double place_reciprocal(const double cell_A[9], double reciprocal[3][3]);

/* The shortest wave vector of a cell, 1 / A; and how far those reach that count beside it: a
 * Gaussian that is wide beside the cell leaves little of all, and most of the first ones. */
double place_least_wave(const double cell_A[9]);
double place_most_wave(double least_k, double widths);

#endif
