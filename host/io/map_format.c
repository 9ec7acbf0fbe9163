#include "io/map_format.h"

#include "core/number.h"
#include "error.h"
#include "io/cube.h"
#include "io/dx.h"
#include "io/dxbin.h"
#include "io/map_header.h"
#include "io/molecule_kind.h"
#include "io/mrc.h"
#include "io/npy.h"
#include "io/raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PEEKED_BYTES = 16 * 1024 }; /* of a file whose format is to be found */

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
    {.about = {.name = "OpenDX", .endings = ENDINGS(".dx"), .misread_by = "GridDataFormats and PyMOL"},
     .is = dx_is, .read = dx_read, .write = write_dx},
    {.about = {.name = "raw float32", .endings = ENDINGS(".raw"), .beside = ".json", .keeps_facts = true,
               .is_streamed = true},
     .read = raw_read, .write = ley_map_write_raw, .create = ley_map_create_raw},
    {.about = {.name = "MRC", .endings = ENDINGS(".mrc"), .is_streamed = true, .front_bytes = MRC_HEADER_BYTES},
     .also_read = ENDINGS(".rec", ".st", ".mrcs"),
     .is = mrc_is, .read = mrc_read, .write = mrc_write, .create = mrc_create},
    {.about = {.name = "CCP4", .endings = ENDINGS(".ccp4", ".map"), .is_streamed = true,
               .front_bytes = MRC_HEADER_BYTES},
     .is = mrc_is, .read = mrc_read, .write = ccp4_write, .create = mrc_create},
    {.about = {.name = "NumPy", .endings = ENDINGS(".npy"), .beside = ".json", .keeps_facts = true, .is_streamed = true,
               .front_bytes = NPY_HEADER_BYTES},
     .is = npy_is, .read = npy_read, .write = npy_write, .create = npy_create},
    {.about = {.name = "binary OpenDX", .endings = ENDINGS(".dxbin"), .misread_by = "PyMOL"},
     .is = dx_is, .read = dx_read, .write = dxbin_write},
    {.about = {.name = "Gaussian cube", .endings = ENDINGS(".cube", ".cub"), .keeps_atoms = true, .keeps_facts = true,
               .misread_by = "cclib"},
     .is = cube_is, .read = cube_read, .read_value = cube_read_value, .write = cube_write},
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

/* ---- By the name ----------------------------------------------------------------------------- */

/* Of a file's name, without what says that it is packed. */
static bool ends_in(const char *name, size_t length, const char *ending)
{
    const size_t tail = strlen(ending);
    return length > tail && strncasecmp(name + length - tail, ending, tail) == 0;
}

static const char *const *ending_of(const char *name, size_t length, const char *const *endings)
{
    while (endings != NULL && *endings != NULL && !ends_in(name, length, *endings))
        endings++;
    return endings != NULL && *endings != NULL ? endings : NULL;
}

/* No ending is the end of another one, but for what is in front of a packed file's. `ending`: where
 * it begins in the path. */
static const map_format *find(const char *path, const char **ending)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const size_t length = strlen(name) - (ley_output_is_packed(name) ? strlen(".gz") : 0);
    for (size_t i = 0; i < FORMATS; i++) {
        const char *const *found = ending_of(name, length, formats[i].about.endings);
        if (found != NULL && ending != NULL)
            *ending = name + length - strlen(*found);
        if (found != NULL)
            return &formats[i];
    }
    return NULL;
}

/* Also by endings that are read only. */
static const map_format *find_read(const char *path)
{
    const map_format *format = find(path, NULL);
    const size_t length = strlen(path) - (ley_output_is_packed(path) ? strlen(".gz") : 0);
    for (size_t i = 0; i < FORMATS && format == NULL; i++)
        if (ending_of(path, length, formats[i].also_read) != NULL)
            format = &formats[i];
    return format;
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
    snprintf(text + length, LEY_MAP_ENDINGS - length, " or %s, with or without .gz", last);
}

