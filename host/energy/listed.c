/* Pairs within the cutoff, as a module. */
#include "energy/listed.h"

#include "calibrate.h"
#include "energy/batch.h"
#include "energy/reciprocal.h"
#include "energy/trial.h"
#include "error.h"
#include "law/energy_pairs.h"
#include "parallel.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Choices --------------------------------------------------------------------------------- */

/* The fastest recipe for roots whose error, twelvefold in 1/r^12, is that of a float's digits. */
static int root_for(const dev_info *info, int width)
{
    return width == 16 && (info->quirks & DEV_QUIRK_AVX512) != 0 ? LEY_ROOT_AVX512
           : width > 1                                           ? LEY_ROOT_RECIPROCAL
           : (info->quirks & DEV_QUIRK_PTX) != 0                 ? LEY_ROOT_PTX
                                                                 : LEY_ROOT_STANDARD;
}

/* The same of powers of 2. */
static int exp_for(const dev_info *info)
{
    return (info->quirks & DEV_QUIRK_PTX) != 0 ? LEY_EXP_PTX : LEY_EXP_STANDARD;
}

listed_pairs_spec listed_spec_for(const dev_info *info, const list_tiles_spec *tiles, const ley_energy_options *options,
                                  size_t types)
{
    return (listed_pairs_spec){.sum = LEY_SPEC_SUM_FLOAT,
                               .width = tiles->width,
                               .root = root_for(info, tiles->width),
                               .exp = exp_for(info),
                               .cluster = tiles->cluster,
                               .full = tiles->full,
                               .sub_groups = tiles->sub_groups,
                               .lennard_jones = (int)options->lennard_jones,
                               .coulomb = (int)options->coulomb,
                               .forces = options->forces,
                               .types = tiles->width == 1 || types > 128 ? 0
                                        : types > 32                     ? 128
                                                                         : 32};
}

/* ---- Memory ---------------------------------------------------------------------------------- */

enum { MOST_PARTS = 8 };

typedef struct listed {
    pair_lists lists;
    dev_kernel pairs, gather;
    pair_numbers numbers;
    int parts;              /* work-groups of a row */
    buffer_of_int2 sums;    /* of 64 bits; where rows are full: no more than one */
    buffer_of_float floats; /* elsewhere: no more than one */
    buffer_of_int2 done;    /* [frames] */
    float (*row)[LEY_LIST_ROWS][4];
    int64_t shared;                   /* the number of the origin whose list there is, with a buffer; 0: none */
    buffer_of_float4 origin;          /* positions of an origin, */
    float (*origin_out)[4];           /* on their way there; NULL: lists are not shared */
    dev_staging *room[FRAME_BATCHES]; /* what lists of a batch had no room for, */
    int32_t had[FRAME_BATCHES][2];    /* and the room they had */
    double pair_s;                    /* that a pair of particles is predicted to take, and its place in lists */
} listed;

static ley_status make_sums(listed *l, energy_part *part, ley_error *error)
{
    const size_t slots = (size_t)part->frames * (size_t)l->lists.shape.slots * LEY_LIST_SUMS;
    const bool is_full = l->lists.spec.full != 0;
    arena *memory = &part->arena;
    ley_status status = arena_buffer(memory, is_full ? 8 : 8 * slots, DEV_READ_WRITE, &l->sums.buffer, error);
    if (status == LEY_OK)
        status =
            arena_buffer(memory, is_full ? 4 * slots * (size_t)l->parts : 4, DEV_READ_WRITE, &l->floats.buffer, error);
    if (status == LEY_OK)
        status = arena_buffer(memory, (size_t)part->frames * 8, DEV_READ_WRITE, &l->done.buffer, error);
    for (int i = 0; i < FRAME_BATCHES && status == LEY_OK; i++)
        status = arena_staging(memory, 2 * sizeof(int32_t), &l->room[i], error);
    return status;
}

static listed_gather_spec gather_spec(const list_tiles_spec *tiles)
{
    return (listed_gather_spec){.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .full = tiles->full};
}

/* So many work-groups that a card, which has some 32 on each unit at once, is not idle for long
 * while the last of them end; a processor's have whole rows. */
static int parts_for(const dev_info *info, const list_tiles_spec *spec, int64_t rows)
{
    const int64_t wanted = 256 * (int64_t)(info->compute_units > 0 ? info->compute_units : 1);
    if (spec->width > 1 || rows >= wanted)
        return 1;
    return rows * MOST_PARTS > wanted ? (int)((wanted + rows - 1) / rows) : MOST_PARTS;
}

