/* Grids padded to whole tiles: how large they are, and the way back. Device-free, shared by
 * every back end. */
#ifndef LEY_PADDING_H
#define LEY_PADDING_H

#include "leyden.h"

#include <string.h>

/* How a device stores a potential. */
typedef enum padded_store {
    PADDED_FLOAT,       /* float */
    PADDED_COMPENSATED, /* float sums, and behind all of them their compensations c: the value is sum - c */
    PADDED_DOUBLE       /* double */
} padded_store;

/* A slab of z-planes, each padded along x and y. */
typedef struct padded_slab {
    int64_t n_x, n_y;           /* points of the grid */
    int64_t padded_x, padded_y; /* points in memory */
    int64_t planes;
    padded_store store;
    int components, component; /* of each point so many, one after the other's planes (0: one); and which of them is
                                  cropped, from 0 */
} padded_slab;

/* Bytes of the slab, all components; false when they overflow 63 bits. */
bool padding_bytes(const padded_slab *slab, int64_t *bytes);

/* Copies the grid's own points to `map`, float[planes][n_y][n_x]; much, on all cores. Whether
 * all are finite. */
bool padding_crop(const padded_slab *slab, const void *padded, float *map);

/* Threads that do so, where the map gets so many points. */
int padding_crop_threads(size_t points);

/* A row's way into the map: copies n floats. Returns a number whose highest bit is set when one of
 * them is not finite: the exponent's bits are all set then, and adding one to them carries. */
static inline uint32_t padding_copy(float *to, const float *from, size_t n)
{
    uint32_t marks = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &from[i], sizeof bits);
        marks |= (bits & 0x7fffffff) + 0x00800000;
        to[i] = from[i];
    }
    return marks;
}

static inline bool padding_is_finite(uint32_t marks)
{
    return marks >> 31 == 0;
}

#endif
