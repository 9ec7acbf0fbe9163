/* The kernels of pair lists: their work-groups, specifications, and known-answer tests against
 * plain loops. */
#include "energy/lists.h"
#include "error.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- A trial --------------------------------------------------------------------------------- */

enum { FRAMES = 2, PARTICLES = 403, PADDED = 512, BITS = 2, BINS = 64, PLACE_SLOTS = 416 };

typedef struct trial {
    arena arena;
    flight flight;
    command_sequence sequence;
    uint32_t state;
    ley_error error; /* the first one */
} trial;

static trial *trial_begin(const dev_kernel *built, ley_error *error)
{
    trial *t = calloc(1, sizeof *t);
    if (t == NULL) {
        ley_fail_memory(error, sizeof *t, "the self-test");
        return NULL;
    }
    t->arena = (arena){.device = built->device};
    t->flight = (flight){.device = built->device};
    t->state = 2027;
    t->error.status = LEY_OK;
    sequence_begin(&t->sequence, &t->flight, NULL);
    return t;
}

static ley_status trial_end(trial *t, ley_status status)
{
    sequence_end(&t->sequence);
    arena_clear(&t->arena);
    ley_error_clear(&t->error);
    free(t);
    return status;
}

/* A buffer with these bytes; NULL: -1 everywhere. */
static dev_buffer *put(trial *t, const void *bytes, size_t size)
{
    dev_buffer *buffer = NULL;
    if (t->error.status == LEY_OK && arena_buffer(&t->arena, size, DEV_READ_WRITE, &buffer, &t->error) == LEY_OK) {
        if (bytes != NULL)
            sequence_write(&t->sequence, buffer, 0, bytes, size);
        else
            sequence_fill(&t->sequence, buffer, 0, UINT32_MAX, size);
    }
    return buffer;
}

/* What is there when the trial is finished. */
static void *get(trial *t, dev_buffer *buffer, size_t size)
{
    dev_staging *back = NULL;
    if (t->error.status != LEY_OK || arena_staging(&t->arena, size, &back, &t->error) != LEY_OK)
        return NULL;
    sequence_read(&t->sequence, buffer, 0, back, size);
    return back->bytes;
}

static ley_status finish(trial *t, ley_error *error)
{
    if (t->error.status != LEY_OK) {
        ley_error_copy(error, &t->error);
        return t->error.status;
    }
    return sequence_finish(&t->sequence, error);
}

static ley_status fail(ley_error *error, const char *what, int frame, int at, long long found, long long right)
{
    return ley_fail(error, LEY_ERROR_WRONG_RESULT, "%s %d of frame %d is %lld, not %lld", what, at, frame, found,
                    right);
}

static int some_int(trial *t, int below)
{
    return (int)(below * self_test_fraction(&t->state));
}

/* ---- list_bins ------------------------------------------------------------------------------- */

typedef struct bins_trial {
    float position[FRAMES][PADDED][4], rows[FRAMES][LEY_LIST_ROWS][4];
    int32_t zeros[FRAMES][BINS], cell[FRAMES][PARTICLES];
} bins_trial;

static void set_bins(trial *t, bins_trial *b)
{
    memset(b, 0, sizeof *b);
    for (int f = 0; f < FRAMES; f++) {
        for (int k = 0; k < 3; k++) {
            b->rows[f][6 + k][k] = (float)(f + 1) / 2; /* bins are 2 and 1 A wide */
            b->rows[f][6 + k][3] = 2;
        }
        for (int i = 0; i < PARTICLES; i++)
            for (int k = 0; k < 3; k++) {
                const int at = some_int(t, 6) - 1, to = at < 0 ? 0 : at > 3 ? 3 : at; /* also outside */
                b->position[f][i][k] = (float)(2.0 / (f + 1) * (at - 2 + 0.1 + 0.8 * self_test_fraction(&t->state)));
                b->cell[f][i] = 4 * b->cell[f][i] + to;
            }
    }
}

/* Bins and cells correspond one to one, neighbours on the curve are neighbours; a bin's list has
 * its particles. */
static ley_status judge_bins(const bins_trial *b, const int32_t *count, const int32_t *head, const int32_t *next,
                             const int32_t *bin, ley_error *error)
{
    int32_t cell_of[BINS];
    memset(cell_of, -1, sizeof cell_of);
    for (int i = 0; i < FRAMES * PARTICLES; i++) {
        const int f = i / PARTICLES, own = bin[f * PADDED + i % PARTICLES], at = b->cell[f][i % PARTICLES];
        if (own < 0 || own >= BINS || (cell_of[own] >= 0 && cell_of[own] != at))
            return fail(error, "the bin of particle", f, i % PARTICLES, own, at);
        cell_of[own] = at;
    }
    for (int i = 0; i + 1 < BINS; i++) {
        const int a = cell_of[i], c = cell_of[i + 1];
        if (abs(a / 16 - c / 16) + abs(a / 4 % 4 - c / 4 % 4) + abs(a % 4 - c % 4) != 1)
            return fail(error, "the cell of bin", 0, i + 1, c, a);
    }
    for (int i = 0; i < FRAMES * BINS; i++) {
        const int f = i / BINS;
        int32_t found = 0, right = 0;
        for (int k = 0; k < PARTICLES; k++)
            right += bin[f * PADDED + k] == i % BINS ? 1 : 0;
        for (int32_t k = head[i]; k > 0 && k <= PARTICLES && found <= PARTICLES; k = next[f * PADDED + k - 1])
            found += bin[f * PADDED + k - 1] == i % BINS ? 1 : PARTICLES;
        if (found != right || count[i] != right)
            return fail(error, "the number of particles of bin", f, i % BINS, found != right ? found : count[i], right);
    }
    return LEY_OK;
}

