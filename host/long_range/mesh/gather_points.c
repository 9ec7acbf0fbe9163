#include "long_range/mesh/gather_points.h"

#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

/* Of a multiply-add: such a kernel reaches this share of them, roughly. */
static double unit_s(const transfer_kernels *kernels)
{
    const double share = kernels->device->info->device_class == DEV_CPU ? 0.02 : 0.05,
                 per_s = share * kernels->facts.fma_per_s;
    return per_s > 0 ? 1 / per_s : 0;
}

double gather_points_seconds(const transfer_kernels *kernels, const hierarchy *h, double points)
{
    return LEY_COMPONENTS(kernels->field) * points * pow(h->window->points, 3) * unit_s(kernels);
}

double gather_points_bytes(bool field)
{
    return sizeof(int32_t[4]) + sizeof(float[4]) + LEY_COMPONENTS(field) * sizeof(float);
}

ley_status gather_points_create(gather_points *f, const transfer_kernels *kernels, const hierarchy *h,
                                const coordinate_table *array, buffer_of_float potentials, arena *memory,
                                ley_error *error)
{
    const window *w = h->window;
    float c[WINDOW_MOST_POINTS * WINDOW_MOST_POINTS];
    coordinates all = {.count = 0};
    *f = (gather_points){.kernel = &kernels->interpolation,
                         .hierarchy = h,
                         .field = kernels->field,
                         .unit_s = unit_s(kernels),
                         .memory = memory,
                         .potentials = potentials};
    ley_status status = coordinates_add(&all, array, w->points, w->points, &f->mesh, error);
    if (status == LEY_OK)
        status = arena_upload(memory, all.values, all.count * sizeof *all.values, &f->places.buffer, error);
    free(all.values);
    for (int i = 0; i < w->points * w->points; i++)
        c[i] = (float)w->c[i / w->points][i % w->points];
    return status == LEY_OK
               ? arena_upload(memory, c, (size_t)(w->points * w->points) * sizeof *c, &f->window.buffer, error)
               : status;
}

/* ---- Points, packed -------------------------------------------------------------------------- */

typedef struct packing {
    const hierarchy *hierarchy;
    const int32_t *number;
    const double *point_A;
    int32_t (*cell)[4];
    float (*fraction)[4];
} packing;

/* The node below a point, in the period where there is one, and how far it is above that. */
static void pack(void *context, size_t first, size_t last)
{
    const packing *p = context;
    const hierarchy *h = p->hierarchy;
    for (size_t i = first; i < last; i++) {
        double index[3];
        hierarchy_index(h, p->point_A + 3 * (int64_t)p->number[i], index);
        for (int axis = 0; axis < 3; axis++) {
            const double below = floor(index[axis]), n = (double)h->level[0].n[axis];
            p->cell[i][axis] = (int32_t)(h->cell.periodic[axis] ? below - n * floor(below / n)
                                                                : below - (double)h->level[0].first[axis]);
            p->fraction[i][axis] = (float)(index[axis] - below - 0.5);
        }
        p->cell[i][3] = 0;
        p->fraction[i][3] = 0;
    }
}

static ley_status make_buffers(gather_points *f, gather_run *run, ley_error *error)
{
    const int64_t most = run->count;
    const size_t bytes = (size_t)most * sizeof(float[4]);
    if (run->capacity >= run->count)
        return LEY_OK;
    arena_free_buffer(f->memory, &run->cells.buffer);
    arena_free_buffer(f->memory, &run->fractions.buffer);
    arena_free_results(f->memory, &run->phi);
    run->capacity = 0;
    ley_status status = arena_buffer(f->memory, bytes, DEV_READ_ONLY, &run->cells.buffer, error);
    if (status == LEY_OK)
        status = arena_buffer(f->memory, bytes, DEV_READ_ONLY, &run->fractions.buffer, error);
    if (status == LEY_OK)
        status = arena_results(f->memory, (int64_t)(LEY_COMPONENTS(f->field) * (size_t)most * sizeof(float)), &run->phi,
                               error);
    if (status == LEY_OK)
        run->capacity = most;
    return status;
}

static ley_status send(gather_points *f, gather_run *run, command_sequence *w, const int32_t *number,
                       const double *point_A, ley_error *error)
{
    const size_t n = (size_t)run->count, bytes = n * sizeof(float[4]);
    packing p = {f->hierarchy, number, point_A, malloc(bytes), malloc(bytes)};
    ley_status status =
        p.cell == NULL || p.fraction == NULL ? ley_fail_memory(error, 2 * bytes, "packed points") : LEY_OK;
    if (status == LEY_OK) {
        parallel_ranges(n, pack, &p);
        sequence_write(w, run->cells.buffer, 0, p.cell, bytes);
        sequence_write(w, run->fractions.buffer, 0, p.fraction, bytes);
    }
    free(p.cell);
    free(p.fraction);
    return status;
}

ley_status gather_points_run(gather_points *f, gather_run *run, command_sequence *w, int64_t count,
                             const int32_t *number, const double *point_A, ley_error *error)
{
    run->count = count;
    ley_status status = make_buffers(f, run, error);
    if (status == LEY_OK)
        status = send(f, run, w, number, point_A, error);
    if (status != LEY_OK)
        return status;
    const size_t items = f->kernel->group_size[0], groups[3] = {((size_t)count + items - 1) / items, 1, 1},
                 bytes = LEY_COMPONENTS(f->field) * (size_t)count * sizeof(float);
    interpolation_list_arguments a = {.kind = &interpolation_list_kind,
                                      .gm_window = f->window,
                                      .gm_potentials = f->potentials,
                                      .gm_places = f->places,
                                      .gm_cells = run->cells,
                                      .gm_fractions = run->fractions,
                                      .count = (int32_t)count,
                                      .gm_phi = {run->phi.buffer}};
    for (int i = 0; i < 4; i++)
        a.mesh[i] = f->mesh.at[i];
    sequence_poison(w, &run->phi, bytes);
    sequence_launch(w, f->kernel, groups, &a,
                    LEY_COMPONENTS(f->field) * (double)count * pow(f->hierarchy->window->points, 3) * f->unit_s);
    sequence_read(w, run->phi.buffer, 0, run->phi.staging, bytes);
    return sequence_status(w, error);
}

ley_status gather_points_add(const gather_points *f, const gather_run *run, double factor, const int32_t *number,
                             double *values, double *field, ley_error *error)
{
    const float *phi = (const float *)(const void *)run->phi.staging->bytes;
    const size_t n = (size_t)run->count;
    bool is_finite = true;
    for (size_t i = 0; i < n; i++) {
        values[number[i]] += factor * (double)phi[i];
        is_finite = is_finite && isfinite(phi[i]);
        for (int axis = 0; axis < 3 && f->field; axis++) {
            double gradient = 0;
            for (size_t m = 0; m < 3; m++)
                gradient += f->hierarchy->inverse_per_A[m][axis] * (double)phi[(m + 1) * n + i];
            field[3 * (int64_t)number[i] + axis] -= factor * gradient;
            is_finite = is_finite && isfinite(gradient);
        }
    }
    return is_finite ? LEY_OK : sequence_no_number(error);
}
