/* The law of Ewald's sum. */
#ifndef LEY_LAW_ENERGY_EWALD_H
#define LEY_LAW_ENERGY_EWALD_H

#include "law/energy_pairs.h"

/* Ewald's sum over all images, which does not depend on where it is split: of all charges, to be
 * taken at so many of them. Errors: LEY_ERROR_MEMORY; LEY_ERROR_INPUT for a cell that is too
 * oblique. */
typedef struct energy_ewald energy_ewald;
ley_status energy_ewald_create(const energy_law *law, int64_t points, energy_ewald **made, ley_error *error);
void energy_ewald_destroy(energy_ewald *ewald); /* may be NULL */

/* Adds the energy of i in the potential of all others and their images, and of its own images, but
 * for the nearest images of its partners. */
void energy_add_ewald(const energy_law *law, const energy_ewald *ewald, const energy_partners *partners, int64_t i,
                      energy_sums *sums);

#endif
