#include "energy/lists.h"

#include "calibrate.h"
#include "error.h"

#include <math.h>
#include <string.h>

static const kernel_dialect plain = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD};

/* ---- Shapes ---------------------------------------------------------------------------------- */

enum { GROUP_CLUSTER = 32 };

list_tiles_spec lists_spec_of_groups(bool full, int sub_groups)
{
    return (list_tiles_spec){.sum = LEY_SPEC_SUM_FLOAT,
                             .width = 1,
                             .root = LEY_ROOT_STANDARD,
                             .cluster = GROUP_CLUSTER,
                             .full = full,
                             .sub_groups = sub_groups};
}

list_tiles_spec lists_spec_for(const dev_info *info)
{
    const int width = calibrate_width(info) > 8 ? 16 : 8,
              sub_groups = (info->quirks & DEV_QUIRK_PTX) != 0 ? LEY_SUB_GROUPS_PTX : info->sub_groups;
    if (info->device_class != DEV_CPU || info->vector_width < 4)
        return lists_spec_of_groups(info->capability < 30 && sub_groups == LEY_SUB_GROUPS_NONE, sub_groups);
    return (list_tiles_spec){.sum = LEY_SPEC_SUM_FLOAT,
                             .width = width,
                             .root = width == 16 && (info->quirks & DEV_QUIRK_AVX512) != 0 ? LEY_ROOT_AVX512
                                                                                           : LEY_ROOT_STANDARD,
                             .cluster = width,
                             .full = 1};
}

list_boxes_spec lists_boxes_spec(const list_tiles_spec *spec)
{
    return (list_boxes_spec){.sum = LEY_SPEC_SUM_FLOAT,
                             .width = 1,
                             .root = LEY_ROOT_STANDARD,
                             .cluster = spec->cluster,
                             .planar = spec->width > 1};
}

list_first_spec lists_first_spec(const dev_info *info)
{
    const size_t most = info->max_work_group > 0 && info->max_work_group < 256 ? info->max_work_group : 256;
    return (list_first_spec){.sum = LEY_SPEC_SUM_FLOAT,
                             .width = 1,
                             .root = LEY_ROOT_STANDARD,
                             .wg = info->device_class == DEV_CPU ? 1 : (int)most};
}

int32_t lists_pitch(int32_t blocks)
{
    return LEY_LIST_BLOCK * (blocks + (blocks + LEY_LIST_BLOCK - 1) / LEY_LIST_BLOCK);
}

lists_shape lists_shape_of(const list_tiles_spec *spec, size_t particles, size_t padded, double reach_A)
{
    static const double density = 0.11, per_bin = 8, margin = 1.25; /* of water, 1/A^3; usual particles of a bin */
    enum { MOST_BITS = 8, TILES = 32 };
    const int32_t cluster = spec->cluster, count = (int32_t)particles;
    lists_shape s = {.particles = count,
                     .padded = (int32_t)padded,
                     .clusters = (count + cluster - 1) / cluster,
                     .bits = 1,
                     .reach_A = reach_A};
    const double side = cbrt(cluster / density),
                 near = density * (side * side * side + 6 * side * side * reach_A +
                                   3 * M_PI * side * reach_A * reach_A + 4 * M_PI / 3 * reach_A * reach_A * reach_A);
    while (s.bits < MOST_BITS && ldexp(per_bin, 3 * s.bits) < (double)particles)
        s.bits++;
    s.bins = 1 << 3 * s.bits;
    s.slots = s.clusters * cluster;
    s.blocks = (s.clusters + LEY_LIST_BLOCK - 1) / LEY_LIST_BLOCK;
    s.pitch = lists_pitch(s.blocks);
    s.room[0] = s.clusters < TILES ? s.clusters : TILES;
    s.room[1] = (int32_t)fmin(s.slots, margin * (spec->full ? near : near / 2));
    return s;
}

size_t lists_frame_bytes(const list_tiles_spec *spec, const lists_shape *shape)
{
    const size_t row = 2 + (size_t)shape->room[0] * (size_t)(1 + spec->cluster) + (size_t)shape->room[1];
    return sizeof(int32_t) * ((size_t)shape->clusters * row + 3 * (size_t)shape->bins + 3 * (size_t)shape->padded +
                              6 * (size_t)shape->slots + 6 * (size_t)shape->pitch);
}

static void put_row(float to[4], const double from[3], double factor, double last)
{
    for (int d = 0; d < 3; d++)
        to[d] = (float)(from[d] * factor);
    to[3] = (float)last;
}

