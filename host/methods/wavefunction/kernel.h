/* The kernel of separable sums, or of a density by its matrix, on one device: chosen, built and
 * tested, with what it reads in place. */
#ifndef LEY_WAVEFUNCTION_KERNEL_H
#define LEY_WAVEFUNCTION_KERNEL_H

#include "arguments.h"
#include "calibrate.h"
#include "dev_kernel.h"
#include "engine/command_sequence.h"
#include "layout/padding.h"
#include "methods/wavefunction/density_matrix.h"
#include "methods/wavefunction/tables.h"

/* The specification of separable.cl, one field a key of LEY_SEPARABLE_KEYS. */
typedef struct separable_spec {
#define SEPARABLE_FIELD(key, field) int field;
    LEY_SEPARABLE_KEYS(SEPARABLE_FIELD)
#undef SEPARABLE_FIELD
} separable_spec;

/* By the density matrix: tiles are the blocks of density_matrix.cl, and the kernel is of that
 * kind. */
typedef struct separable_choice {
    const char *variant;
    separable_spec spec;
    bool is_by_matrix;
    density_matrix_spec matrix;
} separable_choice;

KERNEL_ARGUMENTS_STRUCT(separable, LEY_SEPARABLE_ARGUMENTS);
extern const kernel_kind separable_kind;

/* Points that a group's tile has along x and y, and those whose bounds are kept together. */
int separable_tile_x(const separable_spec *spec);
int separable_tile_y(const separable_spec *spec);

/* A launch over a slab: `orbitals` of them from one on, and what becomes of their values
 * (cl/separable.cl). */
typedef struct separable_pass {
    int32_t orbital, orbitals;
    int32_t places[4];
} separable_pass;

/* Tables of an orbital that a pass takes: of itself, its derivatives, its second ones. */
static inline int separable_sets(const separable_pass *pass)
{
    return pass->places[3] >= 0 ? 7 : pass->places[2] >= 0 ? 4 : 1;
}

/* What is to be computed where. All of it must outlive the kernel's use. */
typedef struct separable_problem {
    const expansion *e;
    ley_grid grid; /* orthogonal */
    int derivatives;
    const float *coefficients; /* [orbitals][e->coefficients] */
    const int64_t *numbers;    /* [orbitals]: in the wavefunction */
    int32_t orbitals;
    const double *thresholds; /* [orbitals]: terms that are below count for nothing; NULL: none */
    const double *weights;    /* [orbitals]: of their squares in a density; NULL: there is none */
    const separable_pass *passes;
    size_t pass_count;
    bool adds;  /* passes add to values, which are 0 before */
    int values; /* components of a slab */
} separable_problem;

/* What a kernel is wanted for: a basis with angular momenta below `powers`, so many derivatives, 0
 * to 2, and so many orbitals at once. `variant` NULL: by the device's class. */
typedef struct separable_wish {
    const char *variant;
    int powers, derivatives, math;
    int32_t orbitals;
    int64_t functions; /* Cartesian ones of a density that its matrix can make; else 0 */
} separable_wish;

typedef struct separable_kernel {
    dev *device;
    calibration facts;
    separable_choice choice;
    dev_kernel kernel;
    separable_problem problem;
    tables_shape shape;
    tables tables;
    density_matrix matrix;
    arena arena;
    flight flight;
    float *weights; /* [orbitals][2] */
    dev_buffer *terms, *x, *y, *z, *x_most, *y_most, *coefficients, *gm_weights;
} separable_kernel;

void separable_kernel_destroy(separable_kernel *kernel);

/* How a slab of one plane lies in memory, and how long it is predicted to take. */
padded_slab separable_layout(const separable_kernel *kernel, const separable_problem *problem);
double separable_plane_s(const separable_kernel *kernel, const separable_problem *problem);

/* Bytes that the problem takes on the device beside slabs. */
double separable_bytes(const separable_kernel *kernel, const separable_problem *problem);

/* Puts tables and coefficients there. The kernel's arena is set. */
ley_status separable_kernel_load(separable_kernel *kernel, const separable_problem *problem, ley_error *error);

/* The problem's coefficients, thresholds and passes are other ones now. */
ley_status separable_kernel_renew(separable_kernel *kernel, ley_error *error);

/* A multiply-add for each point of a plane and term that is not left out there, or pair of
 * functions that are not, of a loaded kernel. */
double separable_multiply_adds(const separable_kernel *kernel, int64_t plane);

/* A slab's way through the kernel. */
typedef struct separable_run {
    separable_kernel *kernel;
    int64_t first, planes;
    results values;
    command_sequence command_sequence;
} separable_run;

ley_status separable_run_create(separable_run *run, separable_kernel *kernel, int64_t planes, ley_error *error);
void separable_run_destroy(separable_run *run);
ley_status separable_run_begin(separable_run *run, int64_t first, int64_t planes, const atomic_bool *cancelled,
                               ley_error *error);

/* Waits, and stores the planes of each value: float[planes][n_y][n_x]. */
ley_status separable_run_finish(separable_run *run, float *const *planes, ley_error *error);

#endif
