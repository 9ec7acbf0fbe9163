/* Fourier transforms of real meshes in the host's memory by FFTW, on all cores, in two passes, so
 * that parts of a mesh can be in different places between them:
 *
 *   plane  of one z: its rows along x, then its columns along y
 *   block  of one y and some k_x: its columns along z
 *
 * There it is planes, then blocks; back it is blocks, then planes. Rows without values, and those of
 * which nobody wants the result, are left out, and each block is in a core's cache while it is
 * transformed. The same sizes give the same digits, wherever a plane or a row is transformed. */
#ifndef LEY_FFTW_MESH_H
#define LEY_FFTW_MESH_H

#include "fftw_api.h"
#include "leyden_status.h"

#include <stdbool.h>

typedef struct fftw_mesh fftw_mesh;

/* Of n nodes, of which the first `filled` have values, and are wanted back. Errors:
 * LEY_ERROR_NO_DEVICE, LEY_ERROR_MEMORY, LEY_ERROR_DEVICE: FFTW has no plan. One transform at a
 * time. */
ley_status fftw_mesh_create(const size_t n[3], const size_t filled[3], fftw_mesh **made, ley_error *error);
void fftw_mesh_destroy(fftw_mesh *m);

/* Complex values of a row of the spectrum: n[0] / 2 + 1. */
size_t fftw_mesh_half(const fftw_mesh *m);

/* Planes there or back: of the mesh, rows of so many floats, and so many rows in a plane; and of the
 * spectrum [count][n[1]][half]. Both may be the same memory. */
typedef struct fftw_planes {
    float *mesh;
    size_t pitch, rows, count;
    fftw_complex *spectrum;
    const size_t *order; /* [n[1]] where a row is in a plane of the spectrum; NULL: where it always is */
} fftw_planes;
void fftw_mesh_planes(const fftw_mesh *m, bool forward, const fftw_planes *planes);

/* Columns of [n[2]][rows][half], there or back. */
void fftw_mesh_columns(const fftw_mesh *m, bool forward, fftw_complex *spectrum, size_t rows);

/* Columns of [filled[2]][rows][half] there, times a function, and back: `times` changes column
 * `first` and so many behind it of a row, [n[2]] of them, `pitch` values apart. From any thread. */
typedef struct fftw_product {
    void (*times)(const void *context, size_t row, size_t first, size_t columns, fftw_complex *values, size_t pitch);
    const void *context;
} fftw_product;
void fftw_mesh_columns_times(const fftw_mesh *m, const fftw_product *product, fftw_complex *spectrum, size_t rows);

#endif
