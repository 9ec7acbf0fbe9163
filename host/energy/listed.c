/* Pairs within the cutoff, as a module. */
#include "energy/listed.h"

#include "calibrate.h"
#include "energy/module.h"
#include "error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Choices --------------------------------------------------------------------------------- */

/* What is added to the cutoff: as much as positions differ by rounding. */
#define SLACK_A 1e-3

/* The fastest recipe for roots whose error, twelvefold in 1/r^12, is that of a float's digits. */
static int root_for(const dev_info *info, int width)
{
    return width == 16 && (info->quirks & DEV_QUIRK_AVX512) != 0 ? LEY_ROOT_AVX512
           : width > 1                                             ? LEY_ROOT_RECIPROCAL
                                                                   : LEY_ROOT_STANDARD;
}

listed_pairs_spec listed_spec_for(const dev_info *info, const list_tiles_spec *tiles, const ley_energy_options *options,
                                  size_t types)
{
    return (listed_pairs_spec){.sum = LEY_SPEC_SUM_FLOAT,
                               .width = tiles->width,
                               .root = root_for(info, tiles->width),
                               .cluster = tiles->cluster,
                               .full = tiles->full,
                               .ptx = tiles->ptx,
                               .lennard_jones = (int)options->lennard_jones,
                               .coulomb = (int)options->coulomb,
                               .forces = options->forces,
                               .types = tiles->width == 1 || types > 128 ? 0 : types > 32 ? 128 : 32};
}

/* ---- Memory ---------------------------------------------------------------------------------- */

enum { MOST_PARTS = 8 };

typedef struct listed {
    pair_lists lists;
    dev_kernel pairs, gather;
    pair_numbers numbers;
    int parts;                /* work-groups of a row */
    buffer_of_int2 sums;      /* of 64 bits; where rows are full: no more than one */
    buffer_of_float floats;   /* elsewhere: no more than one */
    buffer_of_int beyond;     /* [frames] */
    float (*row)[LEY_LIST_ROWS][4];
    dev_staging *room[ENERGY_BATCHES]; /* what lists of a batch had no room for */
    double pair_s;                     /* that a pair of particles is predicted to take, and its place in lists */
} listed;

static ley_status make_sums(listed *l, energy_part *part, ley_error *error)
{
    const size_t slots = (size_t)part->frames * (size_t)l->lists.shape.slots * LEY_LIST_SUMS;
    const bool is_full = l->lists.spec.full != 0;
    arena *memory = &part->arena;
    ley_status status = arena_buffer(memory, is_full ? 8 : 8 * slots, DEV_READ_WRITE, &l->sums.buffer, error);
    if (status == LEY_OK)
        status = arena_buffer(memory, is_full ? 4 * slots * (size_t)l->parts : 4, DEV_READ_WRITE, &l->floats.buffer,
                              error);
    if (status == LEY_OK)
        status = arena_buffer(memory, (size_t)part->frames * sizeof(int32_t), DEV_READ_WRITE, &l->beyond.buffer, error);
    for (int i = 0; i < ENERGY_BATCHES && status == LEY_OK; i++)
        status = arena_staging(memory, 2 * sizeof(int32_t), &l->room[i], error);
    return status;
}

/* As many work-groups as keep a card busy; a processor's have whole rows. */
static int parts_for(const dev_info *info, const list_tiles_spec *spec, int64_t rows)
{
    const int64_t wanted = 64 * (int64_t)(info->compute_units > 0 ? info->compute_units : 1);
    if (spec->width > 1 || rows >= wanted)
        return 1;
    return wanted / rows < MOST_PARTS ? (int)(wanted / rows) : MOST_PARTS;
}

