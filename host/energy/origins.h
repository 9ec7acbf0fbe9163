/* Which frames of a run share a list of pairs: up to 64 that follow each other, in which no
 * particle is further than half of the list's buffer from where it is in the first of them, their
 * origin. That depends on the run's frames alone, whichever device does which of them. */
#ifndef LEY_ENERGY_ORIGINS_H
#define LEY_ENERGY_ORIGINS_H

#include "energy/state.h"

/* Finds the origin of a frame. Errors: LEY_ERROR_MEMORY. */
ley_status energy_origin_find(ley_energy *e, int64_t frame, energy_origin *found, ley_error *error);

/* Another run is to begin: that of before had so many frames. */
void energy_origins_forget(energy_origins *o, int64_t frames);

#endif
