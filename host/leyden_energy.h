/* leyden: energies and forces of particles, frame after frame. leyden.h, which has the conventions,
 * includes this; docs/energies.md has the formulas. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_ENERGY_H)
#define LEYDEN_ENERGY_H

#include "leyden_particles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The terms of an energy, each in kcal/mol. */
typedef enum ley_energy_term {
    LEY_ENERGY_LENNARD_JONES,
    LEY_ENERGY_LENNARD_JONES_14, /* of ley_particles_arrays.pair_14 */
    LEY_ENERGY_COULOMB,          /* with what a periodic sum or a reaction field adds to it */
    LEY_ENERGY_COULOMB_14,
    LEY_ENERGY_BORN,    /* generalised Born */
    LEY_ENERGY_SURFACE, /* tension times surface area, and an offset */
    LEY_ENERGY_TERMS
} ley_energy_term;

/* Lennard-Jones energies within a cutoff c, which is LEY_LENNARD_JONES_PLAIN's, too, if there is
 * one; s: where switching begins. */
typedef enum ley_lennard_jones_kind {
    LEY_LENNARD_JONES_NONE,
    LEY_LENNARD_JONES_PLAIN,           /* cut off */
    LEY_LENNARD_JONES_SHIFTED,         /* less its value at c: GROMACS's Potential-shift */
    LEY_LENNARD_JONES_SWITCHED,        /* times 1 - 10 x^3 + 15 x^4 - 6 x^5, x = (r - s)/(c - s): OpenMM, and
                                          GROMACS's Potential-switch */
    LEY_LENNARD_JONES_SWITCHED_CHARMM, /* times (c^2 - r^2)^2 (c^2 + 2 r^2 - 3 s^2) / (c^2 - s^2)^3: CHARMM, NAMD */
    LEY_LENNARD_JONES_FORCE_SWITCHED_CHARMM,  /* P. J. Steinbach and B. R. Brooks, J. Comput. Chem. 15, 667 (1994):
                                                 CHARMM's vfswitch */
    LEY_LENNARD_JONES_FORCE_SWITCHED_GROMACS, /* GROMACS's Force-switch */
    LEY_LENNARD_JONES_KINDS
} ley_lennard_jones_kind;

/* Coulomb energies C q q' / (eps r) of pairs. */
typedef enum ley_coulomb_kind {
    LEY_COULOMB_NONE,
    LEY_COULOMB_PLAIN,          /* cut off, if there is a cutoff */
    LEY_COULOMB_SHIFTED,        /* less the value at c: GROMACS's Potential-shift */
    LEY_COULOMB_SHIFTED_CHARMM, /* times (1 - (r/c)^2)^2: CHARMM's shift, NAMD without PME */
    LEY_COULOMB_REACTION_FIELD, /* C q q' (1/r + k r^2 - h), k = (e - 1)/((2 e + 1) c^3), h = 3 e/((2 e + 1) c),
                                   within c; e: reaction_dielectric, 0: conducting. Exceptions of the list 1-4 have
                                   plain energies, excluded pairs none: OpenMM */
    LEY_COULOMB_EWALD,          /* periodic, with a conducting boundary: erfc in pairs within c, the rest by a particle
                                   mesh (U. Essmann et al., J. Chem. Phys. 103, 8577 (1995)); a net charge has a
                                   uniform background */
    LEY_COULOMB_KINDS
} ley_coulomb_kind;

/* Generalised Born, by the way effective radii B are computed; Amber's igb in parentheses. */
typedef enum ley_born_kind {
    LEY_BORN_NONE,
    LEY_BORN_HCT,  /* (1) G. D. Hawkins, C. J. Cramer and D. G. Truhlar, J. Phys. Chem. 100, 19824 (1996) */
    LEY_BORN_OBC1, /* (2) A. Onufriev, D. Bashford and D. A. Case, Proteins 55, 383 (2004) */
    LEY_BORN_OBC2, /* (5) the same */
    LEY_BORN_GBN,  /* (7) J. Mongan et al., J. Chem. Theory Comput. 3, 156 (2007) */
    LEY_BORN_GBN2, /* (8) H. Nguyen, D. R. Roe and C. Simmerling, J. Chem. Theory Comput. 9, 2020 (2013) */
    LEY_BORN_KINDS
} ley_born_kind;

typedef enum ley_surface_kind {
    LEY_SURFACE_NONE,
    LEY_SURFACE_LCPO,      /* J. Weiser, P. S. Shenkin and W. C. Still, J. Comput. Chem. 20, 217 (1999) */
    LEY_SURFACE_NUMERICAL, /* of spheres of radius surface_radii + probe, by points on each: A. Shrake and J. A.
                              Rupley, J. Mol. Biol. 79, 351 (1973). It has no forces */
    LEY_SURFACE_KINDS
} ley_surface_kind;

/* C in kcal/mol A / e^2, as programs have it. */
#define LEY_COULOMB_CONSTANT_AMBER 332.05221729
#define LEY_COULOMB_CONSTANT_CHARMM 332.0716
#define LEY_COULOMB_CONSTANT_NAMD 332.0636
#define LEY_COULOMB_CONSTANT_OPENMM 332.06371 /* 138.935456 kJ/mol nm / e^2 and 4.184 J a calorie */

