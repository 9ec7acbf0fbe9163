/* Maps as plain numbers, with a header in a file of its own. docs/formats.md has the layout. */
#include "error.h"
#include "io/binary.h"
#include "io/map_header.h"
#include "io/stored_map.h"

#include <stdlib.h>
#include <string.h>

static const binary_array layout = {BINARY_FLOAT32, false, {0, 1, 2}};

ley_status ley_map_create_raw(const ley_lattice *lattice, const char *path, ley_map **map, ley_error *error)
{
    return stored_map_create(lattice, path, 0, false, map, error);
}

ley_status ley_map_write_raw(const ley_map *map, const char *path, const char *comment, const char *facts,
                             const volatile bool *cancel, ley_error *error)
{
    static const map_front nothing = {"", 0};
    return map_header_write(&map_header_raw, map, path, &nothing, comment, facts, cancel, error);
}

static ley_status check_size(const binary_file *file, const char *header_path, const ley_lattice *lattice,
                             ley_error *error)
{
    const int64_t points = ley_lattice_points(lattice), expected = points * binary_type_bytes(layout.type);
    if (file->bytes == expected)
        return LEY_OK;
    return ley_fail(error, LEY_ERROR_INPUT, "%s: %s: %lld bytes, but the %lld points that %s says take %lld",
                    file->path, file->bytes < expected ? "cut short" : "too long", (long long)file->bytes,
                    (long long)points, header_path, (long long)expected);
}

static ley_status read_map(const char *path, const char *header_path, ley_map **map, ley_error *error)
{
    map_header header;
    binary_file file;
    ley_status status = map_header_read(&map_header_raw, header_path, &header, error);
    if (status == LEY_OK)
        status = binary_open(&file, path, "a raw map", error);
    if (status != LEY_OK)
        return status;
    status = check_size(&file, header_path, &header.lattice, error);
    if (status == LEY_OK)
        status = binary_make_map(&file, &layout, &header.lattice, header.units, map, error);
    binary_close(&file);
    return status;
}

ley_status ley_map_read_raw(const char *path, ley_map **map, ley_error *error)
{
    char *header_path = map_header_file(path);
    const ley_status status = header_path != NULL ? read_map(path, header_path, map, error)
                                                  : ley_fail_memory(error, strlen(path), "a map's header");
    free(header_path);
    return status;
}
