/* The map that the host searches, in floats as devices do. */
#ifndef LEY_IONS_HOST_MAP_H
#define LEY_IONS_HOST_MAP_H

#include "ions/bricks.h"

/* The host's map. It changes `bricks`, which stay the caller's. `table`: of a periodic cell, what a
 * unit effect adds at a node that is so far from it. */
typedef struct host_map {
    ions_map map;
    float *bricks;
    const float *table;
} host_map;
void host_map_make(const ions_grid *g, float *bricks, const float *table, host_map *made);

#endif
