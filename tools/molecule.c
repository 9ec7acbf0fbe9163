#include "molecule.h"

#include <stdio.h>
#include <string.h>

ley_status molecule_read(const char *path, bool pqr_anyway, ley_atoms **atoms, ley_error *error)
{
    if (pqr_anyway)
        return ley_atoms_read_unchecked(path, atoms, error);
    ley_status status = ley_atoms_read(path, atoms, error);
    ley_atoms *anyway = NULL;
    if (status == LEY_ERROR_INPUT && ley_atoms_read_unchecked(path, &anyway, NULL) == LEY_OK) {
        const size_t used = strlen(error->message);
        snprintf(error->message + used, sizeof error->message - used, "; --pqr-anyway reads it as it is");
    }
    ley_atoms_destroy(anyway);
    return status;
}
