/* The JSON file beside a map whose own file has no place for its grid. docs/formats.md has the
 * layout. */
#ifndef LEY_IO_MAP_HEADER_H
#define LEY_IO_MAP_HEADER_H

#include "leyden.h"
#include "target/map.h"

#include <stddef.h>

/* Of which format's maps. */
typedef struct map_header_kind {
    const char *format; /* the member of this name */
    bool has_values;    /* it says how the values lie, for their own file does not */
} map_header_kind;

extern const map_header_kind map_header_raw, map_header_npy;

/* What a header says. */
typedef struct map_header {
    ley_grid grid;
    map_origin origin;
} map_header;

/* The name of the header that belongs to the map `path`, from malloc; NULL: no memory. */
char *map_header_file(const char *path);

/* The name of the header that a map of this path is read with, from malloc: that, or where it is
 * not there and another one is, the one that the map had before it was packed by gzip, or unpacked.
 * NULL: no memory. */
char *map_header_find(const char *path);

/* The header's text, from malloc; NULL: no memory. `comment` and `facts` as ley_map_write_raw()
 * takes them. */
char *map_header_text(const map_header_kind *kind, const ley_map *map, const char *comment, const char *facts);

/* A header, by its text, or from its file. Errors: LEY_ERROR_INPUT with "path:line: member: what";
 * LEY_ERROR_FILE. */
ley_status map_header_parse(const map_header_kind *kind, const char *path, const char *text, size_t length,
                            map_header *header, ley_error *error);
ley_status map_header_read(const map_header_kind *kind, const char *header_path, map_header *header, ley_error *error);

/* What stands in front of the values. */
typedef struct map_front {
    const void *bytes;
    size_t size;
} map_front;

/* Writes the map's file and its header, as ley_map_write_raw() does. */
ley_status map_header_write(const map_header_kind *kind, const ley_map *map, const char *path, const map_front *front,
                            const char *comment, const char *facts, const volatile bool *cancel, ley_error *error);

#endif
