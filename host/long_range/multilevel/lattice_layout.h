/* A hierarchy of meshes as lattice.cl has it: levels in sub-cubes of 4 x 4 x 4 nodes, one after
 * the other in one buffer; and the weights of a neighbourhood. Device-free. */
#ifndef LEY_LONG_RANGE_MULTILEVEL_LATTICE_LAYOUT_H
#define LEY_LONG_RANGE_MULTILEVEL_LATTICE_LAYOUT_H

#include "law/reference.h"
#include "layout/transpose.h"
#include "long_range/mesh/coordinates.h"
#include "spec.h"

enum { LATTICE_MOST_LEVELS = 24 };

typedef struct lattice_level {
    int64_t n[3];     /* nodes; of a periodic axis, those of one period */
    bool periodic[3]; /* the others are open: beyond their ends there are no charges */
    double scale;     /* what its sums are multiplied by */
} lattice_level;

typedef struct lattice_layout {
    int count; /* levels */
    lattice_level levels[LATTICE_MOST_LEVELS];
    int64_t cubes[LATTICE_MOST_LEVELS][3];       /* sub-cubes along x, y, z */
    int64_t first_node[LATTICE_MOST_LEVELS + 1]; /* where a level begins, in nodes; last, how many these are together */
} lattice_layout;

/* LEY_ERROR_USAGE for levels without nodes or too many levels, LEY_ERROR_NO_DEVICE for more nodes
 * than kernels can number. */
ley_status lattice_layout_make(const lattice_level *levels, int count, lattice_layout *layout, ley_error *error);

/* Bytes of charges, and of potentials as many. */
int64_t lattice_layout_bytes(const lattice_layout *layout);

/* Where a node is in the buffer of all levels. */
int64_t lattice_layout_node(const lattice_layout *layout, int level, int64_t x, int64_t y, int64_t z);

/* A level as tables of places have it. */
coordinate_table lattice_layout_array(const lattice_layout *layout, int level);

/* A level for transpose_to_regions() and transpose_to_rows(): between sub-cubes, which begin at
 * first_node, and rows float[n_z][n_y][n_x]. */
tiled_slab lattice_layout_slab(const lattice_layout *layout, int level);

/* The weights of a neighbourhood, x fastest: those of all [-radius, radius] along each axis; or,
 * where they are mirrored and depend on |dx|, |dy|, |dz| alone, those of [0, radius]. */
typedef struct lattice_weights {
    int radius[3];
    bool mirrored;
    const double *values;
} lattice_weights;

double lattice_weight(const lattice_weights *weights, int dx, int dy, int dz);

/* How many numbers `values` are. */
size_t lattice_weights_count(const lattice_weights *weights);

/* Pairs of nodes of a level whose weight is not 0: what a sum over the neighbourhoods adds up. */
double lattice_pairs(const lattice_weights *weights, const lattice_level *level);

/* The same as the kernel in plain double precision: sums and absolute terms of all nodes of all
 * levels, where the layout has them; what is behind a level's last node stays as it is. */
void lattice_reference(const lattice_layout *layout, const lattice_weights *weights, const float *charges,
                       reference_value *values);

/* The same of one node, each neighbour looked up in its turn. */
reference_value lattice_reference_node(const lattice_layout *layout, const lattice_weights *weights,
                                       const float *charges, int level, const int64_t at[3]);

#endif
