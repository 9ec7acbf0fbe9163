/* Three kernels with a step on the host between the first two: spread_count says how many atoms are
 * in each bin; the counts come back, a few bytes for each of 512 nodes, and their sums say where
 * each bin's atoms begin. Then spread_list puts the atoms' numbers there, and spread_place the
 * atoms themselves, in the order of their numbers, so that nothing depends on who came first. */
#include "long_range/mesh/device_spread.h"

#include "error.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An atom looks at all others in its bin: on average at so many at most, which takes a device less
 * than anterpolation does. */
static const double most_looks = 4096;

typedef struct spreader {
    const device_spread *kernels;
    spread *s;
    transfer_atoms *made;
    device_lists lists; /* their arena is the caller's */
} spreader;

/* What the kernels are told that look for an atom's bin. */
static lists_frame frame_of(const hierarchy *h, const spread *s)
{
    lists_frame f = {.nodes = {0, 0, 0, SPREAD_EDGE}, .bins = {0, 0, 0, (int32_t)spread_bins(s)}};
    for (int axis = 0; axis < 3; axis++) {
        const hierarchy_level *level = &h->level[0];
        const int64_t shift = 1 - h->window->points / 2;
        f.origin[axis] = h->origin_A[axis];
        memcpy(f.along[axis], h->inverse_per_A[axis], sizeof h->inverse_per_A[axis]);
        f.along[axis][3] = (double)(h->cell.periodic[axis] ? shift : shift - level->first[axis]);
        f.whole[axis] = h->cell.periodic[axis] ? (double)level->n[axis] : 0;
        f.nodes[axis] = (int32_t)level->n[axis];
        f.bins[axis] = (int32_t)s->bins[axis];
    }
    return f;
}

