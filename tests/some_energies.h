/* Particles for tests and benchmarks of energies. */
#ifndef LEY_SOME_ENERGIES_H
#define LEY_SOME_ENERGIES_H

#include "leyden.h"

#include <stdbool.h>

/* A lump of particles on a jittered lattice, in residues of 15, whose neighbours in the list are
 * excluded, or pairs 1-4 where they are three apart; some pairs that are far from each other are
 * excluded, too. There are Born radii as well. NULL: no memory. */
ley_particles *some_particles(int64_t count, int64_t types, unsigned seed);

/* Positions of so many frames, [frames][count][3], for free(). `spacing_A`: of the lattice, whose
 * middle is somewhere. */
float *some_positions(int64_t count, int64_t frames, double spacing_A, unsigned seed);

/* The width of the lattice, A. */
double some_width_A(int64_t count, double spacing_A);

#endif