static ley_status test_bins(const dev_kernel *built, void *context, ley_error *error)
{
    trial *t = trial_begin(built, error);
    bins_trial *b = malloc(sizeof *b);
    const size_t bins = sizeof b->zeros, places = FRAMES * PADDED * sizeof(int32_t);
    (void)context;
    if (t == NULL || b == NULL) {
        free(b);
        return t != NULL ? trial_end(t, ley_fail_memory(error, sizeof *b, "the self-test")) : LEY_ERROR_MEMORY;
    }
    set_bins(t, b);
    dev_buffer *position = put(t, b->position, sizeof b->position), *rows = put(t, b->rows, sizeof b->rows),
               *count = put(t, b->zeros, bins), *head = put(t, b->zeros, bins), *next = put(t, NULL, places),
               *bin = put(t, NULL, places);
    if (t->error.status == LEY_OK)
        lists_launch(&t->sequence, built, PARTICLES, FRAMES,
                     KERNEL_ARGUMENTS(list_bins, .gm_position = {position}, .particles = PARTICLES, .padded = PADDED,
                                      .gm_frames = {rows}, .bits = BITS, .gm_count = {count}, .gm_head = {head},
                                      .gm_next = {next}, .gm_bin = {bin}));
    const int32_t *counts = get(t, count, bins), *heads = get(t, head, bins), *nexts = get(t, next, places),
                  *own = get(t, bin, places);
    ley_status status = finish(t, error);
    if (status == LEY_OK)
        status = judge_bins(b, counts, heads, nexts, own, error);
    free(b);
    return trial_end(t, status);
}

/* ---- list_first ------------------------------------------------------------------------------ */

static ley_status test_first(const dev_kernel *built, void *context, ley_error *error)
{
    enum { SOME_BINS = 9237 }; /* several parts */
    trial *t = trial_begin(built, error);
    int32_t(*count)[SOME_BINS] = malloc(FRAMES * sizeof *count);
    const size_t bytes = FRAMES * sizeof *count,
                 parts = (size_t)lists_first_parts((int)built->group_size[0], SOME_BINS) * FRAMES * sizeof(int32_t);
    (void)context;
    if (t == NULL || count == NULL) {
        free(count);
        return t != NULL ? trial_end(t, ley_fail_memory(error, bytes, "the self-test")) : LEY_ERROR_MEMORY;
    }
    for (int i = 0; i < FRAMES * SOME_BINS; i++)
        count[i / SOME_BINS][i % SOME_BINS] = some_int(t, 9);
    dev_buffer *counts = put(t, count, bytes), *part = put(t, NULL, parts), *first = put(t, NULL, bytes);
    if (t->error.status == LEY_OK)
        lists_launch_first(&t->sequence, built, FRAMES, SOME_BINS, (buffer_of_int){counts}, (buffer_of_int){part},
                           (buffer_of_int){first});
    const int32_t *found = get(t, first, bytes);
    ley_status status = finish(t, error);
    for (int f = 0; f < FRAMES && status == LEY_OK; f++)
        for (int i = 0, right = 0; i < SOME_BINS && status == LEY_OK; right += count[f][i++])
            if (found[f * SOME_BINS + i] != right)
                status = fail(error, "the first slot of bin", f, i, found[f * SOME_BINS + i], right);
    free(count);
    return trial_end(t, status);
}

/* ---- list_place ------------------------------------------------------------------------------ */

typedef struct place_trial {
    float position[FRAMES][PADDED][4];
    int32_t type[PADDED], first[FRAMES][BINS], head[FRAMES][BINS], next[FRAMES][PADDED], bin[FRAMES][PADDED],
        right[FRAMES][PLACE_SLOTS];
} place_trial;

static void set_places(trial *t, place_trial *p)
{
    memset(p, 0, sizeof *p);
    for (int i = 0; i < PADDED; i++)
        p->type[i] = some_int(t, 100);
    for (int f = 0; f < FRAMES; f++) {
        for (int i = 0; i < PARTICLES; i++) {
            p->bin[f][i] = some_int(t, BINS);
            for (int d = 0; d < 4; d++)
                p->position[f][i][d] = (float)self_test_fraction(&t->state);
        }
        for (int k = 0; k < PARTICLES; k++) { /* in no order */
            const int i = (int)(k * 7L % PARTICLES);
            p->next[f][i] = p->head[f][p->bin[f][i]];
            p->head[f][p->bin[f][i]] = i + 1;
        }
        for (int b = 0, slot = 0; b < BINS; b++) {
            p->first[f][b] = slot;
            for (int i = 0; i < PARTICLES; i++)
                if (p->bin[f][i] == b)
                    p->right[f][slot++] = i;
        }
    }
}

/* Coordinate d of a frame's slot among `sorted`. */
static size_t place_in(const list_boxes_spec *spec, size_t slot, size_t d)
{
    const size_t cluster = (size_t)spec->cluster;
    return spec->planar ? 4 * (slot / cluster * cluster) + d * cluster + slot % cluster : 4 * slot + d;
}

