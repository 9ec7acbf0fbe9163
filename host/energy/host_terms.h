/* What the host adds to energies of devices: tails of Lennard-Jones energies, surfaces. */
#ifndef LEY_ENERGY_HOST_TERMS_H
#define LEY_ENERGY_HOST_TERMS_H

#include "energy/state.h"

/* To the staging of a batch that has ended. Errors: LEY_ERROR_MEMORY. */
ley_status energy_add_host_terms(ley_energy *e, energy_batch *batch, ley_error *error);

/* The tail of a particle, kcal/mol, where problem->tail is not NULL. */
double energy_tail_of(const energy_problem *problem, const double *cell_A, int64_t particle);

#endif