static ley_status fail_name(const char *path, ley_error *error)
{
    char endings[LEY_MAP_ENDINGS];
    ley_map_format_endings(endings);
    return ley_fail(error, LEY_ERROR_USAGE, "%s: must end in %s", path, endings);
}

/* ---- By the content -------------------------------------------------------------------------- */

static bool has_header_beside(const char *path)
{
    char *header = map_header_find(path);
    const bool has = header != NULL && access(header, F_OK) == 0;
    free(header);
    return has;
}

/* Raw maps are nothing but numbers: their header beside them tells. Where several formats are one,
 * and where the content says nothing, the name decides. NULL: neither says anything. */
static const map_format *find_by_content(const char *path, const unsigned char *bytes, size_t size)
{
    const map_format *named = find_read(path), *raw = NULL;
    for (size_t i = 0; i < FORMATS; i++)
        raw = formats[i].is == NULL ? &formats[i] : raw;
    if (named != NULL && (named == raw ? has_header_beside(path) : named->is(bytes, size)))
        return named;
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].is != NULL && formats[i].is(bytes, size))
            return &formats[i];
    return (named == NULL || named->about.beside == NULL) && has_header_beside(path) ? raw : named;
}

/* Whether the content, and not the name alone, says that it is of this format; of raw maps the name
 * and the header do. */
static bool is_by_content(const map_format *format, const char *path, const unsigned char *bytes, size_t size)
{
    return format != NULL &&
           (format->is != NULL ? format->is(bytes, size) : format == find_read(path) && has_header_beside(path));
}

/* The first bytes, from malloc; NULL: no memory. */
static unsigned char *peek(ley_stream *stream, size_t *size, ley_error *error)
{
    unsigned char *bytes = malloc(PEEKED_BYTES + 1);
    if (bytes == NULL) {
        ley_fail_memory(error, PEEKED_BYTES, "reading a map");
    } else if (ley_stream_peek(stream, bytes, PEEKED_BYTES, size, error) != LEY_OK) {
        free(bytes);
        bytes = NULL;
    } else {
        bytes[*size] = '\0';
    }
    return bytes;
}

static bool is_no_regular_file(const char *path)
{
    struct stat known;
    return stat(path, &known) == 0 && !S_ISREG(known.st_mode) && !S_ISDIR(known.st_mode);
}

static ley_status fail_pipe(const char *path, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_FILE, "%s: a map with a header beside it must be a regular file", path);
}

/* One of several values at each point. */
static ley_status read_one(const map_format *format, ley_stream *stream, const char *value, ley_map **map,
                           ley_error *error)
{
    if (value != NULL && format->read_value != NULL)
        return format->read_value(stream, value, map, error);
    if (value != NULL && strcmp(value, "1") != 0)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "%s: there is no value '%.60s': files of this format have one at each "
                        "point",
                        ley_stream_path(stream), value);
    return format->read(stream, map, error);
}

static ley_status read_stream(ley_stream *stream, const char *path, const char *value, ley_map **map, ley_error *error)
{
    size_t size = 0;
    unsigned char *bytes = peek(stream, &size, error);
    if (bytes == NULL)
        return LEY_ERROR_MEMORY;
    const map_format *format = find_by_content(path, bytes, size);
    const bool is_text = memchr(bytes, '\0', size) == NULL, is_sure = is_by_content(format, path, bytes, size);
    free(bytes);
    if (format != NULL && format->about.beside != NULL && is_no_regular_file(path))
        return fail_pipe(path, error);
    ley_status status =
        format == NULL && !is_text
            ? ley_fail(error, LEY_ERROR_INPUT,
                       "%s: no map that can be read, by its first bytes: neither OpenDX, MRC, an array of NumPy's nor "
                       "a cube file, and the header of a raw map, %s.json, is not there",
                       path, path)
            : read_one(format != NULL ? format : formats, stream, value, map, error);
    if (status != LEY_OK && !is_sure && molecule_kind_explain(path, MAP_WANTED, error))
        status = LEY_ERROR_INPUT;
    return status;
}

ley_status ley_map_read(const char *path, ley_map **map, ley_error *error)
{
    return ley_map_read_value(path, NULL, map, error);
}

