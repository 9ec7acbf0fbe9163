#include "fit/kernels.h"

#include "error.h"
#include "parallel.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A trial --------------------------------------------------------------------------------- */

enum { ATOMS = 150, WINDOWS = 5, FRAMES = 2, PARTS = 3 };

/* Atoms of frames by cells, by plain loops. */
typedef struct plain_places {
    float atom[FRAMES][ATOMS][4], fall[FRAMES][ATOMS];
    int32_t cell[FRAMES][ATOMS], order[FRAMES][ATOMS];
    int32_t *count, *first; /* [frames][bins] */
} plain_places;

typedef struct trial {
    fit_problem problem;
    fit_part part;
    plain_places plain;
    float position_A[FRAMES][ATOMS][3];
    double threshold[FRAMES];
    ley_map *map, *mask;
} trial;

static ley_status make_maps(trial *t, const ley_grid *grid, bool has_mask, uint32_t *state, ley_error *error)
{
    ley_status status = ley_map_create(grid, &t->map, error);
    if (status == LEY_OK && has_mask)
        status = ley_map_create(grid, &t->mask, error);
    for (int64_t i = 0; i < ley_grid_points(grid) && status == LEY_OK; i++) {
        ley_map_values(t->map)[i] = i % 11 == 3 ? NAN : (float)(self_test_fraction(state) + 0.3);
        if (has_mask)
            ley_map_values(t->mask)[i] = i % 5 < 2 ? 1 : 0;
    }
    return status;
}

/* -1: it reaches no node. */
static int32_t plain_cell(const trial *t, size_t atom, const double at[3])
{
    const fit_problem *p = &t->problem;
    int32_t number = 0;
    for (int axis = 2; axis >= 0; axis--) {
        const double last = (double)(p->model.grid.n[axis] - 1);
        if (at[axis] < -p->reach_nodes[axis] || at[axis] > last + p->reach_nodes[axis])
            return -1;
        number = number * t->part.bricks.cells[axis] + (int32_t)(fmin(fmax(at[axis], 0), last) / LEY_DENSITY_CELL);
    }
    return p->model.weight[atom] == 0 ? -1 : number;
}

static ley_status sort_plainly(trial *t, ley_error *error)
{
    plain_places *s = &t->plain;
    const size_t parts = (size_t)t->part.places.parts, bins = fit_bins(&t->part.places);
    s->count = calloc(FRAMES * bins, sizeof *s->count);
    s->first = calloc(FRAMES * bins, sizeof *s->first);
    if (s->count == NULL || s->first == NULL)
        return ley_fail_memory(error, 2 * FRAMES * bins * sizeof *s->count, "the self-test");
    for (size_t f = 0; f < FRAMES; f++) {
        double at[ATOMS][3];
        int32_t slot = 0;
        for (size_t i = 0; i < ATOMS; i++) {
            density_place(&t->problem.model, t->position_A[f][i], at[i]);
            s->cell[f][i] = plain_cell(t, i, at[i]);
        }
        for (size_t bin = 0; bin < bins; bin++) {
            s->first[f * bins + bin] = slot;
            for (size_t i = 0; i < ATOMS; i++) {
                if (s->cell[f][i] != (int32_t)(bin / parts) || i < parallel_first(ATOMS, parts, bin % parts) ||
                    i >= parallel_first(ATOMS, parts, bin % parts + 1))
                    continue;
                for (int axis = 0; axis < 3; axis++)
                    s->atom[f][slot][axis] = (float)at[i][axis];
                s->atom[f][slot][3] = (float)t->problem.model.weight[i];
                s->fall[f][slot] = fit_fall(t->problem.model.sigma_A[i]);
                s->order[f][slot++] = (int32_t)i;
                s->count[f * bins + bin]++;
            }
        }
        s->count[(f + 1) * bins - 1] = LEY_FIT_COUNTED;
    }
    return LEY_OK;
}

/* Gives the device what fit_cells.cl and the sums make, and all that fit_place.cl makes as well. */
static void send_places(trial *t, int32_t last)
{
    plain_places *s = &t->plain;
    const fit_places *to = &t->part.places;
    const size_t bins = FRAMES * fit_bins(to) * sizeof(int32_t);
    command_sequence *w = &t->part.batch[0].sequence;
    for (size_t f = 1; f <= FRAMES; f++)
        s->count[f * fit_bins(to) - 1] = last;
    sequence_write(w, to->cell.buffer, 0, s->cell, sizeof s->cell);
    sequence_write(w, to->count.buffer, 0, s->count, bins);
    sequence_write(w, to->begin.buffer, 0, s->first, bins);
    sequence_write(w, to->atoms.buffer, 0, s->atom, sizeof s->atom);
    sequence_write(w, to->order.buffer, 0, s->order, sizeof s->order);
    if (t->problem.is_varied)
        sequence_write(w, to->falls.buffer, 0, s->fall, sizeof s->fall);
}