static bool is_at(const list_boxes_spec *spec, const float *sorted, size_t slot, const float position[4])
{
    bool is = true;
    for (size_t d = 0; d < 4; d++) {
        const float found = sorted[place_in(spec, slot, d)];
        is = is && (position != NULL ? found == position[d] : d == 3 || isnan(found));
    }
    return is;
}

static ley_status judge_places(const list_boxes_spec *spec, const place_trial *p, const int32_t *slot,
                               const int32_t *own, const float *sorted, const int32_t *type, ley_error *error)
{
    for (int i = 0; i < FRAMES * PLACE_SLOTS; i++) {
        const int f = i / PLACE_SLOTS, at = i % PLACE_SLOTS, right = at < PARTICLES ? p->right[f][at] : -1;
        if (own[i] != right)
            return fail(error, "the particle of slot", f, at, own[i], right);
        if (!is_at(spec, sorted, (size_t)i, right < 0 ? NULL : p->position[f][right]) ||
            type[i] != (right < 0 ? 0 : p->type[right]) || (right >= 0 && slot[f * PADDED + right] != at))
            return fail(error, "the type, at its position, of slot", f, at, type[i], right < 0 ? 0 : p->type[right]);
    }
    return LEY_OK;
}

static ley_status test_place(const dev_kernel *built, void *context, ley_error *error)
{
    trial *t = trial_begin(built, error);
    place_trial *p = malloc(sizeof *p);
    const size_t slots = FRAMES * PLACE_SLOTS * sizeof(int32_t);
    (void)context;
    if (t == NULL || p == NULL) {
        free(p);
        return t != NULL ? trial_end(t, ley_fail_memory(error, sizeof *p, "the self-test")) : LEY_ERROR_MEMORY;
    }
    set_places(t, p);
    dev_buffer *position = put(t, p->position, sizeof p->position), *type = put(t, p->type, sizeof p->type),
               *first = put(t, p->first, sizeof p->first), *head = put(t, p->head, sizeof p->head),
               *next = put(t, p->next, sizeof p->next), *bin = put(t, p->bin, sizeof p->bin),
               *slot = put(t, NULL, sizeof p->bin), *own = put(t, NULL, slots), *sorted = put(t, NULL, 4 * slots),
               *sorted_type = put(t, NULL, slots);
    if (t->error.status == LEY_OK)
        lists_launch(&t->sequence, built, PLACE_SLOTS, FRAMES,
                     KERNEL_ARGUMENTS(list_place, .gm_position = {position}, .particles = PARTICLES, .padded = PADDED,
                                      .gm_type = {type}, .slots = PLACE_SLOTS, .bins = BINS, .gm_first = {first},
                                      .gm_head = {head}, .gm_next = {next}, .gm_bin = {bin}, .gm_slot = {slot},
                                      .gm_own = {own}, .gm_sorted = {sorted}, .gm_sorted_type = {sorted_type}));
    const int32_t *slot_back = get(t, slot, sizeof p->bin), *own_back = get(t, own, slots);
    const void *sorted_back = get(t, sorted, 4 * slots), *type_back = get(t, sorted_type, slots);
    ley_status status = finish(t, error);
    if (status == LEY_OK)
        status =
            judge_places((const list_boxes_spec *)built->spec, p, slot_back, own_back, sorted_back, type_back, error);
    free(p);
    return trial_end(t, status);
}

/* ---- Boxes, moves and tiles ------------------------------------------------------------------ */

/* Particles in the order of slots, in cells just wide enough, a skewed one and one that is not
 * periodic. Most clusters have few of them, so that there are several blocks. Their boxes; some are
 * excluded pairs. */
#define TRIAL_REACH_A 5.0
enum { MOST_SLOTS = 3584, MOST_BOXES = 256 };
typedef struct tiles_trial {
    lists_shape shape;
    float sorted[FRAMES][MOST_SLOTS][4], rows[FRAMES][LEY_LIST_ROWS][4], box[FRAMES][6][MOST_BOXES];
    int32_t own[FRAMES][MOST_SLOTS], slot[FRAMES][PADDED], first[PADDED + 1], excluded[4 * PADDED];
} tiles_trial;

static const double trial_cell_A[9] = {24, 0, 0, 2, 12, 0, -3, 1, 16};

static void set_excluded(tiles_trial *s)
{
    for (int i = 0; i < PARTICLES; i++) { /* with most next ones, and with one that is far away */
        const int partner[4] = {i % 3 != 0 ? i - 1 : -1, i % 3 != 2 ? i + 1 : -1, i % 2 != 0 ? -1 : i + 201,
                                i % 2 != 0 ? i - 201 : -1};
        s->first[i + 1] = s->first[i];
        for (int k = 0; k < 4; k++)
            if (partner[k] >= 0 && partner[k] < PARTICLES && (k < 2 || (i < partner[k] ? i : partner[k]) % 2 == 0))
                s->excluded[s->first[i + 1]++] = partner[k];
    }
    for (int i = PARTICLES; i < PADDED; i++)
        s->first[i + 1] = s->first[i];
}

/* Particle number i of those along the first vector, there and back: others may be near that are as
 * far as can be in the order of slots. */
