/* The meshes of a long-range sum: which nodes they have, for atoms and map, whatever is periodic.
 *
 * Level k has the spacings 2^k h and the cutoff 2^k a. Node (i, j, l) of level k lies at origin +
 * 2^k (i h_0 e_0 + j h_1 e_1 + l h_2 e_2), so that node i of a level is node 2 i of the next finer
 * one, at the same place. Along an open axis a level has the nodes first ... first + n - 1, which
 * are those that charges, map and finer levels reach with the window; along a periodic axis it has
 * n = period / (2^k h) of them, counted from 0, and every other index is one of these. */
#ifndef LEY_HIERARCHY_H
#define LEY_HIERARCHY_H

#include "leyden_status.h"
#include "numerics/cell.h"
#include "numerics/splitting.h"
#include "numerics/window.h"

#include <stddef.h>
#include <stdint.h>

enum { HIERARCHY_MOST_LEVELS = 16 };

/* Nodes that sums on a level may reach far; where nobody says how many levels there are, there are
 * so many that the top one's do not reach further. */
enum { HIERARCHY_MOST_REACH = 31 };

/* The lattice cutoff on all levels; one level, by transforms; the lattice cutoff on all levels but
 * the top one, which is done by transforms; or whose potentials are given: hierarchy_part(). */
typedef enum hierarchy_solver {
    HIERARCHY_MULTILEVEL = 0,
    HIERARCHY_FOURIER = 1,
    HIERARCHY_MIXED = 3,
    HIERARCHY_LOWER = 4
} hierarchy_solver;

/* What one chooses. */
typedef struct hierarchy_options {
    splitting_kind splitting;
    int degree;  /* of pswf and ewald; 0: splitting_degree(), or what suits the given band */
    double band; /* of pswf and ewald; 0: splitting_band() */
    window_kind window;
    hierarchy_solver solver;
    int levels;                 /* 0: as many as pay; with HIERARCHY_FOURIER 0 or 1, with HIERARCHY_MIXED 0 is 2 */
    double cutoff_A, spacing_A; /* spacing: at most; periods are divided evenly */
    double kappa_per_A;
    bool periodic[3];
    double cell_A[3][3];
    const double (*open_axes)[3]; /* of open space: cell_turn(); NULL: x, y and z */
    double long_waves_per_A; /* waves up to so many radians per A have their charges in double precision; 0: none */
} hierarchy_options;

typedef struct hierarchy_level {
    int64_t n[3], first[3];
    double cutoff_A;
    splitting split; /* gamma of this level's cutoff: the same on every level without screening */
} hierarchy_level;

typedef struct hierarchy {
    cell cell;
    const window *window;
    hierarchy_solver solver;
    double kappa_per_A;
    double long_waves_per_A; /* as the options have it */
    double mean_per_A; /* of a unit charge and its images (lattice_sum_mean()), which the levels leave out, since floats
                          would have no digits left for the rest: it is added to values by itself. 0: they have it */
    double origin_A[3];
    double step_A[3][3];        /* of the finest level */
    double inverse_per_A[3][3]; /* inverse[m] . (r - origin) is a place's index along axis m */
    int64_t image_planes; /* of a part of a periodic hierarchy: its images along axis 2 are so many nodes of the finest
                             level apart; else 0 */
    int levels;
    hierarchy_level level[HIERARCHY_MOST_LEVELS];
} hierarchy;

/* How often a period of so many nodes is halved when nobody says: as long as more than a few are
 * left. */
int hierarchy_halvings(double nodes);

/* The box is what atoms and map fill, along the cell's vectors: components low[m] to high[m] along
 * its axis m, in A, as hierarchy_box() finds them; of periodic axes it does not matter.
 *
 * Errors: LEY_ERROR_USAGE for what does not combine: B-splines with more than one level, levels
 * with HIERARCHY_FOURIER, screening with other splittings than Taylor's, a cutoff below a spacing,
 * more levels than a periodic axis can be halved; those of cell_make() and splitting_make();
 * LEY_ERROR_INPUT for meshes that are too large. */
ley_status hierarchy_make(const hierarchy_options *options, const double low[3], const double high[3], hierarchy *made,
                          ley_error *error);

/* The top level alone, as the only one of a mesh that is done by transforms. And the levels from
 * one on, which is then the finest: of HIERARCHY_MIXED from the top one on as hierarchy_top(). */
void hierarchy_top(const hierarchy *h, hierarchy *top);
void hierarchy_upper(const hierarchy *h, int from, hierarchy *upper);

/* Planes of a level along axis 2, by their indices, which along a periodic axis go on beyond its
 * ends. */
typedef struct hierarchy_planes {
    int64_t first, end;
} hierarchy_planes;

/* Those of level 0 that interpolation between these indices looks at. */
hierarchy_planes hierarchy_interpolated(const hierarchy *h, double low, double high);

/* The levels up to `top` on some of their planes: all that it takes to make, from the charges of
 * atoms, those of the planes `own` of level `top`; and, once the potentials of that level are given
 * on the part's planes, those of the planes `wanted` of level 0. Along axis 2 the part is open, and
 * its planes begin a multiple of HIERARCHY_EDGE behind the whole's, so that sums over nodes have
 * the same order. `charges`: atoms that have a share in these planes of level 0 are looked at.
 * False: that is no less than the whole. */
enum { HIERARCHY_EDGE = 8 };
bool hierarchy_part(const hierarchy *h, int top, hierarchy_planes wanted, hierarchy_planes own, hierarchy *part,
                    hierarchy_planes *charges);

/* Widens low and high to n places; begin with INFINITY and -INFINITY. */
void hierarchy_box(const cell *c, size_t n, const double *position_A, double low[3], double high[3]);

/* Errors: LEY_ERROR_INPUT for a net charge along one or two periodic axes without screening. */
ley_status hierarchy_check_charge(const hierarchy *h, double total_e, double magnitude_e, ley_error *error);

/* Where a place is along the axes of the finest level, in nodes. */
void hierarchy_index(const hierarchy *h, const double point_A[3], double index[3]);

/* Number of nodes of a level. */
int64_t hierarchy_nodes(const hierarchy_level *level);

/* The number of node i[] in a level's array, x fastest, wrapped where it is periodic; -1: there is
 * no such node. */
int64_t hierarchy_number(const hierarchy *h, int level, const int64_t i[3]);

/* What leads from a level's node to the one i[] further. */
void hierarchy_displacement(const hierarchy *h, int level, const double i[3], double d_A[3]);

/* Weight of a level's lattice cutoff at distance r, g_k(r), in 1/A; of the top level gamma
 * alone. */
double hierarchy_weight(const hierarchy *h, int level, double r_A);

/* How many nodes the lattice cutoff of a level reaches along each axis: where g_k is not 0 none is
 * further. It is the same on every level. */
void hierarchy_reach(const hierarchy *h, int64_t reach[3]);

/* And how many the sums over all nodes of a level: half a period to either side. */
void hierarchy_whole_reach(const hierarchy *h, int level, int64_t reach[3]);

/* Whether the axes are normal to each other, so that weights are the same on both sides of each. */
bool hierarchy_is_rectangular(const hierarchy *h);

#endif
