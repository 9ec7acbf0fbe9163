/* What a surface is made of. */
#ifndef LEY_SURFACE_TRIANGLES_H
#define LEY_SURFACE_TRIANGLES_H

#include "leyden.h"

struct ley_surface {
    int64_t vertices, triangles;
    double *vertex_A;  /* [vertices][3] */
    float *normal;     /* [vertices][3] */
    int32_t *triangle; /* [triangles][3] */
    float *value;      /* [vertices] */
    char units[32];
    double area_A2, volume_A3, off_A;
    bool is_open;           /* it ends where a map ends */
    size_t missing;         /* atoms */
    double least_missing_A; /* radius */
    size_t levels;
    ley_surface_level *level; /* [levels]; NULL: of a molecule */
};

#endif
