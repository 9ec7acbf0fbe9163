/* What a file is that was brought as a molecule and is no PQR file, and how one comes of it. */
#ifndef LEY_IO_MOLECULE_KIND_H
#define LEY_IO_MOLECULE_KIND_H

#include "leyden.h"

/* Looks at the first lines of a file that could not be read as a PQR file. True: it is of another
 * known kind, and `error` names it, the line that shows it, and what to type next. A pipe, which
 * cannot be read again, is not looked at. */
bool molecule_kind_explain(const char *path, ley_error *error);

#endif