static ley_status make_kernels(listed *l, energy_part *part, const list_tiles_spec *tiles, ley_error *error)
{
    const energy_problem *p = part->problem;
    dev *device = part->arena.device;
    const listed_pairs_spec pairs = listed_spec_for(device->info, tiles, &p->options, p->types);
    const listed_gather_spec gather = gather_spec(tiles);
    const ley_status status = kernel_create(device, &listed_pairs_kind, &pairs, NULL, NULL, &l->pairs, error);
    return status == LEY_OK ? kernel_create(device, &listed_gather_kind, &gather, NULL, NULL, &l->gather, error)
                            : status;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

typedef struct rows_of_frames {
    const listed *l;
    const energy_problem *problem;
    const float (*at)[4], *cells;
} rows_of_frames;

static void make_some_rows(void *context, size_t first, size_t last)
{
    const rows_of_frames *c = context;
    const energy_problem *p = c->problem;
    for (size_t f = first; f < last; f++) {
        double cell_A[9], low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        for (size_t i = 0; i < 9 && c->cells != NULL; i++)
            cell_A[i] = (double)c->cells[24 * f + 4 * (i / 3) + i % 3];
        for (size_t i = 0; i < p->count && c->cells == NULL; i++)
            for (int d = 0; d < 3; d++) {
                low[d] = fmin(low[d], (double)c->at[f * p->padded + i][d]);
                high[d] = fmax(high[d], (double)c->at[f * p->padded + i][d]);
            }
        lists_frame_rows(&c->l->lists.shape, c->cells != NULL ? cell_A : NULL, low, high, c->l->row[f]);
    }
}

/* What frames lie in, which energy_batch_place() has placed. */
static void make_rows(const listed *l, const energy_problem *p, int frames, const float (*at)[4], const float *cells)
{
    rows_of_frames rows = {l, p, at, cells};
    parallel_ranges((size_t)frames, make_some_rows, &rows);
}

static void make_batch_rows(const listed *l, const energy_part *part, const energy_batch *b)
{
    make_rows(l, part->problem, b->frames, (const float(*)[4])b->position_out->bytes,
              b->cell_out != NULL ? b->cell_out->bytes : NULL);
}

/* Lists of the batch's frames, of pairs that are this much beyond the cutoff at most. */
static void make_lists(listed *l, energy_part *part, energy_batch *b, double buffer_A)
{
    l->lists.shape.reach_A = part->problem->options.cutoff_A + LISTED_SLACK_A + buffer_A;
    make_batch_rows(l, part, b);
    pair_lists_launch(&l->lists, &b->sequence, b->position, b->frames, l->row);
    b->lists = b->frames;
}

/* The list of another frame. */
static void make_list_of(listed *l, energy_part *part, energy_batch *b, const energy_origin *o)
{
    const energy_problem *p = part->problem;
    float vectors[24];
    energy_batch_place(p, 1, o->position_A, o->cell_A, l->origin_out, vectors);
    sequence_write(&b->sequence, l->origin.buffer, 0, l->origin_out, p->padded * sizeof *l->origin_out);
    l->lists.shape.reach_A = p->options.cutoff_A + LISTED_SLACK_A + LISTED_BUFFER_A;
    make_rows(l, p, 1, (const float(*)[4])l->origin_out, o->cell_A != NULL ? vectors : NULL);
    pair_lists_launch(&l->lists, &b->sequence, l->origin, 1, l->row);
    b->lists = 1;
}

/* The list of the batch's origin, which may be there, for the batch's frame. */
static void share_list(listed *l, energy_part *part, energy_batch *b)
{
    const energy_origin *o = &b->origin;
    const bool is_there = l->shared == o->number;
    b->lists = 0;
    l->shared = o->number;
    if (!is_there && o->is_own) {
        make_lists(l, part, b, LISTED_BUFFER_A);
        return;
    }
    if (!is_there)
        make_list_of(l, part, b, o);
    make_batch_rows(l, part, b);
    pair_lists_move(&l->lists, &b->sequence, b->position, l->row);
}

static void launch_pairs(const listed *l, const energy_part *part, energy_batch *b)
{
    const lists_shape *s = &l->lists.shape;
    const bool is_full = l->lists.spec.full != 0;
    const size_t sums = LEY_LIST_SUMS * (size_t)b->frames * (size_t)s->slots;
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
                                .gm_table = {part->table.buffer},
                                .scale = {part->problem->coulomb, LISTED_QUANTA, LISTED_QUANTA, LISTED_MOST},
                                .gm_sums = l->sums,
                                .gm_floats = l->floats,
                                .gm_done = l->done};
    memcpy(a.numbers, l->numbers.n, sizeof a.numbers);
    memcpy(a.series, l->numbers.series, sizeof a.series);
    if (is_full)
        sequence_fill(w, l->floats.buffer, 0, UINT32_MAX, 4 * sums * (size_t)l->parts); /* no numbers */
    else
        sequence_fill(w, l->sums.buffer, 0, 0, 8 * sums);
    sequence_fill(w, l->done.buffer, 0, 0, 8 * (size_t)b->frames);
    sequence_step(w, ENERGY_STEP_PAIRS);
    sequence_launch(w, &l->pairs, (const size_t[3]){(size_t)(s->clusters * l->parts), (size_t)b->frames, 1}, &a,
                    l->pair_s * b->frames);
}

