/* The formats of map files, a row each: no other file knows the endings of their names. */
#ifndef LEY_IO_MAP_FORMAT_H
#define LEY_IO_MAP_FORMAT_H

#include "leyden.h"

typedef struct map_format {
    ley_map_format about;
    ley_status (*read)(const char *path, ley_map **map, ley_error *error);
    ley_status (*write)(const ley_map *map, const char *path, const char *comment, const char *facts,
                        const volatile bool *cancel, ley_error *error);

    /* A map whose planes go to the file while they are computed. NULL: the order of the values in
     * the file does not allow that. */
    ley_status (*create)(const ley_lattice *lattice, const char *path, ley_map **map, ley_error *error);
} map_format;

/* The table, for those who go through all of it; NULL behind the last. */
const map_format *map_format_at(size_t i);

#endif
