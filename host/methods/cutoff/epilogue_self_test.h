/* What the epilogue of a short-range kernel is tested with: a lattice of random potentials, and for
 * each of a map's points random weights of some of its nodes, so that any of these shows. */
#ifndef LEY_CUTOFF_EPILOGUE_SELF_TEST_H
#define LEY_CUTOFF_EPILOGUE_SELF_TEST_H

#include "law/accuracy.h"
#include "methods/cutoff/kernel.h"

/* Periodic along x and z, and with nothing beyond its ends along y. */
typedef struct test_lattice {
    const ley_lattice *points; /* the map's */
    int64_t n[3];              /* nodes */
    int window;
    bool by_plane; /* LEY_BY_PLANE */
    size_t place_count, potential_count;
    int32_t *places, *nodes; /* as cl/interpolation.cl reads them */
    int32_t at[4], axes[4];
    float *weights, *potentials;
} test_lattice;

/* As many nodes have a part in a region as the kernel has room for, but for one. Potentials are
 * smaller than `scale`. LEY_ERROR_MEMORY. */
ley_status test_lattice_create(test_lattice *t, const ley_lattice *points, int nodes, bool by_plane, double scale,
                               ley_error *error);
void test_lattice_destroy(test_lattice *t);

/* On a device. Errors: those of arena_upload(). */
ley_status test_lattice_upload(const test_lattice *t, arena *memory, cutoff_lattice *made, ley_error *error);

/* Adds what is right at a point of the map to a sum. */
void test_lattice_add(const test_lattice *t, const double point_A[3], reference_value *sum);

#endif
