/* The maps of a field that are written beside a map of the potential: MAP_Ex.dx beside MAP.dx, and
 * so on. */
#ifndef LEYDEN_FIELD_MAPS_H
#define LEYDEN_FIELD_MAPS_H

#include "leyden.h"

#include <stddef.h>

enum { FIELD_FILES = 6 }; /* three maps, and their headers where these are files of their own */

typedef struct field_files {
    char *path[FIELD_FILES]; /* free(); NULL: there is none */
} field_files;

/* Beside this map. */
field_files field_files_for(const char *map);
void field_files_free(field_files *files);

/* Writes the field and then the map of the potential, under this name; the comment and the facts
 * are those of the potential. Errors: those of ley_map_write(); then none of the maps is there. */
ley_status field_maps_write(const ley_map *map, ley_map *const field[3], const char *path, const field_files *files,
                            const char *comment, const char *facts, const volatile bool *cancel, ley_error *error);

#endif
