/* Long waves of a mesh's charges in double precision.
 *
 * Charges that are summed as floats, and transforms of floats, leave each node with a rounding that
 * knows nothing of its neighbours'. As a potential such roundings do not end: the mean square is
 * 4 pi R times their squares per volume, R the size of the box, for they are charges that nothing
 * cancels. In waves that is 8 / k of them beyond wave number k, so nearly all of it is in the
 * longest waves, which are few. Those are made here from atoms, and take the place of what the
 * device's transform has there. */
#ifndef LEY_LONG_RANGE_FOURIER_LONG_WAVELENGTHS_H
#define LEY_LONG_RANGE_FOURIER_LONG_WAVELENGTHS_H

#include "leyden_status.h"
#include "numerics/hierarchy.h"
#include "numerics/kaiser.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Charges on a mesh that is as coarse as the longest waves allow. */
typedef struct long_charges {
    int64_t n[3];     /* nodes along each axis */
    double apart[3];  /* of neighbours, in nodes of the finest level */
    double *values_e; /* [n_z][n_y][n_x] */
} long_charges;

/* Waves of a transform's mesh. */
typedef struct long_wavelengths {
    int64_t most[3];    /* waves -most to most along each axis; along x from 0 on */
    float (*values)[2]; /* [2 most_z + 1][2 most_y + 1][most_x + 1], e; of y and z 0 comes first, then the waves above
                           it, then those below, the longest one last */
} long_wavelengths;

/* Seconds of a core for an atom: measured on the way of a whole job, where most of it has nothing
 * to wait for. */
#define LONG_WAVES_ATOM_S 1.6e-7

/* Whether the hierarchy asks for them: of one level that is done by transforms, with B-splines. */
bool long_wavelengths_are_wanted(const hierarchy *h);

/* How many nodes such a mesh has, and how far they are apart: without charges. An atom at
 * `place` along an axis, in its nodes from the finest level's first one, or within a period, has
 * the nodes from floor(place) on; their weights are those of this window. */
void long_charges_lay_out(const hierarchy *h, long_charges *made);
void long_charges_window(kaiser_window *made);

/* Puts atoms into such a mesh, on all cores. Errors: LEY_ERROR_MEMORY; LEY_CANCELLED soon after
 * *cancelled (may be NULL) turns true. On failure there is nothing to clear. */
ley_status long_charges_make(const hierarchy *h, size_t atoms, const double *position_A, const double *charge_e,
                             const atomic_bool *cancelled, long_charges *made, ley_error *error);
void long_charges_clear(long_charges *c);

/* Bytes that it takes while it is made; 0 where none are wanted. */
double long_charges_bytes(const hierarchy *h, size_t atoms);

/* The sum of q_j W(theta) exp(-i theta . s_j) of each wave m, theta = 2 pi m / n, W the window's
 * transform, s_j an atom's place in nodes from the mesh's first one: what the transform of n
 * nodes would have but for rounding and the window's aliases. The shortest of the waves are off by
 * 2e-7 of the root of the sum of q^2, those that are twice as long by 1e-8. Errors:
 * LEY_ERROR_MEMORY; LEY_CANCELLED soon after *cancelled (may be NULL) turns true. On failure there
 * is nothing to clear. */
ley_status long_wavelengths_make(const hierarchy *h, const int64_t n[3], const long_charges *charges,
                                 const atomic_bool *cancelled, long_wavelengths *made, ley_error *error);
void long_wavelengths_clear(long_wavelengths *w);

/* Who has the waves of transforms of n nodes, and may wait for them: any thread may call take().
 * They stay as long as the source does. Errors: those of long_charges_make() and
 * long_wavelengths_make(). */
typedef struct long_wavelengths_source {
    ley_status (*take)(void *context, const int64_t n[3], const long_wavelengths **waves, ley_error *error);
    void *context;
} long_wavelengths_source;

/* How many of them a transform of n nodes has, along each axis to either side of wave 0; and of
 * those that have been made. */
void long_wavelengths_most(const hierarchy *h, const int64_t n[3], int64_t most[3]);
int64_t long_wavelengths_count(const long_wavelengths *w);

/* Bytes of them. */
double long_wavelengths_bytes(const hierarchy *h, const int64_t n[3]);

#endif