static void set_slot(trial *t, tiles_trial *s, int f, int slot, int i)
{
    const double way = 2.0 * i / PARTICLES, along[3] = {(way < 1 ? way : 2 - way) - 0.5, (double)(i % 100) / 100 - 0.5,
                                                        (double)(i % 25) / 25 - 0.5}; /* neighbours are near */
    s->own[f][slot] = f == 0 ? i : PARTICLES - 1 - i;
    s->slot[f][s->own[f][slot]] = slot;
    for (int d = 0; d < 3; d++) {
        double at = 0;
        for (int k = 0; k < 3; k++)
            at += along[k] * (f == 0 ? trial_cell_A[3 * k + d] : k != d ? 0 : d == 0 ? 24 : 16);
        s->sorted[f][slot][d] = (float)(at + 0.3 * self_test_fraction(&t->state));
    }
    s->sorted[f][slot][3] = (float)self_test_fraction(&t->state);
}

/* Behind the last one are some clusters with no particles, `more`. */
static void set_slots(trial *t, tiles_trial *s, int cluster, int more)
{
    enum { FULL = 16, FEW = 2 }; /* each of so many clusters is full, others have so many particles */
    memset(s, 0, sizeof *s);
    s->shape = (lists_shape){.particles = PARTICLES, .padded = PADDED, .bits = 1, .reach_A = TRIAL_REACH_A};
    lists_frame_rows(&s->shape, trial_cell_A, NULL, NULL, s->rows[0]);
    lists_frame_rows(&s->shape, NULL, (const double[3]){-12, -8, -8}, (const double[3]){12, 8, 8}, s->rows[1]);
    for (int f = 0; f < FRAMES; f++) {
        int slot = 0;
        for (int i = 0; i < MOST_SLOTS; i++) {
            s->own[f][i] = -1;
            s->sorted[f][i][0] = s->sorted[f][i][1] = s->sorted[f][i][2] = NAN;
        }
        for (int i = 0; i < PARTICLES; i++, slot++) {
            if (slot / cluster % FULL != 0 && slot % cluster == FEW)
                slot += cluster - FEW;
            set_slot(t, s, f, slot, i);
        }
        s->shape.clusters = (slot + cluster - 1) / cluster + more;
    }
    s->shape.slots = s->shape.clusters * cluster;
    s->shape.blocks = (s->shape.clusters + LEY_LIST_BLOCK - 1) / LEY_LIST_BLOCK;
    s->shape.pitch = lists_pitch(s->shape.blocks);
    set_excluded(s);
}

/* Of the particles of `count` slots. */
static void set_box(tiles_trial *s, int f, int at, int first, int count)
{
    for (int d = 0; d < 3; d++) {
        float low = INFINITY, high = -INFINITY;
        for (int i = first; i < first + count && i < s->shape.slots; i++) {
            low = fminf(low, s->sorted[f][i][d]);
            high = fmaxf(high, s->sorted[f][i][d]);
        }
        s->box[f][d][at] = low > high ? NAN : 0.5F * (low + high);
        s->box[f][3 + d][at] = low > high ? 0 : 0.5F * (high - low);
    }
}

static void set_boxes(tiles_trial *s, int cluster)
{
    const int behind = LEY_LIST_BLOCK * s->shape.blocks, block = LEY_LIST_BLOCK * cluster;
    for (int f = 0; f < FRAMES; f++)
        for (int c = 0; c < s->shape.pitch; c++)
            set_box(s, f, c, c < behind ? c * cluster : (c - behind) * block, c < behind ? cluster : block);
}

/* [FRAMES][6][pitch], of which those of blocks only if they are wanted: else no numbers. */
static dev_buffer *put_boxes(trial *t, const tiles_trial *s, bool has_blocks)
{
    const size_t pitch = (size_t)s->shape.pitch, behind = LEY_LIST_BLOCK * (size_t)s->shape.blocks;
    float *all = malloc(6 * FRAMES * pitch * sizeof *all);
    if (all == NULL) {
        ley_fail_memory(&t->error, pitch, "the self-test");
        return NULL;
    }
    for (size_t i = 0; i < 6 * FRAMES * pitch; i++)
        all[i] = i % pitch < behind || has_blocks ? s->box[i / (6 * pitch)][i / pitch % 6][i % pitch] : NAN;
    dev_buffer *made = put(t, all, 6 * FRAMES * pitch * sizeof *all);
    free(all);
    return made;
}

/* What is in slots, [FRAMES][slots], of these arrays. */
static dev_buffer *put_sorted(trial *t, const tiles_trial *s, const list_boxes_spec *spec)
{
    const size_t slots = (size_t)s->shape.slots;
    float *all = malloc(4 * FRAMES * slots * sizeof *all);
    if (all == NULL) {
        ley_fail_memory(&t->error, slots, "the self-test");
        return NULL;
    }
    for (size_t i = 0; i < 4 * FRAMES * slots; i++)
        all[place_in(spec, i / 4, i % 4)] = s->sorted[i / (4 * slots)][i / 4 % slots][i % 4];
    dev_buffer *made = put(t, all, 4 * FRAMES * slots * sizeof *all);
    free(all);
    return made;
}

static dev_buffer *put_own(trial *t, const tiles_trial *s)
{
    const size_t bytes = (size_t)s->shape.slots * sizeof(int32_t);
    int32_t *all = malloc(FRAMES * bytes);
    if (all == NULL) {
        ley_fail_memory(&t->error, bytes, "the self-test");
        return NULL;
    }
    for (int f = 0; f < FRAMES; f++)
        memcpy(all + f * s->shape.slots, s->own[f], bytes);
    dev_buffer *made = put(t, all, FRAMES * bytes);
    free(all);
    return made;
}

