/* What fuzzers of whole map files share: any bytes as a file of this format; a map that is read is
 * written and read again. */
#ifndef LEY_FUZZ_MAP_H
#define LEY_FUZZ_MAP_H

#include "fuzz.h"

#include "io/map_format.h"

static const int64_t fuzz_most_points = 1 << 16;

static int fuzz_open(char path[64])
{
    const int fd = memfd_create("map", MFD_CLOEXEC);
    require(fd >= 0);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static const map_format *fuzz_format(const char *ending)
{
    const map_format *format;
    for (size_t i = 0; (format = map_format_at(i)) != NULL; i++)
        if (strcmp(format->about.endings[0], ending) == 0)
            return format;
    abort();
}

/* What can be written is read again; `same` compares the two maps. */
static void fuzz_write_and_read(const map_format *format, const ley_map *map,
                                void (*same)(const ley_map *map, const ley_map *again))
{
    char path[64];
    const int fd = fuzz_open(path);
    ley_error error = {0};
    ley_map *again = NULL;
    const ley_status status = format->write(map, path, "fuzz\n\xff(again)", NULL, NULL, &error);
    require(status == LEY_OK || status == LEY_ERROR_INPUT);
    if (status == LEY_OK && map_format_read(format, path, &again, &error) == LEY_OK) {
        require(memcmp(ley_map_grid(map)->n, ley_map_grid(again)->n, sizeof ley_map_grid(map)->n) == 0);
        same(map, again);
        ley_map_destroy(again);
    }
    close(fd);
    ley_error_clear(&error);
}

static int fuzz_map(const map_format *format, const uint8_t *data, size_t size,
                    void (*same)(const ley_map *map, const ley_map *again))
{
    char path[64];
    const int fd = fuzz_open(path);
    ley_map *map = NULL;
    ley_error error = {0};
    require(write(fd, data, size) == (ssize_t)size);
    const ley_status status = map_format_read(format, path, &map, &error);
    close(fd);
    if (status != LEY_OK) {
        require(map == NULL && status == LEY_ERROR_INPUT && strncmp(error.message, path, strlen(path)) == 0);
        ley_error_clear(&error);
        return 0;
    }
    const int64_t points = ley_grid_points(ley_map_grid(map));
    require(ley_grid_check(ley_map_grid(map), &error) == LEY_OK);
    for (int64_t i = 0; i < points; i++)
        require(isfinite(ley_map_read_values(map)[i]));
    if (points <= fuzz_most_points)
        fuzz_write_and_read(format, map, same);
    ley_map_destroy(map);
    return 0;
}

#endif
