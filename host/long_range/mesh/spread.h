/* Atoms for anterpolation, as cl/anterpolate.cl reads them: in bins by the first node that has a
 * share in them, each atom once, whatever the map covers; and which bins reach which tiles of
 * nodes. Device-free. */
#ifndef LEY_LONG_RANGE_MESH_SPREAD_H
#define LEY_LONG_RANGE_MESH_SPREAD_H

#include "numerics/hierarchy.h"

#include <stdatomic.h>

/* Nodes along the edges of bins and tiles: below 32, which corners are packed for. */
enum { SPREAD_EDGE = HIERARCHY_EDGE };

typedef struct spread {
    int64_t bins[3];       /* along each axis; tiles are as many */
    size_t atoms;          /* with a charge */
    double total_e;        /* with screening, or images: of all charges, */
    double square_e2;      /* and of their squares */
    int32_t *first;        /* [bins + 1] */
    float (*at)[4];        /* {u_x, u_y, u_z, charge}, u = t - 1/2; NULL: not made here */
    int32_t *corner;       /* x + 32 y + 1024 z: the first node in its bin */
    int32_t (*tiles)[2];   /* of the axes' tiles, one axis after the other: {first, count} of its sources */
    int32_t (*sources)[2]; /* {bin along the axis, nodes from the tile's first to the bin's first} */
    size_t tile_count, source_count;
} spread;

/* Bins that have no atoms yet, and the tiles that they reach. Errors: LEY_ERROR_MEMORY;
 * LEY_ERROR_INPUT for more atoms than bins number. On failure there is nothing to clear. */
ley_status spread_begin(const hierarchy *h, size_t n, const double *charge_e, spread *made, ley_error *error);

size_t spread_bins(const spread *s);

/* The first node along an axis that has a share in an atom at this index of the mesh, in [0, n);
 * its fraction between its neighbours. */
int64_t spread_first_node(const hierarchy *h, int axis, double index, float *u);

/* An atom's bin, and SPREAD_NOWHERE for one that is not within a part of a hierarchy; its first
 * node there, and its fractions. */
#define SPREAD_NOWHERE SIZE_MAX
size_t spread_find(const hierarchy *h, const spread *s, const double position_A[3], int32_t *corner, float u[3]);

/* Puts atoms into bins, on all cores, in their order within a bin. Errors: LEY_ERROR_MEMORY,
 * LEY_CANCELLED soon after *cancelled (may be NULL) turns true. On failure there is nothing to
 * clear. */
ley_status spread_make(const hierarchy *h, size_t n, const double *position_A, const double *charge_e,
                       const atomic_bool *cancelled, spread *made, ley_error *error);

/* Layers of tiles along z. */
typedef struct spread_layers {
    int64_t first, end;
} spread_layers;
int64_t spread_layers_of(const hierarchy *h);

/* The same of those atoms alone that have a share in nodes of these layers. */
ley_status spread_make_layers(const hierarchy *h, spread_layers layers, size_t n, const double *position_A,
                              const double *charge_e, const atomic_bool *cancelled, spread *made, ley_error *error);

/* The charge of a node, in [0, n) along each axis, and the sum of magnitudes behind it: all of its
 * atoms are in bins. */
double spread_charge_e(const hierarchy *h, const spread *s, const int64_t node[3], double *magnitude_e);

void spread_clear(spread *s);

#endif