/* Halves may be a little more. */
static ley_status judge_boxes(const tiles_trial *s, const float *box, bool has_blocks, ley_error *error)
{
    const int pitch = s->shape.pitch, behind = LEY_LIST_BLOCK * s->shape.blocks;
    for (int i = 0; i < FRAMES * 6 * pitch; i++) {
        const int f = i / (6 * pitch), part = i / pitch % 6, c = i % pitch;
        const bool is_none = isnan(s->box[f][0][c]) || (c >= behind && !has_blocks);
        const float right = s->box[f][part][c], least = right - (part < 3 ? 1e-5F : 1e-7F);
        if (is_none ? part == 0 && !isnan(box[i]) : !(box[i] >= least && box[i] <= right + 1e-5F))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "number %d of box %d of frame %d is %g, not %g", part, c, f,
                            (double)box[i], (double)right);
    }
    return LEY_OK;
}

/* A trial of one kernel, with slots and boxes of this cluster. */
static ley_status with_tiles(const dev_kernel *built, int cluster, int more,
                             ley_status (*run)(trial *t, tiles_trial *s, const dev_kernel *built, ley_error *error),
                             ley_error *error)
{
    trial *t = trial_begin(built, error);
    tiles_trial *s = malloc(sizeof *s);
    if (t == NULL || s == NULL) {
        free(s);
        return t != NULL ? trial_end(t, ley_fail_memory(error, sizeof *s, "the self-test")) : LEY_ERROR_MEMORY;
    }
    set_slots(t, s, cluster, more);
    set_boxes(s, cluster);
    const ley_status status = run(t, s, built, error);
    free(s);
    return trial_end(t, status);
}

static ley_status run_boxes(trial *t, tiles_trial *s, const dev_kernel *built, ley_error *error)
{
    const size_t bytes = FRAMES * 6 * (size_t)s->shape.pitch * sizeof(float);
    dev_buffer *sorted = put_sorted(t, s, (const list_boxes_spec *)built->spec), *box = put(t, NULL, bytes);
    if (t->error.status == LEY_OK)
        lists_launch(&t->sequence, built, (size_t)s->shape.pitch, FRAMES,
                     KERNEL_ARGUMENTS(list_boxes, .gm_sorted = {sorted}, .clusters = s->shape.clusters,
                                      .pitch = s->shape.pitch, .gm_box = {box}));
    const float *found = get(t, box, bytes);
    const ley_status status = finish(t, error);
    return status == LEY_OK ? judge_boxes(s, found, false, error) : status;
}

static ley_status test_boxes(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    return with_tiles(built, ((const list_boxes_spec *)built->spec)->cluster, 1, run_boxes, error);
}

static ley_status run_blocks(trial *t, tiles_trial *s, const dev_kernel *built, ley_error *error)
{
    dev_buffer *box = put_boxes(t, s, false);
    if (t->error.status == LEY_OK)
        lists_launch(
            &t->sequence, built, (size_t)s->shape.blocks, FRAMES,
            KERNEL_ARGUMENTS(list_blocks, .blocks = s->shape.blocks, .pitch = s->shape.pitch, .gm_box = {box}));
    const float *found = get(t, box, FRAMES * 6 * (size_t)s->shape.pitch * sizeof(float));
    const ley_status status = finish(t, error);
    return status == LEY_OK ? judge_boxes(s, found, true, error) : status;
}

static ley_status test_blocks(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    return with_tiles(built, 8, 0, run_blocks, error);
}

/* Particles move a little; in the cell also by its vectors. */
static void move(trial *t, const tiles_trial *s, float (*position)[PADDED][4], float (*right)[MOST_SLOTS][4])
{
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < s->shape.slots; i++) {
            memcpy(right[f][i], s->sorted[f][i], sizeof right[f][i]);
            if (s->own[f][i] < 0)
                continue;
            const int steps[3] = {some_int(t, 3) - 1, some_int(t, 3) - 1, some_int(t, 3) - 1};
            float *to = position[f][s->own[f][i]];
            to[3] = right[f][i][3] = (float)i;
            for (int d = 0; d < 3; d++) {
                double at = (double)right[f][i][d] + self_test_fraction(&t->state) - 0.5;
                right[f][i][d] = (float)at;
                for (int k = 0; k < 3 && f == 0; k++)
                    at += steps[k] * trial_cell_A[3 * k + d];
                to[d] = (float)at;
            }
        }
}

