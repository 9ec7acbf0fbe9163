#include "methods/dcs/pack.h"

#include "layout/cells.h"

#include <math.h>
#include <string.h>

typedef struct placed_atom {
    float offset_A[3], charge;
    int32_t cell[4];
} placed_atom;

dcs_packing dcs_packing_of(const dcs_spec *spec)
{
    if (spec->sum == LEY_SPEC_SUM_DOUBLE)
        return DCS_PACK_DOUBLE;
    return LEY_ATOMS_ARE_PLACED(spec->atoms, spec->sum) ? DCS_PACK_PLACED : DCS_PACK_FLOAT;
}

size_t dcs_packed_bytes(dcs_packing packing)
{
    static const size_t bytes[] = {[DCS_PACK_FLOAT] = 4 * sizeof(float),
                                   [DCS_PACK_DOUBLE] = 4 * sizeof(double),
                                   [DCS_PACK_PLACED] = sizeof(placed_atom)};
    return bytes[packing];
}

/* Of a grid whose steps share axes, a cell of the grid itself: the atom's own may be so many steps
 * off a nearly flat grid that they cancel each other to nothing. */
static double nearest_cell(double along_A, const ley_grid *grid, int m)
{
    const double cell = cells_nearest(along_A, grid->step_A[m][m]);
    bool shares = false;
    for (int axis = 0; axis < m; axis++)
        shares = shares || grid->step_A[m][axis] != 0;
    return shares ? fmin(fmax(cell, 0), (double)(grid->n[m] - 1)) : cell;
}

static placed_atom place(const double position_A[3], double charge, const ley_grid *grid)
{
    placed_atom placed = {.charge = (float)charge};
    double left_A[3] = {position_A[0], position_A[1], position_A[2]};
    for (int m = 2; m >= 0; m--) { /* steps are along x; along x and y; along all axes */
        const double cell = nearest_cell(left_A[m], grid, m);
        placed.cell[m] = (int32_t)cell;
        for (int axis = 0; axis <= m; axis++)
            left_A[axis] -= cell * grid->step_A[m][axis];
    }
    for (int axis = 0; axis < 3; axis++)
        placed.offset_A[axis] = (float)left_A[axis];
    return placed;
}

void dcs_pack(dcs_packing packing, const ley_atoms *atoms, const ley_grid *grid, double coulomb_constant, void *packed)
{
    dcs_pack_some(packing, atoms, 0, ley_atoms_count(atoms), grid, coulomb_constant, packed);
}

void dcs_pack_some(dcs_packing packing, const ley_atoms *atoms, size_t first, size_t count, const ley_grid *grid,
                   double coulomb_constant, void *packed)
{
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    for (size_t i = first; i < first + count; i++) {
        double atom[4];
        for (size_t axis = 0; axis < 3; axis++)
            atom[axis] = position_A[3 * i + axis] - grid->origin_A[axis];
        atom[3] = charge_e[i] * coulomb_constant;
        switch (packing) {
        case DCS_PACK_FLOAT:
            for (size_t k = 0; k < 4; k++)
                ((float *)packed)[4 * i + k] = (float)atom[k];
            break;
        case DCS_PACK_DOUBLE:
            memcpy((double *)packed + 4 * i, atom, sizeof atom);
            break;
        case DCS_PACK_PLACED:
            ((placed_atom *)packed)[i] = place(atom, atom[3], grid);
            break;
        }
    }
}