/* On a grid that is no whole number of bricks; some atoms are outside. */
static ley_status trial_begin(trial *t, dev *device, const atom_density_spec *spec, int group, bool has_gradient,
                              bool has_windows, ley_error *error)
{
    static const ley_grid grids[2] = {{{-2, 3, 1}, LEY_STEPS(1.1, 1.3, 1.2), {21, 13, 10}},
                                      {{-2, 3, 1}, {{1.1, 0, 0}, {0.5, 1.2, 0}, {-0.3, 0.4, 1.2}}, {21, 13, 10}}};
    const ley_grid *grid = &grids[spec->oblique != 0];
    const bool has_map = spec->sets != 0 || has_gradient || has_windows;
    uint32_t state = 2029;
    int32_t window[ATOMS];
    double weight[ATOMS], radius_A[ATOMS], place_A[3];
    ley_density_options o;
    int bad;
    ley_density_options_default(&o);
    o.resolution_A = spec->varied ? 5 : 3;
    o.convention = spec->varied ? LEY_DENSITY_VOLTOOL : LEY_DENSITY_MOLMAP;
    for (int i = 0; i < ATOMS; i++) {
        weight[i] = i % 9 == 4 ? 0 : 1 + 7 * self_test_fraction(&state);
        radius_A[i] = 1 + self_test_fraction(&state);
        window[i] = i % 7 < WINDOWS ? i % 7 : -1;
        for (int f = 0; f < FRAMES; f++) {
            int64_t at[3];
            for (int d = 0; d < 3; d++)
                at[d] = (int64_t)((double)(grid->n[d] + 8) * self_test_fraction(&state)) - 4;
            ley_grid_point_A(grid, at, place_A);
            for (int d = 0; d < 3; d++)
                t->position_A[f][i][d] = (float)(place_A[d] + 0.9 * self_test_fraction(&state));
        }
    }
    for (int f = 0; f < FRAMES; f++)
        t->threshold[f] = 0.05 + 0.1 * f;
    ley_status status = has_map ? make_maps(t, grid, (spec->sets & LEY_FIT_MASKED) != 0, &state, error) : LEY_OK;
    const ley_fit_target target = {.size = sizeof target,
                                   .grid = has_map ? NULL : grid,
                                   .map = t->map,
                                   .mask = t->mask,
                                   .has_threshold = (spec->sets & LEY_FIT_ABOVE) != 0,
                                   .has_gradient = has_gradient,
                                   .windows = has_windows ? WINDOWS : 0,
                                   .window = window};
    if (status == LEY_OK)
        status = fit_problem_make(&t->problem, &target, ATOMS, weight, radius_A, &o, error);
    if (status == LEY_OK)
        status = fit_memory_make(&t->part, &t->problem, device, spec, group, group > 1 ? 1 : PARTS, FRAMES, error);
    if (status == LEY_OK && t->part.frames < FRAMES)
        status = ley_fail(error, LEY_ERROR_NO_DEVICE, "no room for a self-test's frames");
    if (status == LEY_OK)
        status = sort_plainly(t, error);
    return status == LEY_OK
               ? fit_batch_begin(&t->part, &t->part.batch[0], FRAMES, t->position_A[0][0], t->threshold, &bad, error)
               : status;
}

static void trial_end(trial *t)
{
    fit_part_end(&t->part);
    fit_problem_end(&t->problem);
    ley_map_destroy(t->map);
    ley_map_destroy(t->mask);
    free(t->plain.count);
    free(t->plain.first);
    free(t);
}

static ley_status trial_make(trial **t, ley_error *error)
{
    *t = calloc(1, sizeof **t);
    return *t != NULL ? LEY_OK : ley_fail_memory(error, sizeof **t, "the self-test");
}

static ley_status judge(const char *what, int frame, size_t i, double found, double right, double scale,
                        ley_error *error)
{
    const double off = fabs(found - right), tolerance = 4 * SELF_TEST_FLOAT;
    self_test_note(off == 0 ? 0 : off / scale, tolerance, scale, found, right); /* of an atom outside all are 0 */
    return off <= tolerance * scale ? LEY_OK
                                    : ley_fail(error, LEY_ERROR_WRONG_RESULT, "%s %zu of frame %d is %.9g, not %.9g",
                                               what, i, frame, found, right);
}