static ley_status run_move(trial *t, tiles_trial *s, const dev_kernel *built, ley_error *error)
{
    const list_boxes_spec *spec = (const list_boxes_spec *)built->spec;
    const size_t slots = (size_t)s->shape.slots;
    float(*position)[PADDED][4] = calloc(FRAMES, sizeof *position),
    (*right)[MOST_SLOTS][4] = calloc(FRAMES, sizeof *right);
    ley_status status =
        position != NULL && right != NULL ? LEY_OK : ley_fail_memory(error, FRAMES * sizeof *right, "the self-test");
    if (status == LEY_OK) {
        move(t, s, position, right);
        dev_buffer *positions = put(t, position, FRAMES * sizeof *position), *frame = put(t, s->rows, sizeof s->rows),
                   *own = put_own(t, s), *sorted = put_sorted(t, s, spec), *to = put(t, NULL, sizeof s->slot);
        if (t->error.status == LEY_OK)
            lists_launch(&t->sequence, built, slots, FRAMES,
                         KERNEL_ARGUMENTS(list_move, .gm_position = {positions}, .padded = PADDED, .gm_frames = {frame},
                                          .gm_own = {own}, .slots = s->shape.slots, .gm_sorted = {sorted},
                                          .gm_slot = {to}));
        const float *found = get(t, sorted, 4 * FRAMES * slots * sizeof *found);
        const int32_t *places = get(t, to, sizeof s->slot);
        status = finish(t, error);
        for (size_t i = 0; i < FRAMES * slots && status == LEY_OK; i++) {
            const int32_t own_particle = s->own[i / slots][i % slots];
            if (own_particle >= 0 && places[i / slots * PADDED + (size_t)own_particle] != (int32_t)(i % slots))
                status = fail(error, "the slot of a particle in slot", (int)(i / slots), (int)(i % slots),
                              places[i / slots * PADDED + (size_t)own_particle], (int)(i % slots));
        }
        for (size_t i = 0; i < 4 * FRAMES * slots && status == LEY_OK; i++) {
            const size_t f = i / (4 * slots), slot = i / 4 % slots, d = i % 4;
            const float is = found[place_in(spec, f * slots + slot, d)], wanted = right[f][slot][d];
            if (isnan(wanted) ? !isnan(is) : !(fabsf(is - wanted) <= 1e-5F))
                status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "number %zu of slot %zu of frame %zu is %g, not %g", d,
                                  slot, f, (double)is, (double)wanted);
        }
    }
    free(position);
    free(right);
    return status;
}

static ley_status test_move(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    return with_tiles(built, ((const list_boxes_spec *)built->spec)->cluster, 0, run_move, error);
}

/* Of slots i and j, the squared distance of the nearest images. */
static double square_of(const tiles_trial *s, int f, int i, int j)
{
    double least = INFINITY;
    for (int image = 0; image < (f == 0 ? 27 : 1); image++) {
        const int step[3] = {image % 3, image / 3 % 3, image / 9};
        double square = 0;
        for (int d = 0; d < 3; d++) {
            double way = (double)s->sorted[f][i][d] - (double)s->sorted[f][j][d];
            for (int k = 0; k < 3 && f == 0; k++)
                way += (step[k] - 1) * trial_cell_A[3 * k + d];
            square += way * way;
        }
        least = fmin(least, square);
    }
    return least;
}

static bool is_excluded(const tiles_trial *s, int a, int b)
{
    for (int e = s->first[a]; e < s->first[a + 1]; e++)
        if (s->excluded[e] == b)
            return true;
    return false;
}

/* Whether what is named is where its shift says. */
static bool is_there(const tiles_trial *s, int f, int i, int j, int shift, double square)
{
    double found = 0;
    if (shift == 31)
        return true;
    for (int d = 0; d < 3; d++) {
        double way = (double)s->sorted[f][i][d] - (double)s->sorted[f][j][d];
        for (int k = 0, digits = shift; k < 3 && f == 0; k++, digits /= 3)
            way += (digits % 3 - 1) * trial_cell_A[3 * k + d];
        found += way * way;
    }
    return fabs(found - square) < 1e-3;
}

typedef struct tiles_found {
    const int32_t (*rows)[2], *tile, *mask, *near;
    const int32_t *room;
} tiles_found;

/* How often the row of slot i has slot j; -1: at a wrong place. */
static int times_in_row(const tiles_trial *s, const list_tiles_spec *spec, const tiles_found *found, int f, int i,
                        int j, double square)
{
    const int c = spec->cluster;
    const size_t row = (size_t)(f * s->shape.clusters + i / c);
    int times = 0;
    for (int k = 0; k < found->rows[row][0]; k++) {
        const size_t at = row * (size_t)found->room[0] + (size_t)k;
        const int name = found->tile[at], in_row = spec->width > 1 ? j % c : i % c,
                  bit = spec->width > 1 ? i % c : j % c;
        if ((name & ((1 << LEY_LIST_SHIFT) - 1)) != j / c ||
            ((uint32_t)found->mask[at * (size_t)c + (size_t)in_row] >> bit & 1) == 0)
            continue;
        if (square < TRIAL_REACH_A * TRIAL_REACH_A && !is_there(s, f, i, j, name >> LEY_LIST_SHIFT, square))
            return -1;
        times++;
    }
    for (int k = 0; k < found->rows[row][1]; k++) {
        const int name = found->near[row * (size_t)found->room[1] + (size_t)k];
        if ((name & ((1 << LEY_LIST_SHIFT) - 1)) != j)
            continue;
        if (square < TRIAL_REACH_A * TRIAL_REACH_A && !is_there(s, f, i, j, name >> LEY_LIST_SHIFT, square))
            return -1;
        times++;
    }
    return times;
}

/* The bits of all numbers for which there is no room. */
static int32_t right_beyond(const tiles_trial *s, const tiles_found *found, int kind)
{
    int32_t bits = 0;
    for (int row = 0; row < FRAMES * s->shape.clusters; row++)
        bits |= found->rows[row][kind] > found->room[kind] ? found->rows[row][kind] : 0;
    return bits;
}

