#include "methods/patches.h"

#include "energy/batch.h"
#include "energy/listed.h"
#include "energy/trial.h"
#include "error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct patch_pairs_spec {
    LEY_PATCH_PAIRS_KEYS(KERNEL_KEY_FIELD)
} patch_pairs_spec;

KERNEL_ARGUMENTS_STRUCT(patch_pairs, LEY_PATCH_PAIRS_ARGUMENTS);

enum { GROUP = 128, BESIDE = 27 };

static patch_pairs_spec spec_for(const dev_info *info, ley_lennard_jones_kind lennard_jones, ley_coulomb_kind coulomb)
{
    patch_pairs_spec s = {.sum = LEY_SPEC_SUM_FLOAT,
                          .width = 1,
                          .root = LEY_ROOT_STANDARD,
                          .wg = GROUP,
                          .lennard_jones = (int)lennard_jones,
                          .coulomb = (int)coulomb};
    while (info->max_work_group > 0 && s.wg > (int)info->max_work_group)
        s.wg /= 2;
    return s;
}

static size_t count_of(const patches *p)
{
    return (size_t)p->along[0] * (size_t)p->along[1] * (size_t)p->along[2];
}

/* ---- Patches --------------------------------------------------------------------------------- */

/* How wide a cell is across the other vectors. */
static double width_A(const double *cell_A, int k)
{
    const double *a = cell_A + 3 * k, *u = cell_A + 3 * ((k + 1) % 3), *v = cell_A + 3 * ((k + 2) % 3);
    double volume = 0, area2 = 0;
    for (int d = 0; d < 3; d++) {
        const double across = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
        volume += across * a[d];
        area2 += across * across;
    }
    return fabs(volume) / sqrt(area2);
}

/* As many as there are in the narrowest cell at least as wide as the cutoff, and rounding; `most`
 * of them. */
static void cut_cells(patches *p, const energy_part *part, int frames, const double *cell_A, const int32_t most[3])
{
    static const double slack_A = 1e-3;
    for (int k = 0; k < 3; k++) {
        double fit = most[k];
        for (int f = 0; f < frames; f++)
            fit = fmin(fit, width_A(cell_A + 9 * f, k) / (part->problem->options.cutoff_A + slack_A));
        p->along[k] = fit < 1 ? 1 : (int32_t)fit;
    }
}

/* As cl/patch_pairs.cl has them. */
static ley_status make_bits(patches *p, energy_part *part, ley_error *error)
{
    const energy_problem *o = part->problem;
    size_t bits = 0;
    p->excluded = calloc(o->count, sizeof *p->excluded);
    for (size_t i = 0; i < o->count && p->excluded != NULL; i++) {
        int32_t most = 0;
        for (int32_t e = o->first[i]; e < o->first[i + 1]; e++)
            most = (int32_t)fmax(most, abs(o->excluded[e] - (int32_t)i));
        p->excluded[i][0] = (int32_t)bits + most;
        p->excluded[i][1] = most;
        bits += 2 * (size_t)most + 1;
    }
    uint32_t *word = calloc(bits / 32 + 1, sizeof *word);
    if (p->excluded == NULL || word == NULL || bits > INT32_MAX) {
        free(word);
        return ley_fail_memory(error, bits / 8, "excluded pairs");
    }
    for (size_t i = 0; i < o->count; i++)
        for (int32_t e = o->first[i]; e <= o->first[i + 1]; e++) {
            const int32_t other = e < o->first[i + 1] ? o->excluded[e] : (int32_t)i,
                          bit = p->excluded[i][0] + other - (int32_t)i;
            word[bit / 32] |= 1U << bit % 32;
        }
    const ley_status status = arena_upload(&part->arena, word, (bits / 32 + 1) * sizeof *word, &p->bits.buffer, error);
    free(word);
    return status;
}

size_t patches_frame_bytes(const energy_problem *o)
{
    return sizeof(float) * (o->count * (9 + BESIDE * LEY_LIST_SUMS) + 2 * o->padded);
}

static ley_status make_buffers(patches *p, energy_part *part, ley_error *error)
{
    const size_t frames = (size_t)part->frames * sizeof(float), slots = frames * part->problem->count;
    const struct {
        size_t bytes;
        dev_buffer **buffer;
    } all[] = {{4 * slots, &p->sorted.buffer},
               {4 * slots, &p->which.buffer},
               {frames * (count_of(p) + 1), &p->first.buffer},
               {frames * part->problem->padded, &p->slot.buffer},
               {slots, &p->own.buffer},
               {2 * frames, &p->done.buffer},
               {BESIDE * LEY_LIST_SUMS * slots, &p->floats.buffer}};
    ley_status status = LEY_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == LEY_OK; i++)
        status = arena_buffer(&part->arena, all[i].bytes, DEV_READ_WRITE, all[i].buffer, error);
    return status;
}

