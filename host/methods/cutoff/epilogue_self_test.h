/* What the epilogue of a short-range kernel is tested with: a mesh of random potentials, and for
 * each of a map's points random weights of some of its nodes, so that any of these shows. */
#ifndef LEY_CUTOFF_EPILOGUE_SELF_TEST_H
#define LEY_CUTOFF_EPILOGUE_SELF_TEST_H

#include "law/accuracy.h"
#include "methods/cutoff/kernel.h"

/* Periodic along x and z, and with nothing beyond its ends along y. */
typedef struct test_mesh {
    const ley_grid *points; /* the map's */
    int64_t n[3];           /* nodes */
    int window;
    bool by_plane; /* LEY_BY_PLANE */
    size_t place_count, potential_count;
    int32_t *places, *nodes; /* as cl/interpolation.cl reads them */
    int32_t at[4], axes[4];
    float *weights, *potentials;
} test_mesh;

/* As many nodes have a part in a region as the kernel has room for, but for one. Potentials are
 * smaller than `scale`. LEY_ERROR_MEMORY. */
ley_status test_mesh_create(test_mesh *t, const ley_grid *points, int nodes, bool by_plane, double scale,
                            ley_error *error);
void test_mesh_destroy(test_mesh *t);

/* On a device. Errors: those of arena_upload(). */
ley_status test_mesh_upload(const test_mesh *t, arena *memory, cutoff_mesh *made, ley_error *error);

/* Adds what is right at a point of the map to a sum. */
void test_mesh_add(const test_mesh *t, const double point_A[3], reference_value *sum);

#endif