/* The density of a frame at all nodes, and the largest one. */
static double *law_of(const trial *t, int frame, double *most, ley_error *error)
{
    const int64_t first[3] = {0, 0, 0};
    double *rho = malloc((size_t)t->problem.nodes * sizeof *rho);
    if (rho == NULL) {
        ley_fail_memory(error, (size_t)t->problem.nodes * sizeof *rho, "the self-test");
        return NULL;
    }
    density_law_box(&t->problem.model, t->position_A[frame][0], first, t->problem.model.grid.n, rho, NULL);
    *most = 0;
    for (int64_t i = 0; i < t->problem.nodes; i++)
        *most = fmax(*most, rho[i]);
    return rho;
}

static size_t padded_node(const trial *t, int64_t node)
{
    const int64_t *n = t->problem.model.grid.n;
    const int32_t *nodes = t->part.bricks.nodes;
    const int64_t x = node % n[0], y = node / n[0] % n[1], z = node / (n[0] * n[1]);
    return (size_t)((z * nodes[1] + y) * nodes[0] + x);
}

/* ---- fit_cells and fit_place ----------------------------------------------------------------- */

static ley_status judge_number(const char *what, int frame, size_t i, long long found, long long right,
                               ley_error *error)
{
    return found == right ? LEY_OK
                          : ley_fail(error, LEY_ERROR_WRONG_RESULT, "%s %zu of frame %d is %lld, not %lld", what, i,
                                     frame, found, right);
}

/* A trial for kernels of work-groups of so many atoms. */
static ley_status places_begin(trial **t, const dev_kernel *built, int group, bool is_varied, ley_error *error)
{
    const atom_density_spec spec = fit_spec_of(built->device->info, false, true, is_varied, true, LEY_FIT_ALL);
    const ley_status status = trial_make(t, error);
    return status == LEY_OK ? trial_begin(*t, built->device, &spec, group, false, false, error) : status;
}

/* What a buffer has when the sequence has ended; NULL: no memory. */
static void *get(trial *t, dev_buffer *buffer, size_t bytes, ley_error *error)
{
    dev_staging *back = NULL;
    if (arena_staging(&t->part.arena, bytes, &back, error) != LEY_OK)
        return NULL;
    sequence_read(&t->part.batch[0].sequence, buffer, 0, back, bytes);
    return back->bytes;
}

/* Entries of a frame's lists: atoms of each cell, and their ranks. */
static ley_status judge_lists(const trial *t, int f, int group, const int32_t *head, const int32_t (*next)[2],
                              const int32_t *rank, ley_error *error)
{
    const int32_t *own = t->plain.cell[f];
    ley_status status = LEY_OK;
    for (int32_t i = 0; i < ATOMS && status == LEY_OK; i++) {
        int32_t leader = -1, before = 0, all = 0, found = 0, steps = 0;
        for (int32_t k = i / group * group; k < ATOMS && k < (i / group + 1) * group; k++)
            if (own[k] == own[i]) {
                leader = leader < 0 ? k : leader;
                before += k < i ? 1 : 0;
                all++;
            }
        if (own[i] < 0)
            continue;
        status = judge_number("the rank of atom", f, (size_t)i, rank[i], leader % group + group * before, error);
        for (int32_t k = head[own[i]]; k > 0 && k <= ATOMS && steps < ATOMS; k = next[k - 1][0], steps++)
            found += k - 1 == leader ? next[k - 1][1] : 0;
        if (status == LEY_OK)
            status = judge_number("the entry of atom", f, (size_t)i, found, all, error);
    }
    return status;
}

