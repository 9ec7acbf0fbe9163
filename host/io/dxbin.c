#include "io/dxbin.h"

#include "error.h"
#include "io/binary.h"
#include "io/dx.h"
#include "io/map_comment.h"
#include "target/map.h"

#include <stdlib.h>
#include <string.h>

/* Memory holds x next to each other, the file z: a few x are turned around together. */
enum { COLUMNS = 16 };

/* ---- Writing --------------------------------------------------------------------------------- */

/* rows[c][z] of these x at one y. */
static void turn(const ley_map *map, int64_t x, int64_t y, int64_t columns, double *rows)
{
    const int64_t *n = ley_map_grid(map)->n;
    const float *values = ley_map_read_values(map) + y * n[0] + x;
    for (int64_t z = 0; z < n[2]; z++, values += n[0] * n[1])
        for (int64_t c = 0; c < columns; c++)
            rows[c * n[1] * n[2] + z] = (double)values[c];
}

static ley_status write_values(ley_output *output, const ley_map *map, int64_t columns, double *block, ley_error *error)
{
    const int64_t *n = ley_map_grid(map)->n, plane = n[1] * n[2];
    ley_status status = LEY_OK;
    for (int64_t x = 0; x < n[0] && status == LEY_OK; x += columns) {
        const int64_t there = n[0] - x < columns ? n[0] - x : columns;
        for (int64_t y = 0; y < n[1]; y++)
            turn(map, x, y, there, block + y * n[2]);
        if (binary_is_other(false))
            binary_swap(block, (size_t)(there * plane), sizeof *block);
        status = ley_output_write(output, block, (size_t)(there * plane) * sizeof *block, error);
    }
    return status;
}

static ley_status write_array(ley_output *output, const ley_map *map, ley_error *error)
{
    static const int64_t most_bytes = 64 << 20;
    const int64_t *n = ley_map_grid(map)->n, plane_bytes = n[1] * n[2] * (int64_t)sizeof(double);
    int64_t columns = most_bytes / plane_bytes;
    columns = columns < 1 ? 1 : columns > COLUMNS ? COLUMNS : columns;
    columns = columns > n[0] ? n[0] : columns;
    double *block = malloc((size_t)(columns * plane_bytes));
    const ley_status status = block != NULL ? write_values(output, map, columns, block, error)
                                            : ley_fail_memory(error, (size_t)(columns * plane_bytes), "writing a map");
    free(block);
    return status;
}

ley_status dxbin_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                       const volatile bool *cancel, ley_error *error)
{
    ley_output output;
    char title[MAP_TITLE];
    (void)facts;
    map_title(map, ley_map_units(map), title);
    ley_status status = map_check_values(map, path, error);
    if (status == LEY_OK)
        status = ley_output_open(&output, path, ley_output_is_packed(path), cancel, error);
    if (status != LEY_OK)
        return status;
    status = ley_dx_write_header(&output, ley_map_grid(map), title, comment, true, error);
    if (status == LEY_OK)
        status = write_array(&output, map, error);
    if (status == LEY_OK)
        status = ley_output_write(&output, "\n", 1, error);
    if (status == LEY_OK)
        status = ley_dx_write_footer(&output, error);
    if (status == LEY_OK)
        return ley_output_commit(&output, error);
    ley_output_abandon(&output);
    return status;
}
