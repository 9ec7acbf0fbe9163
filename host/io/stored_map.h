/* Files that hold a map's values as float32, little-endian, x fastest, behind a few bytes of their
 * own: filled plane by plane while the map is computed, or written at once. */
#ifndef LEY_IO_STORED_MAP_H
#define LEY_IO_STORED_MAP_H

#include "io/output.h"
#include "leyden.h"

#include <stddef.h>

/* A map whose planes go to the hidden file of `path`, from this offset on, or where the file is to
 * be packed, to one that is packed when all of them are there; in memory, where the path is no
 * regular file's. `is_measured`: values_file_measure() will be asked. Errors: those of
 * ley_map_create_raw(). */
ley_status stored_map_create(const ley_grid *grid, const char *path, int64_t offset, bool is_measured, ley_map **map,
                             ley_error *error);

/* ---- Writing --------------------------------------------------------------------------------- */

/* The file in which a map's values are already, if its name is `path`, or a new one. */
typedef struct values_file {
    const ley_map *map;
    struct file_store *store; /* NULL: a new one */
    ley_output own;
} values_file;

/* Whether the values can be written: all of them were computed, and are numbers. Errors:
 * LEY_ERROR_INPUT; LEY_ERROR_USAGE where they are elsewhere, or were written already. */
ley_status values_file_check(const ley_map *map, const char *path, ley_error *error);

/* What values are like. Of a map whose planes were measured when they came, or of one in memory;
 * the same numbers either way. */
typedef struct value_range {
    double least, most, mean, deviation; /* the root mean square of what differs from the mean */
} value_range;

/* Of a map that values_file_check() has passed. Errors: LEY_ERROR_MEMORY; LEY_ERROR_INPUT where a
 * plane holds a value that is no number. */
ley_status values_file_measure(const ley_map *map, const char *path, value_range *range, ley_error *error);

/* All of the file: `front`, then the values. It is to be committed. Errors: those of
 * ley_output_open() and ley_output_write(); then there is nothing to end. */
ley_status values_file_open(values_file *file, const ley_map *map, const char *path, const void *front,
                            size_t front_bytes, const volatile bool *cancel, ley_error *error);
ley_status values_file_commit(values_file *file, ley_error *error);

#endif
