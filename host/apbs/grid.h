/* The grids of an ELEC section, as APBS will set them up. */
#ifndef LEY_APBS_GRID_H
#define LEY_APBS_GRID_H

#include "apbs/input.h"

/* Fills in elec[] once the molecules are there. */
ley_status ley_apbs_place(ley_apbs_input *input, ley_error *error);

#endif
