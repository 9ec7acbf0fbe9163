/* Particles and options of energies, and what kernels have of them. */
#ifndef LEY_ENERGY_PROBLEM_H
#define LEY_ENERGY_PROBLEM_H

#include "leyden.h"

/* Places of particles in kernels' arrays are a multiple of this many, behind the last one come
 * some of no particle: they have no charge, and type `arrays.types`, of no Lennard-Jones energy. */
enum { ENERGY_PAD = 256 };

typedef struct energy_problem {
    ley_particles *particles; /* of its own, */
    ley_particles_arrays arrays;
    ley_energy_options law_options; /* as they were given, with a group of its own; */
    ley_energy_options options;     /* the same, where particles of no group are one group more, the last */

    /* Particles as kernels have them: by their group where there is a matrix, else as they come. */
    size_t count, padded;
    int32_t *order;        /* [padded]: the particle at a place; -1: none */
    int32_t *place;        /* [count]: and its place */
    float *charge;         /* [padded], e */
    int32_t *type;         /* [padded] */
    size_t types;          /* arrays.types, and one of nothing */
    float (*table)[2];     /* [types][types]: a and b, kcal/mol A^12 and A^6 */
    int32_t *first;        /* [padded + 1]: where the excluded partners of a place begin in */
    int32_t *excluded;     /* their places, in order: those of `exclusion` and of `pair_14` */
    double coulomb;        /* coulomb_constant / dielectric */
    double *tail;          /* [arrays.types]: tail of a particle times the cell's volume, kcal/mol A^3; NULL: none */
    int32_t *column_first; /* [options.groups + 1]: the first place of each group; NULL: no matrix */
} energy_problem;

/* Copies; the options have been checked. Errors: LEY_ERROR_MEMORY. problem_destroy() ends it also
 * then. */
ley_status energy_problem_make(energy_problem *p, const ley_particles *particles, const ley_energy_options *options,
                               ley_error *error);
void energy_problem_destroy(energy_problem *p);

/* Whether pairs are summed by lists, and not all of them one by one. */
bool energy_are_listed(const energy_problem *problem, bool is_periodic);

/* The term in whose place lists put Coulomb energies: with Ewald's sum aside, where Born's would
 * be, of which it has none, so that the term is no number unless the mesh's part is added, too. */
static inline ley_energy_term energy_pairs_place(const ley_energy_options *o)
{
    return o->coulomb == LEY_COULOMB_EWALD ? LEY_ENERGY_BORN : LEY_ENERGY_COULOMB;
}

#endif
