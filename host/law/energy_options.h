/* Which options, particles and frames have energies. */
#ifndef LEY_LAW_ENERGY_OPTIONS_H
#define LEY_LAW_ENERGY_OPTIONS_H

#include "law/energy_frame.h"

extern const ley_parameter_table energy_parameters;

/* Options that are out of range, that do not go together, or that need what the particles lack.
 * Errors: LEY_ERROR_USAGE; LEY_ERROR_INPUT. */
ley_status energy_law_check(const ley_particles_arrays *particles, const ley_energy_options *options, ley_error *error);

/* A position that is not a number or beyond 1e6 A, with the particle, counted from 1; a cell that
 * is missing, or narrower than twice the cutoff. Errors: LEY_ERROR_INPUT. */
ley_status energy_law_check_frame(const energy_frame *frame, ley_error *error);

#endif
