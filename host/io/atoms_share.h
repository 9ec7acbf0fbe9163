/* Molecules by parts, beside what leyden.h has of them. */
#ifndef LEY_IO_ATOMS_SHARE_H
#define LEY_IO_ATOMS_SHARE_H

#include "leyden.h"

/* The shares of all ranks come to rank 0, where all atoms stand beside its part from then on
 * (ley_atoms_all()). All ranks call it. LEY_ERROR_MEMORY: there is no room, and nothing has come.
 */
ley_status atoms_share_bring(ley_atoms *atoms, ley_error *error);

#endif
