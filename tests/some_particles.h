/* Particles that tests of energies share. */
#ifndef LEY_SOME_PARTICLES_H
#define LEY_SOME_PARTICLES_H

#include "support.h"

/* A chain of particles at random places of a cube, 2 A apart at least: charges, types of which one
 * has no Lennard-Jones energy, exclusions, pairs 1-4, radii of generalised Born and of surfaces, of
 * which some are 0, a negative screen here and there. */
typedef struct some_particles {
    ley_particles_arrays arrays;
    float *position_A; /* [particles][3], multiples of 2^-12 A */
    void *memory;
} some_particles;

void some_particles_make(some_particles *p, int64_t particles, double edge_A, unsigned seed);
void some_particles_clear(some_particles *p);

/* tests/data/protein.npz and .npy, which compare_energies.py --write makes; positions are for
 * free(). */
ley_particles *some_particles_read(float **position_A);

#endif