static void launch_gather(const listed *l, const energy_part *part, energy_batch *b)
{
    const lists_shape *s = &l->lists.shape;
    const bool has_forces = part->problem->options.forces;
    lists_launch(&b->sequence, &l->gather, (size_t)s->padded, b->frames,
                 KERNEL_ARGUMENTS(listed_gather, .particles = s->particles, .padded = s->padded,
                                  .gm_slot = l->lists.slot, .gm_own = l->lists.own, .slots = s->slots,
                                  .parts = l->parts, .gm_sums = l->sums, .gm_floats = l->floats, .gm_done = l->done,
                                  .per_quantum = {0.5 / LISTED_QUANTA, 1 / LISTED_QUANTA, 0, 0},
                                  .has_forces = has_forces,
                                  .terms = {LEY_ENERGY_TERMS, LEY_ENERGY_LENNARD_JONES,
                                            energy_pairs_place(&part->problem->options), s->clusters * l->parts},
                                  .gm_energy = b->energy, .gm_force = has_forces ? b->force : b->position));
}

static void launch(energy_part *part, void *own, energy_batch *b)
{
    listed *l = own;
    memcpy(l->had[b - part->batch], l->lists.shape.room, sizeof l->had[0]);
    if (b->origin.number != 0) {
        share_list(l, part, b);
    } else {
        make_lists(l, part, b, 0);
        l->shared = 0;
    }
    sequence_read(&b->sequence, l->lists.beyond.buffer, 0, l->room[b - part->batch], 2 * sizeof(int32_t));
    launch_pairs(l, part, b);
    launch_gather(l, part, b);
    sequence_step(&b->sequence, ENERGY_STEP_ANY);
}

/* Lists that had room for all there is, or tell of fewer than they had room for, are wrong: without
 * this a device that always asks for more would never be done. */
static bool can_be_beyond(const listed *l, const int32_t had[2], const int32_t beyond[2])
{
    const int32_t most[2] = {l->lists.shape.clusters, l->lists.shape.slots};
    for (int i = 0; i < 2; i++)
        if (beyond[i] != 0 && (beyond[i] <= had[i] || had[i] >= most[i]))
            return false;
    return true;
}

/* Buffers are changed only when no other batch is under way. */
static ley_status settle(energy_part *part, void *own, energy_batch *b, bool *again, ley_error *error)
{
    listed *l = own;
    const int32_t *beyond = l->room[b - part->batch]->bytes;
    ley_status status = LEY_OK;
    *again = beyond[0] != 0 || beyond[1] != 0;
    l->lists.is_cleared = true;
    if (!*again)
        return LEY_OK;
    l->shared = 0;
    if (!can_be_beyond(l, l->had[b - part->batch], beyond))
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "a list of pairs asks for room for %d tiles and %d particles",
                        (int)beyond[0], (int)beyond[1]);
    for (int i = 0; i < FRAME_BATCHES && status == LEY_OK; i++)
        status = sequence_finish(&part->batch[i].sequence, error);
    return status == LEY_OK ? pair_lists_grow(&l->lists, &part->arena, beyond, error) : status;
}

/* ---- The module ------------------------------------------------------------------------------ */

