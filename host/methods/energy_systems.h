/* Particles for benchmarks of energies, and frames of them. */
#ifndef LEY_METHODS_ENERGY_SYSTEMS_H
#define LEY_METHODS_ENERGY_SYSTEMS_H

#include "leyden.h"

typedef struct energy_system {
    int64_t count;
    int frames;
    ley_particles *particles;
    float *position_A; /* [frames][count][3] */
    double *cell_A;    /* [frames][3][3]; NULL: not periodic */
} energy_system;

/* Molecules of three atoms like TIP3P's water, with excluded pairs, on a jittered lattice in a
 * rectangular cell: as many as there is room for, `atoms` at most. On failure
 * energy_system_clear() ends what there is, as of the next. */
ley_status energy_system_liquid(int64_t atoms, const double edge_A[3], int frames, energy_system *made,
                                ley_error *error);

/* A ball as dense as a protein: a chain of particles with charges, radii of OBC2, and residues of
 * 16. */
ley_status energy_system_protein(int64_t atoms, int frames, energy_system *made, ley_error *error);

/* Some of its particles, from `first` on, in the same frames. */
ley_status energy_system_part(const energy_system *of, int64_t first, int64_t count, energy_system *made,
                              ley_error *error);

void energy_system_clear(energy_system *s);

#endif