static spreader spreader_of(const device_spread *kernels, arena *memory, const hierarchy *h, const device_atoms *atoms,
                            spread *s, transfer_atoms *made)
{
    return (spreader){.kernels = kernels,
                      .s = s,
                      .made = made,
                      .lists = {.arena = memory,
                                .atoms = atoms,
                                .frame = frame_of(h, s),
                                .bins = spread_bins(s),
                                .flight = {.device = memory->device}}};
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static bool fits(const spreader *p)
{
    const double n = (double)p->lists.atoms->n, bins = (double)p->lists.bins;
    return fmax(16 * n, 4 * bins + 8) <= (double)arena_largest(p->lists.arena) &&
           (3 * 4 + 16 + 4) * n + 8 * bins <= (double)arena_left(p->lists.arena);
}

static bool make(const spreader *p, size_t bytes, dev_buffer **buffer)
{
    return arena_buffer(p->lists.arena, bytes, DEV_READ_WRITE, buffer, NULL) == LEY_OK;
}

static bool make_buffers(spreader *p)
{
    const size_t n = p->lists.atoms->n;
    return device_lists_make(&p->lists) && make(p, 16 * n, &p->made->atoms.buffer) &&
           make(p, 4 * n, &p->made->corners.buffer);
}

/* What is needed no more; and what has been made, where the caller gets nothing. */
static void clear(spreader *p, bool with_all)
{
    dev_buffer **const made[] = {&p->made->first.buffer, &p->made->atoms.buffer, &p->made->corners.buffer,
                                 &p->made->sources.buffer, &p->made->tile_list.buffer};
    device_lists_clear(&p->lists);
    for (size_t i = 0; i < sizeof made / sizeof *made && with_all; i++)
        arena_free_buffer(p->lists.arena, made[i]);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void launch_place(spreader *p)
{
    spread_place_arguments a = {.kind = &spread_place_kind,
                                .gm_position = p->lists.atoms->position,
                                .gm_charge = p->lists.atoms->charge,
                                .n_atoms = (int32_t)p->lists.atoms->n,
                                .gm_bin = p->lists.bin,
                                .gm_first = p->made->first,
                                .gm_list = p->lists.list,
                                .gm_atoms = p->made->atoms,
                                .gm_corners = p->made->corners};
    LISTS_PUT_FRAME(&a, &p->lists.frame);
    device_lists_for_each(&p->lists, &p->kernels->place, &a);
}

static ley_status count_atoms(spreader *p, ley_error *error)
{
    return device_lists_count(&p->lists, &p->kernels->count, error);
}

/* Where each bin's atoms begin. *looks: at how many others atoms look. */
static ley_status add_up(spreader *p, double *looks, ley_error *error)
{
    const ley_status status = device_lists_add_up(&p->lists, p->s->first, &p->s->atoms, looks, error);
    p->made->count = p->s->atoms;
    return status;
}

static void launch_list(spreader *p)
{
    device_lists_launch(&p->lists, &p->kernels->list, p->made->first);
}

static ley_status place_atoms(spreader *p, ley_error *error)
{
    ley_status status = transfer_atoms_tiles(p->made, p->s, p->lists.arena, error);
    if (status != LEY_OK)
        return status;
    sequence_begin(&p->lists.command_sequence, &p->lists.flight, NULL);
    sequence_fill(&p->lists.command_sequence, p->made->atoms.buffer, 0, DEV_NO_NUMBERS, 16 * p->lists.atoms->n);
    launch_list(p);
    launch_place(p);
    return sequence_finish(&p->lists.command_sequence, error);
}

ley_status device_spread_run(const device_spread *kernels, arena *memory, const hierarchy *h, const device_atoms *atoms,
                             spread *s, transfer_atoms *made, const char **declined, ley_error *error)
{
    *declined = NULL;
    spreader p = spreader_of(kernels, memory, h, atoms, s, made);
    double looks = 0;
    ley_status status = LEY_OK;
    if (!memory->device->info->has_double)
        *declined = "it has no double precision";
    else if (!kernels->works)
        *declined = "its kernels do not build or are wrong there";
    else if (atoms->n == 0 || atoms->n > INT32_MAX || !device_lists_can_launch(&p.lists))
        *declined = "its launches are too small";
    else if (!fits(&p) || !make_buffers(&p))
        *declined = "its memory is too small";
    if (*declined == NULL)
        status = count_atoms(&p, error);
    if (*declined == NULL && status == LEY_OK)
        status = add_up(&p, &looks, error);
    if (status == LEY_OK && looks > most_looks * (double)atoms->n)
        *declined = "bins hold too many atoms";
    if (*declined == NULL && status == LEY_OK)
        status = place_atoms(&p, error);
    clear(&p, status != LEY_OK || *declined != NULL);
    return status;
}

/* ---- Self-test ------------------------------------------------------------------------------- */

enum { TRIAL_ATOMS = 5000, FEW_ATOMS = 300, CLUSTERED = 700 };

/* A skewed cell that is periodic along one axis, its atoms also some periods away, and what the
 * host makes of it. */
typedef struct trial {
    hierarchy h;
    size_t n;
    double (*position_A)[3], *charge_e;
    spread right, s;
    arena arena;
    device_atoms atoms;
    device_spread kernels;
    transfer_atoms made;
    spreader steps;
} trial;

static void put_atoms(trial *t)
{
    uint32_t state = 1789;
    for (size_t i = 0; i < t->n; i++) {
        const double size_A[3] = {31, 150, 27};
        for (int axis = 0; axis < 3; axis++) {
            const double u = self_test_fraction(&state), node = (double)(int)(9 * u);
            t->position_A[i][axis] = i < CLUSTERED && i % 3 == 0 ? 7 + 0.5 * u : i % 17 == 3 ? node : size_A[axis] * u;
        }
        t->charge_e[i] = i % 13 == 5 ? 0 : 2 * self_test_fraction(&state) - 1;
    }
}

static ley_status trial_create(trial *t, dev *device, ley_error *error)
{
    const hierarchy_options o = {.splitting = SPLITTING_TAYLOR4,
                                 .window = WINDOW_NODAL5,
                                 .solver = HIERARCHY_FOURIER,
                                 .cutoff_A = 6,
                                 .spacing_A = 1.5,
                                 .periodic = {false, true, false},
                                 .cell_A = {{20, 0, 0}, {3, 35, 0}, {1, 2, 20}}};
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    *t = (trial){.n = (device->info->quirks & DEV_QUIRK_INTERPRETER) != 0 ? FEW_ATOMS : TRIAL_ATOMS,
                 .arena = {.device = device}};
    t->position_A = calloc(t->n, sizeof *t->position_A);
    t->charge_e = calloc(t->n, sizeof *t->charge_e);
    if (t->position_A == NULL || t->charge_e == NULL)
        return ley_fail_memory(error, t->n * sizeof *t->position_A, "the self-test");
    put_atoms(t);
    cell c;
    ley_status status = cell_make(o.periodic, o.cell_A, &c, error);
    if (status == LEY_OK) {
        hierarchy_box(&c, t->n, t->position_A[0], low, high);
        status = hierarchy_make(&o, low, high, &t->h, error);
    }
    if (status == LEY_OK)
        status = spread_make(&t->h, t->n, t->position_A[0], t->charge_e, NULL, &t->right, error);
    if (status == LEY_OK)
        status = spread_begin(&t->h, t->n, t->charge_e, &t->s, error);
    if (status == LEY_OK)
        status = arena_upload(&t->arena, t->position_A, t->n * sizeof *t->position_A, &t->atoms.position.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(&t->arena, t->charge_e, t->n * sizeof *t->charge_e, &t->atoms.charge.buffer, error);
    t->atoms.n = t->n;
    t->steps = spreader_of(&t->kernels, &t->arena, &t->h, &t->atoms, &t->s, &t->made);
    if (status == LEY_OK && !make_buffers(&t->steps))
        status = ley_fail_memory(error, t->n * 32, "the self-test");
    return status;
}

static void trial_end(trial *t)
{
    sequence_end(&t->steps.lists.command_sequence);
    arena_clear(&t->arena);
    spread_clear(&t->right);
    spread_clear(&t->s);
    free(t->position_A);
    free(t->charge_e);
}

static ley_status bring(trial *t, dev_buffer *buffer, size_t bytes, void *to, ley_error *error)
{
    device_lists *p = &t->steps.lists;
    dev_staging *staging = NULL;
    ley_status status = arena_staging(&t->arena, bytes, &staging, error);
    if (status != LEY_OK)
        return status;
    sequence_begin(&p->command_sequence, &p->flight, NULL);
    sequence_read(&p->command_sequence, buffer, 0, staging, bytes);
    status = sequence_finish(&p->command_sequence, error);
    if (status == LEY_OK)
        memcpy(to, staging->bytes, bytes);
    arena_free_staging(&t->arena, &staging);
    return status;
}

static ley_status is_off(const char *what, size_t i, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_WRONG_RESULT, "the %s of atom %zu is not the host's", what, i);
}

/* Each bin's atoms have places of their own: `taken` has one flag for each of all bins. */
static ley_status judge_places(const trial *t, const int32_t *bin, const int32_t *place, bool *taken, ley_error *error)
{
    int32_t corner;
    float u[3];
    for (size_t i = 0; i < t->n; i++) {
        const int32_t right =
            t->charge_e[i] != 0 ? (int32_t)spread_find(&t->h, &t->s, t->position_A[i], &corner, u) : -1;
        if (bin[i] != right)
            return is_off("bin", i, error);
        if (right < 0)
            continue;
        const int32_t first = t->right.first[right], count = t->right.first[right + 1] - first;
        if (place[i] < 0 || place[i] >= count || taken[first + place[i]])
            return is_off("place", i, error);
        taken[first + place[i]] = true;
    }
    return LEY_OK;
}

static ley_status test_count(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    trial t;
    double looks;
    ley_status status = trial_create(&t, built->device, error);
    int32_t *bin = malloc(t.n * sizeof *bin), *place = malloc(t.n * sizeof *place);
    bool *taken = calloc(t.n, sizeof *taken);
    t.kernels.count = *built;
    if (status == LEY_OK && (bin == NULL || place == NULL || taken == NULL))
        status = ley_fail_memory(error, 9 * t.n, "the self-test");
    if (status == LEY_OK)
        status = count_atoms(&t.steps, error);
    if (status == LEY_OK)
        status = add_up(&t.steps, &looks, error);
    if (status == LEY_OK && memcmp(t.s.first, t.right.first, (t.steps.lists.bins + 1) * sizeof *t.s.first) != 0)
        status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "bins have other numbers of atoms than the host's");
    if (status == LEY_OK)
        status = bring(&t, t.steps.lists.bin.buffer, t.n * sizeof *bin, bin, error);
    if (status == LEY_OK)
        status = bring(&t, t.steps.lists.place.buffer, t.n * sizeof *place, place, error);
    if (status == LEY_OK)
        status = judge_places(&t, bin, place, taken, error);
    free(taken);
    free(place);
    free(bin);
    trial_end(&t);
    return status;
}

/* The kernels before this one have passed. */
static ley_status make_lists(trial *t, ley_error *error)
{
    double looks;
    ley_status status = count_atoms(&t->steps, error);
    if (status == LEY_OK)
        status = add_up(&t->steps, &looks, error);
    return status == LEY_OK ? transfer_atoms_tiles(&t->made, &t->s, &t->arena, error) : status;
}

static ley_status test_list(const dev_kernel *built, void *context, ley_error *error)
{
    trial t;
    ley_status status = trial_create(&t, built->device, error);
    int32_t *bin = malloc(t.n * sizeof *bin), *place = malloc(t.n * sizeof *place), *list = malloc(t.n * sizeof *list);
    t.kernels = *(const device_spread *)context;
    t.kernels.list = *built;
    if (status == LEY_OK && (bin == NULL || place == NULL || list == NULL))
        status = ley_fail_memory(error, 12 * t.n, "the self-test");
    if (status == LEY_OK)
        status = make_lists(&t, error);
    if (status == LEY_OK) {
        sequence_begin(&t.steps.lists.command_sequence, &t.steps.lists.flight, NULL);
        sequence_fill(&t.steps.lists.command_sequence, t.steps.lists.list.buffer, 0, UINT32_MAX, 4 * t.n);
        launch_list(&t.steps);
        status = sequence_finish(&t.steps.lists.command_sequence, error);
    }
    if (status == LEY_OK)
        status = bring(&t, t.steps.lists.bin.buffer, 4 * t.n, bin, error);
    if (status == LEY_OK)
        status = bring(&t, t.steps.lists.place.buffer, 4 * t.n, place, error);
    if (status == LEY_OK)
        status = bring(&t, t.steps.lists.list.buffer, 4 * t.n, list, error);
    for (size_t i = 0; i < t.n && status == LEY_OK; i++)
        if (bin[i] >= 0 && list[t.s.first[bin[i]] + place[i]] != (int32_t)i)
            status = is_off("number in its bin", i, error);
    free(list);
    free(place);
    free(bin);
    trial_end(&t);
    return status;
}

static ley_status test_place(const dev_kernel *built, void *context, ley_error *error)
{
    trial t;
    ley_status status = trial_create(&t, built->device, error);
    float(*at)[4] = malloc(t.n * sizeof *at);
    int32_t *corner = malloc(t.n * sizeof *corner);
    t.kernels = *(const device_spread *)context;
    t.kernels.place = *built;
    if (status == LEY_OK && (at == NULL || corner == NULL))
        status = ley_fail_memory(error, 20 * t.n, "the self-test");
    if (status == LEY_OK)
        status = make_lists(&t, error);
    if (status == LEY_OK)
        status = place_atoms(&t.steps, error);
    if (status == LEY_OK)
        status = bring(&t, t.made.atoms.buffer, t.n * sizeof *at, at, error);
    if (status == LEY_OK)
        status = bring(&t, t.made.corners.buffer, t.n * sizeof *corner, corner, error);
    for (size_t i = 0; i < t.right.atoms && status == LEY_OK; i++)
        if (memcmp(at[i], t.right.at[i], sizeof *at) != 0 || corner[i] != t.right.corner[i])
            status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "the atom in place %zu is not the host's", i);
    free(corner);
    free(at);
    trial_end(&t);
    return status;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info, (void)spec;
    size[0] = LISTS_GROUP;
    size[1] = size[2] = 1;
}

