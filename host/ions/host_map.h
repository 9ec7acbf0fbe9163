/* The map that the host searches, in floats as devices do. */
#ifndef LEY_IONS_HOST_MAP_H
#define LEY_IONS_HOST_MAP_H

#include "ions/bricks.h"

/* The host's map. It changes `bricks`, which stay the caller's. */
typedef struct host_map {
    ions_map map;
    float *bricks;
} host_map;
void host_map_make(const ions_grid *g, float *bricks, const float *table, host_map *made);

#endif
