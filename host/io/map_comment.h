/* The title of a map's file, and what its comment tells. */
#ifndef LEY_IO_MAP_COMMENT_H
#define LEY_IO_MAP_COMMENT_H

#include "target/map.h"

enum { MAP_TITLE = 64 };

/* What its values are, in these units: "POTENTIAL (kT/e)"; of a component of a field "FIELD ALONG X
 * (kT/e/A)"; and without units the words alone. */
void map_title(const ley_map *map, const char *units, char title[MAP_TITLE]);

/* Takes what a line says, and nothing has said before: units, in parentheses behind the word
 * "potential" or "field"; the molecule's file behind "molecule: "; the number behind
 * "dielectric ". */
void map_comment_read(const char *line, map_origin *origin);

#endif
