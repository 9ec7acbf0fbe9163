/* Maps as NumPy's arrays, with a header for the grid beside them. docs/formats.md has what of
 * the format is written and read. */
#ifndef LEY_IO_NPY_H
#define LEY_IO_NPY_H

#include "io/binary.h"
#include "leyden.h"

enum { NPY_HEADER_BYTES = 128 }; /* of every file that is written */

/* Errors: LEY_ERROR_FILE, or LEY_ERROR_INPUT with "path: what", of the header beside it
 * "path:line: member: what". */
ley_status npy_read(ley_stream *stream, ley_map **map, ley_error *error);

/* Whether a file that begins like this is an array. */
bool npy_is(const unsigned char *bytes, size_t size);

/* As ley_map_write() and ley_map_create_file(). */
ley_status npy_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                     const volatile bool *cancel, ley_error *error);
ley_status npy_create(const ley_grid *grid, const char *path, ley_map **map, ley_error *error);

/* What an array's own header says, by its text, a dictionary in Python's words: type and order of
 * the values, and the grid's extent along x, y and z. Errors: LEY_ERROR_INPUT. */
ley_status npy_parse(const char *path, const char *text, size_t length, binary_array *array, int64_t n[3],
                     ley_error *error);

#endif