static double length(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

void lists_frame_rows(const lists_shape *shape, const double *cell_A, const double low_A[3], const double high_A[3],
                      float (*row)[4])
{
    const double bins = ldexp(1, shape->bits);
    double longest_A = 1e-3, volume = 0;
    memset(row, 0, LEY_LIST_ROWS * sizeof *row);
    for (int k = 0; k < 3; k++)
        longest_A = fmax(longest_A, cell_A != NULL ? length(cell_A + 3 * k) : high_A[k] - low_A[k]);
    for (int k = 0; k < 3; k++) {
        double dual[3] = {0, 0, 0};
        if (cell_A == NULL) {
            dual[k] = bins / longest_A;
            put_row(row[6 + k], dual, 1, -low_A[k] * bins / longest_A);
            continue;
        }
        const double *u = cell_A + 3 * ((k + 1) % 3), *v = cell_A + 3 * ((k + 2) % 3);
        for (int d = 0; d < 3; d++)
            dual[d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
        volume = dual[0] * cell_A[3 * k] + dual[1] * cell_A[3 * k + 1] + dual[2] * cell_A[3 * k + 2];
        const double along = bins * length(cell_A + 3 * k) / longest_A;
        put_row(row[k], cell_A + 3 * k, 1, 0);
        put_row(row[3 + k], dual, 1 / volume, length(dual) / fabs(volume) * shape->reach_A);
        put_row(row[6 + k], dual, along / volume, along / 2);
    }
}

/* ---- Kernels and buffers --------------------------------------------------------------------- */

static ley_status make_kernels(pair_lists *l, dev *device, ley_error *error)
{
    const list_boxes_spec boxes = lists_boxes_spec(&l->spec);
    const list_first_spec first = lists_first_spec(device->info);
    ley_status status = kernel_create(device, &list_bins_kind, &plain, NULL, NULL, &l->bins, error);
    if (status == LEY_OK)
        status = kernel_create(device, &list_first_kind, &first, NULL, NULL, &l->first, error);
    if (status == LEY_OK)
        status = kernel_create(device, &list_place_kind, &boxes, NULL, NULL, &l->place, error);
    if (status == LEY_OK)
        status = kernel_create(device, &list_boxes_kind, &boxes, NULL, NULL, &l->boxes, error);
    if (status == LEY_OK)
        status = kernel_create(device, &list_blocks_kind, &plain, NULL, NULL, &l->blocks, error);
    return status == LEY_OK ? kernel_create(device, &list_tiles_kind, &l->spec, NULL, NULL, &l->tiles, error) : status;
}

static ley_status make_rows(pair_lists *l, arena *memory, ley_error *error)
{
    const lists_shape *s = &l->shape;
    const size_t rows = (size_t)l->frames * (size_t)s->clusters * sizeof(int32_t);
    ley_status status = arena_buffer(memory, rows * (size_t)s->room[0], DEV_READ_WRITE, &l->tile.buffer, error);
    if (status == LEY_OK)
        status = arena_buffer(memory, rows * (size_t)s->room[0] * (size_t)l->spec.cluster, DEV_READ_WRITE,
                              &l->mask.buffer, error);
    return status == LEY_OK ? arena_buffer(memory, rows * (size_t)s->room[1], DEV_READ_WRITE, &l->near.buffer, error)
                            : status;
}

static ley_status make_buffers(pair_lists *l, arena *memory, ley_error *error)
{
    const lists_shape *s = &l->shape;
    const size_t frames = (size_t)l->frames * sizeof(int32_t), bins = frames * (size_t)s->bins,
                 places = frames * (size_t)s->padded, slots = frames * (size_t)s->slots;
    const struct {
        size_t bytes;
        dev_buffer **buffer;
    } all[] = {{4 * LEY_LIST_ROWS * frames, &l->rows.buffer},
               {bins, &l->count.buffer},
               {bins, &l->head.buffer},
               {bins, &l->before.buffer},
               {frames * (size_t)lists_first_parts((int)l->first.group_size[0], s->bins), &l->part.buffer},
               {places, &l->next.buffer},
               {places, &l->bin.buffer},
               {places, &l->slot.buffer},
               {slots, &l->own.buffer},
               {slots, &l->sorted_type.buffer},
               {4 * slots, &l->sorted.buffer},
               {6 * frames * (size_t)s->pitch, &l->box.buffer},
               {2 * frames * (size_t)s->clusters, &l->row_counts.buffer},
               {2 * sizeof(int32_t), &l->beyond.buffer}};
    ley_status status = LEY_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == LEY_OK; i++)
        status = arena_buffer(memory, all[i].bytes, DEV_READ_WRITE, all[i].buffer, error);
    return status == LEY_OK ? make_rows(l, memory, error) : status;
}

ley_status pair_lists_create(pair_lists *made, arena *memory, const list_tiles_spec *spec, int frames,
                             const lists_shape *shape, const int32_t *first, const int32_t *excluded,
                             buffer_of_int type, ley_error *error)
{
    static const int32_t none[1];
    const size_t places = (size_t)shape->padded + 1, partners = (size_t)first[shape->padded];
    *made = (pair_lists){.spec = *spec, .shape = *shape, .frames = frames, .type = type};
    ley_status status = make_kernels(made, memory->device, error);
    if (status == LEY_OK)
        status = arena_upload(memory, first, places * sizeof *first, &made->excluded_first.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(memory, partners > 0 ? excluded : none, (partners > 0 ? partners : 1) * sizeof *excluded,
                              &made->excluded.buffer, error);
    return status == LEY_OK ? make_buffers(made, memory, error) : status;
}

void pair_lists_destroy(pair_lists *l)
{
    kernel_destroy(&l->bins);
    kernel_destroy(&l->first);
    kernel_destroy(&l->place);
    kernel_destroy(&l->boxes);
    kernel_destroy(&l->blocks);
    kernel_destroy(&l->move);
    kernel_destroy(&l->tiles);
}

ley_status pair_lists_grow(pair_lists *l, arena *memory, const int32_t beyond[2], ley_error *error)
{
    const int32_t most[2] = {l->shape.clusters, l->shape.slots};
    bool grows = false;
    for (int i = 0; i < 2; i++)
        if (beyond[i] > l->shape.room[i]) {
            l->shape.room[i] = beyond[i] < most[i] ? beyond[i] : most[i];
            grows = true;
        }
    if (!grows)
        return LEY_OK;
    l->is_cleared = false;
    arena_free_buffer(memory, &l->tile.buffer);
    arena_free_buffer(memory, &l->mask.buffer);
    arena_free_buffer(memory, &l->near.buffer);
    return make_rows(l, memory, error);
}

/* ---- Launches -------------------------------------------------------------------------------- */

void lists_launch(command_sequence *w, const dev_kernel *kernel, size_t items, int frames, const void *arguments)
{
    const size_t group = kernel->group_size[0];
    sequence_launch(w, kernel, (const size_t[3]){(items + group - 1) / group, (size_t)frames, 1}, arguments, 0.001);
}

/* What kernels take places from, once: a driver that leaves a launch out then makes lists that are
 * wrong, and none that lead out of buffers. */
static void clear_places(const pair_lists *l, command_sequence *w)
{
    const lists_shape *s = &l->shape;
    const size_t words = (size_t)l->frames * sizeof(int32_t);
    sequence_fill(w, l->bin.buffer, 0, 0, words * (size_t)s->padded);
    sequence_fill(w, l->own.buffer, 0, 0, words * (size_t)s->slots);
    sequence_fill(w, l->sorted_type.buffer, 0, 0, words * (size_t)s->slots);
    sequence_fill(w, l->sorted.buffer, 0, UINT32_MAX, 4 * words * (size_t)s->slots); /* no numbers: near nothing */
}

/* Of frames before; where the launch that makes slots is left out, no more than one particle is in
 * its slot. */
static void forget_slots(const pair_lists *l, command_sequence *w, int frames)
{
    sequence_fill(w, l->slot.buffer, 0, 0, (size_t)frames * sizeof(int32_t) * (size_t)l->shape.padded);
}

/* Of a processor one work-item has all bins of a frame; else one has few. */
static int bins_each(int work_group, int bins)
{
    enum { EACH = 16 };
    return work_group == 1 ? bins : EACH;
}

int lists_first_parts(int work_group, int bins)
{
    const int part = work_group * bins_each(work_group, bins);
    return (bins + part - 1) / part;
}

void lists_launch_first(command_sequence *w, const dev_kernel *kernel, int frames, int bins, buffer_of_int count,
                        buffer_of_int part, buffer_of_int first)
{
    const int group = (int)kernel->group_size[0], parts = lists_first_parts(group, bins);
    for (int is_second = parts > 1 ? 0 : 1; is_second < 2; is_second++)
        lists_launch(w, kernel, (size_t)parts * (size_t)group, frames,
                     KERNEL_ARGUMENTS(list_first, .bins = bins, .each = bins_each(group, bins), .parts = parts,
                                      .is_second = is_second, .gm_count = count, .gm_part = part, .gm_first = first));
}

static void launch_places(const pair_lists *l, command_sequence *w, buffer_of_float4 position, int frames)
{
    const lists_shape *s = &l->shape;
    const size_t bins = (size_t)frames * sizeof(int32_t) * (size_t)s->bins;
    sequence_fill(w, l->count.buffer, 0, 0, bins);
    sequence_fill(w, l->head.buffer, 0, 0, bins);
    sequence_fill(w, l->before.buffer, 0, 0, bins);
    forget_slots(l, w, frames);
    lists_launch(w, &l->bins, (size_t)s->particles, frames,
                 KERNEL_ARGUMENTS(list_bins, .gm_position = position, .particles = s->particles, .padded = s->padded,
                                  .gm_frames = l->rows, .bits = s->bits, .gm_count = l->count, .gm_head = l->head,
                                  .gm_next = l->next, .gm_bin = l->bin));
    lists_launch_first(w, &l->first, frames, s->bins, l->count, l->part, l->before);
    lists_launch(w, &l->place, (size_t)s->slots, frames,
                 KERNEL_ARGUMENTS(list_place, .gm_position = position, .particles = s->particles, .padded = s->padded,
                                  .gm_type = l->type, .slots = s->slots, .bins = s->bins, .gm_first = l->before,
                                  .gm_head = l->head, .gm_next = l->next, .gm_bin = l->bin, .gm_slot = l->slot,
                                  .gm_own = l->own, .gm_sorted = l->sorted, .gm_sorted_type = l->sorted_type));
}

static void launch_boxes(const pair_lists *l, command_sequence *w, int frames)
{
    const lists_shape *s = &l->shape;
    sequence_fill(w, l->box.buffer, 0, DEV_NO_NUMBERS, 6 * (size_t)frames * sizeof(float) * (size_t)s->pitch);
    lists_launch(w, &l->boxes, (size_t)s->pitch, frames,
                 KERNEL_ARGUMENTS(list_boxes, .gm_sorted = l->sorted, .clusters = s->clusters, .pitch = s->pitch,
                                  .gm_box = l->box));
    lists_launch(w, &l->blocks, (size_t)s->blocks, frames,
                 KERNEL_ARGUMENTS(list_blocks, .blocks = s->blocks, .pitch = s->pitch, .gm_box = l->box));
}

void pair_lists_launch(pair_lists *l, command_sequence *w, buffer_of_float4 position, int frames,
                       float (*row)[LEY_LIST_ROWS][4])
{
    const lists_shape *s = &l->shape;
    sequence_step(w, ENERGY_STEP_PLACES);
    if (!l->is_cleared)
        clear_places(l, w);
    sequence_write(w, l->rows.buffer, 0, row, (size_t)frames * sizeof *row);
    launch_places(l, w, position, frames);
    launch_boxes(l, w, frames);
    sequence_fill(w, l->beyond.buffer, 0, 0, 2 * sizeof(int32_t));
    sequence_fill(w, l->row_counts.buffer, 0, 0, 2 * (size_t)frames * (size_t)s->clusters * sizeof(int32_t));
    sequence_step(w, ENERGY_STEP_LISTS);
    lists_launch(w, &l->tiles, (size_t)s->clusters * l->tiles.group_size[0], frames,
                 KERNEL_ARGUMENTS(list_tiles, .gm_sorted = l->sorted, .gm_own = l->own, .gm_slot = l->slot,
                                  .padded = s->padded, .clusters = s->clusters, .gm_box = l->box, .pitch = s->pitch,
                                  .gm_frames = l->rows, .gm_first = l->excluded_first, .gm_excluded = l->excluded,
                                  .reach = s->reach_A, .room = {s->room[0], s->room[1], 0, 0}, .gm_rows = l->row_counts,
                                  .gm_tiles = l->tile, .gm_masks = l->mask, .gm_near = l->near,
                                  .gm_beyond = l->beyond));
}

ley_status pair_lists_make_move(pair_lists *l, dev *device, ley_error *error)
{
    const list_move_spec spec = lists_boxes_spec(&l->spec);
    return kernel_create(device, &list_move_kind, &spec, NULL, NULL, &l->move, error);
}

void pair_lists_move(const pair_lists *l, command_sequence *w, buffer_of_float4 position,
                     float (*row)[LEY_LIST_ROWS][4])
{
    const lists_shape *s = &l->shape;
    sequence_step(w, ENERGY_STEP_PLACES);
    sequence_write(w, l->rows.buffer, 0, row, sizeof *row);
    forget_slots(l, w, 1);
    lists_launch(w, &l->move, (size_t)s->slots, 1,
                 KERNEL_ARGUMENTS(list_move, .gm_position = position, .padded = s->padded, .gm_frames = l->rows,
                                  .gm_own = l->own, .slots = s->slots, .gm_sorted = l->sorted, .gm_slot = l->slot));
}
