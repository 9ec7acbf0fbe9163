/* What a map's comment tells. */
#ifndef LEY_IO_MAP_COMMENT_H
#define LEY_IO_MAP_COMMENT_H

#include "target/map.h"

/* Takes what a line says, and nothing has said before: units, in parentheses behind the word
 * "potential"; the molecule's file behind "molecule: "; the number behind "dielectric ". */
void map_comment_read(const char *line, map_origin *origin);

#endif
