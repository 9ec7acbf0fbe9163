/* Reading binary files, and the arrays of numbers in them that are maps. */
#ifndef LEY_IO_BINARY_H
#define LEY_IO_BINARY_H

#include "leyden.h"

#include <stddef.h>

/* A file that is read: a regular one, so that its size is known before anything is believed. */
typedef struct binary_file {
    const char *path;
    int fd;
    int64_t bytes;
} binary_file;

/* `what`: "a raw map". On failure there is nothing to close. Errors: LEY_ERROR_FILE. */
ley_status binary_open(binary_file *file, const char *path, const char *what, ley_error *error);
void binary_close(binary_file *file);

/* The next bytes, all of them. Errors: LEY_ERROR_FILE; LEY_ERROR_INPUT where the file has become
 * shorter. */
ley_status binary_read(const binary_file *file, void *to, size_t size, ley_error *error);

/* What comes next is at this place. */
ley_status binary_seek(const binary_file *file, int64_t offset, ley_error *error);

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
    int axis[3]; /* of the lattice: the one that is fastest in the file first */
} binary_array;

int64_t binary_type_bytes(binary_type type);

/* Between this machine's order of bytes and another one; its own inverse. */
void binary_swap(void *numbers, size_t count, size_t bytes_each);
bool binary_is_other(bool is_big_endian);

/* A map of what comes next; the file's size has been checked. Errors: those of binary_read() and
 * ley_map_create(); LEY_ERROR_INPUT for a value that is no number, or too large for a float. */
ley_status binary_make_map(const binary_file *file, const binary_array *array, const ley_lattice *lattice,
                           const char *units, ley_map **map, ley_error *error);

#endif
