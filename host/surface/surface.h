/* What a surface is made of. */
#ifndef LEY_SURFACE_SURFACE_H
#define LEY_SURFACE_SURFACE_H

#include "leyden.h"

struct ley_surface {
    int64_t vertices, triangles;
    double *vertex_A;  /* [vertices][3] */
    float *normal;     /* [vertices][3] */
    int32_t *triangle; /* [triangles][3] */
    float *value;      /* [vertices] */
    char units[32];
    double area_A2, volume_A3;
    bool is_closed;
};

/* Whether each side of a triangle is that of another one, in the other direction; false also where
 * there is no memory to find out. Then area and volume. */
void surface_measure(ley_surface *surface);

extern const ley_parameter_table surface_parameters;

#endif
