/* Gaussian's cube files: maps with their molecule, in atomic units. docs/formats.md has the
 * layout. */
#ifndef LEY_IO_CUBE_H
#define LEY_IO_CUBE_H

#include "leyden.h"

/* Errors: as ley_map_read_dx(). */
ley_status cube_read(const char *path, ley_map **map, ley_error *error);

/* As ley_map_write(). Of the facts it takes the temperature, which kT/e depends on. */
ley_status cube_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                      const volatile bool *cancel, ley_error *error);

#endif
