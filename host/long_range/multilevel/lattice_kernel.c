#include "long_range/multilevel/lattice_kernel.h"

#include "error.h"
#include "long_range/mesh/step_costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double longest_launch_s = 0.1;

void lattice_kernel_destroy(lattice_kernel *k)
{
    kernel_destroy(&k->kernel);
    *k = (lattice_kernel){.device = k->device};
}

/* ---- Levels and places ----------------------------------------------------------------------- */

/* A level, as the kernel has it: whole int4s. */
#define LEVEL_FIELD(name) int32_t name;
typedef struct level_record {
    LEY_LEVEL_FIELDS(LEVEL_FIELD)
} level_record;
_Static_assert(sizeof(level_record) % (4 * sizeof(int32_t)) == 0, "levels are int4s");

static void count_regions(const lattice_kernel *k, const lattice_layout *layout, int level, int64_t regions[3])
{
    int64_t region[3];
    tuning_lattice_region(&k->choice.spec, region);
    for (int axis = 0; axis < 3; axis++)
        regions[axis] = (layout->levels[level].n[axis] + region[axis] - 1) / region[axis];
}

static int radius_of(const lattice_spec *s, int axis)
{
    return axis == 0 ? s->rx : axis == 1 ? s->ry : s->rz;
}

/* Places before node 0, and behind the last region's last node. */
static int64_t halo_of(const lattice_spec *s, int axis)
{
    return (int64_t)LEY_CUBE * LEY_CUBES_BESIDE(radius_of(s, axis));
}

static int64_t places_along(const lattice_kernel *k, const lattice_layout *layout, int level, int axis)
{
    int64_t region[3], regions[3];
    tuning_lattice_region(&k->choice.spec, region);
    count_regions(k, layout, level, regions);
    return regions[axis] * region[axis] + 2 * halo_of(&k->choice.spec, axis);
}

static int64_t places_of_all(const lattice_kernel *k, const lattice_layout *layout)
{
    int64_t count = 0;
    for (int level = 0; level < layout->count; level++)
        for (int axis = 0; axis < 3; axis++)
            count += places_along(k, layout, level, axis);
    return count;
}

/* Fills in the places along an axis of a level; returns where node 0 is. */
static int32_t put_places(const lattice_tables *t, int level, int axis, int32_t *made, int64_t *at)
{
    const int64_t halo = halo_of(&t->kernel->choice.spec, axis);
    const int64_t count = places_along(t->kernel, &t->layout, level, axis), first = *at;
    const coordinate_table array = lattice_layout_array(&t->layout, level);
    for (int64_t i = 0; i < count; i++)
        made[first + i] = coordinates_along_axis(&array, axis, i - halo);
    *at += count;
    return (int32_t)(first + halo);
}

static level_record make_level(const lattice_tables *t, int level, int32_t *table, int64_t *at)
{
    const lattice_level *l = &t->layout.levels[level];
    const int64_t *cubes = t->layout.cubes[level];
    const float scale = (float)l->scale;
    int64_t regions[3];
    count_regions(t->kernel, &t->layout, level, regions);
    level_record made = {.first_group = (int32_t)t->first_group[level],
                         .regions_x = (int32_t)regions[0],
                         .regions_y = (int32_t)regions[1],
                         .first_node = (int32_t)t->layout.first_node[level],
                         .place_x = put_places(t, level, 0, table, at),
                         .place_y = put_places(t, level, 1, table, at),
                         .place_z = put_places(t, level, 2, table, at),
                         .cubes_x = (int32_t)cubes[0],
                         .cubes_y = (int32_t)cubes[1],
                         .cubes_z = (int32_t)cubes[2],
                         .periodic = (l->periodic[0] ? 1 : 0) | (l->periodic[1] ? 2 : 0) | (l->periodic[2] ? 4 : 0)};
    memcpy(&made.scale, &scale, sizeof scale);
    return made;
}

