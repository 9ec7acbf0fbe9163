/* Maps as plain numbers, with a header in a file of its own. docs/formats.md has the layout. */
#include "io/raw.h"

#include "error.h"
#include "io/binary.h"
#include "io/map_header.h"
#include "io/stored_map.h"

#include <stdlib.h>
#include <string.h>

static const binary_array layout = {BINARY_FLOAT32, false, {0, 1, 2}};

ley_status ley_map_create_raw(const ley_grid *grid, const char *path, ley_map **map, ley_error *error)
{
    return stored_map_create(grid, path, 0, false, map, error);
}

ley_status ley_map_write_raw(const ley_map *map, const char *path, const char *comment, const char *facts,
                             const volatile bool *cancel, ley_error *error)
{
    static const map_front nothing = {"", 0};
    return map_header_write(&map_header_raw, map, path, &nothing, comment, facts, cancel, error);
}

/* What is packed, or comes through a pipe, is too long or too short when its end is there. */
static ley_status check_size(ley_stream *stream, const char *header_path, const ley_grid *grid, ley_error *error)
{
    const int64_t points = ley_grid_points(grid), expected = points * binary_type_bytes(layout.type);
    const ley_status status = ley_stream_expect_plain(stream, expected, error);
    const int64_t size = ley_stream_size(stream);
    if (status != LEY_OK || size == expected || (size < 0 && ley_stream_may_hold(stream, (double)expected)))
        return status;
    if (size < 0)
        return ley_fail(error, LEY_ERROR_INPUT, "%s: cut short: the %lld points that %s says take %lld bytes, unpacked",
                        ley_stream_path(stream), (long long)points, header_path, (long long)expected);
    return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: %lld bytes, but the %lld points that %s says take %lld",
                    ley_stream_path(stream), size < expected ? "cut short" : "too long", (long long)size,
                    (long long)points, header_path, (long long)expected);
}

static ley_status read_values(ley_stream *stream, const char *header_path, ley_map **map, ley_error *error)
{
    map_header header;
    ley_status status = map_header_read(&map_header_raw, header_path, &header, error);
    if (status == LEY_OK)
        status = check_size(stream, header_path, &header.grid, error);
    return status == LEY_OK ? binary_make_map(stream, &layout, &header.grid, &header.origin, BINARY_ENDS, map, error)
                            : status;
}

ley_status raw_read(ley_stream *stream, ley_map **map, ley_error *error)
{
    char *header_path = map_header_find(ley_stream_path(stream));
    const ley_status status = header_path != NULL
                                  ? read_values(stream, header_path, map, error)
                                  : ley_fail_memory(error, strlen(ley_stream_path(stream)), "a map's header");
    free(header_path);
    return status;
}
