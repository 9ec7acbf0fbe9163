/* Which cell of the grid each atom of a frame is in, and how many are in each. Work-groups have
 * LEY_WG atoms, and those of a cell that a work-group has are an entry of that cell's list, in no
 * order; or, with a LEY_WG of 1, a work-item alone has a part of the atoms, and counts of its own.
 *
 * gm_position  [frames][n_atoms][3] A
 * gm_weight    [n_atoms]; atoms of weight 0 are in no cell
 * size         nodes of the grid along x, y, z; fourth, parts
 * cells        along x, y, z, of LEY_DENSITY_CELL nodes; fourth, all of them. Atoms beside the
 *              grid are in the nearest one
 * reach        in how many nodes along x, y, z atoms may be; those that reach no node are in no
 *              cell
 * numbers      see fit_place.h
 * gm_cell      [frames][n_atoms]; -1: in none
 * gm_count     [frames][cells * parts + 1] atoms of each cell, with a LEY_WG of 1 of each part;
 *              the last one becomes LEY_FIT_COUNTED; then, of lists, [frames][cells] 1 + the first
 *              atom of the list's first entry; 0: there is none. All 0 beforehand
 * gm_next      [frames][n_atoms] of an entry's first atom: 1 + that of the next entry, or 0, and
 *              how many atoms it has
 * gm_rank      [frames][n_atoms] the work-item that has the first atom of the entry, and LEY_WG
 *              times how many of its atoms are before this one
 *
 * Work-groups: of a frame's atoms, or parts; and frames. */
#if !defined(LEY_WG)
#error "the specification is incomplete: see LEY_FIT_CELLS_KEYS in spec.h"
#endif
#include "dialect.h"

#include "fit_place.h"

LEY_FN int cell_along(float at, int size)
{
    return (int)LEY_MIN(LEY_MAX(at, 0.0f), (float)(size - 1)) / LEY_DENSITY_CELL;
}

LEY_FN bool is_along(float at, int size, float reach)
{
    return at >= -reach && at <= (float)(size - 1) + reach;
}

LEY_FN int find_cell(LEY_GLOBAL const float *gm_position, size_t i, float weight, int4 size, int4 cells, atom reach,
                     LEY_REFERENCE(sixteen) numbers)
{
    const float4 at = ley_fit_place(gm_position, i, numbers);
    return weight != 0 && is_along(at.x, size.x, reach.x) && is_along(at.y, size.y, reach.y) &&
                   is_along(at.z, size.z, reach.z)
               ? (cell_along(at.z, size.z) * cells.y + cell_along(at.y, size.y)) * cells.x + cell_along(at.x, size.x)
               : -1;
}

LEY_KERNEL_OF(LEY_WG, 1, 1) fit_cells(LEY_PARAMETERS(LEY_FIT_CELLS_ARGUMENTS))
{
    const size_t frame = LEY_GROUP_ID(1), first = frame * n_atoms;
#if LEY_WG == 1
    const int parts = size.w, part = (int)LEY_GROUP_ID(0);
    LEY_GLOBAL int *gm_own = gm_count + frame * ((size_t)cells.w * parts + 1) + part;
    if (part == 0)
        gm_own[(size_t)cells.w * parts] = LEY_FIT_COUNTED;
    for (int i = LEY_FIRST_OF_PART(n_atoms, parts, part); i < LEY_FIRST_OF_PART(n_atoms, parts, part + 1); i++) {
        const int cell = find_cell(gm_position, first + i, gm_weight[i], size, cells, reach, numbers);
        gm_cell[first + i] = cell;
        if (cell >= 0)
            gm_own[(size_t)cell * parts]++;
    }
#else
    LEY_LOCAL_VARIABLE int sm_cell[LEY_WG];
    const int item = LEY_LOCAL_ID(0), i = (int)LEY_GROUP_ID(0) * LEY_WG + item;
    const int cell =
        i < n_atoms ? find_cell(gm_position, first + i, gm_weight[i], size, cells, reach, numbers) : -1;
    int leader = item, before = 0, all = 0;
    sm_cell[item] = cell;
    LEY_BARRIER();
    for (int k = LEY_WG - 1; k >= 0; k--)
        if (sm_cell[k] == cell) {
            leader = k;
            all++;
            before += k < item ? 1 : 0;
        }
    if (i == 0)
        gm_count[frame * ((size_t)cells.w + 1) + cells.w] = LEY_FIT_COUNTED;
    if (i >= n_atoms)
        return;
    gm_cell[first + i] = cell;
    gm_rank[first + i] = leader + LEY_WG * before;
    if (cell < 0 || before > 0)
        return;
    LEY_GLOBAL int *gm_head = gm_count + LEY_GROUPS(1) * ((size_t)cells.w + 1);
    LEY_ATOMIC_ADD(&gm_count[frame * ((size_t)cells.w + 1) + cell], all);
    int2 entry;
    entry.x = LEY_ATOMIC_EXCHANGE(&gm_head[frame * cells.w + cell], i + 1);
    entry.y = all;
    gm_next[first + i] = entry;
#endif
}
