/* Maps as plain numbers, with a header in a file of its own. docs/formats.md has the layout. */
#ifndef LEY_IO_RAW_H
#define LEY_IO_RAW_H

#include "leyden.h"

/* What a header says. */
typedef struct raw_header {
    ley_lattice lattice;
    char units[32];
} raw_header;

/* The name of the header that belongs to the map `path`, from malloc; NULL: no memory. */
char *raw_header_path(const char *path);

/* The header's text, from malloc; NULL: no memory. `comment` and `facts` as ley_map_write_raw()
 * takes them. */
char *raw_header_text(const ley_map *map, const char *comment, const char *facts);

/* A header, by its text. Errors: LEY_ERROR_INPUT with "path:line: member: what". */
ley_status raw_header_parse(const char *path, const char *text, size_t length, raw_header *header, ley_error *error);

#endif
