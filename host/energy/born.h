/* Generalised Born energies on a device: radii, energies and slopes, forces, in three passes over
 * all pairs. */
#ifndef LEY_ENERGY_BORN_H
#define LEY_ENERGY_BORN_H

#include "energy/module.h"

extern const energy_module energy_born;

/* What a pass over pairs is timed as, of the steps of a sequence. */
enum { BORN_STEP = 4 };

#endif