static lists_shape shape_for(const list_tiles_spec *spec, const energy_problem *p)
{
    return lists_shape_of(spec, p->count, p->padded, p->options.cutoff_A + LISTED_SLACK_A);
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

/* All but the kernels of its own. */
static ley_status begin(listed *l, energy_part *part, const list_tiles_spec *spec, double alpha_per_A, ley_error *error)
{
    const energy_problem *p = part->problem;
    const dev_info *info = part->arena.device->info;
    const lists_shape shape = shape_for(spec, p);
    l->row = calloc((size_t)part->frames, sizeof *l->row);
    if (l->row == NULL)
        return ley_fail_memory(error, (size_t)part->frames * sizeof *l->row, "lists of pairs");
    pair_numbers_make(&p->options, alpha_per_A, &l->numbers);
    part->quantum = spec->full ? 0 : 1 / LISTED_QUANTA;
    l->parts = parts_for(info, spec, (int64_t)shape.clusters * part->frames);
    l->pair_s = predict_frame(info, &shape, spec->width > 1);
    const ley_status status = pair_lists_create(&l->lists, &part->arena, spec, part->frames, &shape, p->first,
                                                p->excluded, part->type, error);
    return status == LEY_OK ? make_sums(l, part, error) : status;
}

bool energy_listed_shares(const energy_part *part)
{
    return part->frames == 1 && energy_are_listed(part->problem, part->is_periodic) &&
           lists_spec_for(part->arena.device->info).width > 1;
}

static ley_status make_shared(listed *l, energy_part *part, ley_error *error)
{
    const size_t bytes = part->problem->padded * sizeof *l->origin_out;
    if (!energy_listed_shares(part))
        return LEY_OK;
    l->origin_out = malloc(bytes);
    if (l->origin_out == NULL)
        return ley_fail_memory(error, bytes, "lists of pairs");
    const ley_status status = arena_buffer(&part->arena, bytes, DEV_READ_ONLY, &l->origin.buffer, error);
    return status == LEY_OK ? pair_lists_make_move(&l->lists, part->arena.device, error) : status;
}

/* As lists_spec_for() says, but where a driver has sub-groups that it does not compile, or wrongly:
 * then through local memory. */
static list_tiles_spec choose_lists(dev *device, const energy_problem *p)
{
    const list_tiles_spec spec = lists_spec_for(device->info);
    const listed_pairs_spec of_pairs = listed_spec_for(device->info, &spec, &p->options, p->types);
    dev_kernel tiles = {.program = NULL}, pairs = {.program = NULL};
    ley_error error = {0};
    if (spec.sub_groups == LEY_SUB_GROUPS_NONE || spec.sub_groups == LEY_SUB_GROUPS_PTX)
        return spec;
    ley_status status = kernel_create(device, &list_tiles_kind, &spec, NULL, NULL, &tiles, &error);
    if (status == LEY_OK)
        status = kernel_create(device, &listed_pairs_kind, &of_pairs, NULL, NULL, &pairs, &error);
    kernel_destroy(&tiles);
    kernel_destroy(&pairs);
    ley_error_clear(&error);
    return status == LEY_OK ? spec : lists_spec_of_groups(true, LEY_SUB_GROUPS_NONE);
}

static ley_status create(energy_part *part, command_sequence *w, void **own, ley_error *error)
{
    const list_tiles_spec spec = choose_lists(part->arena.device, part->problem);
    listed *l = *own = calloc(1, sizeof *l);
    (void)w;
    if (l == NULL)
        return ley_fail_memory(error, sizeof *l, "lists of pairs");
    const ley_energy_options *o = &part->problem->options;
    const double alpha_per_A = o->coulomb == LEY_COULOMB_EWALD ? reciprocal_alpha(o) : 0;
    ley_status status = begin(l, part, &spec, alpha_per_A, error);
    if (status == LEY_OK)
        status = make_shared(l, part, error);
    return status == LEY_OK ? make_kernels(l, part, &spec, error) : status;
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
    free(l->origin_out);
    free(l);
}

const energy_module energy_listed = {.name = "listed pairs",
                                     .wanted = energy_are_listed,
                                     .create = create,
                                     .frame_bytes = frame_bytes,
                                     .launch = launch,
                                     .settle = settle,
                                     .destroy = destroy};

/* ---- Known answers --------------------------------------------------------------------------- */

#define TRIAL_ALPHA_PER_A 0.35

static bool has_pair(const energy_problem *p, size_t i, size_t j)
{
    for (int32_t e = p->first[i]; e < p->first[i + 1]; e++)
        if ((size_t)p->excluded[e] == j)
            return false;
    return i != j;
}

/* The shortest way between the particles of two places. */
static double way_of(const energy_trial *t, int frame, size_t i, size_t j, double way[3])
{
    const size_t n = t->problem.count;
    const float *x = t->position_A + 3 * ((size_t)frame * n + (size_t)t->problem.order[i]),
                *y = t->position_A + 3 * ((size_t)frame * n + (size_t)t->problem.order[j]);
    double least = INFINITY;
    for (int image = 0; image < (t->cell_A == NULL ? 1 : 27); image++) {
        const int step[3] = {image % 3, image / 3 % 3, image / 9};
        double own[3], square = 0;
        for (int d = 0; d < 3; d++) {
            own[d] = (double)x[d] - (double)y[d];
            for (int k = 0; k < 3 && t->cell_A != NULL; k++)
                own[d] += (step[k] - 1) * t->cell_A[9 * frame + 3 * k + d];
            square += own[d] * own[d];
        }
        if (square < least)
            memcpy(way, own, sizeof own);
        least = fmin(least, square);
    }
    return sqrt(least);
}

/* What is in place of 1/r. */
static energy_curve coulomb_at(const ley_energy_options *o, double r_A)
{
    if (o->coulomb != LEY_COULOMB_EWALD || r_A >= o->cutoff_A)
        return energy_coulomb(o, r_A);
    const double ar = TRIAL_ALPHA_PER_A * r_A, value = erfc(ar) / r_A;
    return (energy_curve){value, (value + 2 * TRIAL_ALPHA_PER_A / sqrt(M_PI) * exp(-ar * ar)) / (r_A * r_A)};
}

/* {Lennard-Jones, Coulomb, force} of a place, and the sums of the absolute values. */
static void sum_right(const energy_trial *t, int frame, size_t i, double right[5], double absolute[5])
{
    const energy_problem *p = &t->problem;
    const ley_energy_options *o = &p->options;
    memset(right, 0, 5 * sizeof *right);
    memset(absolute, 0, 5 * sizeof *absolute);
    for (size_t j = 0; j < p->count; j++) {
        double way[3];
        const double r_A = way_of(t, frame, i, j, way);
        if (!has_pair(p, i, j) || r_A >= o->cutoff_A)
            continue;
        const float *factors = p->table[(size_t)p->type[i] * p->types + (size_t)p->type[j]];
        const energy_curve twelve = energy_lennard_jones(o, 12, r_A), six = energy_lennard_jones(o, 6, r_A),
                           coulomb = coulomb_at(o, r_A);
        const double a = (double)factors[0], b = (double)factors[1],
                     qq = p->coulomb * (double)p->charge[i] * (double)p->charge[j];
        right[0] += (a * twelve.value - b * six.value) / 2;
        absolute[0] += fabs(a * twelve.value) + fabs(b * six.value);
        right[1] += qq * coulomb.value / 2;
        absolute[1] += fabs(qq) / r_A;
        for (int d = 0; d < 3; d++) {
            right[2 + d] += (a * twelve.slope - b * six.slope + qq * coulomb.slope) * way[d];
            absolute[2 + d] += (fabs(a * twelve.slope) + fabs(b * six.slope) + fabs(qq) / pow(r_A, 3)) * r_A;
        }
    }
}

static ley_status judge(const energy_trial *t, ley_error *error)
{
    const energy_problem *p = &t->problem;
    const energy_batch *b = &t->part.batch[0];
    const float *energy = b->energy_back->bytes, *force = p->options.forces ? b->force_back->bytes : NULL;
    for (int f = 0; f < ENERGY_TRIAL_FRAMES; f++)
        for (size_t i = 0; i < p->count; i++) {
            const int terms[2] = {LEY_ENERGY_LENNARD_JONES, (int)energy_pairs_place(&p->options)};
            double right[5], absolute[5];
            sum_right(t, f, i, right, absolute);
            for (int k = 0; k < (force != NULL ? 5 : 2); k++) {
                const float *from = k < 2 ? energy + ((size_t)f * LEY_ENERGY_TERMS + (size_t)terms[k]) * p->padded + i
                                          : force + 4 * ((size_t)f * p->padded + i) + k - 2;
                /* Forces are steeper: places are rounded. */
                const double tolerance = (k < 2 ? 1 : 4) * SELF_TEST_FLOAT, scale = absolute[k] + 1e-3,
                             wrong = fabs((double)*from - right[k]);
                self_test_note(wrong / scale, tolerance, scale, (double)*from, right[k]);
                if (!(wrong <= tolerance * scale))
                    return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                                    "number %d of place %zu in frame %d is %.9g, not %.9g", k, i, f, (double)*from,
                                    right[k]);
            }
        }
    return LEY_OK;
}

