/* Atoms of frames by cells, within a cell by their numbers: as atom_density.cl has them.
 *
 * gm_position, gm_weight, n_atoms, numbers  as in fit_cells.cl
 * gm_fall      where LEY_VARIED, [n_atoms], 1/A^2
 * cells, parts of a frame
 * gm_cell, gm_next, gm_rank  as fit_cells.cl has made them
 * gm_count     as well; with a LEY_WG of 1 counts are 0 afterwards. The last one becomes
 *              LEY_FIT_PLACED, if what came before has been done
 * gm_first     [frames][cells * parts + 1] sums of gm_count before each
 * gm_atoms     [frames][n_atoms] {x, y, z, weight}, in nodes
 * gm_falls     where LEY_VARIED, [frames][n_atoms]
 * gm_order     [frames][n_atoms] which atom of the frame it is
 *
 * What is behind a frame's last atom that is in a cell stays. Work-groups: those of
 * fit_cells.cl. */
#if !defined(LEY_WG) || !defined(LEY_VARIED)
#error "the specification is incomplete: see LEY_FIT_PLACE_KEYS in spec.h"
#endif
#include "dialect.h"

#include "fit_place.h"

LEY_KERNEL_OF(LEY_WG, 1, 1) fit_place(LEY_PARAMETERS(LEY_FIT_PLACE_ARGUMENTS))
{
    const size_t frame = LEY_GROUP_ID(1), first = frame * n_atoms;
    LEY_GLOBAL const int *gm_begin = gm_first + frame * ((size_t)cells * parts + 1);
    LEY_GLOBAL int *gm_last = gm_count + frame * ((size_t)cells * parts + 1) + (size_t)cells * parts;
    if (LEY_GROUP_ID(0) == 0 && LEY_LOCAL_ID(0) == 0 && gm_begin[(size_t)cells * parts] >= 0 &&
        *gm_last == LEY_FIT_COUNTED)
        *gm_last = LEY_FIT_PLACED;
#if LEY_WG == 1
    const int part = (int)LEY_GROUP_ID(0);
    LEY_GLOBAL int *gm_left = gm_count + frame * ((size_t)cells * parts + 1);
    for (int i = LEY_FIRST_OF_PART(n_atoms, parts, part + 1) - 1; i >= LEY_FIRST_OF_PART(n_atoms, parts, part); i--) {
        const int cell = gm_cell[first + i];
        if (cell < 0)
            continue;
        const size_t own = (size_t)cell * parts + part;
        const int slot = gm_begin[own] + --gm_left[own];
#else
    LEY_LOCAL_VARIABLE int sm_slot[LEY_WG];
    const int item = LEY_LOCAL_ID(0), i = (int)LEY_GROUP_ID(0) * LEY_WG + item;
    const int cell = i < n_atoms ? gm_cell[first + i] : -1, rank = cell >= 0 ? gm_rank[first + i] : 0;
    if (cell >= 0 && rank == item) { /* the first one of its entry */
        LEY_GLOBAL const int *gm_head = gm_count + LEY_GROUPS(1) * ((size_t)cells + 1);
        int begin = gm_begin[cell];
        for (int other = gm_head[frame * cells + cell]; other > 0;) {
            const int2 entry = gm_next[first + other - 1];
            begin += other - 1 < i ? entry.y : 0;
            other = entry.x;
        }
        sm_slot[item] = begin;
    }
    LEY_BARRIER();
    if (cell >= 0) {
        const int slot = sm_slot[rank % LEY_WG] + rank / LEY_WG;
#endif
        if (slot < 0 || slot >= n_atoms) /* the counts are of other atoms */
            return;
        const float4 at = ley_fit_place(gm_position, first + i, numbers);
        gm_atoms[first + slot] = LEY_FLOAT4(at.x, at.y, at.z, gm_weight[i]);
        gm_order[first + slot] = i;
#if LEY_VARIED
        gm_falls[first + slot] = gm_fall[i];
#endif
    }
}
