/* Results of frames, from a device's batches or from the host, to where the caller wants them. */
#ifndef LEY_ENERGY_STORE_H
#define LEY_ENERGY_STORE_H

#include "energy/state.h"

/* The terms that the options ask for: others are 0. */
bool energy_has_term(const energy_problem *problem, ley_energy_term term);

/* Those of a batch that has ended. by_host [frames]: those whose energies are too large for the
 * device, which the host has computed. Errors: LEY_ERROR_WRONG_RESULT: the device has left
 * something out; LEY_ERROR_INPUT: two particles are at the same place; LEY_ERROR_MEMORY. */
ley_status energy_store_batch(ley_energy *e, energy_batch *batch, bool *by_host, ley_error *error);

/* A frame's, by the host. Errors: LEY_ERROR_INPUT, with two particles that are at the same place,
 * one of which is looked for from this one on; LEY_ERROR_MEMORY. */
ley_status energy_store_host(ley_energy *e, int64_t frame, int64_t from, ley_error *error);

#endif