static ley_status test_cells(const dev_kernel *built, void *context, ley_error *error)
{
    const int group = ((const fit_cells_spec *)built->spec)->wg;
    const size_t atoms = (size_t)FRAMES * ATOMS * sizeof(int32_t);
    const int32_t *rank = NULL, *head = NULL;
    const int32_t(*next)[2] = NULL;
    trial *t;
    (void)context;
    ley_status status = places_begin(&t, built, group, false, error);
    if (status != LEY_OK) {
        trial_end(t);
        return status;
    }
    const fit_places *s = &t->part.places;
    const size_t bins = fit_bins(s);
    fit_launch_cells(s, &t->part.batch[0].sequence, built, FRAMES);
    const int32_t *found = get(t, s->cell.buffer, atoms, error),
                  *count = get(t, s->count.buffer, FRAMES * fit_count_words(s) * sizeof *count, error);
    if (group > 1) {
        rank = get(t, s->rank.buffer, atoms, error);
        next = get(t, s->next.buffer, 2 * atoms, error);
        head = count != NULL ? count + FRAMES * bins : NULL;
    }
    const bool has = found != NULL && count != NULL && (group == 1 || (rank != NULL && next != NULL && head != NULL));
    status = has ? sequence_finish(&t->part.batch[0].sequence, error) : LEY_ERROR_MEMORY;
    for (size_t i = 0; i < (size_t)FRAMES * ATOMS && status == LEY_OK; i++)
        status = judge_number("the cell of atom", (int)(i / ATOMS), i % ATOMS, found[i],
                              t->plain.cell[i / ATOMS][i % ATOMS], error);
    for (size_t i = 0; i < FRAMES * bins && status == LEY_OK; i++)
        status = judge_number("the count of bin", (int)(i / bins), i % bins, count[i], t->plain.count[i], error);
    for (int f = 0; f < FRAMES && group > 1 && status == LEY_OK; f++)
        status = judge_lists(t, f, group, head + (size_t)f * (bins - 1), next + f * ATOMS, rank + f * ATOMS, error);
    trial_end(t);
    return status;
}

/* What fit_cells.cl makes of lists beside cells and counts. */
static void send_lists(trial *t, int group)
{
    int32_t rank[FRAMES][ATOMS] = {{0}}, next[FRAMES][ATOMS][2] = {{{0}}};
    const fit_places *s = &t->part.places;
    const size_t cells = t->part.bricks.cell_count;
    int32_t *head = calloc(FRAMES * cells, sizeof *head);
    for (int f = 0; f < FRAMES && head != NULL; f++)
        for (int32_t i = 0; i < ATOMS; i++) {
            int32_t leader = i, before = 0, *own = head + (size_t)f * cells + t->plain.cell[f][i];
            if (t->plain.cell[f][i] < 0)
                continue;
            for (int32_t k = i - 1; k >= i / group * group; k--)
                if (t->plain.cell[f][k] == t->plain.cell[f][i]) {
                    leader = k;
                    before++;
                }
            rank[f][i] = leader % group + group * before;
            next[f][leader][1]++;
            if (before == 0) {
                next[f][i][0] = *own;
                *own = i + 1;
            }
        }
    if (head != NULL)
        sequence_write(&t->part.batch[0].sequence, s->count.buffer, FRAMES * fit_bins(s) * sizeof *head, head,
                       FRAMES * cells * sizeof *head);
    sequence_write(&t->part.batch[0].sequence, s->rank.buffer, 0, rank, sizeof rank);
    sequence_write(&t->part.batch[0].sequence, s->next.buffer, 0, next, sizeof next);
    free(head);
}

static ley_status judge_places(const trial *t, int f, const float (*atom)[4], const float *fall, const int32_t *order,
                               ley_error *error)
{
    const plain_places *s = &t->plain;
    const size_t bins = fit_bins(&t->part.places);
    ley_status status = LEY_OK;
    for (size_t slot = 0; slot < (size_t)s->first[(size_t)(f + 1) * bins - 1] && status == LEY_OK; slot++) {
        status = judge_number("the atom of slot", f, slot, order[slot], s->order[f][slot], error);
        for (int k = 0; k < 4 && status == LEY_OK; k++)
            status = judge("a number of slot", f, slot, (double)atom[slot][k], (double)s->atom[f][slot][k],
                           k < 3 ? 30 : (double)s->atom[f][slot][3], error);
        if (fall != NULL && status == LEY_OK)
            status = judge("the width of slot", f, slot, (double)fall[slot], (double)s->fall[f][slot],
                           (double)s->fall[f][slot], error);
    }
    return status;
}

