/* The grid on which ions are placed, in bricks of 16 x 16 x 16 nodes; and what searches it, on the
 * host or on a device: a map.
 *
 * Values are floats, the potential in kcal/mol/e, brick after brick (x fastest, as in a brick);
 * nodes that are left out, and those beyond the grid that fill its last bricks, are not-a-numbers:
 * so they stay, whatever is added, and no comparison finds them. */
#ifndef LEY_IONS_BRICKS_H
#define LEY_IONS_BRICKS_H

#include "ions/bins.h"
#include "leyden.h"
#include "spec.h"

enum { BRICK = LEY_BRICK, BRICK_NODES = LEY_BRICK * LEY_BRICK * LEY_BRICK };

typedef struct ions_grid {
    ley_grid grid;
    int64_t n[3], bricks[3], brick_count; /* nodes and bricks along the axes; all bricks */
    double h_A;                           /* length of the first step */
    double metric[3][3];                  /* of ways in nodes to their squared length over h^2 */
    bool is_cubic;                        /* the metric is 1: squared distances in nodes are whole numbers */
    double between2; /* nodes at less than this squared distance, in h^2, from an ion are left out */
    bool is_periodic;
    bool is_square; /* ions add C q / r^2, and not C q / r */
} ions_grid;

/* What an ion of one charge at distance 1 adds, as effects have it, times C. */
static inline double ions_grid_unit(const ions_grid *g)
{
    return 1 / (g->is_square ? g->h_A * g->h_A : g->h_A);
}

/* Errors: LEY_ERROR_INPUT for more nodes than have numbers. */
ley_status ions_grid_make(const ley_grid *grid, double between_A, bool is_periodic, ions_grid *made, ley_error *error);

/* Squared length of a way in nodes, over h^2. */
double ions_grid_distance2(const ions_grid *g, const double way[3]);

/* The number of a node in the order of the map, z outermost; where it is; and its place from the
 * grid's origin. */
int64_t ions_grid_number(const ions_grid *g, int64_t brick, int local);
void ions_grid_node(const ions_grid *g, int64_t number, int64_t node[3]);
void ions_grid_place_A(const ions_grid *g, const int64_t node[3], double place_A[3]);

/* A brick's first node; and the box around nodes `first` to `last`, A from the origin, whatever the
 * steps are. */
void ions_grid_corner(const ions_grid *g, int64_t brick, int64_t node[3]);
void ions_grid_box(const ions_grid *g, const int64_t first[3], const int64_t last[3], double low_A[3],
                   double high_A[3]);

/* A place from the origin in nodes. */
void ions_grid_in_nodes(const ions_grid *g, const double place_A[3], double at[3]);

/* Rows of nodes around a place that a sphere of `radius` h reaches, along y and z, at most. */
void ions_grid_reach(const ions_grid *g, double radius, int64_t reach[3]);

/* The map's values, float[n[2]][n[1]][n[0]], in bricks. */
void ions_bricks_fill(const ions_grid *g, const float *values, float *bricks);

/* What changes a map: a charge at a node, or an image of one, which leaves out nodes around it. As
 * kernels read it, two vectors of four floats. */
typedef struct ions_effect {
    float at[3]; /* in nodes */
    float
        charge; /* C q / h, or over h^2; of a periodic cell what the table is multiplied by: 0 for all images but one */
    float radius2; /* nodes nearer than its root are left out, over h^2 */
    float unused[3];
} ions_effect;

/* A brick to be brought up to date: effects [first, last) are added to it; its record's place. */
typedef struct ions_work {
    int32_t brick, first, last, record;
} ions_work;

/* What is in a brick then: the least and the largest value, and the first nodes that have them; how
 * many values there are; and the next ones, which are the same where two nodes have them. Where
 * there are none they are infinite. */
typedef struct ions_record {
    float least, most, count, tag; /* the tag is a device's: of the update that made it */
    float at_least, at_most, next_least, next_most;
} ions_record;

typedef struct ions_found {
    int32_t brick, local;
    float value;
    int32_t unused;
} ions_found;

/* Which nodes are asked for: sign times value at most `limit`, number from `first` to `last`. */
typedef struct ions_query {
    float sign, limit;
    int64_t first, last;
    size_t most; /* so many of them, any of these where there are more */
} ions_query;

/* Atoms and images whose neighbourhoods are left out. */
typedef struct ions_spheres {
    bins *bins;           /* from the grid's origin */
    double from_A;        /* nodes at this distance or less */
    float (*in_nodes)[4]; /* [bins->n]: the same places for devices; */
    double radius;        /* and this in h, less what floats are off by: what lies between may stay */
} ions_spheres;

/* Of n places from_A[axis][i]. Errors: those of bins_create(). */
ley_status ions_spheres_make(const ions_grid *g, size_t n, const double *const from_A[3], double reach_A,
                             ions_spheres *made, ley_error *error);
void ions_spheres_free(ions_spheres *s);

typedef struct ions_map ions_map;
struct ions_map {
    const char *name;
    const ions_grid *grid;
    const float *before; /* bricks as they were at first, [brick_count][BRICK_NODES]; NULL: they are gone */
    const float *table;  /* of a periodic cell: what a unit effect adds at a node that is so far from it */
    void (*meanwhile)(void *context); /* NULL: nothing. What the host may do while a device is at an update */
    void *context;
    double kernels_s; /* of a device: how long its kernels took */
    ley_status (*mask)(ions_map *map, const ions_spheres *spheres, ley_error *error);
    ley_status (*update)(ions_map *map, const ions_effect *effects, size_t n, const ions_work *work,
                         ions_record *records, ley_error *error);
    ley_status (*list)(ions_map *map, size_t n, const int32_t *bricks, const ions_query *query, ions_found *found,
                       size_t *total, ley_error *error);
};

#endif
