/* The law of energies of particles, in double precision, from the formulas of docs/energies.md and
 * nothing else: every term, energies by particle and by groups, forces. It judges what devices
 * compute. */
#ifndef LEY_LAW_ENERGY_H
#define LEY_LAW_ENERGY_H

#include "law/energy_options.h"

/* All of a frame, as ley_energy_run() gives it, with forces in double (NULL: not wanted) in place
 * of those of the results. Errors: LEY_ERROR_MEMORY; LEY_ERROR_INPUT. */
ley_status energy_law_frame(const energy_frame *frame, ley_energy_results *results, double (*force)[3],
                            ley_error *error);

/* Effective Born radii B of some particles, and their Born slopes dE/dB, which need the radii of
 * all. */
void energy_law_radii(const energy_frame *frame, int64_t count, const int64_t *particle, double *radius);
void energy_law_slopes(const energy_frame *frame, const double *radii, int64_t count, const int64_t *particle,
                       double *slope);

/* Energies and forces of some particles, given the radii and slopes of all (NULL: no Born
 * energies): energies as in ley_energy_results.by_particle; `absolute`, if not NULL: sums of the
 * absolute values of their terms; `force`, if not NULL. In time proportional to count times
 * particles, but for Ewald's sum, whose waves are summed once for all. Errors: LEY_ERROR_MEMORY. */
ley_status energy_law_particles(const energy_frame *frame, const double *radii, const double *slopes, int64_t count,
                                const int64_t *particle, double (*energy)[LEY_ENERGY_TERMS],
                                double (*absolute)[LEY_ENERGY_TERMS], double (*force)[3], ley_error *error);

#endif
