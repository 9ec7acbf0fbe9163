/* A frame's charges onto the mesh, in plain C and double precision: what kernels are held against,
 * and what takes frames that no device is left for. */
#ifndef LEY_AVERAGE_HOST_SPREAD_H
#define LEY_AVERAGE_HOST_SPREAD_H

#include "average/mesh.h"
#include "average/place.h"

#include <stddef.h>

/* Adds to density[n_z][n_y][n_x] integers of charge[atoms] times their weights; on all cores. */
void host_spread_frame(const average_mesh *mesh, const frame_place *place, size_t atoms, const float *position_A,
                       const double *charge, int64_t *density);

#endif
