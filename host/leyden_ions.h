/* leyden: ions placed around a molecule, where the potential is best for them. leyden.h, which has
 * the conventions, includes this. */
#ifndef LEYDEN_H
#include "leyden.h"
#elif !defined(LEYDEN_IONS_H)
#define LEYDEN_IONS_H

#include "leyden_request.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A species of ions. */
typedef struct ley_ion_species {
    const char *name;          /* of atom and residue in files, at most 4 characters: "NA" */
    double charge_e, radius_A; /* the radius is for files alone */
    int64_t count;             /* how many are wanted, beside those that follow from the options */
} ley_ion_species;

/* Charge and radius of ions whose names are usual in force fields and files, as NA or SOD; false:
 * no ion is known by this name. Radii: CHARMM's, half of the distance of least energy. And their
 * names, i from 0; NULL behind the last. */
LEY_API bool ley_ion_species_find(const char *name, double *charge_e, double *radius_A);
LEY_API const char *ley_ion_species_name(size_t i);

/* The water molecules among atoms, whose places ions may take. */
typedef struct ley_waters ley_waters;

/* `water`: for each of the n atoms the number of its molecule, from 0, or -1; `oxygen`: for each of
 * the `count` molecules the atom whose place an ion takes. Both are copied. Errors:
 * LEY_ERROR_INPUT for numbers that do not fit together; LEY_ERROR_MEMORY. */
LEY_API ley_status ley_waters_create(size_t n, const int32_t *water, size_t count, const int64_t *oxygen,
                                     ley_waters **waters, ley_error *error);

/* Those of a PQR file, which has these atoms: stretches of ATOM and HETATM records with one residue
 * name of ley_waters_residue(), one chain and one residue number, with an atom whose name begins
 * with O. Where a stretch has several of these, a molecule begins at each. Errors: LEY_ERROR_FILE,
 * LEY_ERROR_INPUT where the file has other atoms, or no water; LEY_ERROR_MEMORY. */
LEY_API ley_status ley_waters_read(const char *path, const ley_atoms *atoms, ley_waters **waters, ley_error *error);
LEY_API void ley_waters_destroy(ley_waters *waters);
LEY_API size_t ley_waters_count(const ley_waters *waters);
LEY_API int64_t ley_waters_oxygen(const ley_waters *waters, size_t i);
LEY_API const int32_t *ley_waters_numbers(const ley_waters *waters); /* [atoms]: the molecule of each, or -1 */

/* Residue names of water, "HOH", "WAT", ..., i from 0; NULL behind the last. */
LEY_API const char *ley_waters_residue(size_t i);

typedef struct ley_ions_options {
    size_t size;            /* sizeof(ley_ions_options): ley_ions_options_default() sets it */
    double from_solute_A;   /* no ion is nearer to an atom than this: [0.1, 1e3] */
    double between_A;       /* nor to another ion: (0, 1e3], in whole spacings */
    bool neutralise;        /* ions of the missing sign, until the total charge is as near to 0 as it gets */
    double concentration_M; /* and this much salt, mol/l, of the first cation and the first anion: [0, 1e2] */
    int64_t seed;           /* which one of nodes with equal energies an ion takes; 0: the first in their order */
    ley_place placing;      /* where the map is searched; AUTO: on a device that is a GPU, else on the host;
                               HOST: on the host, and without an engine it makes the potential, too */
    size_t species_count;   /* of all that may be placed; the caller's */
    const ley_ion_species *species;
    const ley_waters *waters;    /* NULL: ions take nodes of the grid; else the places of these molecules */
    const volatile bool *cancel; /* ends it soon after it becomes true (LEY_CANCELLED); or NULL */
    void (*progress)(void *context, int64_t placed, int64_t wanted); /* by one thread at a time; or NULL */
    void *progress_context;
    bool distance_dielectric; /* the permittivity of a pair is its distance in A, and phi = C sum q / r^2; in open
                                 space alone */
} ley_ions_options;

/* 6 A from the solute, 10 A between ions, no species. */
LEY_API void ley_ions_options_default(ley_ions_options *options);

/* An ion that was placed. */
typedef struct ley_placed_ion {
    size_t species; /* which one of the options */
    const char *name;
    double charge_e, radius_A, position_A[3];
    int64_t node[3];        /* of the grid; -1 where it took the place of a water molecule: */
    int64_t water;          /* that, or -1 */
    double energy_kcal_mol; /* charge times the potential there of the solute and all ions before, permittivity 1 */
    double energy;          /* the same in the request's units times e, in its medium */
} ley_placed_ion;

