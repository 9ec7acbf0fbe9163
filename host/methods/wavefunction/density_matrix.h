/* A density and its gradient by the density matrix of all its orbitals together, on one device:
 * what density_matrix.cl reads. */
#ifndef LEY_WAVEFUNCTION_DENSITY_MATRIX_H
#define LEY_WAVEFUNCTION_DENSITY_MATRIX_H

#include "arguments.h"
#include "dev_kernel.h"
#include "memory/arena.h"
#include "methods/wavefunction/expansion.h"
#include "methods/wavefunction/tables.h"

/* The specification of density_matrix.cl, one field a key of LEY_DENSITY_MATRIX_KEYS. */
typedef struct density_matrix_spec {
#define DENSITY_MATRIX_FIELD(key, field) int field;
    LEY_DENSITY_MATRIX_KEYS(DENSITY_MATRIX_FIELD)
#undef DENSITY_MATRIX_FIELD
} density_matrix_spec;

KERNEL_ARGUMENTS_STRUCT(density_matrix, LEY_DENSITY_MATRIX_ARGUMENTS);
extern const kernel_kind density_matrix_kind;

/* The orbitals of a density: their numbers in the wavefunction, weights, and the magnitudes below
 * which terms of each count for nothing; NULL: none is left out. */
typedef struct density_orbitals {
    const ley_wavefunction *wavefunction;
    const int64_t *numbers;
    const double *weights, *thresholds;
    int32_t count;
    bool gradient;
} density_orbitals;

typedef struct density_matrix {
    expansion e; /* contracted */
    int32_t functions, pitch;
    int32_t *shells;   /* [e.count + 1][4] */
    float *centres;    /* [e.count + 1][8] */
    float *primitives; /* [primitives][2] */
    int32_t *codes;    /* [functions + 1] */
    float *matrix;     /* [functions + 1][pitch] */
    float *axes;       /* [padded x + padded y + z][2] */
    size_t points;     /* along the axes */
    dev_buffer *gm_shells, *gm_centres, *gm_primitives, *gm_codes, *gm_matrix, *gm_axes;
} density_matrix;

/* Cartesian functions of a basis. */
int64_t density_matrix_functions(const ley_wavefunction *wavefunction);

/* Bytes on the device. */
double density_matrix_bytes(const ley_wavefunction *wavefunction, const tables_shape *shape);

/* Makes all, and puts it there. Errors: LEY_ERROR_MEMORY. */
ley_status density_matrix_load(const density_orbitals *orbitals, const tables_shape *shape, arena *arena,
                               density_matrix *made, ley_error *error);

/* The orbitals are other ones now: makes what follows from them, not yet on the device. */
ley_status density_matrix_fill(const density_orbitals *orbitals, density_matrix *m, ley_error *error);
void density_matrix_destroy(density_matrix *m);

/* Of blocks of a plane: the square of the functions that reach them, for each of their points. */
double density_matrix_multiply_adds(const density_matrix *m, const tables_shape *shape, int64_t plane);

#endif