static ley_status read_file(const char *path, const char *value, bool has_gaps, ley_map **map, ley_error *error)
{
    ley_stream *stream;
    const map_format *named = find_read(path);
    if (named != NULL && named->about.beside != NULL && is_no_regular_file(path)) /* nobody may write to the pipe */
        return fail_pipe(path, error);
    ley_status status = ley_stream_open(path, &stream, error);
    if (status != LEY_OK)
        return status;
    if (has_gaps)
        ley_stream_allow_gaps(stream);
    status = read_stream(stream, path, value, map, error);
    ley_stream_close(stream);
    return status;
}

ley_status ley_map_read_value(const char *path, const char *value, ley_map **map, ley_error *error)
{
    return read_file(path, value, false, map, error);
}

ley_status ley_map_read_with_gaps(const char *path, const char *value, ley_map **map, ley_error *error)
{
    return read_file(path, value, true, map, error);
}

ley_status map_format_read(const map_format *format, const char *path, ley_map **map, ley_error *error)
{
    ley_stream *stream;
    ley_status status = ley_stream_open(path, &stream, error);
    if (status != LEY_OK)
        return status;
    status = format->read(stream, map, error);
    ley_stream_close(stream);
    return status;
}

static const map_format *reading(ley_status (*read)(ley_stream *stream, ley_map **map, ley_error *error))
{
    size_t i = 0;
    while (formats[i].read != read)
        i++;
    return &formats[i];
}

ley_status ley_map_read_dx(const char *path, ley_map **map, ley_error *error)
{
    return map_format_read(reading(dx_read), path, map, error);
}

ley_status ley_map_read_raw(const char *path, ley_map **map, ley_error *error)
{
    return map_format_read(reading(raw_read), path, map, error);
}

const ley_map_format *ley_map_format_found(const char *path)
{
    ley_stream *stream;
    const map_format *format = find_read(path);
    size_t size = 0;
    if (is_no_regular_file(path) || ley_stream_open(path, &stream, NULL) != LEY_OK)
        return format != NULL ? &format->about : NULL;
    unsigned char *bytes = peek(stream, &size, NULL);
    format = bytes != NULL ? find_by_content(path, bytes, size) : format;
    free(bytes);
    ley_stream_close(stream);
    return format != NULL ? &format->about : NULL;
}

bool map_format_explain(const char *path, ley_error *error)
{
    ley_stream *stream;
    size_t size = 0;
    if (is_no_regular_file(path) || ley_stream_open(path, &stream, NULL) != LEY_OK)
        return false;
    unsigned char *bytes = peek(stream, &size, NULL);
    const map_format *format = bytes != NULL ? find_by_content(path, bytes, size) : NULL;
    const bool is_map = is_by_content(format, path, bytes, size);
    free(bytes);
    ley_stream_close(stream);
    if (!is_map)
        return false;
    ley_error_clear(error);
    ley_fail(error, LEY_ERROR_INPUT,
             "%s: this is a map (%s), not a PQR file: leyden slice '%s' -o NEW.png draws it; a map is computed from a "
             "PQR file",
             path, format->about.name, path);
    return true;
}

bool ley_map_format_remark(const ley_map_format *format, const ley_grid *grid, char *text, size_t size)
{
    const bool is_misread = format->misread_by != NULL && !ley_grid_is_orthogonal(grid);
    snprintf(text, size, "%s", "");
    if (is_misread)
        snprintf(text, size,
                 "the grid is oblique, and from %s files %s would place its points along x, y and z without a warning: "
                 "write it as .mrc or .npy, or ask for an upright grid (padding 10)",
                 format->name, format->misread_by);
    return is_misread;
}

/* ---- Writing --------------------------------------------------------------------------------- */

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

ley_status ley_map_create_file(const ley_grid *grid, const char *path, ley_map **map, ley_error *error)
{
    const map_format *format = find(path, NULL);
    if (format == NULL)
        return fail_name(path, error);
    return format->create != NULL ? format->create(grid, path, map, error) : ley_map_create(grid, map, error);
}
