/* Maps computed region by region, each contiguous in memory: the way back to rows, and there again.
 * Device-free, shared by every back end. */
#ifndef LEY_TRANSPOSE_H
#define LEY_TRANSPOSE_H

#include "layout/padding.h"

/* A slab of z-planes in regions of region[0] x region[1] x region[2] points: x fastest within a
 * region, and regions in the order of x, y, z. The regions at the upper ends are padded. */
typedef struct tiled_slab {
    int64_t n[3]; /* points of the grid along x and y; planes of the slab */
    int64_t region[3];
    padded_store store;
} tiled_slab;

/* Points with padding, and bytes; false when they overflow 63 bits or an extent is below 1. */
bool tiled_points(const tiled_slab *slab, int64_t *points);
bool tiled_bytes(const tiled_slab *slab, int64_t *bytes);

/* Copies the grid's own points to `map`, float[planes][n_y][n_x], on all cores. Whether all are
 * finite. The slab's sizes must be right by tiled_bytes(). */
bool transpose_to_rows(const tiled_slab *slab, const void *tiled, float *map);

/* The way there; padding becomes `padding`. Compensations become 0. */
void transpose_to_regions(const tiled_slab *slab, const float *map, float padding, void *tiled);

#endif
