/* Two kernels with a step on the host between them. link_atoms puts each atom and its images into
 * the lists of their bins and counts; the counts come back, four bytes per bin, and their sums say
 * where the overflow goes: a scan on the device would take kernels of its own to save what is less
 * than an atom's position a bin. Then fill_bins brings each list into the order of the atoms'
 * index, so that slots do not depend on who came first. */
#include "methods/cutoff/device_binning.h"

#include "error.h"
#include "log.h"
#include "parallel.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 128, CHUNK = 1 << 15 };

/* Lists are gone through once for every few of their atoms: longer ones would take a work-item
 * longer than all the others together. */
enum { MOST_IN_A_BIN = 128 };

typedef struct binner {
    dev *device;
    arena *arena; /* the caller's */
    flight flight;
    command_sequence command_sequence;
    const binning_plan *plan;
    const ley_atoms *atoms;
    binning_images images;
    int64_t most_images; /* of an atom, itself among them */
    dev_kernel link, fill;
    buffer_of_double position, charge;
    buffer_of_int count, head, next;
    buffer_of_float4 records;
    dev_staging *counts; /* [bins + 3]: link_atoms' gm_count */
    int32_t *first;      /* [bins + 1]: fill_bins' gm_extra */
    buffer_of_atom slots;
    buffer_of_int extra;
    device_bins result;
    bool keeps_atoms; /* on the device */
    dev_staging *way; /* [4 n] doubles, on which atoms travel; NULL: they find their own */
    bool is_trial;    /* slots hold not-a-numbers beforehand: memory may still have what another trial put there */
} binner;

/* No more images than an atom can have in reach; a hair beyond, as link_atoms looks. */
static int64_t most_images(const binning_images *im)
{
    double most = 1;
    for (int i = 0; i < 3 && im->any; i++)
        most *= im->periodic[i] ? floor(im->high[i] - im->low[i] + 3e-5) + 1 : 1;
    return (int64_t)fmin(most, INT32_MAX);
}

static binner binner_of(arena *r, const binning_plan *plan, const ley_atoms *atoms)
{
    binner b = {.device = r->device,
                .arena = r,
                .flight = {.device = r->device},
                .plan = plan,
                .atoms = atoms,
                .result = {.bins = plan->bins}};
    binning_find_images(plan, ley_atoms_count(atoms), &b.images, NULL);
    b.most_images = most_images(&b.images);
    return b;
}

static double entries_of(const binner *b)
{
    return (double)ley_atoms_count(b->atoms) * (double)b->most_images;
}

