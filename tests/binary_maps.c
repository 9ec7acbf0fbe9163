#include "binary_maps.h"

#include "target/map.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int maps_begin(void **state)
{
    static int number;
    char folder[256];
    snprintf(folder, sizeof folder, "%s/%d", support_directory(), number++);
    return mkdir(folder, 0700) != 0 || chdir(folder) != 0;
}

int maps_count_files(void)
{
    int count = 0;
    DIR *directory = opendir(".");
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

void maps_write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

ley_map *maps_make(const ley_grid *grid)
{
    ley_error error = {0};
    ley_map *map = NULL;
    assert_ok(ley_map_create(grid, &map, &error));
    for (int64_t i = 0; i < ley_grid_points(grid); i++)
        ley_map_values(map)[i] = sinf((float)i) * powf(10, (float)(i % 60 - 30));
    ley_map_set_units(map, "kT/e");
    return map;
}

ley_map *maps_read(const char *path)
{
    ley_error error = {0};
    ley_map *map = NULL;
    assert_ok(ley_map_read(path, &map, &error));
    return map;
}

void maps_assert_same_values(const ley_map *a, const ley_map *b)
{
    const ley_grid *l = ley_map_grid(a);
    assert_memory_equal(l->n, ley_map_grid(b)->n, sizeof l->n);
    assert_memory_equal(ley_map_read_values(a), ley_map_read_values(b), (size_t)ley_grid_points(l) * sizeof(float));
}

void maps_assert_same_grids(const ley_map *a, const ley_map *b, double tolerance)
{
    const ley_grid *l = ley_map_grid(a), *m = ley_map_grid(b);
    double longest_A = 0;
    for (int i = 0; i < 9; i++)
        longest_A = fmax(longest_A, fabs(l->step_A[i / 3][i % 3]));
    for (int i = 0; i < 9; i++)
        if (fabs(l->step_A[i / 3][i % 3] - m->step_A[i / 3][i % 3]) > tolerance * longest_A)
            fail_msg("step %d: %.17g, %.17g A", i, l->step_A[i / 3][i % 3], m->step_A[i / 3][i % 3]);
    for (int axis = 0; axis < 3; axis++)
        if (fabs(l->origin_A[axis] - m->origin_A[axis]) > tolerance * fmax(longest_A, fabs(l->origin_A[axis])))
            fail_msg("origin: %.17g, %.17g A", l->origin_A[axis], m->origin_A[axis]);
}

void maps_expect_bad(const char *path, const char *message)
{
    char expected[512];
    ley_map *map = NULL;
    ley_error error = {0};
    assert_int_equal(ley_map_read(path, &map, &error), LEY_ERROR_INPUT);
    snprintf(expected, sizeof expected, "%s%s", path, message);
    assert_string_equal(error.message, expected);
    assert_null(map);
    assert_int_equal(ley_map_read(path, &map, NULL), LEY_ERROR_INPUT);
    ley_error_clear(&error);
}

char *maps_write_both_ways(const ley_map *map, const char *path, const char *comment, size_t *size)
{
    enum { SLAB = 4 };
    ley_error error = {0};
    ley_map *stored = NULL;
    const int64_t *n = ley_map_grid(map)->n, plane = n[0] * n[1];
    size_t stored_size;
    assert_ok(ley_map_create_file(ley_map_grid(map), path, &stored, &error));
    assert_null(ley_map_values(stored));
    ley_map_set_units(stored, ley_map_units(map));
    assert_int_equal(ley_map_write(stored, path, comment, NULL, NULL, &error), LEY_ERROR_INPUT);
    for (int64_t first = (n[2] - 1) / SLAB * SLAB; first >= 0; first -= SLAB) {
        const int64_t count = n[2] - first < SLAB ? n[2] - first : SLAB;
        float *planes = NULL;
        assert_ok(map_planes_take(stored, first, count, &planes, &error));
        memcpy(planes, ley_map_read_values(map) + first * plane, (size_t)(count * plane) * sizeof(float));
        assert_ok(map_planes_give(stored, first, count, planes, true, &error));
    }
    assert_ok(ley_map_write(stored, path, comment, NULL, NULL, &error));
    ley_map_destroy(stored);
    char *bytes = support_read_file(path, &stored_size);
    assert_ok(ley_map_write(map, path, comment, NULL, NULL, &error));
    char *again = support_read_file(path, size);
    assert_int_equal(*size, stored_size);
    assert_memory_equal(bytes, again, *size);
    free(again);
    return bytes;
}
