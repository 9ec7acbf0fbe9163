/* Frames of devices against the law in double precision. */
#ifndef LEY_ENERGY_VERIFY_H
#define LEY_ENERGY_VERIFY_H

#include "energy/state.h"

/* A frame of a batch that has ended: energies, forces, Born radii and slopes of some particles.
 * `quantum` is the device's (part.h). The totals get its deviations. Errors:
 * LEY_ERROR_WRONG_RESULT, LEY_ERROR_MEMORY. */
ley_status energy_verify(ley_energy *e, const energy_batch *batch, int frame, double quantum, ley_error *error);

#endif
