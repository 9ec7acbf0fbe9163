/* What the files of the law of energies share. */
#ifndef LEY_LAW_ENERGY_PARTS_H
#define LEY_LAW_ENERGY_PARTS_H

#include "law/energy.h"
#include "numerics/cell.h"

/* A frame, and what all its sums need. */
typedef struct energy_law {
    const energy_frame *frame;
    const ley_particles_arrays *of;
    const ley_energy_options *options;
    int64_t n;
    cell cell;    /* without periodic vectors where the frame has no cell */
    double kappa; /* of Born's salt, in 1/A */
} energy_law;

/* Errors: LEY_ERROR_INPUT for a cell that is none. */
ley_status energy_law_begin(const energy_frame *frame, energy_law *law, ley_error *error);

/* The shortest way from particle j, or its nearest image, to i; its square. */
double energy_way(const energy_law *law, int64_t i, int64_t j, double way_A[3]);

/* A function f of a distance r: its value, and -f'(r) / r, which times a way is a force. */
typedef struct energy_curve {
    double value, slope;
} energy_curve;

/* Sums over what one particle takes part in. */
typedef struct energy_sums {
    double energy[LEY_ENERGY_TERMS], absolute[LEY_ENERGY_TERMS], force[3];
    double *row; /* [LEY_ENERGY_TERMS][groups]: energies with particles of each group; NULL: not wanted */
} energy_sums;

/* Adds half of a pair's energy, as one with particle j, and its whole force. */
void energy_add_pair(const energy_law *law, int64_t j, ley_energy_term term, energy_curve pair, double absolute,
                     const double way_A[3], energy_sums *sums);

/* Adds an energy of particle i's own. */
void energy_add_own(const energy_law *law, int64_t i, ley_energy_term term, double energy, energy_sums *sums);

/* ---- energy_pairs.c -------------------------------------------------------------------------- */

/* Whether a kind has a distance where it begins to differ from the plain one. */
static inline bool energy_is_switched(ley_lennard_jones_kind kind)
{
    return kind >= LEY_LENNARD_JONES_SWITCHED;
}

/* What is in place of r^-power, 12 or 6, of a pair at r; 0 beyond the cutoff. */
energy_curve energy_lennard_jones(const ley_energy_options *options, int power, double r_A);

/* And of 1/r, but for Ewald's sum. */
energy_curve energy_coulomb(const ley_energy_options *options, double r_A);

/* Exclusions and pairs 1-4 of i, by particle: partner[k], first[i] <= k < first[i + 1]. */
typedef struct energy_partner {
    int64_t which, pair_14; /* pair_14: its number; -1: it is excluded alone */
} energy_partner;

typedef struct energy_partners {
    int64_t *first; /* [particles + 2] */
    energy_partner *partner;
} energy_partners;

ley_status energy_partners_create(const ley_particles_arrays *of, energy_partners **made, ley_error *error);
void energy_partners_destroy(energy_partners *partners); /* may be NULL */

/* Adds Lennard-Jones and Coulomb energies of i with all others. */
void energy_add_pairs(const energy_law *law, const energy_partners *partners, int64_t i, energy_sums *sums);

/* What cutoff and switch leave out of the plain energy, as if particles were spread evenly, per
 * particle of a type. */
void energy_tail(const energy_law *law, double *of_type);

/* ---- energy_ewald.c -------------------------------------------------------------------------- */

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

/* ---- energy_born.c --------------------------------------------------------------------------- */

/* What a particle's radius is made of: rho~ = rho - offset; the share of necks; the factors of tanh,
 * all 0: Hawkins, Cramer and Truhlar's B, without it. */
typedef struct energy_born_model {
    double offset_A, neck, factor[3];
} energy_born_model;
energy_born_model energy_born_model_of(const ley_particles_arrays *of, const ley_energy_options *options, int64_t i);

/* Particles that the model has no radii of. Errors: LEY_ERROR_INPUT. */
ley_status energy_born_check(const ley_particles_arrays *of, const ley_energy_options *options, ley_error *error);

/* How far pairs reach; 0: everywhere, or as far as the nearest image. */
double energy_born_reach(const ley_particles_arrays *of, const ley_energy_options *options);

/* Adds the Born energy of i; weight[j] is dE/dB times the change of B with the integral of j,
 * which energy_born_weight() gives. */
void energy_add_born(const energy_law *law, const double *radii, const double *weight, int64_t i, energy_sums *sums);
double energy_born_weight(const energy_law *law, int64_t i, double radius_A, double slope);

/* ---- energy_surface.c ------------------------------------------------------------------------ */

/* Areas of some particles, and the slopes of the whole area by where these are. Errors:
 * LEY_ERROR_MEMORY. */
typedef struct energy_surface energy_surface;
ley_status energy_surface_create(const energy_law *law, int64_t count, const int64_t *particle, energy_surface **made,
                                 ley_error *error);
void energy_surface_destroy(energy_surface *surface); /* may be NULL */
void energy_add_surface(const energy_law *law, const energy_surface *surface, int64_t i, energy_sums *sums);

#endif
