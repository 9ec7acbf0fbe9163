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
    bool is_open; /* it ends where a map ends */
};

/* Area and volume, of a surface with triangles. Errors: LEY_ERROR_MEMORY. */
ley_status surface_measure(ley_surface *surface, ley_error *error);

extern const ley_parameter_table surface_parameters;

#endif
