/* What separable.cl reads of a grid: Gaussians times powers along each axis. */
#ifndef LEY_WAVEFUNCTION_TABLES_H
#define LEY_WAVEFUNCTION_TABLES_H

#include "methods/wavefunction/expansion.h"

/* Points along the axes, and of tiles; tables have room for whole tiles. */
typedef struct tables_shape {
    int64_t n[3];
    double origin[3], step[3]; /* bohr */
    int tile_x, tile_y;        /* of which the largest magnitudes are kept */
    int64_t padded_x, padded_y;
    const double *reach2; /* [gaussians]: of each; NULL: all planes */
    int plane_shift;      /* planes are counted in so many halves where they are many */
    int derivatives;      /* tables of the function and of so many derivatives, 0 to 2 */
} tables_shape;

typedef struct tables {
    tables_shape shape;
    int32_t rows;
    size_t x_count, y_count, z_count, x_most_count, y_most_count; /* of each derivative */
    float *x, *y;                                                 /* [derivatives + 1][rows][padded] */
    float *z;                                                     /* [derivatives + 1][n_z][rows] */
    float *x_most, *y_most;                                       /* [derivatives + 1][tiles][rows] */
    int32_t *terms;                                               /* [rows][4] */
} tables;

/* Bytes of all. */
double tables_bytes(const expansion *e, const tables_shape *shape);

/* On all cores. Errors: LEY_ERROR_MEMORY. */
ley_status tables_create(const expansion *e, const tables_shape *shape, tables *made, ley_error *error);
void tables_destroy(tables *t);

/* Which planes terms reach, by the square of each Gaussian's reach; NULL: all. */
void tables_set_reach(const expansion *e, const double *reach2, tables *t);

#endif