const char *device_binning_obstacle(const cutoff_problem *p)
{
    const binning_options *o = &p->plan.options;
    return o->keep_neutral || p->more != NULL ? "the pair function is not of charges" : NULL;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

double device_binning_bytes(const cutoff_problem *p)
{
    const double n = (double)ley_atoms_count(p->atoms);
    binning_images im;
    if (binning_find_images(&p->plan, ley_atoms_count(p->atoms), &im, NULL) != LEY_OK)
        return INFINITY;
    return (24 + 8) * n + (4 + 16) * n * (double)most_images(&im) + 12 * (double)p->plan.bins;
}

/* Whether there is room for all, were there no overflow. */
static bool fits(const binner *b)
{
    const double n = (double)ley_atoms_count(b->atoms), bins = (double)b->plan->bins, entries = entries_of(b),
                 slots = bins * (double)b->plan->options.depth * 16;
    return entries < INT32_MAX &&
           fmax(fmax(24 * n, 16 * entries), fmax(slots, 4 * bins + 12)) <= (double)arena_largest(b->arena) &&
           (24 + 8) * n + (4 + 16) * entries + 12 * bins + slots <= (double)arena_left(b->arena);
}

static bool groups_fit(const binner *b)
{
    const size_t most = b->device->info->max_groups[0],
                 items = (size_t)fmax((double)ley_atoms_count(b->atoms), (double)b->plan->bins);
    return b->device->info->max_work_group >= GROUP && (most == 0 || (items + GROUP - 1) / GROUP <= most);
}

static bool make(binner *b, size_t bytes, dev_access access, dev_buffer **buffer)
{
    return arena_buffer(b->arena, bytes, access, buffer, NULL) == LEY_OK;
}

static bool make_buffers(binner *b)
{
    const size_t n = ley_atoms_count(b->atoms), bins = (size_t)b->plan->bins, entries = n * (size_t)b->most_images;
    return make(b, 24 * n, DEV_READ_ONLY, &b->position.buffer) && make(b, 8 * n, DEV_READ_ONLY, &b->charge.buffer) &&
           make(b, 4 * (bins + 3), DEV_READ_WRITE, &b->count.buffer) &&
           make(b, 4 * bins, DEV_READ_WRITE, &b->head.buffer) &&
           make(b, 4 * entries, DEV_READ_WRITE, &b->next.buffer) &&
           make(b, 16 * entries, DEV_READ_WRITE, &b->records.buffer) &&
           arena_staging(b->arena, 4 * (bins + 3), &b->counts, NULL) == LEY_OK;
}

/* All but the kernels, and but what the caller gets, unless it gets none. */
static void clear(binner *b, bool with_all)
{
    dev_buffer **const own[] = {&b->count.buffer, &b->head.buffer, &b->next.buffer, &b->records.buffer},
                       **const atoms[] = {&b->position.buffer, &b->charge.buffer},
                       **const bins[] = {&b->slots.buffer, &b->extra.buffer};
    sequence_end(&b->command_sequence);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        arena_free_buffer(b->arena, own[i]);
    for (size_t i = 0; i < 2 && (with_all || !b->keeps_atoms); i++)
        arena_free_buffer(b->arena, atoms[i]);
    for (size_t i = 0; i < 2 && with_all; i++)
        arena_free_buffer(b->arena, bins[i]);
    arena_free_staging(b->arena, &b->counts);
    free(b->first);
    b->first = NULL;
}

enum { TOGETHER = 1 << 14 }; /* atoms that a thread has at a time */

static void put_on_way(void *context, size_t first_part, size_t last_part)
{
    const binner *b = context;
    const size_t n = ley_atoms_count(b->atoms), first = first_part * TOGETHER,
                 last = last_part * TOGETHER < n ? last_part * TOGETHER : n;
    double *to = b->way->bytes;
    memcpy(to + 3 * first, ley_atoms_positions_A(b->atoms) + 3 * first, 24 * (last - first));
    memcpy(to + 3 * n + first, ley_atoms_charges_e(b->atoms) + first, 8 * (last - first));
}

static void upload(binner *b)
{
    const size_t n = ley_atoms_count(b->atoms), bins = (size_t)b->plan->bins;
    if (b->way != NULL) {
        parallel_ranges((n + TOGETHER - 1) / TOGETHER, put_on_way, b);
        sequence_send(&b->command_sequence, b->position.buffer, 0, b->way, 0, 24 * n);
        sequence_send(&b->command_sequence, b->charge.buffer, 0, b->way, 24 * n, 8 * n);
    } else {
        sequence_write(&b->command_sequence, b->position.buffer, 0, ley_atoms_positions_A(b->atoms), 24 * n);
        sequence_write(&b->command_sequence, b->charge.buffer, 0, ley_atoms_charges_e(b->atoms), 8 * n);
    }
    sequence_fill(&b->command_sequence, b->count.buffer, 0, 0, 4 * (bins + 3));
    sequence_fill(&b->command_sequence, b->head.buffer, 0, 0, 4 * bins);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void groups_of(size_t items, size_t groups[3])
{
    groups[0] = (items + GROUP - 1) / GROUP;
    groups[1] = groups[2] = 1;
}

static void launch_link(binner *b)
{
    const binning_plan *p = b->plan;
    link_atoms_arguments a = {
        .kind = &link_atoms_kind,
        .gm_position = b->position,
        .gm_charge = b->charge,
        .n_atoms = (int32_t)ley_atoms_count(b->atoms),
        .n = {(int32_t)p->n[0], (int32_t)p->n[1], (int32_t)p->n[2], (int32_t)p->bins},
        .n_images = (int32_t)b->most_images,
        .gm_count = b->count,
        .gm_head = b->head,
        .gm_next = b->next,
        .gm_records = b->records,
    };
    double *const vectors[] = {a.vector_a, a.vector_b, a.vector_c}, *const duals[] = {a.dual_a, a.dual_b, a.dual_c};
    for (int v = 0; v < 3 && b->images.any; v++) {
        memcpy(vectors[v], b->images.v_A[v], sizeof b->images.v_A[v]);
        memcpy(duals[v], b->images.dual[v], sizeof b->images.dual[v]);
        duals[v][3] = b->images.periodic[v];
        a.image_low[v] = b->images.low[v];
        a.image_high[v] = b->images.high[v];
    }
    for (int axis = 0; axis < 3; axis++) { /* as binning.c has them */
        a.origin[axis] = p->grid.origin_A[axis];
        a.low[axis] = p->low_A[axis] - p->reach_A;
        a.high[axis] = p->high_A[axis] + p->reach_A;
        a.side[axis] = p->side_A[axis];
        a.bins_per_A[axis] = 1 / p->side_A[axis];
        a.zero[axis] = (double)p->origin_bin[axis];
    }
    a.zero[2] += (double)p->first_layer;
    a.zero[3] = (double)p->first_layer;
    a.side[3] = (double)p->layers;
    a.origin[3] = p->options.charge_scale;
    size_t groups[3];
    groups_of(ley_atoms_count(b->atoms), groups);
    sequence_launch(&b->command_sequence, &b->link, groups, &a, 0);
}

static ley_status make_lists(binner *b, ley_error *error)
{
    sequence_begin(&b->command_sequence, &b->flight, NULL);
    upload(b);
    launch_link(b);
    sequence_read(&b->command_sequence, b->count.buffer, 0, b->counts, 4 * ((size_t)b->plan->bins + 3));
    return sequence_finish(&b->command_sequence, error);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

typedef struct chunk_sum {
    int64_t binned, overflow, extra;
    int32_t least, longest;
} chunk_sum;

typedef struct sums {
    const int32_t *count;
    int32_t *first;
    int64_t bins;
    int32_t depth;
    chunk_sum *chunks;
} sums;

static inline int32_t extra_of(const sums *s, int64_t bin)
{
    return s->count[bin] > s->depth ? (s->count[bin] - 1) / s->depth : 0;
}

static void add_up(void *context, size_t first, size_t last)
{
    const sums *s = context;
    for (size_t c = first; c < last; c++) {
        chunk_sum sum = {.binned = 0};
        for (int64_t bin = (int64_t)c * CHUNK; bin < (int64_t)(c + 1) * CHUNK && bin < s->bins; bin++) {
            const int32_t count = s->count[bin];
            sum.binned += count;
            sum.overflow += count > s->depth ? count - s->depth : 0;
            sum.extra += extra_of(s, bin);
            sum.least = count < sum.least ? count : sum.least;
            sum.longest = count > sum.longest ? count : sum.longest;
        }
        s->chunks[c] = sum;
    }
}

/* chunks[c].extra is what those before it have. */
static void set_first(void *context, size_t first, size_t last)
{
    const sums *s = context;
    for (size_t c = first; c < last; c++) {
        int64_t at = s->bins + s->chunks[c].extra;
        for (int64_t bin = (int64_t)c * CHUNK; bin < (int64_t)(c + 1) * CHUNK && bin < s->bins; bin++) {
            s->first[bin] = (int32_t)at;
            at += extra_of(s, bin);
        }
    }
}

static ley_status sum_counts(binner *b, ley_error *error)
{
    device_bins *r = &b->result;
    const int32_t *count = b->counts->bytes;
    const size_t chunks = (size_t)((b->plan->bins + CHUNK - 1) / CHUNK);
    sums s = {.count = count,
              .bins = b->plan->bins,
              .depth = b->plan->options.depth,
              .chunks = calloc(chunks, sizeof *s.chunks)};
    b->first = s.first = malloc(((size_t)s.bins + 1) * sizeof *s.first);
    if (s.chunks == NULL || s.first == NULL) {
        free(s.chunks);
        return ley_fail_memory(error, ((size_t)s.bins + 1) * sizeof *s.first, "bins for overflow");
    }
    parallel_ranges(chunks, add_up, &s);
    int32_t least = 0;
    r->outside = count[s.bins];
    r->neutral = count[s.bins + 1];
    for (size_t c = 0; c < chunks; c++) {
        const int64_t extra = s.chunks[c].extra;
        r->binned += s.chunks[c].binned;
        r->overflow += s.chunks[c].overflow;
        r->longest = s.chunks[c].longest > r->longest ? s.chunks[c].longest : r->longest;
        least = s.chunks[c].least < least ? s.chunks[c].least : least;
        s.chunks[c].extra = r->extra_bins;
        r->extra_bins += extra;
    }
    const int64_t n = (int64_t)ley_atoms_count(b->atoms), in_reach = count[s.bins + 2];
    const bool right = least == 0 && r->outside >= 0 && r->neutral >= 0 && in_reach + r->outside + r->neutral == n &&
                       r->binned >= in_reach && r->binned <= in_reach * b->most_images;
    if (right && s.bins + r->extra_bins <= INT32_MAX) {
        parallel_ranges(chunks, set_first, &s);
        s.first[s.bins] = (int32_t)(s.bins + r->extra_bins);
    }
    free(s.chunks);
    return right ? LEY_OK
                 : ley_fail(error, LEY_ERROR_WRONG_RESULT,
                            "of %lld atoms %lld are in bins, %lld out of reach, %lld without charge", (long long)n,
                            (long long)in_reach, (long long)r->outside, (long long)r->neutral);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static void fill(binner *b)
{
    const int32_t bins = (int32_t)b->plan->bins, depth = b->plan->options.depth;
    const float far_A = BINNING_FAR_A;
    if (b->extra.buffer != NULL)
        sequence_write(&b->command_sequence, b->extra.buffer, 0, b->first, 4 * ((size_t)bins + 1));
    const fill_bins_arguments arguments = {
        .kind = &fill_bins_kind,
        .gm_count = b->count,
        .gm_head = b->head,
        .gm_next = b->next,
        .gm_records = {b->records.buffer},                         /* atoms now */
        .gm_extra = b->extra.buffer != NULL ? b->extra : b->count, /* anything */
        .bins = bins,
        .depth = depth,
        .far = {(double)far_A, (double)far_A, (double)far_A, 0},
        .gm_slots = b->slots,
    };
    size_t groups[3];
    groups_of((size_t)bins, groups);
    sequence_launch(&b->command_sequence, &b->fill, groups, &arguments, 0);
}

/* Makes room for the slots, and fills them. */
static ley_status make_slots(binner *b, ley_error *error)
{
    const size_t bins = (size_t)b->plan->bins, all = bins + (size_t)b->result.extra_bins;
    const size_t slots = all * (size_t)b->plan->options.depth + CUTOFF_SPARE_SLOTS;
    if (b->result.longest > MOST_IN_A_BIN)
        b->result.declined = "a bin holds more than 128 atoms";
    else if (all > INT32_MAX || !make(b, slots * 16, DEV_READ_WRITE, &b->slots.buffer) ||
             (b->result.extra_bins > 0 && !make(b, 4 * (bins + 1), DEV_READ_ONLY, &b->extra.buffer)))
        b->result.declined = "its memory is too small";
    if (b->result.declined != NULL)
        return LEY_OK;
    sequence_begin(&b->command_sequence, &b->flight, NULL);
    if (b->is_trial)
        sequence_fill(&b->command_sequence, b->slots.buffer, 0, DEV_NO_NUMBERS, slots * 16);
    fill(b);
    return sequence_finish(&b->command_sequence, error);
}

/* Kernels, plan and atoms are set. */
static ley_status run(binner *b, ley_error *error)
{
    b->result = (device_bins){.bins = b->plan->bins};
    if (!groups_fit(b))
        b->result.declined = "its launches are too small";
    else if (!fits(b) || !make_buffers(b))
        b->result.declined = "its memory is too small";
    ley_status status = LEY_OK;
    if (b->result.declined == NULL) {
        status = make_lists(b, error);
        if (status == LEY_OK)
            status = sum_counts(b, error);
        if (status == LEY_OK)
            status = make_slots(b, error);
    }
    clear(b, status != LEY_OK || b->result.declined != NULL);
    return status;
}

/* ---- Self-test ------------------------------------------------------------------------------- */

enum { TRIAL_ATOMS = 9000, CLUSTERED = 1000 };

/* A small problem, and what the host makes of it. */
typedef struct trial {
    ley_atoms *atoms;
    binning_plan plan;
    binned_atoms *binned;
} trial;

/* Atoms anywhere, some out of reach, without charge, on corners of bins, where a product that is
 * not rounded shows, and the first ones in clusters: bins that go on in one more, and in many. */
static ley_status make_atoms(const binning_plan *plan, size_t n, ley_atoms **atoms, ley_error *error)
{
    const ley_grid *l = &plan->grid;
    double *position_A = calloc(4 * n, sizeof(double));
    if (position_A == NULL)
        return ley_fail_memory(error, 4 * n * sizeof(double), "the self-test");
    double *charge_e = position_A + 3 * n;
    uint32_t state = 1989;
    for (size_t i = 0; i < n; i++) {
        for (int axis = 0; axis < 3; axis++) {
            const double u = self_test_fraction(&state), side_A = plan->side_A[axis],
                         length_A = (double)(l->n[axis] - 1) * l->step_A[axis][axis];
            const double anywhere_A = u * (length_A + 2.5 * plan->reach_A) - 1.25 * plan->reach_A;
            const double corner_A = floor(8 * u - 1) * side_A,
                         cluster_A = ((axis == 0 ? (double)(i % 20) / 2 : 2) - 1 + 0.9 * u) * side_A;
            const bool is_in_cluster = i < CLUSTERED && (i % 10 == 6 || i % 100 == 8);
            position_A[3 * i + (size_t)axis] = l->origin_A[axis] + (i % 10 == 3     ? corner_A
                                                                    : is_in_cluster ? cluster_A
                                                                                    : anywhere_A);
        }
        charge_e[i] = i % 13 == 5 ? 0 : 2 * self_test_fraction(&state) - 1;
    }
    ley_status status = ley_atoms_create(n, position_A, charge_e, NULL, atoms, error);
    free(position_A);
    return status;
}

static ley_status trial_create(const dev *device, bool has_images, trial *t, ley_error *error)
{
    const double cell_A[3][3] = {{3, 0.5, 0}, {0, 0, 0}, {-0.7, 1, 4.4}};
    const ley_grid grid = {.n = {21, 18, 19}, .step_A = LEY_STEPS(0.3, 0.31, 0.29), .origin_A = {0, 40, -3}};
    binning_options o;
    binning_options_default(&o);
    o.cutoff_A = 2.1;
    o.side_A[0] = 1.1;
    o.side_A[1] = 1.3;
    o.side_A[2] = 0.7;
    o.depth = 5;
    o.spare_bins = 1;
    o.charge_scale = 1.1;
    o.with_index = true;
    o.periodic[0] = o.periodic[2] = has_images;
    if (has_images) { /* and bins for some planes */
        o.planes[0] = o.region[2];
        o.planes[1] = 2 * o.region[2];
    }
    memcpy(o.cell_A, cell_A, sizeof o.cell_A);
    *t = (trial){.atoms = NULL};
    const double one[4] = {0, 0, 0, 1}; /* an atom: with sides given, none matters to the plan */
    ley_atoms *any = NULL;
    ley_status status = ley_atoms_create(1, one, one + 3, NULL, &any, error);
    if (status == LEY_OK)
        status = binning_prepare(any, &grid, &o, &t->plan, error);
    ley_atoms_destroy(any);
    if (status == LEY_OK)
        status = make_atoms(&t->plan, (device->info->quirks & DEV_QUIRK_INTERPRETER) != 0 ? 300 : TRIAL_ATOMS,
                            &t->atoms, error);
    if (status == LEY_OK)
        status = binning_fill(&t->plan, t->atoms, NULL, &t->binned, error);
    return status == LEY_OK ? binning_add_extra(t->binned, NULL, error) : status;
}

static void trial_destroy(trial *t)
{
    binning_destroy(t->binned);
    ley_atoms_destroy(t->atoms);
}

static ley_status say_difference(const char *what, const void *found, const void *right, size_t n, ley_error *error)
{
    size_t i = 0;
    float values[2];
    while (i + 1 < n && memcmp((const float *)found + i, (const float *)right + i, sizeof(float)) == 0)
        i++;
    memcpy(&values[0], (const float *)found + i, sizeof(float));
    memcpy(&values[1], (const float *)right + i, sizeof(float));
    return ley_fail(error, LEY_ERROR_WRONG_RESULT, "%s are not the host's: number %zu of %zu is %.9g, not %.9g", what,
                    i, n, (double)values[0], (double)values[1]);
}

/* Whether these bytes are in a buffer. */
static ley_status compare(binner *b, const char *what, dev_buffer *buffer, size_t offset, const void *right,
                          size_t bytes, ley_error *error)
{
    dev_staging *staging = NULL;
    ley_status status = arena_staging(b->arena, bytes, &staging, error);
    if (status != LEY_OK)
        return status;
    sequence_begin(&b->command_sequence, &b->flight, NULL);
    sequence_read(&b->command_sequence, buffer, offset, staging, bytes);
    status = sequence_finish(&b->command_sequence, error);
    if (status == LEY_OK && memcmp(staging->bytes, right, bytes) != 0)
        status = say_difference(what, staging->bytes, right, bytes / sizeof(float), error);
    arena_free_staging(b->arena, &staging);
    return status;
}

static ley_status compare_bins(binner *b, const trial *t, ley_error *error)
{
    const binned_atoms *right = t->binned;
    const size_t bins = (size_t)right->bins, slot_bytes = (size_t)right->depth * sizeof *right->slot;
    int32_t *first = malloc((bins + 1) * sizeof *first);
    if (first == NULL)
        return ley_fail_memory(error, (bins + 1) * sizeof *first, "the self-test");
    for (size_t bin = 0; bin <= bins; bin++)
        first[bin] = (int32_t)(right->bins + right->extra_first[bin]);
    ley_status status = compare(b, "slots", b->slots.buffer, 0, right->slot, bins * slot_bytes, error);
    if (status == LEY_OK)
        status = compare(b, "slots of the overflow", b->slots.buffer, bins * slot_bytes, right->extra_slot,
                         (size_t)right->extra_bins * slot_bytes, error);
    if (status == LEY_OK)
        status = compare(b, "bins of the overflow", b->extra.buffer, 0, first, (bins + 1) * sizeof *first, error);
    free(first);
    return status;
}

/* Counts, lists, in an order of their own, and records, as link_atoms may leave them. */
static void list_host_bins(const trial *t, int32_t *count, int32_t *head, int32_t *next, float (*record)[4])
{
    const binned_atoms *b = t->binned;
    for (int64_t i = 0; i < b->bins * b->depth + b->overflow; i++) {
        const int64_t o = i - b->bins * b->depth;
        const int32_t bin = o < 0 ? (int32_t)(i / b->depth) : b->overflow_bin[o],
                      atom = o < 0 ? b->index[i] : b->overflow_index[o];
        if (atom < 0)
            continue;
        memcpy(record[atom], o < 0 ? b->slot[i] : b->overflow_slot[o], sizeof record[atom]);
        int32_t *before = &head[bin];
        if (count[bin]++ % 3 == 2) /* behind the first one */
            before = &next[head[bin] - 1];
        next[atom] = *before;
        *before = atom + 1;
    }
}

static ley_status write_lists(binner *b, const trial *t, ley_error *error)
{
    const size_t n = ley_atoms_count(t->atoms), bins = (size_t)t->plan.bins;
    int32_t *count = calloc(2 * bins + 4 + 5 * n, sizeof *count);
    if (count == NULL)
        return ley_fail_memory(error, (2 * bins + 5 * n) * sizeof *count, "the self-test");
    int32_t *head = count + bins + 4, *next = head + bins;
    float(*record)[4] = (float(*)[4])(void *)(next + n);
    list_host_bins(t, count, head, next, record);
    sequence_begin(&b->command_sequence, &b->flight, NULL);
    sequence_write(&b->command_sequence, b->count.buffer, 0, count, 4 * (bins + 3));
    sequence_write(&b->command_sequence, b->head.buffer, 0, head, 4 * bins);
    sequence_write(&b->command_sequence, b->next.buffer, 0, next, 4 * n);
    sequence_write(&b->command_sequence, b->records.buffer, 0, record, 16 * n);
    ley_status status = sequence_finish(&b->command_sequence, error);
    const int32_t left = (int32_t)(t->binned->outside + t->binned->neutral);
    int32_t *counts = b->counts->bytes;
    memcpy(counts, count, bins * sizeof *counts);
    counts[bins] = left;
    counts[bins + 1] = 0;
    counts[bins + 2] = (int32_t)n - left;
    free(count);
    return status;
}

/* fill_bins alone, on lists that the host made. */
static ley_status test_fill(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    trial t;
    ley_status status = trial_create(built->device, false, &t, error);
    arena r = {.device = built->device};
    binner b = binner_of(&r, &t.plan, t.atoms);
    b.fill = *built;
    b.is_trial = true;
    if (status == LEY_OK && !make_buffers(&b))
        status = ley_fail_memory(error, (size_t)t.plan.slot_bytes, "the self-test");
    if (status == LEY_OK)
        status = write_lists(&b, &t, error);
    if (status == LEY_OK)
        status = sum_counts(&b, error);
    if (status == LEY_OK)
        status = make_slots(&b, error);
    if (status == LEY_OK)
        status = b.result.declined != NULL ? ley_fail(error, LEY_ERROR_DEVICE, "%s", b.result.declined)
                                           : compare_bins(&b, &t, error);
    clear(&b, true);
    trial_destroy(&t);
    return status;
}

static ley_status try_link(const dev_kernel *built, const dev_kernel *filling, bool has_images, ley_error *error)
{
    trial t;
    ley_status status = trial_create(built->device, has_images, &t, error);
    arena r = {.device = built->device};
    binner b = binner_of(&r, &t.plan, t.atoms);
    b.link = *built;
    b.fill = *filling;
    b.is_trial = true;
    if (status == LEY_OK)
        status = run(&b, error);
    if (status == LEY_OK)
        status = b.result.declined != NULL ? ley_fail(error, LEY_ERROR_DEVICE, "%s", b.result.declined)
                                           : compare_bins(&b, &t, error);
    if (status == LEY_OK && (b.result.outside != t.binned->outside || b.result.neutral != t.binned->neutral))
        status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "it counts other atoms than the host");
    clear(&b, true);
    trial_destroy(&t);
    return status;
}

/* link_atoms, and then fill_bins, which has passed; without images, and with those of a skewed
 * cell, for some of the grid's planes. */
static ley_status test_link(const dev_kernel *built, void *context, ley_error *error)
{
    const ley_status status = try_link(built, context, false, error);
    return status == LEY_OK ? try_link(built, context, true, error) : status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info, (void)spec;
    size[0] = GROUP;
    size[1] = size[2] = 1;
}

/* Atoms are linked in double, as the host does it, and filled in in the float that slots are of. */
static const kernel_dialect link_spec = {.sum = LEY_SPEC_SUM_DOUBLE, .width = 1, .root = LEY_ROOT_STANDARD},
                            fill_spec = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD};

static void link_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)depth;
    if (info->has_double)
        visit(context, "link_atoms", &link_spec);
}