/* All but the first pass's kernel. */
static ley_status begin(patches *p, energy_part *part, int frames, const double *cell_A, const int32_t most[3],
                        ley_error *error)
{
    static const listed_gather_spec gather = {
        .sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .full = 1};
    *p = (patches){.excluded = NULL};
    cut_cells(p, part, frames, cell_A, most);
    pair_numbers_make(&part->problem->options, 0, &p->numbers);
    ley_status status = make_bits(p, part, error);
    if (status == LEY_OK)
        status = make_buffers(p, part, error);
    return status == LEY_OK
               ? kernel_create(part->arena.device, &listed_gather_kind, &gather, NULL, NULL, &p->gather, error)
               : status;
}

ley_status patches_begin(patches *p, energy_part *part, int frames, const double *cell_A, ley_error *error)
{
    static const int32_t most[3] = {1000, 1000, 1000};
    const ley_energy_options *o = &part->problem->options;
    const patch_pairs_spec spec = spec_for(part->arena.device->info, o->lennard_jones, o->coulomb);
    const ley_status status = begin(p, part, frames, cell_A, most, error);
    return status == LEY_OK ? kernel_create(part->arena.device, &patch_pairs_kind, &spec, NULL, NULL, &p->pairs, error)
                            : status;
}

void patches_end(patches *p)
{
    kernel_destroy(&p->pairs);
    kernel_destroy(&p->gather);
    free(p->excluded);
    p->excluded = NULL;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* A frame's particles by patches: room for all arrays of it. */
typedef struct patch_sort {
    float (*sorted)[4];
    int32_t (*which)[4], *first, *slot, *own, *patch;
} patch_sort;

static int32_t patch_of(const patches *p, const float at[4], const float (*dual)[4])
{
    int32_t patch = 0;
    for (int k = 2; k >= 0; k--) {
        const float fraction = dual[k][0] * at[0] + dual[k][1] * at[1] + dual[k][2] * at[2] + 0.5F;
        const int32_t place = (int32_t)floorf(fraction * (float)p->along[k]);
        patch = patch * p->along[k] + (place < 0 ? 0 : place < p->along[k] ? place : p->along[k] - 1);
    }
    return patch;
}

static void sort_frame(const patches *p, const energy_problem *o, const float (*at)[4], const float (*cell)[4],
                       patch_sort *s)
{
    const size_t count = count_of(p);
    memset(s->first, 0, (count + 1) * sizeof *s->first);
    memset(s->slot, 0, o->padded * sizeof *s->slot);
    for (size_t i = 0; i < o->count; i++) {
        s->patch[i] = patch_of(p, at[i], cell + 3);
        s->first[s->patch[i] + 1]++;
    }
    for (size_t k = 0; k < count; k++)
        s->first[k + 1] += s->first[k];
    for (size_t i = 0; i < o->count; i++) {
        const int32_t slot = s->slot[i] = s->first[s->patch[i]]++;
        s->own[slot] = (int32_t)i;
        memcpy(s->sorted[slot], at[i], sizeof s->sorted[slot]);
        memcpy(s->which[slot], (const int32_t[4]){o->type[i], (int32_t)i, p->excluded[i][0], p->excluded[i][1]},
               sizeof s->which[slot]);
    }
    for (size_t k = count; k > 0; k--) /* where each begins again */
        s->first[k] = s->first[k - 1];
    s->first[0] = 0;
}

static ley_status send_frames(const patches *p, energy_part *part, energy_batch *b, ley_error *error)
{
    const energy_problem *o = part->problem;
    const size_t slots = o->count, firsts = count_of(p) + 1;
    patch_sort s = {.sorted = calloc(slots, sizeof *s.sorted),
                    .which = calloc(slots, sizeof *s.which),
                    .first = calloc(firsts, sizeof *s.first),
                    .slot = calloc(o->padded, sizeof *s.slot),
                    .own = calloc(slots, sizeof *s.own),
                    .patch = calloc(slots, sizeof *s.patch)};
    const bool is_whole =
        s.sorted != NULL && s.which != NULL && s.first != NULL && s.slot != NULL && s.own != NULL && s.patch != NULL;
    for (size_t f = 0; f < (size_t)b->frames && is_whole; f++) {
        sort_frame(p, o, (const float(*)[4])b->position_out->bytes + f * o->padded,
                   (const float(*)[4])b->cell_out->bytes + 6 * f, &s);
        sequence_write(&b->sequence, p->sorted.buffer, f * slots * sizeof *s.sorted, s.sorted,
                       slots * sizeof *s.sorted);
        sequence_write(&b->sequence, p->which.buffer, f * slots * sizeof *s.which, s.which, slots * sizeof *s.which);
        sequence_write(&b->sequence, p->first.buffer, f * firsts * sizeof *s.first, s.first, firsts * sizeof *s.first);
        sequence_write(&b->sequence, p->slot.buffer, f * o->padded * sizeof *s.slot, s.slot,
                       o->padded * sizeof *s.slot);
        sequence_write(&b->sequence, p->own.buffer, f * slots * sizeof *s.own, s.own, slots * sizeof *s.own);
    }
    free(s.sorted);
    free(s.which);
    free(s.first);
    free(s.slot);
    free(s.own);
    free(s.patch);
    return is_whole ? LEY_OK : ley_fail_memory(error, 44 * slots, "patches");
}

ley_status patches_launch(const patches *p, energy_part *part, energy_batch *b, ley_error *error)
{
    const energy_problem *o = part->problem;
    const size_t frames = (size_t)b->frames;
    const double pair_s = 1e-11, count = (double)o->count;
    patch_pairs_arguments a = {.kind = &patch_pairs_kind,
                               .gm_sorted = p->sorted,
                               .gm_which = p->which,
                               .gm_first = p->first,
                               .size = {p->along[0], p->along[1], p->along[2], (int32_t)o->count},
                               .gm_cell = b->cell,
                               .gm_bits = p->bits,
                               .types = (int32_t)o->types,
                               .gm_table = {part->table.buffer},
                               .scale = o->coulomb,
                               .gm_floats = p->floats};
    memcpy(a.numbers, p->numbers.n, sizeof a.numbers);
    memcpy(a.series, p->numbers.series, sizeof a.series);
    const ley_status status = send_frames(p, part, b, error);
    if (status != LEY_OK)
        return status;
    sequence_fill(&b->sequence, p->done.buffer, 0, 0, 2 * frames * sizeof(int32_t));
    sequence_fill(&b->sequence, p->floats.buffer, 0, UINT32_MAX,
                  frames * BESIDE * LEY_LIST_SUMS * o->count * sizeof(float));
    sequence_step(&b->sequence, ENERGY_STEP_PAIRS);
    sequence_launch(&b->sequence, &p->pairs, (const size_t[3]){count_of(p), BESIDE, frames}, &a,
                    pair_s * count * count * BESIDE / (double)count_of(p) * b->frames);
    lists_launch(&b->sequence, &p->gather, o->padded, b->frames,
                 KERNEL_ARGUMENTS(listed_gather, .particles = (int32_t)o->count, .padded = (int32_t)o->padded,
                                  .gm_slot = p->slot, .gm_own = p->own, .slots = (int32_t)o->count, .parts = BESIDE,
                                  .gm_sums = {p->floats.buffer}, .gm_floats = p->floats, .gm_done = p->done,
                                  .has_forces = o->options.forces,
                                  .terms = {LEY_ENERGY_TERMS, LEY_ENERGY_LENNARD_JONES, LEY_ENERGY_COULOMB, 0},
                                  .gm_energy = b->energy, .gm_force = o->options.forces ? b->force : b->position));
    sequence_step(&b->sequence, ENERGY_STEP_ANY);
    return LEY_OK;
}

/* ---- Known answers --------------------------------------------------------------------------- */

/* Patches as small as can be, whose neighbours on both sides are the same; and fewer, which have
 * more particles than a work-group has work-items. */
static ley_status test_patches(const dev_kernel *built, void *context, ley_error *error)
{
    static const int32_t most[2][3] = {{9, 9, 9}, {1, 2, 1}};
    static const ley_energy_term terms[] = {LEY_ENERGY_LENNARD_JONES, LEY_ENERGY_COULOMB};
    const patch_pairs_spec *s = (const patch_pairs_spec *)built->spec;
    ley_status status = LEY_OK;
    ley_energy_options o;
    (void)context;
    energy_trial_options(&o, s->lennard_jones, s->coulomb, true);
    for (int k = 0; k < 2 && status == LEY_OK; k++) {
        energy_trial t;
        patches p = {.excluded = NULL};
        status = energy_trial_begin(&t, built->device, &o, true, error);
        if (status == LEY_OK)
            status = begin(&p, &t.part, ENERGY_TRIAL_FRAMES, t.cell_A, most[k], error);
        p.pairs = *built;
        if (status == LEY_OK)
            status = patches_launch(&p, &t.part, energy_trial_batch(&t), error);
        if (status == LEY_OK)
            status = energy_trial_judge(&t, terms, 2, error);
        p.pairs = (dev_kernel){.device = NULL}; /* the caller's */
        patches_end(&p);
        energy_trial_end(&t);
    }
    return status;
}

/* ---- The kind -------------------------------------------------------------------------------- */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const patch_pairs_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

static size_t bytes_of(const dev_info *info, const void *spec)
{
    (void)info;
    return 32 * (size_t)((const patch_pairs_spec *)spec)->wg;
}

static void specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const patch_pairs_spec spec = spec_for(info, LEY_LENNARD_JONES_PLAIN, LEY_COULOMB_REACTION_FIELD);
    (void)depth;
    visit(context, "patch_pairs", &spec);
}

KERNEL_DESCRIBE_ARGUMENTS(patch_pairs, LEY_PATCH_PAIRS_ARGUMENTS)
const kernel_kind patch_pairs_kind = {KERNEL_DESCRIPTION(patch_pairs, LEY_PATCH_PAIRS_KEYS, patch_pairs),
                                      .group = group_of, .local_bytes = bytes_of, .specs = specs, .test = test_patches};
