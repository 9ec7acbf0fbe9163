/* The formats of map files, a row each: no other file knows the endings of their names. */
#ifndef LEY_IO_MAP_FORMAT_H
#define LEY_IO_MAP_FORMAT_H

#include "io/stream.h"
#include "leyden.h"

typedef struct map_format {
    ley_map_format about;
    const char *const *also_read; /* endings of names that others give to such files; NULL: none */

    /* Whether a file that begins like this is one; behind the bytes is a NUL. NULL: nobody can
     * tell. */
    bool (*is)(const unsigned char *bytes, size_t size);
    ley_status (*read)(ley_stream *stream, ley_map **map, ley_error *error);
    ley_status (*read_value)(ley_stream *stream, const char *value, ley_map **map,
                             ley_error *error); /* of files that may have several at each point; NULL: none has */
    ley_status (*write)(const ley_map *map, const char *path, const char *comment, const char *facts,
                        const volatile bool *cancel, ley_error *error);

    /* A map whose planes go to the file while they are computed. NULL: the order of the values in
     * the file does not allow that. */
    ley_status (*create)(const ley_grid *grid, const char *path, ley_map **map, ley_error *error);
} map_format;

/* Of a file that could not be read as a molecule. True: it is a map, and `error` says so and what
 * to type next. */
bool map_format_explain(const char *path, ley_error *error);

/* Reads a file in this format, whatever it is named and holds. Errors: as ley_map_read(). */
ley_status map_format_read(const map_format *format, const char *path, ley_map **map, ley_error *error);

/* The table, for those who go through all of it; NULL behind the last. */
const map_format *map_format_at(size_t i);

#endif
