/* Lattice cutoff: potentials on all levels of a hierarchy of meshes, in one launch,
 *
 *     e[x, y, z] = scale sum over |dx| <= LEY_RX, |dy| <= LEY_RY, |dz| <= LEY_RZ of
 *                  w[dx, dy, dz] q[x + dx, y + dy, z + dz]
 *
 * with the same weights on every level.
 *
 * gm_weights     the table that spec.h explains; where LEY_SLIDE, a cube
 * gm_levels      levels, the ints of LEY_LEVEL_FIELDS each
 * n_levels       how many
 * first_group    of all levels' work-groups the first one of this launch
 * gm_places      for each level and axis: what a node's coordinate adds to its number in the
 *                level, from before node 0 to behind the last one, as far as neighbourhoods
 *                reach. Where an axis is periodic the same nodes come again, as images; where it
 *                is open there are none, LEY_NOWHERE
 * gm_charges     nodes in sub-cubes of LEY_CUBE x LEY_CUBE x LEY_CUBE, x fastest within one, and
 *                sub-cubes in the order of x, y, z; one level after the other. What is behind a
 *                level's last node is not read
 * gm_potentials  the same; behind a level's last node anything
 *
 * Global size: work-groups in one row, those of all levels or some of them.
 *
 * The scheme of Hardy et al. (2009), weights in constant memory and a window that slides over
 * sub-cubes in local memory, is in lattice_sliding.h. Otherwise, where weights are mirrored, the
 * charges at dy and -dy, and at dx and -dx, are added up before they are multiplied: rows above and
 * below first ("folded"), once for all dx, then left and right, once for all of a work-item's nodes
 * along z. A multiplication serves four neighbours. What the weights do not reach along z at
 * (dx, dy) is left out, by work-groups in steps of a quarter of the largest reach. */
#if !defined(LEY_RX) || !defined(LEY_RY) || !defined(LEY_RZ) || !defined(LEY_UZ) || !defined(LEY_SLIDE)
#error "the specification is incomplete: see LEY_LATTICE_KEYS in spec.h"
#endif
#include "dialect.h"

#if LEY_TABLE == LEY_ATOMS_CONSTANT
#define CONSTANT_SPACE LEY_CONSTANT
LEY_CONSTANT_SYMBOL(float)
#define WHERE_THEY_ARE(gm_weights) LEY_IN_CONSTANT(gm_weights)
#else
#define CONSTANT_SPACE LEY_GLOBAL
#define WHERE_THEY_ARE(gm_weights) gm_weights
#endif

#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
typedef LEY_DOUBLE total;
#else
typedef real total;
#endif

/* Nodes: of a work-item in one row along x; of a region, which is a work-group's. */
#define NODES (LEY_UX * LEY_UZ)
#define STRIDE_X (LEY_LX * LEY_WIDTH)
#define REGION_X (STRIDE_X * LEY_UX)
#define REGION_Y (LEY_LY * LEY_UY)
#define REGION_Z (LEY_LZ * LEY_UZ)
#define SUB_CUBE (LEY_CUBE * LEY_CUBE * LEY_CUBE)

#define LEVEL_FIELD(name) int name;
typedef struct {
    LEY_LEVEL_FIELDS(LEVEL_FIELD)
} level;

/* A work-group's part of a level. */
typedef struct {
    int x, y, z; /* its first node */
    int cubes_x, cubes_y, cubes_z, periodic;
    float scale;
    LEY_GLOBAL const int *place_x, *place_y, *place_z; /* of its first node */
    LEY_GLOBAL const float *charges;                   /* of the level */
    LEY_GLOBAL float *potentials;
} region;

/* Sums over all so far, or since totals were last added to; these; and Kahan's carry, what the last
 * addition lost, its sign turned. */
typedef struct {
    real sum[NODES];
#if LEY_TOTAL != LEY_SPEC_SUM_FLOAT
    total totals[NODES];
#endif
#if LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    real carry[NODES];
#endif
} sums;

LEY_FN void clear(sums *s)
{
    UNROLL for (int k = 0; k < NODES; k++) {
        s->sum[k] = 0;
#if LEY_TOTAL != LEY_SPEC_SUM_FLOAT
        s->totals[k] = 0;
#endif
#if LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
        s->carry[k] = 0;
#endif
    }
}

