/* libFuzzer: any bytes as an OpenDX map; a map that is read is written and read again. Build: clang
 * -fsanitize=fuzzer,address,undefined. */
#include "fuzz.h"

#include "leyden.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const ley_map *map, const ley_map *again)
{
    const ley_grid *a = ley_map_grid(map), *b = ley_map_grid(again);
    require(memcmp(a->n, b->n, sizeof a->n) == 0 && memcmp(a->step_A, b->step_A, sizeof a->step_A) == 0);
    for (int axis = 0; axis < 3; axis++)
        require(a->origin_A[axis] == b->origin_A[axis]);
    for (int64_t i = 0; i < ley_grid_points(a); i++) {
        char text[32];
        snprintf(text, sizeof text, "%.6e", (double)ley_map_read_values(map)[i]);
        require(strtof(text, NULL) == ley_map_read_values(again)[i]);
    }
}

static void write_and_read(const ley_map *map)
{
    char path[64];
    int fd = open_memory(path);
    ley_error error = {0};
    ley_map *again = NULL;
    require(ley_map_write_dx(map, path, "fuzz\n# (again)", NULL, &error) == LEY_OK);
    ley_status status = ley_map_read_dx(path, &again, &error);
    close(fd);
    /* Seven digits may carry a number at the edge of its range over it. */
    if (status != LEY_OK) {
        require(strstr(error.message, "too large") != NULL || strstr(error.message, "grid: ") != NULL);
        ley_error_clear(&error);
        return;
    }
    compare(map, again);
    ley_map_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = open_memory(path);
    require(write(fd, data, size) == (ssize_t)size);
    ley_map *map = NULL;
    ley_error error = {0};
    ley_status status = ley_map_read_dx(path, &map, &error);
    close(fd);
    if (status != LEY_OK) {
        require(map == NULL && status == LEY_ERROR_INPUT && strncmp(error.message, path, strlen(path)) == 0);
        ley_error_clear(&error);
        return 0;
    }
    for (int64_t i = 0; i < ley_grid_points(ley_map_grid(map)); i++)
        require(isfinite(ley_map_read_values(map)[i]));
    write_and_read(map);
    ley_map_destroy(map);
    return 0;
}
