/* What a file is that was brought as a molecule and is no PQR file, or as a map and is none, and
 * how one comes of it. */
#ifndef LEY_IO_MOLECULE_KIND_H
#define LEY_IO_MOLECULE_KIND_H

#include "leyden.h"

typedef enum molecule_wanted { MOLECULE_WANTED, MAP_WANTED } molecule_wanted;

/* Looks at the first bytes and lines of a file that could not be read as what was wanted, a PQR
 * file or a map. True: it is of another known kind, and `error` names it, the line that shows it,
 * and what to type next. A pipe, which cannot be read again, is not looked at. Maps are not among
 * the kinds: map_format_explain() knows these. */
bool molecule_kind_explain(const char *path, molecule_wanted wanted, ley_error *error);

#endif
