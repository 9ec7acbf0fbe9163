/* Reading binary files, and the arrays of numbers in them that are maps. */
#ifndef LEY_IO_BINARY_H
#define LEY_IO_BINARY_H

#include "io/stream.h"
#include "leyden.h"
#include "target/map.h"

#include <stddef.h>

/* The next bytes, all of them. Errors: those of ley_stream_fail(); LEY_ERROR_INPUT where there are
 * fewer. */
ley_status binary_read(ley_stream *stream, void *to, size_t size, ley_error *error);

/* Passes over so many. */
ley_status binary_pass(ley_stream *stream, int64_t bytes, ley_error *error);

/* LEY_ERROR_INPUT where there is something more. */
ley_status binary_expect_end(ley_stream *stream, ley_error *error);

/* ---- Numbers --------------------------------------------------------------------------------- */

typedef enum binary_type {
    BINARY_INT8,
    BINARY_INT16,
    BINARY_UINT16,
    BINARY_FLOAT16,
    BINARY_FLOAT32,
    BINARY_FLOAT64,
    BINARY_TYPES
} binary_type;

/* How the values of a map lie in a file. */
typedef struct binary_array {
    binary_type type;
    bool is_big_endian;
    int axis[3]; /* of the grid: the one that is fastest in the file first */
} binary_array;

int64_t binary_type_bytes(binary_type type);

/* Between this machine's order of bytes and another one; its own inverse. */
void binary_swap(void *numbers, size_t count, size_t bytes_each);
bool binary_is_other(bool is_big_endian);

/* One of floats or doubles, in this machine's order. */
double binary_number(const void *numbers, binary_type type, size_t i);

/* What may be behind the values. */
typedef enum binary_end { BINARY_ENDS, BINARY_GOES_ON } binary_end;

/* A map of what comes next, of which the stream may hold as much. Errors: those of binary_read()
 * and ley_map_create(); LEY_ERROR_INPUT for a value that is no number, or too large for a float,
 * and for bytes behind the last value where the file should end. */
ley_status binary_make_map(ley_stream *stream, const binary_array *array, const ley_grid *grid,
                           const map_origin *origin, binary_end end, ley_map **map, ley_error *error);

#endif