static ley_status test_place(const dev_kernel *built, void *context, ley_error *error)
{
    const fit_place_spec *spec = (const fit_place_spec *)built->spec;
    trial *t;
    (void)context;
    ley_status status = places_begin(&t, built, spec->wg, spec->varied != 0, error);
    if (status != LEY_OK) {
        trial_end(t);
        return status;
    }
    const fit_places *s = &t->part.places;
    command_sequence *w = &t->part.batch[0].sequence;
    const size_t atoms = (size_t)FRAMES * ATOMS * sizeof(float);
    send_places(t, LEY_FIT_COUNTED);
    sequence_fill(w, s->atoms.buffer, 0, UINT32_MAX, 4 * atoms);
    sequence_fill(w, s->order.buffer, 0, UINT32_MAX, atoms);
    if (spec->varied)
        sequence_fill(w, s->falls.buffer, 0, UINT32_MAX, atoms);
    if (spec->wg > 1)
        send_lists(t, spec->wg);
    fit_launch_place(s, w, built, FRAMES);
    const float(*atom)[4] = get(t, s->atoms.buffer, 4 * atoms, error);
    const int32_t *order = get(t, s->order.buffer, atoms, error);
    const float *fall = spec->varied ? get(t, s->falls.buffer, atoms, error) : NULL;
    const size_t bins = fit_bins(s);
    const int32_t *count = get(t, s->count.buffer, FRAMES * bins * sizeof *count, error);
    const bool has = atom != NULL && order != NULL && count != NULL && (!spec->varied || fall != NULL);
    status = has ? sequence_finish(w, error) : LEY_ERROR_MEMORY;
    for (int f = 0; f < FRAMES && status == LEY_OK; f++)
        status = judge_number("the last count", f, bins - 1, count[(size_t)(f + 1) * bins - 1], LEY_FIT_PLACED, error);
    for (int f = 0; f < FRAMES && status == LEY_OK; f++)
        status = judge_places(t, f, atom + f * ATOMS, fall != NULL ? fall + f * ATOMS : NULL, order + f * ATOMS, error);
    trial_end(t);
    return status;
}

static void cells_group(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const fit_cells_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

static void place_group(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const fit_place_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

static size_t cells_local(const dev_info *info, const void *spec)
{
    const int group = ((const fit_cells_spec *)spec)->wg;
    (void)info;
    return group > 1 ? (size_t)group * sizeof(int32_t) : 0;
}

static size_t place_local(const dev_info *info, const void *spec)
{
    const fit_cells_spec cells = {FIT_PLAIN, .wg = ((const fit_place_spec *)spec)->wg};
    return cells_local(info, &cells);
}

static void cells_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    for (int is_group = 0; is_group < (info->device_class == DEV_CPU && depth > KERNEL_FEW ? 2 : 1); is_group++) {
        const fit_cells_spec spec = {FIT_PLAIN, .wg = fit_places_group(info, is_group != 0)};
        visit(context, is_group ? "fit_cells-group" : "fit_cells", &spec);
    }
}

static void place_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    for (int is_group = 0; is_group < (info->device_class == DEV_CPU && depth > KERNEL_FEW ? 2 : 1); is_group++)
        for (int is_varied = 0; is_varied < 2; is_varied++) {
            char name[64];
            const fit_place_spec spec = {FIT_PLAIN, .wg = fit_places_group(info, is_group != 0), .varied = is_varied};
            snprintf(name, sizeof name, "fit_place%s%s", is_group ? "-group" : "", is_varied ? "-varied" : "");
            visit(context, name, &spec);
        }
}

KERNEL_DESCRIBE_ARGUMENTS(fit_cells, LEY_FIT_CELLS_ARGUMENTS)
const kernel_kind fit_cells_kind = {KERNEL_DESCRIPTION(fit_cells, LEY_FIT_CELLS_KEYS, fit_cells), .group = cells_group,
                                    .local_bytes = cells_local, .specs = cells_specs, .test = test_cells};
KERNEL_DESCRIBE_ARGUMENTS(fit_place, LEY_FIT_PLACE_ARGUMENTS)
const kernel_kind fit_place_kind = {KERNEL_DESCRIPTION(fit_place, LEY_FIT_PLACE_KEYS, fit_place), .group = place_group,
                                    .local_bytes = place_local, .specs = place_specs, .test = test_place};

/* ---- atom_density ---------------------------------------------------------------------------- */

static ley_status judge_density(const trial *t, int frame, const float *found, const double *rho, double most,
                                ley_error *error)
{
    ley_status status = LEY_OK;
    found += (size_t)frame * t->part.bricks.node_count;
    for (int64_t i = 0; i < t->problem.nodes && status == LEY_OK; i++)
        status = judge("the density at node", frame, (size_t)i, (double)found[padded_node(t, i)], rho[i], rho[i] + most,
                       error);
    return status;
}

