/* Lennard-Jones and Coulomb energies of all pairs of particles, frame after frame:
 *
 *     energy_i = 1/2 sum over j of E(r_ij),   force_i = sum over j of slope(r_ij) (r_i - r_j),
 *
 * without those that are marked: a particle with itself, exclusions. pair_terms.h has E. Each
 * particle gathers its own sums, in an order that is always the same.
 *
 * gm_position  [frames][padded] x, y, z, charge
 * gm_cell      where LEY_PERIODIC, [frames][6]: see energy_image.h
 * gm_type      [padded]
 * gm_table     of groups: [types][types] a and b; of vectors: [types][a, b][padded], of this type
 *              with each particle
 * gm_first     [blocks + 1] where marks of a block begin in gm_tile: a block has the particles of a
 *              work-group
 * gm_tile      of groups: which LEY_ENERGY_SUB_TILE particles, ascending, have marks; gm_mask has
 *              a word for each particle of the block, with a bit for each of them. Of vectors:
 *              which particle has; gm_mask has a word, with a bit for each particle of the block
 * gm_column    where LEY_COLUMNS, [columns + 1] where each group begins
 * n            particles that are there
 * scale        Coulomb's constant over the dielectric constant
 * numbers, series  see pair_terms.h
 * gm_energy    [frames][LEY_TERM_COUNT][padded]
 * gm_parts     where LEY_COLUMNS, [frames][LEY_COLUMN_COUNT][columns][padded]: of gm_energy what is
 *              with the particles of each group
 * gm_force     where LEY_FORCES, [frames][padded], to which forces are added
 *
 * Groups: along x blocks, along y frames. */
#if !defined(LEY_LENNARD_JONES) || !defined(LEY_COULOMB) || !defined(LEY_CUT) || !defined(LEY_PERIODIC) || \
    !defined(LEY_FORCES) || !defined(LEY_COLUMNS) || !defined(LEY_LOCAL_TYPES) || !defined(LEY_UX)
#error "the specification is incomplete: see LEY_PAIR_ENERGIES_KEYS in spec.h"
#endif
#include "dialect.h"

#include "energy_image.h"
#include "kept_sum.h"
#include "pair_terms.h"

/* What a particle, or a vector of them, has. */
typedef struct {
    real x, y, z, q;
    kept_sum lj, coulomb;
#if LEY_FORCES
    kept_sum fx, fy, fz;
#endif
#if LEY_COLUMNS
    kept_sum column_lj, column_coulomb;
#endif
} particle;

/* Sums over a few pairs. */
typedef struct {
    real lj, coulomb;
#if LEY_FORCES
    real fx, fy, fz;
#endif
} few_sums;

LEY_FN few_sums no_sums(void)
{
    few_sums s;
    s.lj = s.coulomb = (real)0;
#if LEY_FORCES
    s.fx = s.fy = s.fz = (real)0;
#endif
    return s;
}

LEY_FN void keep_all(particle *p, LEY_REFERENCE(few_sums) s)
{
    keep(&p->lj, s.lj);
    keep(&p->coulomb, s.coulomb);
#if LEY_FORCES
    keep(&p->fx, s.fx);
    keep(&p->fy, s.fy);
    keep(&p->fz, s.fz);
#endif
#if LEY_COLUMNS
    keep(&p->column_lj, s.lj);
    keep(&p->column_coulomb, s.coulomb);
#endif
}

#if LEY_COLUMNS
LEY_FN void end_column(particle *p)
{
    p->column_lj.sum = p->column_lj.lost = p->column_coulomb.sum = p->column_coulomb.lost = (real)0;
}
#endif

LEY_FN void begin(particle *p, real x, real y, real z, real q)
{
    p->x = x;
    p->y = y;
    p->z = z;
    p->q = q;
    p->lj.sum = p->lj.lost = p->coulomb.sum = p->coulomb.lost = (real)0;
#if LEY_FORCES
    p->fx.sum = p->fx.lost = p->fy.sum = p->fy.lost = p->fz.sum = p->fz.lost = (real)0;
#endif
#if LEY_COLUMNS
    end_column(p);
#endif
}

/* The way from another particle, and its square. */
LEY_FN real way_from(LEY_REFERENCE(particle) p, float4 other, LEY_REFERENCE(image_cell) cell, real *x, real *y, real *z)
{
    *x = p.x - other.x;
    *y = p.y - other.y;
    *z = p.z - other.z;
#if LEY_PERIODIC && LEY_CUT
    ley_bring_near(cell, x, y, z);
#elif LEY_PERIODIC
    ley_bring_nearest(cell, x, y, z);
#endif
    return *x * *x + *y * *y + *z * *z;
}

/* A pair's; r2 is a square of its way x, y, z, or, where a and b and qq are 0, any other. */
LEY_FN void add_pair(few_sums *s, real r2, real a, real b, real qq, LEY_REFERENCE(sixteen) numbers,
                     LEY_REFERENCE(sixteen) series, real x, real y, real z)
{
    pair_terms t = ley_pair_terms(r2, a, b, qq, numbers, series);
#if LEY_CUT
    t.lennard_jones = r2 < numbers.s0 ? t.lennard_jones : (real)0;
    t.coulomb = r2 < numbers.s0 ? t.coulomb : (real)0;
    t.slope = r2 < numbers.s0 ? t.slope : (real)0;
#endif
    s->lj += t.lennard_jones;
    s->coulomb += t.coulomb;
#if LEY_FORCES
    s->fx += t.slope * x;
    s->fy += t.slope * y;
    s->fz += t.slope * z;
#endif
}

#if LEY_WIDTH == 1
#include "pair_energies_group.h"
#else
#include "pair_energies_vectors.h"
#endif

LEY_KERNEL_OF(LEY_WG, 1, 1) pair_energies(LEY_PARAMETERS(LEY_PAIR_ENERGIES_ARGUMENTS))
{
    const size_t frame = LEY_GROUP_ID(1), block = LEY_GROUP_ID(0);
#if LEY_PERIODIC
    const image_cell cell = ley_image_cell(gm_cell, frame);
#else
    image_cell cell LEY_CLEARED;
#endif
#if LEY_WIDTH == 1
    LEY_LOCAL_VARIABLE float4 sm_position[BLOCK];
    LEY_LOCAL_VARIABLE int sm_type[BLOCK];
    LEY_LOCAL_VARIABLE float2 sm_table[LEY_LOCAL_TYPES > 0 ? LEY_LOCAL_TYPES * LEY_LOCAL_TYPES : 1];
    stage_table(gm_table, types, sm_table);
#endif
    sum_block(gm_position + frame * padded, cell, gm_type, gm_table, gm_first, gm_tile, gm_mask, gm_column, n, padded,
              types, columns, scale, numbers, series, gm_energy + frame * LEY_TERM_COUNT * padded,
              gm_parts + frame * LEY_COLUMN_COUNT * columns * padded, gm_force + frame * padded, block
#if LEY_WIDTH == 1
              ,
              sm_position, sm_type, sm_table
#endif
    );
}