static ley_status run_trial(const dev_kernel *built, energy_trial *t, listed *l, ley_error *error)
{
    const listed_pairs_spec *s = (const listed_pairs_spec *)built->spec;
    list_tiles_spec tiles = lists_spec_for(built->device->info);
    if (s->width != tiles.width) {
        tiles.width = s->width;
        tiles.root = LEY_ROOT_STANDARD;
        tiles.cluster = s->cluster;
    }
    tiles.full = s->full;
    tiles.sub_groups = s->sub_groups;
    const listed_gather_spec gather = gather_spec(&tiles);
    energy_batch *b = energy_trial_batch(t);
    bool again = true;
    l->pairs = *built;
    ley_status status = begin(l, &t->part, &tiles, TRIAL_ALPHA_PER_A, error);
    if (status == LEY_OK)
        status = kernel_create(built->device, &listed_gather_kind, &gather, NULL, NULL, &l->gather, error);
    for (int tries = 0; tries < 3 && status == LEY_OK && again; tries++) {
        l->parts = 1 + (s->width == 1 ? 1 : 0);
        launch(&t->part, l, b);
        energy_batch_read(&t->part, b);
        status = sequence_finish(&b->sequence, error);
        if (status == LEY_OK)
            status = settle(&t->part, l, b, &again, error);
    }
    return status == LEY_OK ? judge(t, error) : status;
}

