/* leyden: particles of molecular mechanics: charges, Lennard-Jones types, exclusions, Born radii.
 * leyden.h, which has the conventions, includes this; docs/energies.md has the formulas. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_PARTICLES_H)
#define LEYDEN_PARTICLES_H

#ifdef __cplusplus
extern "C" {
#endif

/* What a force field says of N particles, without their positions. Immutable once made. */
typedef struct ley_particles ley_particles;

/* Energies are in kcal/mol, lengths in A, charges in e. Particles i and j of types s and t at a
 * distance r have the Lennard-Jones energy a_st / r^12 - b_st / r^6; with sigma and epsilon that is
 * a = 4 epsilon sigma^12, b = 4 epsilon sigma^6.
 *
 * Pairs of `exclusions` have neither Lennard-Jones nor Coulomb energy. Those of `pairs_14` have
 * their own, scaled already, in place of it, without cutoff; no pair may be in both lists, and none
 * twice. Generalised Born energies and surfaces know no exclusions. */
typedef struct ley_particles_arrays {
    size_t size; /* sizeof(ley_particles_arrays) */
    int64_t particles, types, exclusions, pairs_14, residues;
    const double *charges;            /* [particles] */
    const int32_t *type;              /* [particles], from 0 */
    const double *lennard_jones_a;    /* [types][types], symmetric: kcal/mol A^12; not negative */
    const double *lennard_jones_b;    /* [types][types], symmetric: kcal/mol A^6; not negative */
    const int32_t (*exclusion)[2];    /* [exclusions], from 0 */
    const int32_t (*pair_14)[2];      /* [pairs_14] */
    const double *pair_14_charges;    /* [pairs_14]: products of charges, scaled, e^2 */
    const double *pair_14_a;          /* [pairs_14] */
    const double *pair_14_b;          /* [pairs_14] */
    const double *masses;             /* [particles], g/mol; NULL: unknown */
    const int32_t *elements;          /* [particles], atomic numbers, 0: none; NULL: unknown */
    const double *born_radii;         /* [particles], intrinsic radii rho; NULL: unknown */
    const double *born_screens;       /* [particles], of pairwise descreening; NULL: unknown */
    const double (*born_factors)[3];  /* [particles]: alpha, beta, gamma of GBn2; NULL: unknown */
    const double *surface_radii;      /* [particles], of van der Waals, without the probe; 0: takes no part in
                                         surfaces, as hydrogen in LCPO; NULL: unknown */
    const double (*lcpo_factors)[4];  /* [particles]: P1 to P4 of LCPO; NULL: unknown */
    const int32_t *residue;           /* [particles], from 0; NULL: unknown */
    const int32_t *residue_numbers;   /* [residues]; NULL: 1, 2, ... */
    const char *const *residue_names; /* [residues]; NULL: unknown */
    const char *const *chains;        /* [residues]; NULL: unknown */
    const char *const *names;         /* [particles]; NULL: unknown */
} ley_particles_arrays;

/* Copies the arrays. Errors: LEY_ERROR_INPUT, with the particle, pair or type, counted from 1, when
 * a number is not finite, a charge is beyond 1e6 e, a or b negative or above 1e30, a radius
 * negative or above 1e3 A, a type or particle is not there, a pair is of one particle with itself
 * or given twice, a table is not symmetric, a name has more than 63 letters or others than
 * ASCII's, or counts do not fit; LEY_ERROR_MEMORY; LEY_ERROR_USAGE. */
LEY_API ley_status ley_particles_create(const ley_particles_arrays *arrays, ley_particles **particles,
                                        ley_error *error);
LEY_API void ley_particles_destroy(ley_particles *particles);

/* Its arrays, which are the particles'. What is unknown is NULL. */
LEY_API ley_particles_arrays ley_particles_get(const ley_particles *particles);

/* Some of the particles by themselves, in the order of `index` [count], from 0, none twice, with
 * the pairs among them: a ligand, or what a complex is without it. Errors: LEY_ERROR_USAGE;
 * LEY_ERROR_MEMORY. */
LEY_API ley_status ley_particles_subset(const ley_particles *particles, const int64_t *index, int64_t count,
                                        ley_particles **subset, ley_error *error);

/* Reads and writes the container of docs/formats.md: arrays of these names in an .npz file, as
 * numpy.savez() writes it. Errors: LEY_ERROR_FILE; LEY_ERROR_INPUT with "file: member: what", and
 * those of ley_particles_create(). A file appears under its name only when it is whole. */
LEY_API ley_status ley_particles_read(const char *path, ley_particles **particles, ley_error *error);
LEY_API ley_status ley_particles_write(const ley_particles *particles, const char *path, const volatile bool *cancel,
                                       ley_error *error);

/* How sigma and epsilon of two types make those of the pair. */
typedef enum ley_mixing_rule {
    LEY_MIXING_LORENTZ_BERTHELOT, /* mean sigma, geometric mean of epsilon: Amber, CHARMM */
    LEY_MIXING_GEOMETRIC,         /* geometric means of both: OPLS */
    LEY_MIXING_WALDMAN_HAGLER,    /* sigma^6 the mean of sixth powers, epsilon by sigma^3: M. Waldman and A. T.
                                     Hagler, J. Comput. Chem. 14, 1077 (1993) */
    LEY_MIXING_RULES
} ley_mixing_rule;

/* The tables, a and b [types][types], of types with sigma (A) and epsilon (kcal/mol). Errors:
 * LEY_ERROR_INPUT for what is not finite or negative; LEY_ERROR_USAGE. */
LEY_API ley_status ley_lennard_jones_table(int64_t types, const double *sigma_A, const double *epsilon,
                                           ley_mixing_rule rule, double *a, double *b, ley_error *error);

#ifdef __cplusplus
}
#endif
#endif