/* Where atoms are is found in double, as the host does it. */
static const kernel_dialect find_spec = {.sum = LEY_SPEC_SUM_DOUBLE, .width = 1, .root = LEY_ROOT_STANDARD},
                            list_spec = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD};

static void count_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)depth;
    if (info->has_double)
        visit(context, "spread_count", &find_spec);
}

static void list_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)depth;
    if (info->has_double)
        visit(context, "spread_list", &list_spec);
}

static void place_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)depth;
    if (info->has_double)
        visit(context, "spread_place", &find_spec);
}

KERNEL_DESCRIBE_ARGUMENTS(spread_count, LEY_SPREAD_COUNT_ARGUMENTS)
const kernel_kind spread_count_kind = {
    KERNEL_DESCRIPTION(spread_count, LEY_DIALECT_KEYS, spread_count),
    .group = group_of,
    .test = test_count,
    .specs = count_specs,
};

KERNEL_DESCRIBE_ARGUMENTS(spread_list, LEY_SPREAD_LIST_ARGUMENTS)
const kernel_kind spread_list_kind = {
    KERNEL_DESCRIPTION(spread_list, LEY_DIALECT_KEYS, spread_list),
    .group = group_of,
    .test = test_list,
    .specs = list_specs,
};

KERNEL_DESCRIBE_ARGUMENTS(spread_place, LEY_SPREAD_PLACE_ARGUMENTS)
const kernel_kind spread_place_kind = {
    KERNEL_DESCRIPTION(spread_place, LEY_DIALECT_KEYS, spread_place),
    .group = group_of,
    .test = test_place,
    .specs = place_specs,
};

void device_spread_create(dev *device, device_spread *k)
{
    *k = (device_spread){.works = false};
    k->works = device->info->has_double &&
               kernel_create(device, &spread_count_kind, &find_spec, NULL, NULL, &k->count, NULL) == LEY_OK &&
               kernel_create(device, &spread_list_kind, &list_spec, NULL, k, &k->list, NULL) == LEY_OK &&
               kernel_create(device, &spread_place_kind, &find_spec, NULL, k, &k->place, NULL) == LEY_OK;
}

void device_spread_destroy(device_spread *k)
{
    kernel_destroy(&k->count);
    kernel_destroy(&k->list);
    kernel_destroy(&k->place);
    k->works = false;
}