static ley_status test_pairs(const dev_kernel *built, void *context, ley_error *error)
{
    const listed_pairs_spec *s = (const listed_pairs_spec *)built->spec;
    ley_status status = LEY_OK;
    ley_energy_options o;
    (void)context;
    energy_trial_options(&o, s->lennard_jones, s->coulomb, s->forces != 0);
    for (int is_periodic = 0; is_periodic < 2 && status == LEY_OK; is_periodic++) {
        energy_trial t;
        listed l = {.parts = 2};
        status = energy_trial_begin(&t, built->device, &o, is_periodic != 0, error);
        if (status == LEY_OK)
            status = run_trial(built, &t, &l, error);
        l.pairs = (dev_kernel){.device = NULL}; /* the caller's */
        pair_lists_destroy(&l.lists);
        kernel_destroy(&l.gather);
        free(l.row);
        energy_trial_end(&t);
    }
    return status;
}

/* Sums that are whole numbers, of slots in no order. */
enum {
    GATHER_PARTICLES = 150,
    GATHER_PADDED = 256,
    GATHER_SLOTS = 160,
    GATHER_FRAMES = 3,
    GATHER_PARTS = 3,
    GATHER_GROUPS = 15,
    GATHER_LOST = 5 /* that is not in its slot, in the first frame */
};

typedef struct gather_trial {
    int32_t slot[GATHER_FRAMES][GATHER_PADDED], own[GATHER_FRAMES][GATHER_SLOTS], done[GATHER_FRAMES][2];
    int64_t sums[GATHER_FRAMES][LEY_LIST_SUMS][GATHER_SLOTS];
    float floats[GATHER_FRAMES][GATHER_PARTS][LEY_LIST_SUMS][GATHER_SLOTS];
    float force[GATHER_FRAMES][GATHER_PADDED][4];
} gather_trial;

static void set_gather(gather_trial *g, int parts)
{
    uint32_t state = 77;
    memset(g, 0, sizeof *g);
    g->done[1][0] = 1;
    for (int f = 0; f < GATHER_FRAMES; f++) {
        g->done[f][1] = GATHER_GROUPS - (f == 2 ? 1 : 0);
        for (int i = 0; i < GATHER_PADDED; i++) {
            g->slot[f][i] = i < GATHER_PARTICLES ? i * (7 + 6 * f) % GATHER_PARTICLES : -1;
            if (i < GATHER_PARTICLES)
                g->own[f][g->slot[f][i]] = f == 0 && i == GATHER_LOST ? 0 : i;
            for (int d = 0; d < 4; d++)
                g->force[f][i][d] = (float)(i + d);
        }
        for (int i = 0; i < LEY_LIST_SUMS * GATHER_SLOTS; i++)
            for (int part = 0; part < parts; part++) {
                const int value = (int)(2000 * self_test_fraction(&state)) - 1000;
                g->floats[f][part][i / GATHER_SLOTS][i % GATHER_SLOTS] = (float)value;
                g->sums[f][i / GATHER_SLOTS][i % GATHER_SLOTS] += value * (int64_t)(0x1p40);
            }
    }
}

