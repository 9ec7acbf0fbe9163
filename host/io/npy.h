/* Maps as NumPy's arrays, with a header for the grid beside them, and points. docs/formats.md
 * has what of the format is written and read. */
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

/* Points, a row each, whose first three columns are x, y and z, from malloc. Errors:
 * LEY_ERROR_FILE, LEY_ERROR_INPUT with "path: what", LEY_ERROR_MEMORY. */
ley_status npy_read_points(ley_stream *stream, int64_t *count, double **point_A, ley_error *error);

/* What stands in front of the values of an array in C's order: a type as "<f4", a shape as "4, 3".
 */
void npy_header(const char *type, const char *shape, char header[NPY_HEADER_BYTES]);

/* An array of numbers or texts, by what stands in front of them. */
enum { NPY_MOST_EXTENTS = 4, NPY_MOST_LETTERS = 255, NPY_LETTER_BYTES = 4 /* of 'U' */ };
typedef struct npy_array {
    int extents; /* 0: a single number */
    int64_t n[NPY_MOST_EXTENTS], count;
    char kind;  /* 'f' floats, 'i' whole numbers, 'u' without a sign, 'b' true or false, 'U' texts, 'S' texts of bytes,
                   or  another one of NumPy's */
    int length; /* as the type says it: letters of texts, else bytes, */
    int bytes;  /* and bytes of each value */
    bool is_big_endian, is_fortran;
    const unsigned char *numbers; /* of an array that is in memory, behind its header */
} npy_array;

/* What an array's own header says, by its text, a dictionary in Python's words. Errors:
 * LEY_ERROR_INPUT with "path: what". */
ley_status npy_parse(const char *path, const char *text, size_t length, npy_array *array, ley_error *error);

#endif