typedef struct ley_energy_options {
    size_t size; /* sizeof(ley_energy_options): ley_energy_options_default() sets it */
    double coulomb_constant;
    double dielectric; /* of the solute: Coulomb energies are divided by it; also Born's eps_p */

    ley_lennard_jones_kind lennard_jones;
    ley_coulomb_kind coulomb;
    double cutoff_A;      /* of both; 0: none */
    double switch_A;      /* where switching begins */
    bool tail_correction; /* Lennard-Jones energy beyond the cutoff, as if particles were spread evenly; periodic */
    double reaction_dielectric; /* 0: conducting */
    double ewald_tolerance;     /* relative root mean square error of forces: [1e-6, 1e-2]; floats reach 6e-6 */

    ley_born_kind born;
    double solvent_dielectric;
    double salt_M, temperature_K; /* kappa = sqrt(8 pi C N_A I / (eps_s k T)), as APBS's; 0: no salt */
    double born_cutoff_A;         /* of pairs of Born's energies and integrals; 0: none */
    bool born_taper;              /* NAMD's: integrals go smoothly to 0 at born_cutoff_A, B is at most born_most_A */
    double born_most_A;

    ley_surface_kind surface;
    double tension; /* kcal/mol/A^2 */
    double offset;  /* kcal/mol */
    double probe_A;

    bool forces, by_particle;
    int32_t groups;       /* matrix of energies between groups of particles, */
    const int32_t *group; /* [particles]: its group, from 0; -1: none. Copied */

    int64_t verify_every; /* frames: one of so many is verified for 16 particles in double precision; the first one is
                             always; 0: none */
} ley_energy_options;

/* Amber's constant, dielectric 1; plain Lennard-Jones and Coulomb energies without cutoff;
 * conducting reaction field, Ewald tolerance 1e-4; no Born energies, 78.5, no salt, 300 K, NAMD's
 * 30 A; no surface, 0.0072 kcal/mol/A^2, no offset, 1.4 A; one of 256 frames is verified. */
LEY_API void ley_energy_options_default(ley_energy_options *options);

/* Energies of frames of the same particles, prepared: kernels, buffers, lists. */
typedef struct ley_energy ley_energy;

/* Particles and options are copied; the engine must outlive this. NULL: the fastest device is
 * opened. Errors: LEY_ERROR_USAGE for options out of range or that do not go together (switching
 * without a cutoff, Ewald's sum and Born energies, ...); LEY_ERROR_INPUT where the particles lack
 * what the options need, which is named; those of ley_engine_create(). */
LEY_API ley_status ley_energy_create(ley_engine *engine, const ley_particles *particles,
                                     const ley_energy_options *options, ley_energy **energy, ley_error *error);

/* Where results go; arrays that are NULL are not wanted, and those that the options have not asked
 * for must be. Energies of pairs count half for each of the two, in by_particle and in matrix: the
 * sum of each is the term. Two different groups' interaction is therefore twice their element. */
typedef struct ley_energy_results {
    size_t size;         /* sizeof(ley_energy_results) */
    double *terms;       /* [frames][LEY_ENERGY_TERMS] */
    double *by_particle; /* [frames][LEY_ENERGY_TERMS][particles] */
    double *matrix;      /* [frames][LEY_ENERGY_TERMS][groups][groups] */
    float *forces;       /* [frames][particles][3], kcal/mol/A, of all terms together */
    double *born_radii;  /* [frames][particles], A: the effective ones */
} ley_energy_results;

/* Frames: float32 [frames][particles][3] in A, and the cells' vectors, float64 [frames][3][3] in A,
 * or NULL: nothing is periodic. The same frame has the same bytes each time on the same device;
 * with Ewald's sum where cells do not grow: the mesh of a larger one serves smaller ones, too.
 * Errors: LEY_ERROR_INPUT for a position that is not a number, or beyond 1e6 A, with the frame,
 * counted from 1 over all that were run, and the particle; for a cell narrower than twice the
 * cutoff; for two particles at the same place whose energy is infinite; LEY_ERROR_WRONG_RESULT
 * where a frame, which is named, has failed its verification on every device; LEY_ERROR_MEMORY;
 * LEY_CANCELLED. */
LEY_API ley_status ley_energy_run(ley_energy *energy, int64_t frames, const float *position_A, const double *cell_A,
                                  ley_energy_results *results, ley_error *error);

/* Asks a run to stop soon. Async-signal-safe. */
LEY_API void ley_energy_cancel(ley_energy *energy);

typedef struct ley_energy_totals {
    int64_t frames, checked_frames, checked_particles;
    double energy_error, force_error; /* largest deviation of what was checked from the double-precision reference: of
                                         a particle's energy as a share of the sum of its absolute terms, and of a
                                         force as a share of the root mean square force */
    int64_t lists;                    /* of pairs that were made, fewer than frames where these share them; 0: none is
                                         needed */
    double splitting_per_A;           /* of Ewald's sum, */
    int64_t mesh[3];                  /* and its mesh */
    double seconds, device_seconds;   /* of all runs */
    int devices, failed;              /* that took frames; of them, those that failed */
    char device[128];                 /* their names */
} ley_energy_totals;

LEY_API void ley_energy_get_totals(const ley_energy *energy, ley_energy_totals *totals);
LEY_API void ley_energy_destroy(ley_energy *energy);

#ifdef __cplusplus
}
#endif
#endif
