#include "io/map_format.h"

#include "core/number.h"
#include "error.h"
#include "io/cube.h"
#include "io/dxbin.h"
#include "io/mrc.h"
#include "io/npy.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* OpenDX has no place for facts. */
static ley_status write_dx(const ley_map *map, const char *path, const char *comment, const char *facts,
                           const volatile bool *cancel, ley_error *error)
{
    (void)facts;
    return ley_map_write_dx(map, path, comment, cancel, error);
}

#define ENDINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* clang-format off */
static const map_format formats[] = {
    {.about = {.name = "OpenDX", .endings = ENDINGS(".dx", ".dx.gz")},
     .read = ley_map_read_dx, .write = write_dx},
    {.about = {.name = "raw float32", .endings = ENDINGS(".raw"), .beside = ".json", .keeps_facts = true,
               .is_streamed = true},
     .read = ley_map_read_raw, .write = ley_map_write_raw, .create = ley_map_create_raw},
    {.about = {.name = "MRC/CCP4", .endings = ENDINGS(".mrc", ".map", ".ccp4"), .is_streamed = true,
               .front_bytes = MRC_HEADER_BYTES},
     .read = mrc_read, .write = mrc_write, .create = mrc_create},
    {.about = {.name = "NumPy", .endings = ENDINGS(".npy"), .beside = ".json", .keeps_facts = true, .is_streamed = true,
               .front_bytes = NPY_HEADER_BYTES},
     .read = npy_read, .write = npy_write, .create = npy_create},
    {.about = {.name = "binary OpenDX", .endings = ENDINGS(".dxbin")},
     .read = dxbin_read, .write = dxbin_write},
    {.about = {.name = "Gaussian cube", .endings = ENDINGS(".cube", ".cub"), .keeps_facts = true},
     .read = cube_read, .write = cube_write},
};
/* clang-format on */

enum { FORMATS = sizeof formats / sizeof *formats };

const map_format *map_format_at(size_t i)
{
    return i < FORMATS ? &formats[i] : NULL;
}

const ley_map_format *ley_map_format_at(size_t i)
{
    return i < FORMATS ? &formats[i].about : NULL;
}

/* No ending is the end of another one, but for what is in front of a compressed file's. */
static const map_format *find(const char *path, const char **ending)
{
    for (size_t i = 0; i < FORMATS; i++)
        for (const char *const *at = formats[i].about.endings; *at != NULL; at++)
            if (ley_ends_with(path, *at)) {
                if (ending != NULL)
                    *ending = *at;
                return &formats[i];
            }
    return NULL;
}

const ley_map_format *ley_map_format_of(const char *path, const char **ending)
{
    const map_format *format = find(path, ending);
    return format != NULL ? &format->about : NULL;
}

const ley_map_format *ley_map_format_named(const char *word)
{
    for (size_t i = 0; i < FORMATS; i++)
        for (const char *const *at = formats[i].about.endings; *at != NULL; at++)
            if (strcasecmp(*at + 1, word) == 0)
                return &formats[i].about;
    return NULL;
}

void ley_map_format_endings(char text[LEY_MAP_ENDINGS])
{
    const char *last = NULL;
    size_t length = 0;
    for (size_t i = 0; i < FORMATS; i++)
        for (const char *const *at = formats[i].about.endings; *at != NULL; last = *at++)
            if (last != NULL)
                length +=
                    (size_t)snprintf(text + length, LEY_MAP_ENDINGS - length, "%s%s", length > 0 ? ", " : "", last);
    snprintf(text + length, LEY_MAP_ENDINGS - length, " or %s", last);
}

static ley_status fail_name(const char *path, ley_error *error)
{
    char endings[LEY_MAP_ENDINGS];
    ley_map_format_endings(endings);
    return ley_fail(error, LEY_ERROR_USAGE, "%s: must end in %s", path, endings);
}

ley_status ley_map_read(const char *path, ley_map **map, ley_error *error)
{
    const map_format *format = find(path, NULL);
    return (format != NULL ? format : formats)->read(path, map, error);
}

ley_status ley_map_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                         const volatile bool *cancel, ley_error *error)
{
    const map_format *format = find(path, NULL);
    return format != NULL ? format->write(map, path, comment, facts, cancel, error) : fail_name(path, error);
}

ley_status ley_map_write_as(const ley_map *map, const ley_map_format *format, const char *path, const char *comment,
                            const char *facts, const volatile bool *cancel, ley_error *error)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (format == &formats[i].about)
            return formats[i].write(map, path, comment, facts, cancel, error);
    return ley_fail(error, LEY_ERROR_USAGE, "%s: no format of this library", path);
}

ley_status ley_map_create_file(const ley_lattice *lattice, const char *path, ley_map **map, ley_error *error)
{
    const map_format *format = find(path, NULL);
    if (format == NULL)
        return fail_name(path, error);
    return format->create != NULL ? format->create(lattice, path, map, error) : ley_map_create(lattice, map, error);
}