static ley_status judge_tiles(const tiles_trial *s, const list_tiles_spec *spec, const tiles_found *found,
                              const int32_t beyond[2], ley_error *error)
{
    const double within = TRIAL_REACH_A * TRIAL_REACH_A - 1e-3;
    const int32_t right[2] = {right_beyond(s, found, 0), right_beyond(s, found, 1)};
    if (beyond[0] != right[0] || beyond[1] != right[1])
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "%d and %d are beyond the rows' room, not %d and %d",
                        (int)beyond[0], (int)beyond[1], (int)right[0], (int)right[1]);
    if (right[0] != 0 || right[1] != 0)
        return LEY_OK;
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < PARTICLES; i++)
            for (int j = 0; j <= i; j++) {
                const int own = s->slot[f][i], its = s->slot[f][j];
                const double square = square_of(s, f, own, its);
                const bool excluded = i == j || is_excluded(s, i, j);
                const int one = times_in_row(s, spec, found, f, own, its, square),
                          other = times_in_row(s, spec, found, f, its, own, square), most = spec->full ? 2 : 1;
                const bool is_right = one >= 0 && other >= 0 && one <= 1 && other <= 1 &&
                                      (excluded ? one + other == 0 : one + other <= most) &&
                                      (excluded || square >= within || one + other == most);
                if (!is_right)
                    return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                                    "slots %d and %d of frame %d, %g A apart%s, are %d and %d times in rows", own, its,
                                    f, sqrt(square), excluded ? ", excluded" : "", one, other);
            }
    return LEY_OK;
}

/* With this room in rows; `most`: of rows that were made, becomes the most of each. */
static ley_status run_in_room(trial *t, const tiles_trial *s, const dev_kernel *built, const int32_t room[2],
                              int32_t most[2], ley_error *error)
{
    const list_tiles_spec *spec = (const list_tiles_spec *)built->spec;
    const size_t clusters = (size_t)s->shape.clusters, rows = FRAMES * clusters * sizeof(int32_t),
                 tiles = rows * (size_t)room[0], masks = tiles * (size_t)spec->cluster, nears = rows * (size_t)room[1];
    const int32_t none[2] = {0, 0};
    const list_boxes_spec layout = lists_boxes_spec(spec);
    dev_buffer *sorted = put_sorted(t, s, &layout), *owns = put_own(t, s), *slot = put(t, s->slot, sizeof s->slot),
               *boxes = put_boxes(t, s, true), *frame = put(t, s->rows, sizeof s->rows),
               *first = put(t, s->first, sizeof s->first), *excluded = put(t, s->excluded, sizeof s->excluded),
               *counts = put(t, NULL, 2 * rows), *tile = put(t, NULL, tiles), *mask = put(t, NULL, masks),
               *near = put(t, NULL, nears), *beyond = put(t, none, sizeof none);
    if (t->error.status == LEY_OK)
        lists_launch(&t->sequence, built, clusters * built->group_size[0], FRAMES,
                     KERNEL_ARGUMENTS(list_tiles, .gm_sorted = {sorted}, .gm_own = {owns}, .gm_slot = {slot},
                                      .padded = PADDED, .clusters = s->shape.clusters, .gm_box = {boxes},
                                      .pitch = s->shape.pitch, .gm_frames = {frame}, .gm_first = {first},
                                      .gm_excluded = {excluded}, .reach = TRIAL_REACH_A,
                                      .room = {room[0], room[1], 0, 0}, .gm_rows = {counts}, .gm_tiles = {tile},
                                      .gm_masks = {mask}, .gm_near = {near}, .gm_beyond = {beyond}));
    const tiles_found found = {.rows = get(t, counts, 2 * rows),
                               .tile = get(t, tile, tiles),
                               .mask = get(t, mask, masks),
                               .near = get(t, near, nears),
                               .room = room};
    const int32_t *left = get(t, beyond, sizeof none);
    const ley_status status = finish(t, error);
    most[0] = most[1] = 0;
    for (size_t i = 0; i < 2 * FRAMES * clusters && status == LEY_OK; i++)
        most[i % 2] = found.rows[i / 2][i % 2] > most[i % 2] ? found.rows[i / 2][i % 2] : most[i % 2];
    return status == LEY_OK ? judge_tiles(s, spec, &found, left, error) : status;
}

/* With more room than enough, with just enough, and with a little less than that. */
static ley_status run_tiles(trial *t, tiles_trial *s, const dev_kernel *built, ley_error *error)
{
    int32_t room[2] = {s->shape.clusters, s->shape.slots}, most[2];
    ley_status status = run_in_room(t, s, built, room, most, error);
    for (int32_t less = 0; less < 2 && status == LEY_OK; less++) {
        int32_t found[2];
        room[0] = most[0] - less;
        room[1] = most[1] - less;
        sequence_begin(&t->sequence, &t->flight, NULL);
        status = run_in_room(t, s, built, room, found, error);
        if (status == LEY_OK && (found[0] != most[0] || found[1] != most[1]))
            status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "rows have up to %d tiles and %d particles, not %d and %d",
                              (int)found[0], (int)found[1], (int)most[0], (int)most[1]);
    }
    return status;
}

/* Of rows whose number is even or odd. */
static ley_status test_tiles(const dev_kernel *built, void *context, ley_error *error)
{
    const int cluster = ((const list_tiles_spec *)built->spec)->cluster;
    (void)context;
    const ley_status status = with_tiles(built, cluster, 0, run_tiles, error);
    return status == LEY_OK ? with_tiles(built, cluster, 1, run_tiles, error) : status;
}

