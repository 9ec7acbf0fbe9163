/* Boxes of three-site water, molecule by molecule. Device-free and without state: what leyden.h
 * says of them is made here. */
#ifndef LEY_WATERBOX_H
#define LEY_WATERBOX_H

#include "leyden.h"

enum { WATER_SITES = 3 };

/* Of O, H and H. */
extern const double water_charge_e[WATER_SITES], water_radius_A[WATER_SITES];

typedef struct waterbox {
    uint64_t seed;
    int64_t molecules, grid[3]; /* cells along x, y, z; no fewer than molecules */
    double side_A, cell_A[3];
    double disorder_A;
    double across_A, along_A; /* from O to H, across and along the molecule's axis of symmetry */
} waterbox;

/* Whether there are boxes of so many atoms. */
ley_status waterbox_check(int64_t atoms, ley_error *error);

/* Of at least one molecule, and of fewer than 2^31 / 3. */
void waterbox_prepare(waterbox *box, int64_t molecules, uint64_t seed, double disorder_A);

/* O, H, H of molecule k, counted from 0. */
void waterbox_molecule(const waterbox *box, int64_t k, double position_A[3 * WATER_SITES]);

#endif
