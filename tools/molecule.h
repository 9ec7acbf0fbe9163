/* Reading the molecule of a command. */
#ifndef LEYDEN_MOLECULE_H
#define LEYDEN_MOLECULE_H

#include "options.h"

/* What can be said of the file of a molecule. */
typedef struct molecule_values {
    bool pqr_anyway;
} molecule_values;

extern const option_block molecule_options;

/* As ley_atoms_read(), or ley_atoms_read_unchecked() with --pqr-anyway, for a command that shares
 * the block above. Where a file is refused only because it looks like a PDB file, the message names
 * the option that takes it. */
ley_status molecule_read(const char *path, const parsed_arguments *arguments, ley_atoms **atoms, ley_error *error);

/* Whether the atoms are so close to each other that their coordinates must be in nm. */
bool molecule_looks_like_nm(const ley_atoms *atoms);

/* The command that writes coordinates in A. */
#define MOLECULE_IN_A "python3 -m leyden convert TOPOLOGY COORDINATES -o NEW.pqr"

/* Warns of coordinates in nm, and of a molecule without any charge. */
void molecule_warn(const char *path, const ley_atoms *atoms);

/* The points of a list, or the atoms of a molecule, which is the caller's; NULL: it is a list. */
ley_status points_read(const char *path, ley_atoms **molecule, ley_points **points, ley_error *error);

#endif
