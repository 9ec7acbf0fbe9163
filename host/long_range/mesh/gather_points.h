/* What meshes bring to the points of a list, on one device: interpolation of the finest one's
 * potentials, and their gradient, at points anywhere. */
#ifndef LEY_LONG_RANGE_MESH_GATHER_POINTS_H
#define LEY_LONG_RANGE_MESH_GATHER_POINTS_H

#include "long_range/mesh/transfer.h"

/* Points on their way through the kernel, and back. A fresh one is zero. */
typedef struct gather_run {
    int64_t count, capacity; /* points, and how many there are buffers for */
    buffer_of_int4 cells;
    buffer_of_float4 fractions;
    results phi;
} gather_run;

typedef struct gather_points {
    const dev_kernel *kernel;
    const hierarchy *hierarchy;
    bool field;
    double unit_s; /* how long a multiply-add is predicted to take */
    arena *memory;
    buffer_of_int places; /* of the finest mesh, whose potentials are these */
    coordinates_of mesh;
    buffer_of_float window, potentials;
} gather_points;

/* How long so many points of a list are predicted to take; and bytes that a point takes on its
 * way. */
double gather_points_seconds(const transfer_kernels *kernels, const hierarchy *h, double points);
double gather_points_bytes(bool field);

/* Of kernels that are made for a list, and of potentials that are stored as `array` says. Memory is
 * of this arena, with which it ends. Errors: those of transfer_map_create(). */
ley_status gather_points_create(gather_points *f, const transfer_kernels *kernels, const hierarchy *h,
                                const coordinate_table *array, buffer_of_float potentials, arena *memory,
                                ley_error *error);

/* Within a sequence of operations: at the points whose numbers are given. */
ley_status gather_points_run(gather_points *f, gather_run *run, command_sequence *w, int64_t count,
                             const int32_t *number, const double *point_A, ley_error *error);

/* When the sequence has ended: adds `factor` times the potentials to the points' values, and less
 * that times the gradient to their field, [n][3]. Errors: LEY_ERROR_WRONG_RESULT, a number is not
 * finite. */
ley_status gather_points_add(const gather_points *f, const gather_run *run, double factor, const int32_t *number,
                             double *values, double *field, ley_error *error);

#endif
