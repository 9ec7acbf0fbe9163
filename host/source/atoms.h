/* Atoms that are still to be filled in, and what drivers hold of them. */
#ifndef LEY_SOURCE_ATOMS_H
#define LEY_SOURCE_ATOMS_H

#include "leyden.h"
#include "source/atoms_part.h"

enum { LEY_ATOM_NUMBERS = 5 };

/* Atoms of zeros, which the caller fills and completes before anyone else sees them. Errors: as
 * ley_atoms_create() for n. */
ley_status ley_atoms_allocate(size_t n, ley_atoms **atoms, ley_error *error);

/* [5 n]: all positions, then all charges, then all radii. */
double *ley_atoms_numbers(ley_atoms *atoms);

/* Other positions [n][3], and charges [n] or NULL, which leaves them; on all cores where the
 * charges stay. On failure, by the errors of ley_atoms_create(), all is as it was. */
ley_status ley_atoms_move(ley_atoms *atoms, const double *position_A, const double *charge_e, ley_error *error);

/* The same of positions alone, in floats, as seen from a place: position - from. */
ley_status ley_atoms_move_floats(ley_atoms *atoms, const float *position_A, const double from_A[3], ley_error *error);

/* From now on the numbers, which it returns, are not freed with the atoms: a driver that does not
 * return may still read them. */
void *ley_atoms_keep(ley_atoms *atoms);

/* Bounds and sums of charges; of no atoms. */
typedef struct atoms_facts {
    double low_A[3], high_A[3], charged_low_A[3], charged_high_A[3];
    double total_charge_e, charge_magnitude_e, largest_charge_e;
} atoms_facts;
extern const atoms_facts atoms_no_facts;

/* Checks the numbers as ley_atoms_create() does and takes bounds and sums of charges. */
ley_status ley_atoms_complete(ley_atoms *atoms, ley_error *error);

/* The same of atoms that stand behind so many others: adds them to what is known of these. */
ley_status ley_atoms_see(const ley_atoms *atoms, size_t before, atoms_facts *facts, ley_error *error);

/* NULL: these are all atoms of the molecule. */
const atoms_part *ley_atoms_part(const ley_atoms *atoms);
atoms_sample ley_atoms_sample(const ley_atoms *atoms);

/* Makes them a part, from malloc, which is theirs from now on, of a molecule of which this is
 * known; or, NULL, all of it. */
void ley_atoms_set_part(ley_atoms *atoms, atoms_part *part, const atoms_facts *facts);

/* Has the atoms of `from`, which ends, in place of its own, and is the part that it was. Those that
 * it has first, of a part, are its share from then on. Errors: LEY_ERROR_MEMORY. */
ley_status ley_atoms_take_numbers(ley_atoms *atoms, ley_atoms *from, ley_error *error);

/* This rank's share of the atoms, each of which is in no other's; of all atoms these. Its bounds
 * and sums of charges are its own once planes are dealt. */
const ley_atoms *ley_atoms_share(const ley_atoms *atoms);

/* All atoms: these themselves, or of a part those that stand beside it; NULL: there are none. */
const ley_atoms *ley_atoms_all(const ley_atoms *atoms);
void ley_atoms_put_all(ley_atoms *atoms, ley_atoms *all);

/* The largest charges of all atoms. */
void ley_atoms_large_charges(const ley_atoms *atoms, large_charges *made);

/* Each has the atoms of the other one; parts, bounds and sums stay. */
void ley_atoms_swap_numbers(ley_atoms *a, ley_atoms *b);

/* Whether chain (0: none), number and insertion code (0: none) of a residue fit a number of 4
 * bytes, by which residues are the same or not: chains of one letter, numbers within 524,288. And
 * that in words, "A 27B". */
enum { RESIDUE_TEXT = 32 };
bool residue_pack(char chain, int64_t number, char code, int32_t *residue);
const char *residue_text(int32_t residue, char text[RESIDUE_TEXT]);

/* The atoms' residues, [n], from malloc, are theirs from now on. NULL: they are unknown. */
void ley_atoms_take_residues(ley_atoms *atoms, int32_t *residue);

/* The same of the elements' numbers. */
void ley_atoms_take_elements(ley_atoms *atoms, int32_t *element);

/* The sum of |q|, and the largest |q|, in e. */
double ley_atoms_charge_magnitude_e(const ley_atoms *atoms);
double ley_atoms_largest_charge_e(const ley_atoms *atoms);

/* The sum of all charges, or 0 where it is no more than the rounding of doubles leaves of neutral
 * ones. */
double ley_atoms_net_charge_e(const ley_atoms *atoms);

/* Bounds of the atoms that have a charge; low_A[0] > high_A[0] where none has. */
void ley_atoms_charged_bounds_A(const ley_atoms *atoms, double low_A[3], double high_A[3]);

#endif