static ley_status judge_gather(const gather_trial *g, bool is_full, const float *energy, const float (*force)[4],
                               ley_error *error)
{
    for (int i = 0; i < GATHER_FRAMES * GATHER_PADDED * LEY_LIST_SUMS; i++) {
        const int f = i / (GATHER_PADDED * LEY_LIST_SUMS), k = i / GATHER_PADDED % LEY_LIST_SUMS,
                  at = i % GATHER_PADDED;
        const double sum = at < GATHER_PARTICLES ? ldexp((double)g->sums[f][k][g->slot[f][at]], -40) : 0;
        double right = k < 2 && !is_full ? sum / 2 : sum;
        if (k >= 2)
            right += (double)g->force[f][at][k - 2];
        else if (at < GATHER_PARTICLES && (f == 1 || (f == 2 && !is_full) || (f == 0 && at == GATHER_LOST)))
            right = f == 1 ? INFINITY : NAN;
        const float found =
            k < 2 ? energy[(f * 4 + 1 + 2 * k) * GATHER_PADDED + at] : force[f * GATHER_PADDED + at][k - 2];
        if ((double)found != right && !(isnan(found) && isnan(right)))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "number %d of place %d in frame %d is %g, not %g", k, at, f,
                            (double)found, right);
    }
    return LEY_OK;
}

static ley_status run_gather(const dev_kernel *built, const gather_trial *g, arena *memory, command_sequence *w,
                             ley_error *error)
{
    const bool is_full = ((const listed_gather_spec *)built->spec)->full != 0;
    const size_t energies = GATHER_FRAMES * 4 * GATHER_PADDED * sizeof(float);
    dev_buffer *slot = NULL, *own = NULL, *sums = NULL, *floats = NULL, *done = NULL;
    results energy, force;
    ley_status status = arena_upload(memory, g->slot, sizeof g->slot, &slot, error);
    if (status == LEY_OK)
        status = arena_upload(memory, g->own, sizeof g->own, &own, error);
    if (status == LEY_OK)
        status = arena_upload(memory, g->sums, sizeof g->sums, &sums, error);
    if (status == LEY_OK)
        status = arena_upload(memory, g->floats, sizeof g->floats, &floats, error);
    if (status == LEY_OK)
        status = arena_upload(memory, g->done, sizeof g->done, &done, error);
    if (status == LEY_OK)
        status = arena_results(memory, (int64_t)energies, &energy, error);
    if (status == LEY_OK)
        status = arena_results(memory, sizeof g->force, &force, error);
    if (status != LEY_OK)
        return status;
    sequence_write(w, force.buffer, 0, g->force, sizeof g->force);
    lists_launch(w, built, GATHER_PADDED, GATHER_FRAMES,
                 KERNEL_ARGUMENTS(
                     listed_gather, .particles = GATHER_PARTICLES, .padded = GATHER_PADDED, .gm_slot = {slot},
                     .gm_own = {own}, .slots = GATHER_SLOTS, .parts = GATHER_PARTS, .gm_sums = {sums},
                     .gm_floats = {floats}, .gm_done = {done}, .per_quantum = {0x1p-41, 0x1p-40, 0, 0}, .has_forces = 1,
                     .terms = {4, 1, 3, GATHER_GROUPS}, .gm_energy = {energy.buffer}, .gm_force = {force.buffer}));
    sequence_read(w, energy.buffer, 0, energy.staging, energies);
    sequence_read(w, force.buffer, 0, force.staging, sizeof g->force);
    status = sequence_finish(w, error);
    return status == LEY_OK ? judge_gather(g, is_full, energy.staging->bytes, force.staging->bytes, error) : status;
}

