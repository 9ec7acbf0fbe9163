/* Layers of a level's nodes between a device's buffer, whichever way it stores them, and rows on
 * the host: float[planes][n_y][n_x], of whole layers of tiles, SPREAD_EDGE planes each. */
#ifndef LEY_LONG_RANGE_MESH_MESH_ROWS_H
#define LEY_LONG_RANGE_MESH_MESH_ROWS_H

#include "engine/command_sequence.h"
#include "kernel_kind.h"
#include "long_range/mesh/coordinates.h"
#include "long_range/mesh/spread.h"

/* Numbers in a layer's rows. */
size_t mesh_rows_numbers(const coordinate_table *array);

/* Writes all layers. */
void mesh_rows_write(command_sequence *w, const coordinate_table *array, const float *rows, buffer_of_float to);

/* Reads layers that `make` sets, within a sequence of the flight's: what it leaves out is no
 * number. */
ley_status mesh_rows_read(flight *f, const coordinate_table *array, spread_layers layers, buffer_of_float from,
                          void (*make)(const void *context, command_sequence *w, spread_layers layers),
                          const void *context, float *rows, ley_error *error);

#endif
