/* The sum over a neighbourhood in columns along z, for lattice.cl: what work-groups and work-items
 * alone share. */
#ifndef LEY_LATTICE_COLUMNS_H
#define LEY_LATTICE_COLUMNS_H

/* Charges of the rows that are dy above and dy below a row of the region, added up: PLANES planes
 * of PITCH nodes along x, from DEPTH planes and HALO_X nodes before the region's first node on.
 * Left of the region there are whole sub-cubes. */
#define DEPTH LEY_COLUMN_DEPTH(LEY_RZ, LEY_UZ, LEY_WIDTH)
#define HALO_X LEY_ROUNDED_TO_4(LEY_RX)
#define PITCH (REGION_X + 2 * HALO_X)
#define PLANES (REGION_Z + 2 * DEPTH)

/* The table of weights: columns for each dx from FIRST_X on, of each dy from FIRST_Y on. */
#define ALONG_X LEY_ALONG(LEY_RX, LEY_MIRRORED)
#define HEAD LEY_WEIGHTS_HEAD(LEY_RY, LEY_MIRRORED)
#define COLUMN LEY_COLUMN(LEY_RZ, LEY_UZ, LEY_WIDTH, LEY_MIRRORED)
#define FIRST_X (LEY_MIRRORED ? 0 : -LEY_RX)
#define FIRST_Y (LEY_MIRRORED ? 0 : -LEY_RY)
#define COLUMN_AT(weights, dx, dy) ((weights) + HEAD + (((dy)-FIRST_Y) * ALONG_X + (dx)-FIRST_X) * COLUMN)

#endif
