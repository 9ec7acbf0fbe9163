/* Reading the molecule of a command. */
#ifndef LEYDEN_MOLECULE_H
#define LEYDEN_MOLECULE_H

#include "leyden.h"

/* As ley_atoms_read(), or ley_atoms_read_unchecked() with `pqr_anyway`. Where a file is refused
 * only because it looks like a PDB file, the message names the option that takes it. */
ley_status molecule_read(const char *path, bool pqr_anyway, ley_atoms **atoms, ley_error *error);

#endif
