/* Lattices padded to whole tiles: how large they are, and the way back. Device-free, shared by every back end. */
#ifndef LEY_PADDING_H
#define LEY_PADDING_H

#include "leyden.h"

/* How a device stores a potential. */
typedef enum padded_store {
    PADDED_FLOAT,       /* float */
    PADDED_COMPENSATED, /* float sums, and behind all of them their compensations c: the value is sum - c */
    PADDED_DOUBLE       /* double */
} padded_store;

/* A slab of z-planes, each padded along x and y. */
typedef struct padded_slab {
    int64_t n_x, n_y;           /* points of the lattice */
    int64_t padded_x, padded_y; /* points in memory */
    int64_t planes;
    padded_store store;
} padded_slab;

/* Bytes of the slab; false when they overflow 63 bits. */
bool padding_bytes(const padded_slab *slab, int64_t *bytes);

/* Copies the lattice's own points to `map`, float[planes][n_y][n_x]; much, on all cores. */
void padding_crop(const padded_slab *slab, const void *padded, float *map);

#endif
