/* What benchmarks of energies are compared with: plain loops in C on one core, as a textbook has
 * them. */
#ifndef LEY_METHODS_ENERGY_LOOPS_H
#define LEY_METHODS_ENERGY_LOOPS_H

#include "methods/energy_systems.h"

typedef struct energy_loop {
    double pairs, seconds;
    double lennard_jones, coulomb, born; /* kcal/mol */
} energy_loop;

/* Energies and forces of the first frame's pairs within a cutoff, of a liquid: by linked cells as
 * wide as the cutoff, each pair once, in floats. Lennard-Jones energies are cut off, Coulomb's have
 * a conducting reaction field. */
ley_status energy_loop_liquid(const energy_system *s, double cutoff_A, energy_loop *made, ley_error *error);

/* Energies of the first frame's pairs, all of them, without solvent and with OBC2's, in double
 * precision. */
ley_status energy_loop_protein(const energy_system *s, energy_loop *made, ley_error *error);

#endif