/* ---- The kinds ------------------------------------------------------------------------------- */

static void group_of_many(const dev_info *info, const void *spec, size_t size[3])
{
    (void)spec;
    size[0] = info->max_work_group > 0 && info->max_work_group < 64 ? info->max_work_group : 64;
    size[1] = size[2] = 1;
}

static void group_of_first(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const list_first_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

static size_t bytes_of_first(const dev_info *info, const void *spec)
{
    (void)info;
    return 2 * (size_t)((const list_first_spec *)spec)->wg * sizeof(int32_t);
}

static void group_of_tiles(const dev_info *info, const void *spec, size_t size[3])
{
    const list_tiles_spec *s = spec;
    (void)info;
    size[0] = s->width > 1 ? 1 : (size_t)s->cluster;
    size[1] = size[2] = 1;
}

static size_t bytes_of_tiles(const dev_info *info, const void *spec)
{
    const list_tiles_spec *s = spec;
    (void)info;
    return (size_t)s->cluster * (s->width > 1 ? 3 : 5) * sizeof(float) + sizeof(int32_t);
}

static void first_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    list_first_spec spec = lists_first_spec(info);
    visit(context, "list_first", &spec);
    spec.wg = 64;
    if (depth > KERNEL_FEW)
        visit(context, "list_first-group", &spec);
}

static void boxes_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const list_tiles_spec tiles = lists_spec_for(info);
    const list_boxes_spec spec = lists_boxes_spec(&tiles);
    (void)depth;
    visit(context, "list_boxes", &spec);
}

static void move_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const list_tiles_spec tiles = lists_spec_for(info);
    const list_boxes_spec spec = lists_boxes_spec(&tiles);
    (void)depth;
    visit(context, "list_move", &spec);
}

static void place_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const list_tiles_spec tiles = lists_spec_for(info);
    const list_boxes_spec spec = lists_boxes_spec(&tiles);
    (void)depth;
    visit(context, "list_place", &spec);
}

/* By default, and work-groups with rows of both kinds, also with the votes of sub-groups. */
static void tiles_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    list_tiles_spec spec = lists_spec_for(info);
    visit(context, "list_tiles", &spec);
    for (int full = 0; full < 2 && depth > KERNEL_FEW; full++) {
        spec = lists_spec_of_groups(full != 0, LEY_SUB_GROUPS_NONE);
        visit(context, full ? "list_tiles-group-full" : "list_tiles-group", &spec);
    }
    if (depth > KERNEL_FEW && info->sub_groups != LEY_SUB_GROUPS_NONE) {
        spec = lists_spec_of_groups(false, info->sub_groups);
        visit(context, "list_tiles-sub-groups", &spec);
    }
}

KERNEL_DESCRIBE_ARGUMENTS(list_bins, LEY_LIST_BINS_ARGUMENTS)
KERNEL_DESCRIBE_ARGUMENTS(list_first, LEY_LIST_FIRST_ARGUMENTS)
KERNEL_DESCRIBE_ARGUMENTS(list_place, LEY_LIST_PLACE_ARGUMENTS)
KERNEL_DESCRIBE_ARGUMENTS(list_boxes, LEY_LIST_BOXES_ARGUMENTS)
KERNEL_DESCRIBE_ARGUMENTS(list_blocks, LEY_LIST_BLOCKS_ARGUMENTS)
KERNEL_DESCRIBE_ARGUMENTS(list_move, LEY_LIST_MOVE_ARGUMENTS)
KERNEL_DESCRIBE_ARGUMENTS(list_tiles, LEY_LIST_TILES_ARGUMENTS)

const kernel_kind list_bins_kind = {KERNEL_DESCRIPTION(list_bins, LEY_DIALECT_KEYS, list_bins), .group = group_of_many,
                                    .test = test_bins};
const kernel_kind list_first_kind = {KERNEL_DESCRIPTION(list_first, LEY_LIST_FIRST_KEYS, list_first),
                                     .group = group_of_first, .local_bytes = bytes_of_first, .specs = first_specs,
                                     .test = test_first};
const kernel_kind list_place_kind = {KERNEL_DESCRIPTION(list_place, LEY_LIST_PLACE_KEYS, list_place),
                                     .group = group_of_many, .specs = place_specs, .test = test_place};
const kernel_kind list_boxes_kind = {KERNEL_DESCRIPTION(list_boxes, LEY_LIST_BOXES_KEYS, list_boxes),
                                     .group = group_of_many, .specs = boxes_specs, .test = test_boxes};
const kernel_kind list_blocks_kind = {KERNEL_DESCRIPTION(list_blocks, LEY_DIALECT_KEYS, list_blocks),
                                      .group = group_of_many, .test = test_blocks};
const kernel_kind list_move_kind = {KERNEL_DESCRIPTION(list_move, LEY_LIST_MOVE_KEYS, list_move),
                                    .group = group_of_many, .specs = move_specs, .test = test_move};
const kernel_kind list_tiles_kind = {KERNEL_DESCRIPTION(list_tiles, LEY_LIST_TILES_KEYS, list_tiles),
                                     .group = group_of_tiles, .local_bytes = bytes_of_tiles, .specs = tiles_specs,
                                     .test = test_tiles};