/* How it was done. */
typedef struct ley_ions_report {
    ley_grid grid;             /* of nodes; of waters n is 0 */
    int64_t nodes, free_nodes; /* all, and those that are not too near to the solute; of waters molecules */
    double volume_A3;          /* that concentration_M counts: of free nodes; of a periodic cell all of it */
    double solute_charge_e, total_charge_e; /* before and after */
    int64_t waters_removed;
    const char *units;    /* of the energies, "kT/e", times e */
    const char *method;   /* of the potential: ley_method_name() */
    const char *device;   /* that searched the map; "host" */
    double potential_rms; /* relative error of the potential, of a sample; 0: it was not verified */
    double energy_error;  /* largest difference of an ion's energy on the map from that in double precision,
                             relative to the largest energy */
    int64_t recomputed;   /* places whose potential was summed in double precision, to tell which is least */
    int64_t undecided;    /* ions that had more equals than can be recomputed: the first of these was taken */
    double potential_s, mask_s, placing_s; /* also of attempts that were given up */
    int64_t bricks, searched; /* bricks of the grid, and how many of them were looked at after the first look */
} ley_ions_report;

/* Ions that were placed. */
typedef struct ley_ions ley_ions;

/* Places ions one after the other. With phi the potential of the atoms, C sum q_j / r, at the nodes
 * of a grid, and nodes within from_solute of an atom left out, the next ion, of charge q, takes
 *
 *     the node of least q phi;  phi(r) += C q / |r - r_ion|;  nodes with
 *     |r - r_ion|^2 < round(between / h)^2 h^2 are left out for all that follow,
 *
 * and the ion's own node always; h is the spacing, in a cell that along its first vector. Of equals
 * the first one is taken: z outermost, x innermost. Order: of the species of which some are left,
 * each time the one that brings the charge of solute and ions nearest to 0, and of equals the
 * first.
 *
 * The map is made by request->method to request->tolerance (ley_job_create_chosen()); which node
 * is best is decided among all that this error leaves by sums in double precision, so that nodes
 * do not depend on method, device or tolerance. Energies are such sums.
 *
 * Grid: what request->grid says. Where that is only spacing and padding, the first node is that far
 * below the lowest coordinates, and nodes reach as far beyond the highest. In a cell that is
 * periodic along all three vectors, as request->potential says, it is the cell's own, and distances
 * and potentials are those of nearest and of all images; an ion's own images do not count to its
 * energy.
 *
 * With options->waters places are the molecules' oxygens in place of nodes, and molecules that an
 * ion replaces are gone. None of these molecules is part of the solute, neither of its potential
 * nor of its excluded volume; total charges count those that stay.
 *
 * Engine: as for ley_map_compute(). Source: cionize 0.2 of VMD's plugins; Stone et al., J. Comput.
 * Chem. 28, 2618 (2007).
 *
 * Errors: LEY_ERROR_USAGE for options out of range, species without a charge or of one name, and
 * what lacks a species; LEY_ERROR_INPUT where there is no room for an ion, with how many were
 * placed; those of the potential. */
LEY_API ley_status ley_ions_place(ley_engine *engine, const ley_atoms *atoms, const ley_request *request,
                                  const ley_ions_options *options, ley_ions **ions, ley_error *error);
LEY_API void ley_ions_destroy(ley_ions *ions);

LEY_API int64_t ley_ions_count(const ley_ions *ions);
LEY_API const ley_placed_ion *ley_ions_get(const ley_ions *ions, int64_t i);
LEY_API const ley_ions_report *ley_ions_how(const ley_ions *ions);

/* Writes ions, and before them the molecule: the records of `molecule`, a PQR file with the atoms
 * that the ions were placed around, as they are, without waters that were replaced; NULL: ions
 * alone. The name says which form: .pqr or .pqr.gz, or .pdb or .pdb.gz, in which charges and radii
 * are lost. Ions are residues of their own, numbered from the last number on. `comment`: lines for
 * REMARK records, or NULL. `cancel`: as of ley_atoms_write(). Errors: LEY_ERROR_USAGE for another
 * name; LEY_ERROR_FILE, LEY_ERROR_INPUT. */
LEY_API ley_status ley_ions_write(const ley_ions *ions, const char *molecule, const char *path, const char *comment,
                                  const volatile bool *cancel, ley_error *error);

#ifdef __cplusplus
}
#endif
#endif
