/* Maps in the MRC2014 format, which CCP4's is, too. docs/formats.md has what of it is written and
 * read. */
#ifndef LEY_IO_MRC_H
#define LEY_IO_MRC_H

#include "io/stream.h"
#include "leyden.h"

enum { MRC_HEADER_BYTES = 1024 };

/* Errors: LEY_ERROR_FILE, or LEY_ERROR_INPUT with "path: what". */
ley_status mrc_read(ley_stream *stream, ley_map **map, ley_error *error);

/* Whether a file that begins like this is one. */
bool mrc_is(const unsigned char *bytes, size_t size);

/* As ley_map_write() and ley_map_create_file(). There is no place for facts. An MRC map begins at
 * ORIGIN, a CCP4 map at NSTART where that is a whole number of steps from (0, 0, 0), else at
 * ORIGIN; the other field is 0, for some readers add them up. */
ley_status mrc_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                     const volatile bool *cancel, ley_error *error);
ley_status ccp4_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                      const volatile bool *cancel, ley_error *error);
ley_status mrc_create(const ley_grid *grid, const char *path, ley_map **map, ley_error *error);

#endif