ley_status lattice_tables_create(lattice_tables *t, const lattice_kernel *kernel, const lattice_layout *layout,
                                 arena *memory, ley_error *error)
{
    *t = (lattice_tables){.kernel = kernel, .layout = *layout};
    const int64_t count = places_of_all(kernel, layout);
    for (int level = 0; level < layout->count; level++) {
        int64_t regions[3];
        count_regions(kernel, layout, level, regions);
        t->first_group[level + 1] = t->first_group[level] + regions[0] * regions[1] * regions[2];
    }
    if (count > INT32_MAX || t->first_group[layout->count] > INT32_MAX)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "the meshes are more than a kernel can number");
    level_record records[LATTICE_MOST_LEVELS];
    int32_t *made = malloc((size_t)count * sizeof *made);
    int64_t at = 0;
    if (made == NULL)
        return ley_fail_memory(error, (size_t)count * sizeof *made, "tables of meshes");
    for (int level = 0; level < layout->count; level++)
        records[level] = make_level(t, level, made, &at);
    ley_status status =
        arena_upload(memory, records, (size_t)layout->count * sizeof *records, &t->levels.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(memory, made, (size_t)count * sizeof *made, &t->places.buffer, error);
    free(made);
    return status;
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* A cube, as the sliding window has them. */
static void pack_cube(const lattice_spec *s, const lattice_weights *w, float *packed)
{
    const int beside[3] = {LEY_CUBE * LEY_CUBES_BESIDE(s->rx), LEY_CUBE * LEY_CUBES_BESIDE(s->ry),
                           LEY_CUBE * LEY_CUBES_BESIDE(s->rz)};
    for (int dz = -beside[2]; dz < beside[2]; dz++)
        for (int dy = -beside[1]; dy < beside[1]; dy++)
            for (int dx = -beside[0]; dx < beside[0]; dx++)
                *packed++ = (float)lattice_weight(w, dx, dy, dz);
}

static int largest(int a, int b)
{
    return a > b ? a : b;
}

/* One column: its weights, nodes along x and y that are their own images counting half, and its
 * reach. Returns how far it reaches, -1: nowhere. */
static int pack_column(const lattice_spec *s, const lattice_weights *w, int dx, int dy, float *column)
{
    const int depth = LEY_COLUMN_DEPTH(s->rz, s->uz, s->width);
    const int first = LEY_COLUMN_MIRRORED(s->mirrored, s->width) ? 0 : -depth;
    const double share = s->mirrored ? (dx == 0 ? 0.5 : 1) * (dy == 0 ? 0.5 : 1) : 1;
    int reach = -1;
    for (int dz = first; dz <= depth; dz++) {
        const double weight = lattice_weight(w, dx, dy, dz);
        column[dz - first] = (float)(share * weight);
        reach = weight != 0 ? largest(reach, abs(dz)) : reach;
    }
    column[LEY_COLUMN(s->rz, s->uz, s->width, s->mirrored) - 1] =
        (float)(s->width > 1 ? largest(reach, s->uz / 2) : reach);
    return reach;
}

/* The table of spec.h; `packed` is zeros. */
static void pack_columns(const lattice_spec *s, const lattice_weights *w, float *packed)
{
    const int first_x = s->mirrored ? 0 : -s->rx, first_y = s->mirrored ? 0 : -s->ry;
    float *column = packed + LEY_WEIGHTS_HEAD(s->ry, s->mirrored);
    for (int dy = first_y; dy <= s->ry; dy++) {
        int extent = -1;
        for (int dx = first_x; dx <= s->rx; dx++, column += LEY_COLUMN(s->rz, s->uz, s->width, s->mirrored))
            if (pack_column(s, w, dx, dy, column) >= 0)
                extent = largest(extent, abs(dx));
        packed[dy - first_y] = (float)extent;
    }
}

ley_status lattice_weights_create(const lattice_kernel *k, const lattice_weights *weights, arena *memory,
                                  buffer_of_float *made, ley_error *error)
{
    const lattice_spec *s = &k->choice.spec;
    for (int axis = 0; axis < 3; axis++)
        if (weights->radius[axis] != radius_of(s, axis))
            return ley_fail(error, LEY_ERROR_USAGE, "weights that reach %d nodes, for a kernel of %d",
                            weights->radius[axis], radius_of(s, axis));
    if (s->mirrored && !weights->mirrored)
        return ley_fail(error, LEY_ERROR_USAGE, "weights that are not mirrored, for a kernel of those that are");
    const size_t count = tuning_lattice_weights(s);
    float *packed = calloc(count, sizeof *packed);
    if (packed == NULL)
        return ley_fail_memory(error, count * sizeof *packed, "weights");
    if (s->slide != LEY_SLIDE_NOT)
        pack_cube(s, weights, packed);
    else
        pack_columns(s, weights, packed);
    const ley_status status = arena_upload(memory, packed, count * sizeof *packed, &made->buffer, error);
    free(packed);
    return status;
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Of columns, for a work-item; weights of an ellipsoid a little larger than their radius. */
static lattice_operations count_columns(const lattice_spec *s)
{
    const int folded = s->mirrored ? 1 : 0;
    lattice_operations o = {0, 0, 0};
    for (int dy = folded ? 0 : -s->ry; dy <= s->ry; dy++)
        for (int dx = folded ? 0 : -s->rx; dx <= s->rx; dx++) {
            const double rest = 1 - pow(dx / (s->rx + 1.0), 2) - pow(dy / (s->ry + 1.0), 2);
            if (rest <= 0)
                continue;
            const int reach = tuning_lattice_reach(s, (int)ceil(sqrt(rest) * (s->rz + 1.0)) - 1);
            const double planes = s->uz + 2.0 * reach, nodes = s->ux * s->uy * s->width;
            o.multiply_adds += nodes * s->uz * (2.0 * reach + 1);
            o.additions += folded * nodes * planes;
            o.local_bytes += s->width > 1 ? 0 : 4.0 * (1 + folded) * nodes * planes;
        }
    return o;
}

/* Steps of a window along an axis, in all sub-cubes of a level: as first_step() and last_step() of
 * the kernel have them. */
static double steps_along(const lattice_kernel *k, const lattice_layout *layout, int level, int axis)
{
    const int64_t beside = LEY_CUBES_BESIDE(radius_of(&k->choice.spec, axis)), cubes = layout->cubes[level][axis];
    double steps = 0;
    for (int64_t cube = 0; cube < cubes; cube++) {
        const int64_t first = -cube - 1, last = cubes - 1 - cube;
        steps += layout->levels[level].periodic[axis]
                     ? (double)(2 * beside)
                     : (double)((last < beside - 1 ? last : beside - 1) - (first > -beside ? first : -beside) + 1);
    }
    return steps;
}

/* Of a level. */
static lattice_operations count_level(const lattice_kernel *k, const lattice_layout *layout, int level)
{
    const lattice_spec *s = &k->choice.spec;
    const double sub_cube = pow(LEY_CUBE, 3);
    int64_t regions[3];
    count_regions(k, layout, level, regions);
    const double groups = (double)regions[0] * (double)regions[1] * (double)regions[2];
    if (s->slide != LEY_SLIDE_NOT) {
        const double steps =
            steps_along(k, layout, level, 0) * steps_along(k, layout, level, 1) * steps_along(k, layout, level, 2);
        return (lattice_operations){.multiply_adds = steps * sub_cube * sub_cube,
                                    .local_bytes = sizeof(float) * steps * sub_cube * sub_cube};
    }
    const double items = groups * s->lx * s->ly * s->lz;
    const lattice_operations o = count_columns(s);
    return (lattice_operations){items * o.multiply_adds, items * o.additions, items * o.local_bytes};
}

lattice_operations lattice_count(const lattice_tables *t)
{
    lattice_operations all = {0, 0, 0};
    for (int level = 0; level < t->layout.count; level++) {
        const lattice_operations o = count_level(t->kernel, &t->layout, level);
        all.multiply_adds += o.multiply_adds;
        all.additions += o.additions;
        all.local_bytes += o.local_bytes;
    }
    return all;
}

/* Until a job has shown it: a share of the device's rate of multiply-adds. */
static double unit_seconds(const lattice_kernel *k)
{
    const double per_s = k->facts.fma_per_s * (k->choice.spec.slide != LEY_SLIDE_NOT ? 0.1 : 0.5);
    return k->unit_s > 0 ? k->unit_s : per_s > 0 ? 1 / per_s : 0;
}

double lattice_predict(const lattice_kernel *k, const lattice_layout *layout, int first, int count)
{
    double slots = 0;
    for (int level = first; level < first + count; level++) {
        const lattice_operations o = count_level(k, layout, level);
        slots += o.multiply_adds + o.additions;
    }
    return slots * unit_seconds(k);
}

double lattice_seconds(const lattice_tables *t, int first, int count)
{
    return lattice_predict(t->kernel, &t->layout, first, count);
}

void lattice_look_up_cost(lattice_kernel *k, const char *step)
{
    k->unit_s = step_cost(k->device->info, step, k->choice.variant, 0);
}

void lattice_learn(const lattice_kernel *k, const char *step, double predicted_s, double took_s)
{
    step_cost_learn(k->device->info, step, k->choice.variant, unit_seconds(k), predicted_s, took_s);
}

void lattice_launch(command_sequence *w, const lattice_tables *t, int first, int count, buffer_of_float weights,
                    buffer_of_float charges, buffer_of_float potentials)
{
    const lattice_kernel *k = t->kernel;
    const int64_t groups_of_all = t->first_group[first + count] - t->first_group[first];
    const double one_s = lattice_seconds(t, first, count) / (double)groups_of_all;
    const size_t limit = k->device->info->max_groups[0];
    int64_t most = limit > 0 && limit < INT32_MAX ? (int64_t)limit : INT32_MAX;
    if (one_s > 0 && longest_launch_s / one_s < (double)most)
        most = (int64_t)fmax(longest_launch_s / one_s, 1);
    const int64_t end = t->first_group[first + count];
    for (int64_t group = t->first_group[first], groups; group < end; group += groups) {
        groups = end - group < most ? end - group : most;
        sequence_launch(w, &k->kernel, (const size_t[3]){(size_t)groups, 1, 1},
                        KERNEL_ARGUMENTS(lattice, .gm_weights = weights, .gm_levels = t->levels,
                                         .n_levels = t->layout.count, .first_group = (int32_t)group,
                                         .gm_places = t->places, .gm_charges = charges, .gm_potentials = potentials),
                        (double)groups * one_s);
    }
}

/* ---- Alone on a device ----------------------------------------------------------------------- */

ley_status lattice_resident_create(lattice_resident *r, const lattice_kernel *kernel, const lattice_layout *layout,
                                   const lattice_weights *weights, ley_error *error)
{
    const int64_t bytes = lattice_layout_bytes(layout);
    *r = (lattice_resident){.memory = {.device = kernel->device}, .flight = {.device = kernel->device}};
    ley_status status = lattice_tables_create(&r->tables, kernel, layout, &r->memory, error);
    if (status == LEY_OK)
        status = lattice_weights_create(kernel, weights, &r->memory, &r->weights, error);
    if (status == LEY_OK)
        status = arena_buffer(&r->memory, (size_t)bytes, DEV_READ_ONLY, &r->charges.buffer, error);
    return status == LEY_OK ? arena_results(&r->memory, bytes, &r->potentials, error) : status;
}

void lattice_resident_end(lattice_resident *r)
{
    sequence_end(&r->command_sequence);
    arena_clear(&r->memory);
}
