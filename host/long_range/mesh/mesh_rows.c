#include "long_range/mesh/mesh_rows.h"

#include "core/sizes.h"
#include "error.h"

#include <stdlib.h>
#include <string.h>

size_t mesh_rows_numbers(const coordinate_table *a)
{
    return (size_t)a->n[0] * (size_t)a->n[1] * SPREAD_EDGE;
}

/* The number in the buffer at which a plane begins: one that layers begin with, or that behind the
 * last one. */
static size_t plane_place(const coordinate_table *a, int64_t plane)
{
    const int64_t edge = a->edge > 0 ? a->edge : LEY_CUBE, per_plane = a->pitch[0] * a->pitch[1];
    return (size_t)(a->first + (a->in_cubes ? ley_round_up(plane, edge) * edge * edge : plane) * per_plane);
}

static int64_t end_plane(const coordinate_table *a, spread_layers layers)
{
    const int64_t end = layers.end * SPREAD_EDGE;
    return end < a->n[2] ? end : a->n[2];
}

/* Where a node is, from the first one of its layers on. */
static size_t place_of(const coordinate_table *a, int64_t x, int64_t y, int64_t z)
{
    const int64_t e = a->edge > 0 ? a->edge : LEY_CUBE;
    if (!a->in_cubes)
        return (size_t)((z * a->pitch[1] + y) * a->pitch[0] + x);
    const int64_t cube = (z / e * a->pitch[1] + y / e) * a->pitch[0] + x / e;
    return (size_t)(cube * e * e * e + (z % e * e + y % e) * e + x % e);
}

/* Of planes, between their rows and as they are stored. */
static void move(const coordinate_table *a, int64_t planes, float *stored, float *rows, bool to_rows)
{
    const int64_t run = a->in_cubes ? a->edge > 0 ? a->edge : LEY_CUBE : a->n[0];
    for (int64_t z = 0; z < planes; z++)
        for (int64_t y = 0; y < a->n[1]; y++)
            for (int64_t x = 0; x < a->n[0]; x += run) {
                float *own = stored + place_of(a, x, y, z), *row = rows + (z * a->n[1] + y) * a->n[0] + x;
                const size_t count = (size_t)(a->n[0] - x < run ? a->n[0] - x : run);
                memcpy(to_rows ? row : own, to_rows ? own : row, count * sizeof *row);
            }
}

void mesh_rows_write(command_sequence *w, const coordinate_table *a, const float *rows, buffer_of_float to)
{
    const int64_t layers = ley_round_up(a->n[2], SPREAD_EDGE) / SPREAD_EDGE;
    const size_t most = plane_place(a, SPREAD_EDGE) - plane_place(a, 0);
    float *stored = calloc(most, sizeof *stored);
    ley_error error = {0};
    if (stored == NULL) {
        ley_fail_memory(&error, most * sizeof *stored, "a layer of a mesh");
        sequence_fail(w, &error);
        ley_error_clear(&error);
    }
    for (int64_t layer = 0; layer < layers && stored != NULL; layer++) {
        const int64_t plane = layer * SPREAD_EDGE, end = end_plane(a, (spread_layers){layer, layer + 1});
        const size_t at = plane_place(a, plane), count = plane_place(a, end) - at;
        move(a, end - plane, stored, (float *)(uintptr_t)rows + (size_t)layer * mesh_rows_numbers(a), false);
        sequence_write(w, to.buffer, at * sizeof *stored, stored, count * sizeof *stored);
    }
    free(stored);
}

ley_status mesh_rows_read(flight *f, const coordinate_table *a, spread_layers layers, buffer_of_float from,
                          void (*make)(const void *context, command_sequence *w, spread_layers layers),
                          const void *context, float *rows, ley_error *error)
{
    const dev_backend *b = f->device->backend;
    const int64_t plane = layers.first * SPREAD_EDGE, end = end_plane(a, layers);
    const size_t at = plane_place(a, plane), bytes = (plane_place(a, end) - at) * sizeof *rows;
    dev_staging *staging = NULL;
    command_sequence w = {0};
    ley_status status = b->staging_create(f->device, bytes, &staging, error);
    if (status != LEY_OK)
        return status;
    sequence_begin(&w, f, NULL);
    sequence_fill(&w, from.buffer, at * sizeof *rows, DEV_NO_NUMBERS, bytes);
    make(context, &w, layers);
    sequence_read(&w, from.buffer, at * sizeof *rows, staging, bytes);
    status = sequence_finish(&w, error);
    if (status == LEY_OK)
        move(a, end - plane, (float *)staging->bytes, rows, true);
    sequence_end(&w);
    b->staging_destroy(f->device, staging);
    return status;
}