/* Sums over all bricks. */
static ley_status judge_sums(const trial *t, int frame, const double *rho, double most, ley_error *error)
{
    const fit_problem *p = &t->problem;
    const size_t count = (size_t)LEY_FIT_SUMS(t->part.sets);
    const float *parts =
        (const float *)t->part.batch[0].parts.staging->bytes + (size_t)frame * t->part.bricks.brick_count * count;
    fit_sums s = {.all = {.n = 0}};
    double found[LEY_FIT_SUMS(7)] = {0}, right[LEY_FIT_SUMS(7)];
    size_t sums = 0;
    for (size_t i = 0; i < t->part.bricks.brick_count * count; i++)
        found[i % count] += (double)parts[i];
    for (int64_t i = 0; i < p->nodes; i++)
        fit_add_node(p, i, rho[i], t->threshold[frame], &s);
    for (int set = 0; set < 2; set++) {
        const density_sums *own = set == 0 ? &s.all : &s.masked;
        if (set == 1 && p->mask == NULL)
            continue;
        right[sums++] = own->a;
        right[sums++] = own->aa;
        right[sums++] = own->ab;
    }
    if (p->has_threshold)
        memcpy(right + sums, &s.above, sizeof s.above);
    ley_status status = LEY_OK;
    for (size_t k = 0; k < count && status == LEY_OK; k++)
        status =
            judge("sum", frame, k, found[k], right[k], fabs(right[k]) + (double)p->nodes * (1 + most) * 0.01, error);
    return status;
}

static ley_status test_density(const dev_kernel *built, void *context, ley_error *error)
{
    const atom_density_spec *spec = (const atom_density_spec *)built->spec;
    trial *t;
    dev_staging *back = NULL;
    (void)context;
    ley_status status = trial_make(&t, error);
    if (status != LEY_OK)
        return status;
    /* What is stored beside sums is for gradients. */
    status = trial_begin(t, built->device, spec, 1, spec->stored && spec->sets, false, error);
    fit_batch *b = &t->part.batch[0];
    const size_t bytes = FRAMES * t->part.bricks.node_count * sizeof(float);
    if (status == LEY_OK && spec->stored)
        status = arena_staging(&t->part.arena, bytes, &back, error);
    if (status == LEY_OK) {
        send_places(t, LEY_FIT_PLACED);
        fit_launch_density(&t->part, b, built);
        if (back != NULL)
            sequence_read(&b->sequence, b->density.buffer, 0, back, bytes);
        if (b->parts.buffer != NULL)
            sequence_read(&b->sequence, b->parts.buffer, 0, b->parts.staging,
                          FRAMES * t->part.bricks.brick_count * (size_t)LEY_FIT_SUMS(t->part.sets) * sizeof(float));
        status = sequence_finish(&b->sequence, error);
    }
    for (int f = 0; f < FRAMES && status == LEY_OK; f++) {
        double most, *rho = law_of(t, f, &most, error);
        status = rho != NULL ? LEY_OK : LEY_ERROR_MEMORY;
        if (status == LEY_OK && spec->stored)
            status = judge_density(t, f, back->bytes, rho, most, error);
        if (status == LEY_OK && spec->sets != 0)
            status = judge_sums(t, f, rho, most, error);
        free(rho);
    }
    trial_end(t);
    return status;
}

static void density_group(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const atom_density_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

static size_t density_local(const dev_info *info, const void *spec)
{
    const size_t items = (size_t)((const atom_density_spec *)spec)->wg;
    (void)info;
    return ((const atom_density_spec *)spec)->width > 1
               ? 0
               : (2 * (items + 1) + items) * LEY_DENSITY_BRICK * sizeof(float) + items;
}

static void density_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    static const struct {
        bool is_oblique, is_varied, is_stored;
        int sets;
    } all[] = {{false, false, true, 0},  {false, false, false, 1}, {false, false, true, 1}, {false, true, true, 0},
               {false, true, false, 7},  {true, false, false, 1},  {true, true, true, 7},   {false, false, false, 7},
               {false, false, false, 3}, {false, false, false, 5}, {true, false, true, 0},  {true, true, true, 0},
               {false, true, false, 1},  {false, true, true, 1},   {true, true, false, 1},  {true, false, true, 1},
               {true, false, false, 7},  {false, false, true, 7},  {false, true, true, 7},  {true, true, false, 7}};
    static const size_t counts[] = {[KERNEL_FEW] = 2, [KERNEL_MORE] = 7, [KERNEL_ALL] = sizeof all / sizeof *all};
    for (int is_group = 0; is_group < (fit_has_vectors(info) && depth > KERNEL_FEW ? 2 : 1); is_group++)
        for (size_t i = 0; i < counts[depth]; i++) {
            char name[64];
            const atom_density_spec spec =
                fit_spec_of(info, is_group != 0, all[i].is_oblique, all[i].is_varied, all[i].is_stored, all[i].sets);
            snprintf(name, sizeof name, "atom_density%s%s%s%s-%d", is_group ? "-group" : "",
                     all[i].is_oblique ? "-oblique" : "", all[i].is_varied ? "-varied" : "",
                     all[i].is_stored ? "-stored" : "", all[i].sets);
            visit(context, name, &spec);
        }
}

