/* The law of generalised Born energies. */
#ifndef LEY_LAW_ENERGY_BORN_H
#define LEY_LAW_ENERGY_BORN_H

#include "law/energy_parts.h"

/* What a particle's radius is made of: rho~ = rho - offset; the share of necks; the factors of
 * tanh, all 0: Hawkins, Cramer and Truhlar's B, without it. */
typedef struct energy_born_model {
    double offset_A, neck, factor[3];
} energy_born_model;
energy_born_model energy_born_model_of(const ley_particles_arrays *of, const ley_energy_options *options, int64_t i);

/* Particles that the model has no radii of. Errors: LEY_ERROR_INPUT. */
ley_status energy_born_check(const ley_particles_arrays *of, const ley_energy_options *options, ley_error *error);

/* How far pairs reach; 0: everywhere, or as far as the nearest image. */
double energy_born_reach(const ley_particles_arrays *of, const ley_energy_options *options);

/* The effective radius B of i, and the slope dE/dB, which needs the radii of all. */
double energy_born_radius(const energy_law *law, int64_t i);
double energy_born_slope(const energy_law *law, const double *radii, int64_t i);

/* Adds the Born energy of i; weight[j] is dE/dB times the change of B with the integral of j,
 * which energy_born_weight() gives. */
void energy_add_born(const energy_law *law, const double *radii, const double *weight, int64_t i, energy_sums *sums);
double energy_born_weight(const energy_law *law, int64_t i, double radius_A, double slope);

#endif