static void fill_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)info, (void)depth;
    visit(context, "fill_bins", &fill_spec);
}

KERNEL_DESCRIBE_ARGUMENTS(link_atoms, LEY_LINK_ATOMS_ARGUMENTS)
const kernel_kind link_atoms_kind = {
    KERNEL_DESCRIPTION(link_atoms, LEY_DIALECT_KEYS, link_atoms),
    .group = group_of,
    .test = test_link,
    .specs = link_specs,
};

KERNEL_DESCRIBE_ARGUMENTS(fill_bins, LEY_FILL_BINS_ARGUMENTS)
const kernel_kind fill_bins_kind = {
    KERNEL_DESCRIPTION(fill_bins, LEY_DIALECT_KEYS, fill_bins),
    .group = group_of,
    .test = test_fill,
    .specs = fill_specs,
};

void device_binning_create(dev *device, device_binning *k)
{
    ley_error why = {0};
    *k = (device_binning){.works = false};
    k->works = device->info->has_double &&
               kernel_create(device, &fill_bins_kind, &fill_spec, NULL, NULL, &k->fill, &why) == LEY_OK &&
               kernel_create(device, &link_atoms_kind, &link_spec, NULL, &k->fill, &k->link, &why) == LEY_OK;
    if (why.status != LEY_OK)
        log_say(LEY_LOG_WARNING, "%s: does not bin atoms: %s", device->info->name, why.message);
    ley_error_clear(&why);
}

void device_binning_destroy(device_binning *k)
{
    kernel_destroy(&k->link);
    kernel_destroy(&k->fill);
    k->works = false;
}

ley_status device_binning_run(arena *r, const device_binning *kernels, const cutoff_problem *problem,
                              buffer_of_atom *slots, buffer_of_int *extra, device_atoms *atoms, device_bins *counts,
                              ley_error *error)
{
    binner b = binner_of(r, &problem->plan, problem->atoms);
    b.keeps_atoms = atoms != NULL;
    b.way = kernels->way;
    b.link = kernels->link;
    b.fill = kernels->fill;
    ley_status status = LEY_OK;
    b.result.declined = device_binning_obstacle(problem);
    if (b.result.declined == NULL && !r->device->info->has_double)
        b.result.declined = "it has no double precision";
    if (b.result.declined == NULL && !kernels->works)
        b.result.declined = "its kernels do not build or are wrong there";
    if (b.result.declined == NULL)
        status = run(&b, error);
    *slots = b.slots;
    *extra = b.extra;
    *counts = b.result;
    if (atoms != NULL)
        *atoms = (device_atoms){ley_atoms_count(problem->atoms), b.position, b.charge};
    return status;
}