KERNEL_DESCRIBE_ARGUMENTS(atom_density, LEY_ATOM_DENSITY_ARGUMENTS)
const kernel_kind atom_density_kind = {KERNEL_DESCRIPTION(atom_density, LEY_ATOM_DENSITY_KEYS, atom_density),
                                       .group = density_group, .local_bytes = density_local, .specs = density_specs,
                                       .test = test_density};

/* ---- fit_windows and fit_gradient ------------------------------------------------------------ */

/* Gives the device the law's density. */
static ley_status send_law(trial *t, double *rho[FRAMES], double most[FRAMES], ley_error *error)
{
    const size_t nodes = t->part.bricks.node_count;
    float *padded = calloc(FRAMES * nodes, sizeof *padded);
    ley_status status = padded != NULL ? LEY_OK : ley_fail_memory(error, FRAMES * nodes * 4, "the self-test");
    for (int f = 0; f < FRAMES && status == LEY_OK; f++) {
        rho[f] = law_of(t, f, &most[f], error);
        status = rho[f] != NULL ? LEY_OK : LEY_ERROR_MEMORY;
        for (int64_t i = 0; i < t->problem.nodes && status == LEY_OK; i++)
            padded[(size_t)f * nodes + padded_node(t, i)] = (float)rho[f][i];
    }
    if (status == LEY_OK)
        sequence_write(&t->part.batch[0].sequence, t->part.batch[0].density.buffer, 0, padded,
                       FRAMES * nodes * sizeof *padded);
    free(padded);
    return status;
}

typedef void launch_kernel(fit_part *part, fit_batch *batch, const dev_kernel *kernel);
typedef ley_status judge_frame(const trial *t, int frame, const double *rho, double most, ley_error *error);

static ley_status test_with_law(const dev_kernel *built, bool is_varied, bool is_gradient, launch_kernel *launch,
                                judge_frame *judge_it, ley_error *error)
{
    trial *t;
    double *rho[FRAMES] = {NULL}, most[FRAMES];
    const bool is_group = is_gradient && ((const fit_gradient_spec *)built->spec)->width == 1;
    const atom_density_spec spec = fit_spec_of(built->device->info, is_group, true, is_varied, true, LEY_FIT_ALL);
    ley_status status = trial_make(&t, error);
    if (status != LEY_OK)
        return status;
    status = trial_begin(t, built->device, &spec, 1, is_gradient, !is_gradient, error);
    if (status == LEY_OK)
        send_places(t, LEY_FIT_PLACED);
    if (status == LEY_OK)
        status = send_law(t, rho, most, error);
    if (status == LEY_OK) {
        launch(&t->part, &t->part.batch[0], built);
        fit_batch_read(&t->part, &t->part.batch[0]);
        status = sequence_finish(&t->part.batch[0].sequence, error);
    }
    for (int f = 0; f < FRAMES && status == LEY_OK; f++)
        status = judge_it(t, f, rho[f], most[f], error);
    for (int f = 0; f < FRAMES; f++)
        free(rho[f]);
    trial_end(t);
    return status;
}

/* Whether a node is within a window. */
static bool is_in_window(const trial *t, int frame, int window, int64_t node)
{
    const fit_problem *p = &t->problem;
    const int64_t *n = p->model.grid.n, at[3] = {node % n[0], node / n[0] % n[1], node / (n[0] * n[1])};
    double point_A[3];
    ley_grid_point_A(&p->model.grid, at, point_A);
    for (int32_t k = p->window_first[window]; k < p->window_first[window + 1]; k++) {
        const float *x = t->position_A[frame][p->window_atom[k]];
        double square_A2 = 0;
        for (int d = 0; d < 3; d++)
            square_A2 += pow(point_A[d] - (double)x[d], 2);
        if (square_A2 <= pow(fit_window_A(p), 2))
            return true;
    }
    return false;
}

static ley_status judge_windows(const trial *t, int frame, const double *rho, double most, ley_error *error)
{
    const fit_problem *p = &t->problem;
    ley_status status = LEY_OK;
    for (int w = 0; w < WINDOWS && status == LEY_OK; w++) {
        const float *found =
            (const float *)t->part.batch[0].windows.staging->bytes + (frame * WINDOWS + w) * LEY_FIT_WINDOW_SUMS;
        density_sums s = {.n = 0};
        for (int64_t i = 0; i < p->nodes; i++)
            if (!isnan(p->map[i]) && is_in_window(t, frame, w, i))
                density_sums_add(&s, rho[i], (double)p->map[i]);
        const double right[LEY_FIT_WINDOW_SUMS] = {s.n, s.a, s.b, s.ab, s.aa, s.bb};
        for (int k = 0; k < LEY_FIT_WINDOW_SUMS && status == LEY_OK; k++)
            status = judge("a window's sum", frame, (size_t)(w * LEY_FIT_WINDOW_SUMS + k), (double)found[k], right[k],
                           fabs(right[k]) + (k == 0 ? 0 : s.n * (1 + most)), error);
    }
    return status;
}

