/* A rank at planes of another one, of a molecule by parts (source/atoms_part.h). */
#ifndef LEY_SOURCE_ATOMS_VISIT_H
#define LEY_SOURCE_ATOMS_VISIT_H

#include "leyden.h"

/* What a rank has while it is at planes of another one. */
typedef struct atoms_visit {
    ley_atoms *own;
    int64_t first, end;
} atoms_visit;

/* Has the atoms that planes [first, end) of rank `of` need, in place of its own, until it returns.
 * All ranks show (ranks.h) the numbers of theirs, of count[r] atoms each. Errors: LEY_ERROR_MEMORY,
 * and all is as it was. */
ley_status atoms_part_visit(ley_atoms *atoms, int of, const int64_t *count, int64_t first, int64_t end,
                            atoms_visit *made, ley_error *error);
void atoms_part_return(ley_atoms *atoms, atoms_visit *visit);

#endif
