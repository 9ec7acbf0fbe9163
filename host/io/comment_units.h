/* The title of a map's file, and the units that one tells. */
#ifndef LEY_IO_COMMENT_UNITS_H
#define LEY_IO_COMMENT_UNITS_H

#include "leyden.h"

enum {
    COMMENT_UNITS = 32, /* room for them, as ley_map_units() has it */
    MAP_TITLE = 64
};

/* What its values are, in these units: "POTENTIAL (kT/e)"; of a component of a field "FIELD ALONG X
 * (kT/e/A)"; and without units the words alone. */
void map_title(const ley_map *map, const char *units, char title[MAP_TITLE]);

/* What stands in parentheses behind the word "potential" or "field", in any case; where nothing
 * does, `units` stay as they are. */
void comment_units_find(const char *comment, char units[COMMENT_UNITS]);

#endif