/* Adds what has been summed to the totals. */
LEY_FN void end_part(sums *s)
{
#if LEY_TOTAL != LEY_SPEC_SUM_FLOAT
    UNROLL for (int k = 0; k < NODES; k++) {
#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
        s->totals[k] += LEY_TO_DOUBLE(s->sum[k]);
#else
        const real term = s->sum[k] - s->carry[k], after = s->totals[k] + term;
        s->carry[k] = (after - s->totals[k]) - term;
        s->totals[k] = after;
#endif
        s->sum[k] = 0;
    }
#endif
}

LEY_FN real result(const sums *s, int k)
{
#if LEY_TOTAL == LEY_SPEC_SUM_DOUBLE
    return LEY_TO_FLOAT(s->totals[k]);
#elif LEY_TOTAL == LEY_SPEC_SUM_COMPENSATED
    return s->totals[k] - s->carry[k];
#else
    return s->sum[k];
#endif
}

LEY_FN region find_region(LEY_GLOBAL const int4 *gm_levels, int n_levels, int group, LEY_GLOBAL const int *gm_places,
                          LEY_GLOBAL const float *gm_charges, LEY_GLOBAL float *gm_potentials)
{
    LEY_GLOBAL const level *gm_all = (LEY_GLOBAL const level *)gm_levels;
    int which = 0;
    while (which + 1 < n_levels && group >= gm_all[which + 1].first_group)
        which++;
    const level l = gm_all[which];
    const int at = group - l.first_group, row = at / l.regions_x;
    region r;
    r.x = at % l.regions_x * REGION_X;
    r.y = row % l.regions_y * REGION_Y;
    r.z = row / l.regions_y * REGION_Z;
    r.cubes_x = l.cubes_x;
    r.cubes_y = l.cubes_y;
    r.cubes_z = l.cubes_z;
    r.periodic = l.periodic;
    r.scale = LEY_AS_FLOAT(l.scale);
    r.place_x = gm_places + l.place_x + r.x;
    r.place_y = gm_places + l.place_y + r.y;
    r.place_z = gm_places + l.place_z + r.z;
    r.charges = gm_charges + l.first_node;
    r.potentials = gm_potentials + l.first_node;
    return r;
}

/* Where a node is in its level, of those that sub-cubes have room for; NULL: they have none. */
LEY_FN LEY_GLOBAL float *place_of(const region *r, int x, int y, int z)
{
    const int cube = (z / LEY_CUBE * r->cubes_y + y / LEY_CUBE) * r->cubes_x + x / LEY_CUBE;
    const int in_it = (z % LEY_CUBE * LEY_CUBE + y % LEY_CUBE) * LEY_CUBE + x % LEY_CUBE;
    return x < LEY_CUBE * r->cubes_x && y < LEY_CUBE * r->cubes_y && z < LEY_CUBE * r->cubes_z
               ? r->potentials + ((size_t)cube * SUB_CUBE + in_it)
               : 0;
}

/* The charge of a node, from its places. */
LEY_FN float charge_at(LEY_GLOBAL const float *gm_charges, int place_x, int place_yz)
{
    const int at = place_x + place_yz;
    return at >= 0 ? gm_charges[at] : 0.0f;
}

#if LEY_SLIDE != LEY_SLIDE_NOT
#include "lattice_sliding.h"
#else
#include "lattice_columns.h"
#if LEY_WIDTH == 1
#include "lattice_group.h"
#else
#include "lattice_vectors.h"
#endif
#endif

LEY_KERNEL_OF(LEY_WIDTH == 1 ? LEY_LX : 1, LEY_WIDTH == 1 ? LEY_LY : 1, LEY_WIDTH == 1 ? LEY_LZ : 1)
lattice(LEY_PARAMETERS(LEY_LATTICE_ARGUMENTS))
{
    const region r = find_region(gm_levels, n_levels, first_group + (int)LEY_GROUP_ID(0), gm_places, gm_charges,
                                 gm_potentials);
    sums s;
#if LEY_WIDTH > 1
    tile t;
    stage(&r, &t);
    for (int y = 0; y < REGION_Y; y++) {
        clear(&s);
        sum_row(&s, &t, y, WHERE_THEY_ARE(gm_weights));
        store(&s, &r, y);
    }
#else
    LEY_LOCAL_VARIABLE float sm_charges[STAGED];
    LEY_LOCAL_VARIABLE int sm_places[STAGED_PLACES];
    clear(&s);
    sum_region(&s, &r, WHERE_THEY_ARE(gm_weights), sm_charges, sm_places);
    store(&s, &r);
#endif
}
