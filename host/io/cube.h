/* Gaussian's cube files: maps with their molecule, in atomic units. docs/formats.md has the
 * layout. */
#ifndef LEY_IO_CUBE_H
#define LEY_IO_CUBE_H

#include "io/stream.h"
#include "leyden.h"

/* Errors: as ley_map_read_value(). */
ley_status cube_read(ley_stream *stream, ley_map **map, ley_error *error);
ley_status cube_read_value(ley_stream *stream, const char *value, ley_map **map, ley_error *error);

/* Whether a file that begins like this is one; behind the bytes is a NUL. */
bool cube_is(const unsigned char *bytes, size_t size);

/* As ley_map_write(). Of the facts it takes the temperature, which kT/e depends on. */
ley_status cube_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                      const volatile bool *cancel, ley_error *error);

#endif
