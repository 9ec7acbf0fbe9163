/* The law of Lennard-Jones and Coulomb energies of pairs. */
#ifndef LEY_LAW_ENERGY_PAIRS_H
#define LEY_LAW_ENERGY_PAIRS_H

#include "law/energy_parts.h"

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

#endif
