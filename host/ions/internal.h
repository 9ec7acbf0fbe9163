/* Ions: the parts of their placing. */
#ifndef LEY_IONS_INTERNAL_H
#define LEY_IONS_INTERNAL_H

#include "engine/engine.h"
#include "ions/exact.h"
#include "ions/parameters.h"
#include "leyden.h"
#include "source/atoms.h"

struct ley_waters {
    size_t atoms, count;
    int32_t *water;  /* [atoms] */
    int64_t *oxygen; /* [count] */
};

struct ley_ions {
    ley_ions_report how;
    int64_t count, room;
    ley_placed_ion *placed;
    char (*names)[8]; /* [species] */
    size_t species_count;
    size_t atoms;     /* of the molecule */
    bool *is_removed; /* [atoms]: gone with its water */
    char method[32], device[DEV_TEXT], units[32];
};

/* What is asked for, whole, and what it takes. */
typedef struct ions_task {
    ley_engine *engine, *opened; /* opened: here, where nobody gave one; or NULL */
    const ley_atoms *atoms;      /* of the molecule */
    const ley_atoms *solute;     /* what of it counts; NULL: nothing does */
    ley_atoms *own_solute;       /* the same, where it is not all of the molecule; or NULL */
    ley_ions_options o;
    ley_request request;
    cell cell;
    ions_exact *exact;
    double constant;              /* C in kcal A/mol/e^2 */
    double unit;                  /* what a kcal/mol is in the units that are asked for, in their medium */
    int64_t counts[64], left[64]; /* of species; and those not placed yet */
    double charge_e;              /* of the solute, waters that stay, and ions so far */
    atomic_bool is_cancelled;
    ley_job *job; /* that computes a potential */
    double potential_rms;
    const char *method;
    ley_ions *ions;
} ions_task;

enum { IONS_MOST_SPECIES = 64 };

/* Species and options that make sense. */
ley_status ions_check(const ley_ions_options *o, ley_error *error);

/* How many of each species are to be placed: those that are asked for, salt for this volume, and
 * what neutralises all. */
ley_status ions_count(ions_task *t, double volume_A3, ley_error *error);

/* The species of the next ion; false: all are placed. */
bool ions_next(const ions_task *t, size_t *species);
int64_t ions_wanted(const ions_task *t);

/* Notes an ion and tells of it. */
ley_status ions_add(ions_task *t, size_t species, const double position_A[3], const int64_t node[3], int64_t water,
                    double energy_kcal_mol, ley_error *error);

/* An ion's, by its order. */
void ions_set_energy(ions_task *t, int64_t i, double energy_kcal_mol);

/* Whether it is to end. */
bool ions_is_cancelled(const ions_task *t);

/* There is no room for one more. */
ley_status ions_no_room(const ions_task *t, size_t species, ley_error *error);

/* Potentials in kcal/mol/e, permittivity 1, of atoms with all images: into a map or at points. */
ley_status ions_potential(ions_task *t, const ley_atoms *atoms, ley_target target, ley_error *error);

/* All ions at nodes, or at waters. */
ley_status ions_place_nodes(ions_task *t, ley_error *error);
ley_status ions_place_waters(ions_task *t, ley_error *error);

#endif