static ley_status test_gather(const dev_kernel *built, void *context, ley_error *error)
{
    arena memory = {.device = built->device};
    flight *f = calloc(1, sizeof *f);
    command_sequence *w = calloc(1, sizeof *w);
    gather_trial *g = malloc(sizeof *g);
    ley_status status = LEY_OK;
    (void)context;
    if (f == NULL || w == NULL || g == NULL) {
        status = ley_fail_memory(error, sizeof *g, "the self-test");
    } else {
        f->device = built->device;
        sequence_begin(w, f, NULL);
        set_gather(g, GATHER_PARTS);
        status = run_gather(built, g, &memory, w, error);
        sequence_end(w);
    }
    arena_clear(&memory);
    free(g);
    free(w);
    free(f);
    return status;
}

/* ---- The kinds ------------------------------------------------------------------------------- */

static void group_of_pairs(const dev_info *info, const void *spec, size_t size[3])
{
    const listed_pairs_spec *s = spec;
    (void)info;
    size[0] = s->width > 1 ? 1 : (size_t)s->cluster;
    size[1] = size[2] = 1;
}

static size_t bytes_of_pairs(const dev_info *info, const void *spec)
{
    const listed_pairs_spec *s = spec;
    (void)info;
    return s->width > 1 ? (size_t)(2 * s->types * s->width + 4 * (LEY_LIST_EACH + 1)) * sizeof(float)
                        : (size_t)s->cluster * 6 * sizeof(float);
}

static void group_of_gather(const dev_info *info, const void *spec, size_t size[3])
{
    (void)spec;
    size[0] = info->max_work_group > 0 && info->max_work_group < 64 ? info->max_work_group : 64;
    size[1] = size[2] = 1;
}

/* Kinds that usual force fields have; all of them; those of work-groups, too: all pairs, and each
 * in one row, whose sums go through local memory, and through sub-groups. */
static void pairs_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    list_tiles_spec tiles = lists_spec_for(info);
    const int ways = depth == KERNEL_FEW ? 1 : info->sub_groups == LEY_SUB_GROUPS_NONE ? 3 : 4;
    ley_energy_options o;
    ley_energy_options_default(&o);
    for (int way = 0; way < ways; way++) {
        if (way > 0)
            tiles = lists_spec_of_groups(way == 1, way == 3 ? info->sub_groups : LEY_SUB_GROUPS_NONE);
        for (int kind = 0; kind <= (int)LEY_LENNARD_JONES_KINDS; kind++) { /* the last one: what most runs have */
            const bool is_last = kind == (int)LEY_LENNARD_JONES_KINDS;
            char name[KERNEL_NAME];
            o.lennard_jones = is_last ? LEY_LENNARD_JONES_PLAIN : (ley_lennard_jones_kind)kind;
            o.coulomb = is_last                         ? LEY_COULOMB_EWALD
                        : kind < (int)LEY_COULOMB_KINDS ? (ley_coulomb_kind)(LEY_COULOMB_KINDS - 1 - kind)
                                                        : LEY_COULOMB_PLAIN;
            o.forces = is_last || kind % 2 != 0;
            const listed_pairs_spec spec = listed_spec_for(info, &tiles, &o, 20);
            snprintf(name, sizeof name, "listed_pairs-%d-%d-%d", way, spec.lennard_jones, spec.coulomb);
            visit(context, name, &spec);
        }
    }
}

static void gather_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    list_tiles_spec tiles = lists_spec_for(info);
    for (int k = 0; k < (depth > KERNEL_FEW ? 2 : 1); k++, tiles.full = !tiles.full) {
        const listed_gather_spec spec = gather_spec(&tiles);
        visit(context, spec.full ? "listed_gather-full" : "listed_gather", &spec);
    }
}

KERNEL_DESCRIBE_ARGUMENTS(listed_pairs, LEY_LISTED_PAIRS_ARGUMENTS)
KERNEL_DESCRIBE_ARGUMENTS(listed_gather, LEY_LISTED_GATHER_ARGUMENTS)

const kernel_kind listed_pairs_kind = {KERNEL_DESCRIPTION(listed_pairs, LEY_LISTED_PAIRS_KEYS, listed_pairs),
                                       .group = group_of_pairs, .local_bytes = bytes_of_pairs, .specs = pairs_specs,
                                       .test = test_pairs};
const kernel_kind listed_gather_kind = {KERNEL_DESCRIPTION(listed_gather, LEY_LISTED_GATHER_KEYS, listed_gather),
                                        .group = group_of_gather, .specs = gather_specs, .test = test_gather};