static ley_status make_kernels(listed *l, energy_part *part, ley_error *error)
{
    const energy_problem *p = part->problem;
    dev *device = part->arena.device;
    const listed_pairs_spec pairs = listed_spec_for(device->info, &l->lists.spec, &p->options, p->types);
    const listed_gather_spec gather = {
        .sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .full = pairs.full};
    const ley_status status = kernel_create(device, &listed_pairs_kind, &pairs, NULL, NULL, &l->pairs, error);
    return status == LEY_OK ? kernel_create(device, &listed_gather_kind, &gather, NULL, NULL, &l->gather, error)
                            : status;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* What frames in staging lie in. */
static void make_rows(const listed *l, const energy_part *part, const energy_batch *b)
{
    const size_t padded = part->problem->padded, count = part->problem->count;
    const float(*at)[4] = (const float(*)[4])b->position_out->bytes;
    const float *cells = b->cell_out != NULL ? b->cell_out->bytes : NULL;
    for (int f = 0; f < b->frames; f++) {
        double cell_A[9], low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        for (int i = 0; i < 9 && cells != NULL; i++)
            cell_A[i] = (double)cells[24 * f + 4 * (i / 3) + i % 3];
        for (size_t i = 0; i < count && cells == NULL; i++)
            for (int d = 0; d < 3; d++) {
                low[d] = fmin(low[d], (double)at[(size_t)f * padded + i][d]);
                high[d] = fmax(high[d], (double)at[(size_t)f * padded + i][d]);
            }
        lists_frame_rows(&l->lists.shape, cells != NULL ? cell_A : NULL, low, high, l->row[f]);
    }
}

static void launch_pairs(const listed *l, const energy_part *part, energy_batch *b)
{
    const lists_shape *s = &l->lists.shape;
    const bool is_full = l->lists.spec.full != 0;
    command_sequence *w = &b->sequence;
    listed_pairs_arguments a = {.kind = &listed_pairs_kind,
                                .gm_sorted = l->lists.sorted,
                                .gm_sorted_type = l->lists.sorted_type,
                                .clusters = s->clusters,
                                .gm_frames = l->lists.rows,
                                .gm_rows = l->lists.row_counts,
                                .gm_tiles = l->lists.tile,
                                .gm_masks = l->lists.mask,
                                .gm_near = l->lists.near,
                                .room = {s->room[0], s->room[1], l->parts, (int32_t)part->problem->types},
                                .gm_table = part->table,
                                .scale = {part->problem->coulomb, LISTED_QUANTA, LISTED_QUANTA, LISTED_MOST},
                                .gm_sums = l->sums,
                                .gm_floats = l->floats,
                                .gm_beyond = l->beyond};
    memcpy(a.numbers, l->numbers.n, sizeof a.numbers);
    memcpy(a.series, l->numbers.series, sizeof a.series);
    if (!is_full)
        sequence_fill(w, l->sums.buffer, 0, 0, 8 * LEY_LIST_SUMS * (size_t)b->frames * (size_t)s->slots);
    sequence_fill(w, l->beyond.buffer, 0, 0, (size_t)b->frames * sizeof(int32_t));
    sequence_launch(w, &l->pairs, (const size_t[3]){(size_t)(s->clusters * l->parts), (size_t)b->frames, 1}, &a,
                    l->pair_s * b->frames);
}

static void launch_gather(const listed *l, const energy_part *part, energy_batch *b)
{
    const lists_shape *s = &l->lists.shape;
    const bool has_forces = part->problem->options.forces;
    lists_launch(&b->sequence, &l->gather, (size_t)s->padded, b->frames,
                 KERNEL_ARGUMENTS(listed_gather, .particles = s->particles, .padded = s->padded,
                                  .gm_slot = l->lists.slot, .slots = s->slots, .parts = l->parts, .gm_sums = l->sums,
                                  .gm_floats = l->floats, .gm_beyond = l->beyond,
                                  .per_quantum = {0.5 / LISTED_QUANTA, 1 / LISTED_QUANTA, 0, 0},
                                  .has_forces = has_forces,
                                  .terms = {LEY_ENERGY_TERMS, LEY_ENERGY_LENNARD_JONES, LEY_ENERGY_COULOMB, 0},
                                  .gm_energy = b->energy, .gm_force = has_forces ? b->force : b->position));
}

static void launch(energy_part *part, void *own, energy_batch *b)
{
    const listed *l = own;
    make_rows(l, part, b);
    pair_lists_launch(&l->lists, &b->sequence, b->position, b->frames, l->row);
    sequence_read(&b->sequence, l->lists.beyond.buffer, 0, l->room[b - part->batch], 2 * sizeof(int32_t));
    launch_pairs(l, part, b);
    launch_gather(l, part, b);
}

/* Buffers are changed only when no other batch is under way. */
static ley_status settle(energy_part *part, void *own, energy_batch *b, bool *again, ley_error *error)
{
    listed *l = own;
    const int32_t *beyond = l->room[b - part->batch]->bytes;
    ley_status status = LEY_OK;
    *again = beyond[0] != 0 || beyond[1] != 0;
    if (!*again)
        return LEY_OK;
    for (int i = 0; i < ENERGY_BATCHES && status == LEY_OK; i++)
        status = sequence_finish(&part->batch[i].sequence, error);
    return status == LEY_OK ? pair_lists_grow(&l->lists, &part->arena, beyond, error) : status;
}

/* ---- The module ------------------------------------------------------------------------------ */

bool energy_are_listed(const energy_problem *p, bool is_periodic)
{
    enum { FEW = 2048 }; /* all pairs of which are summed as fast */
    const ley_energy_options *o = &p->options;
    (void)is_periodic;
    return o->coulomb == LEY_COULOMB_EWALD ||
           ((o->lennard_jones != LEY_LENNARD_JONES_NONE || o->coulomb != LEY_COULOMB_NONE) && o->cutoff_A > 0 &&
            p->column_first == NULL && p->count > FEW);
}

static lists_shape shape_for(const list_tiles_spec *spec, const energy_problem *p)
{
    return lists_shape_of(spec, p->count, p->padded, p->options.cutoff_A + SLACK_A);
}

static size_t frame_bytes(const energy_problem *p)
{
    const list_tiles_spec spec = {.width = 16, .cluster = 16, .full = 1};
    const lists_shape shape = shape_for(&spec, p);
    return lists_frame_bytes(&spec, &shape) + 4 * LEY_LIST_SUMS * (size_t)shape.slots;
}

/* About what a frame takes: of a processor, so many vectors of 16. */
static double predict_frame(const dev_info *info, const lists_shape *shape, bool has_vectors)
{
    const double units = info->compute_units > 0 ? info->compute_units : 1;
    return (double)shape->clusters * shape->room[1] / units * (has_vectors ? 2.5e-8 : 1e-7);
}

static ley_status create(energy_part *part, command_sequence *w, void **own, ley_error *error)
{
    const energy_problem *p = part->problem;
    const dev_info *info = part->arena.device->info;
    const list_tiles_spec spec = lists_spec_for(info);
    const lists_shape shape = shape_for(&spec, p);
    listed *l = *own = calloc(1, sizeof *l);
    (void)w;
    if (l == NULL || (l->row = calloc((size_t)part->frames, sizeof *l->row)) == NULL)
        return ley_fail_memory(error, (size_t)part->frames * sizeof *l->row, "lists of pairs");
    pair_numbers_make(&p->options, 0, &l->numbers);
    l->parts = parts_for(info, &spec, (int64_t)shape.clusters * part->frames);
    l->pair_s = predict_frame(info, &shape, spec.width > 1);
    ley_status status =
        pair_lists_create(&l->lists, &part->arena, part->frames, &shape, p->first, p->excluded, part->type, error);
    if (status == LEY_OK)
        status = make_kernels(l, part, error);
    return status == LEY_OK ? make_sums(l, part, error) : status;
}

static void destroy(energy_part *part, void *own)
{
    listed *l = own;
    (void)part;
    if (l == NULL)
        return;
    pair_lists_destroy(&l->lists);
    kernel_destroy(&l->pairs);
    kernel_destroy(&l->gather);
    free(l->row);
    free(l);
}

const energy_module energy_listed = {.name = "listed pairs",
                                     .wanted = energy_are_listed,
                                     .create = create,
                                     .frame_bytes = frame_bytes,
                                     .launch = launch,
                                     .settle = settle,
                                     .destroy = destroy};