static ley_status test_windows(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    return test_with_law(built, false, false, fit_launch_windows, judge_windows, error);
}

static void items_group(const dev_info *info, const void *spec, size_t size[3])
{
    (void)spec;
    size[0] = info->device_class == DEV_CPU ? 4 : 64;
    size[0] = info->max_work_group > 0 && info->max_work_group < size[0] ? info->max_work_group : size[0];
    size[1] = size[2] = 1;
}

KERNEL_DESCRIBE_ARGUMENTS(fit_windows, LEY_FIT_WINDOWS_ARGUMENTS)
const kernel_kind fit_windows_kind = {KERNEL_DESCRIPTION(fit_windows, LEY_FIT_WINDOWS_KEYS, fit_windows),
                                      .group = items_group, .test = test_windows};

static ley_status judge_gradient(const trial *t, int frame, const double *rho, double most, ley_error *error)
{
    const fit_problem *p = &t->problem;
    const density_model *m = &p->model;
    const fit_batch *b = &t->part.batch[0];
    ley_status status = LEY_OK;
    for (size_t atom = 0; atom < ATOMS; atom++) {
        const float *found =
            (const float *)b->gradient.staging->bytes + ((size_t)frame * ATOMS + atom) * LEY_FIT_ATOM_SUMS;
        double right[LEY_FIT_ATOM_SUMS] = {0}, absolute = 0, at[3];
        density_place(m, t->position_A[frame][atom], at);
        for (int64_t i = 0; i < p->nodes; i++) {
            const int64_t *n = m->grid.n, index[3] = {i % n[0], i / n[0] % n[1], i / (n[0] * n[1])};
            double point_A[3], square_A2 = 0;
            bool is_in = !isnan(p->map[i]);
            ley_grid_point_A(&m->grid, index, point_A);
            for (int d = 0; d < 3; d++) {
                square_A2 += pow(point_A[d] - (double)t->position_A[frame][atom][d], 2);
                is_in = is_in && fabs((double)index[d] - at[d]) <= density_reach_nodes(m, m->sigma_A[atom], d);
            }
            const double e = is_in ? m->weight[atom] * exp(-square_A2 / (2 * pow(m->sigma_A[atom], 2))) : 0;
            for (int d = 0; d < 3 && is_in; d++) {
                const double way = (double)index[d] - at[d];
                right[d] += e * (double)p->map[i] * way;
                right[3 + d] += e * rho[i] * way;
                right[6 + d] += e * way;
                absolute += e * fabs(way) * (1 + fabs((double)p->map[i]));
            }
        }
        for (size_t k = 0; k < LEY_FIT_ATOM_SUMS && status == LEY_OK; k++)
            status = judge("an atom's sum", frame, atom * LEY_FIT_ATOM_SUMS + k, (double)found[k], right[k],
                           2 * absolute * (1 + most), error);
    }
    return status;
}

static ley_status test_gradient(const dev_kernel *built, void *context, ley_error *error)
{
    const fit_gradient_spec *spec = (const fit_gradient_spec *)built->spec;
    (void)context;
    return test_with_law(built, spec->varied != 0, true, fit_launch_gradient, judge_gradient, error);
}

static void gradient_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    for (int is_group = 0; is_group < (fit_has_vectors(info) && depth > KERNEL_FEW ? 2 : 1); is_group++)
        for (int is_varied = 0; is_varied < (depth == KERNEL_FEW ? 1 : 2); is_varied++) {
            char name[64];
            const fit_gradient_spec spec = fit_gradient_spec_of(info, is_group != 0, is_varied != 0);
            snprintf(name, sizeof name, "fit_gradient%s%s", is_group ? "-group" : "", is_varied ? "-varied" : "");
            visit(context, name, &spec);
        }
}

KERNEL_DESCRIBE_ARGUMENTS(fit_gradient, LEY_FIT_GRADIENT_ARGUMENTS)
const kernel_kind fit_gradient_kind = {KERNEL_DESCRIPTION(fit_gradient, LEY_FIT_GRADIENT_KEYS, fit_gradient),
                                       .group = items_group, .specs = gradient_specs, .test = test_gradient};
