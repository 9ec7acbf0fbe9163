/* Atoms as the DCS kernels read them. */
#ifndef LEY_DCS_PACK_H
#define LEY_DCS_PACK_H

#include "leyden.h"
#include "methods/dcs/tuning.h"

typedef enum dcs_packing {
    DCS_PACK_FLOAT,  /* float {x, y, z, q}, A relative to the grid origin */
    DCS_PACK_DOUBLE, /* the same in double */
    DCS_PACK_PLACED  /* float {offset x, y, z, q}, int {cell x, y, z, 0}: position = cells' steps + offset */
} dcs_packing;

/* How a kernel of this specification wants them. */
dcs_packing dcs_packing_of(const dcs_spec *spec);

/* Bytes per atom. */
size_t dcs_packed_bytes(dcs_packing packing);

/* Packs `count` atoms from `first` on to where all are packed; charges are multiplied by the
 * Coulomb constant. */
void dcs_pack_some(dcs_packing packing, const ley_atoms *atoms, size_t first, size_t count, const ley_grid *grid,
                   double coulomb_constant, void *packed);

/* Packs all atoms. */
void dcs_pack(dcs_packing packing, const ley_atoms *atoms, const ley_grid *grid, double coulomb_constant, void *packed);

#endif
