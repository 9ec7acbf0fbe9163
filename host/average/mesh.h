/* The mesh that charges are spread over: B-splines of order P = 4, 6 or 8 over the fractional
 * coordinates of the cell, of n nodes along each vector,
 *
 *     rho(node) = sum over j of q_j product over axes of M_P(n s_j - node),
 *
 * whose spectrum is that of the charges times the spline's transform, but for aliases: those of
 * wave k from k + 2 pi m / h are (x / (1 - x))^P of what is there, x = k h / (2 pi), along each
 * axis. */
#ifndef LEY_AVERAGE_MESH_H
#define LEY_AVERAGE_MESH_H

#include "leyden_status.h"
#include "numerics/window.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct average_mesh {
    int64_t n[3];
    const window *window;
    double expected_error; /* relative root mean square of a frame's potential */
} average_mesh;

/* What a mesh is chosen for: the cell and its longest wave, the Gaussian's sigma, the error that it
 * is to have, how strong the potential is beside that of matter (signal.h), atoms whose charges are
 * spread, transforms of each frame, and cards that do all of it, whose costs are others. */
typedef struct mesh_wish {
    const double (*cell_A)[3];
    double sigma_A, error, least_k, signal;
    double atoms;
    bool transforms, by_cards;
} mesh_wish;

/* The one that is expected to be the fastest. Errors: LEY_ERROR_USAGE where none of fewer than 2^31
 * nodes is fine enough. */
ley_status average_mesh_choose(const mesh_wish *wish, average_mesh *made, ley_error *error);

/* The relative error that splines of this order are expected to make with nodes this far apart. */
double average_mesh_error(const mesh_wish *wish, int order, double h_A);

/* The square of a structure factor of matter, as a share of the sum of squares of its charges. */
double average_mesh_matter(double k2);

static inline int64_t average_mesh_nodes(const average_mesh *m)
{
    return m->n[0] * m->n[1] * m->n[2];
}

#endif
