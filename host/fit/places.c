#include "fit/places.h"

#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

float fit_fall(double sigma_A)
{
    return (float)(M_LOG2E / (2 * sigma_A * sigma_A));
}

ley_status fit_bricks_make(const fit_problem *p, int width, fit_bricks *made, ley_error *error)
{
    double nodes = 1;
    *made = (fit_bricks){.brick_count = 1, .node_count = 1, .cell_count = 1};
    for (int axis = 0; axis < 3; axis++) {
        const int64_t size = axis == 0 ? width : LEY_DENSITY_BRICK, n = p->model.grid.n[axis];
        const int64_t bricks = (n + size - 1) / size;
        made->bricks[axis] = (int32_t)bricks;
        made->nodes[axis] = (int32_t)(bricks * size);
        made->cells[axis] = made->nodes[axis] / LEY_DENSITY_CELL;
        made->brick_count *= (size_t)bricks;
        made->node_count *= (size_t)made->nodes[axis];
        made->cell_count *= (size_t)made->cells[axis];
        nodes *= (double)made->nodes[axis];
    }
    return nodes < 1e11
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_INPUT, "the grid has %g nodes, more than frames are compared on", nodes);
}

/* ---- Memory and kernels ---------------------------------------------------------------------- */

typedef struct place_buffer {
    dev_buffer **buffer;
    size_t words; /* of a frame */
} place_buffer;

enum { BUFFERS = 10 };

static void list_buffers(fit_places *s, const dev_info *info, place_buffer list[BUFFERS])
{
    const size_t n = s->problem->model.count, linked = s->group > 1 ? n : 0, bins = fit_bins(s);
    const place_buffer all[BUFFERS] = {
        {&s->position.buffer, 3 * n},
        {&s->atoms.buffer, 4 * n},
        {&s->falls.buffer, s->problem->is_varied ? n : 0},
        {&s->cell.buffer, n},
        {&s->order.buffer, n},
        {&s->rank.buffer, linked},
        {&s->next.buffer, 2 * linked},
        {&s->count.buffer, fit_count_words(s)},
        {&s->begin.buffer, bins},
        {&s->sums.buffer, (size_t)lists_first_parts(lists_first_spec(info).wg, (int)bins)}};
    memcpy(list, all, sizeof all);
}

size_t fit_places_bytes(const fit_places *s, const dev_info *info)
{
    fit_places none = *s;
    place_buffer all[BUFFERS];
    size_t words = 0;
    list_buffers(&none, info, all);
    for (int i = 0; i < BUFFERS; i++)
        words += all[i].words;
    return 4 * words;
}

/* What is the same in all frames. */
static ley_status upload_atoms(fit_places *s, arena *memory, ley_error *error)
{
    const density_model *m = &s->problem->model;
    float *value = malloc(m->count * sizeof *value);
    if (value == NULL)
        return ley_fail_memory(error, m->count * sizeof *value, "the atoms");
    for (size_t i = 0; i < m->count; i++)
        value[i] = (float)m->weight[i];
    ley_status status = arena_upload(memory, value, m->count * sizeof *value, &s->weight.buffer, error);
    for (size_t i = 0; i < m->count; i++)
        value[i] = fit_fall(m->sigma_A[i]);
    if (status == LEY_OK && s->problem->is_varied)
        status = arena_upload(memory, value, m->count * sizeof *value, &s->fall.buffer, error);
    free(value);
    return status;
}

ley_status fit_places_make(fit_places *s, arena *memory, int frames, ley_error *error)
{
    place_buffer all[BUFFERS];
    list_buffers(s, memory->device->info, all);
    s->frames = frames;
    ley_status status = upload_atoms(s, memory, error);
    for (int i = 0; i < BUFFERS && status == LEY_OK; i++)
        if (all[i].words > 0)
            status = arena_buffer(memory, 4 * all[i].words * (size_t)frames, DEV_READ_WRITE, all[i].buffer, error);
    return status;
}

ley_status fit_places_build(fit_places *s, dev *device, ley_error *error)
{
    const list_first_spec first = lists_first_spec(device->info);
    const fit_place_spec place = {FIT_PLAIN, .wg = s->group, .varied = s->problem->is_varied};
    const fit_cells_spec cells = {FIT_PLAIN, .wg = s->group};
    ley_status status = kernel_create(device, &fit_cells_kind, &cells, NULL, NULL, &s->find, error);
    if (status == LEY_OK)
        status = kernel_create(device, &list_first_kind, &first, NULL, NULL, &s->sum, error);
    return status == LEY_OK ? kernel_create(device, &fit_place_kind, &place, NULL, NULL, &s->place, error) : status;
}

void fit_places_destroy(fit_places *s)
{
    kernel_destroy(&s->find);
    kernel_destroy(&s->sum);
    kernel_destroy(&s->place);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

typedef struct taking {
    const float *from;
    float *to;
    size_t first;        /* of a piece */
    _Atomic int64_t bad; /* the first number that is none, or too large */
} taking;

static void take_numbers(void *context, size_t first, size_t last)
{
    static const float most_A = 1e6F;
    taking *t = context;
    int wrong = 0;
    first += t->first;
    last += t->first;
    for (size_t i = first; i < last; i++) {
        wrong |= !(fabsf(t->from[i]) <= most_A);
        t->to[i] = t->from[i];
    }
    for (size_t i = first; i < last && wrong; i++)
        if (!(fabsf(t->from[i]) <= most_A)) {
            int64_t now = atomic_load(&t->bad);
            while ((int64_t)i < now && !atomic_compare_exchange_weak(&t->bad, &now, (int64_t)i))
                ;
            return;
        }
}

/* Once: what kernels take places from leads to no place outside even where a driver leaves a launch
 * out, which verification finds. */
static void clear(fit_places *s, command_sequence *w)
{
    place_buffer all[BUFFERS];
    list_buffers(s, w->flight->device->info, all);
    for (int i = 0; i < BUFFERS; i++)
        if (all[i].words > 0)
            sequence_fill(w, *all[i].buffer, 0, 0, 4 * all[i].words * (size_t)s->frames);
    s->is_cleared = true;
}

ley_status fit_places_send(fit_places *s, command_sequence *w, int frames, const float *position_A,
                           const dev_staging *staging, int *bad, ley_error *error)
{
    static const size_t piece = 1 << 22;
    const int64_t n = (int64_t)s->problem->model.count;
    const size_t all = 3 * (size_t)n * (size_t)frames;
    taking t = {position_A, staging->bytes, 0, INT64_MAX};
    if (!s->is_cleared)
        clear(s, w);
    for (size_t next; t.first < all && atomic_load(&t.bad) == INT64_MAX; t.first = next) {
        next = t.first + piece < all ? t.first + piece : all;
        parallel_ranges(next - t.first, take_numbers, &t);
        sequence_send(w, s->position.buffer, 4 * t.first, staging, 4 * t.first, 4 * (next - t.first));
    }
    const int64_t first = atomic_load(&t.bad) / 3;
    if (atomic_load(&t.bad) == INT64_MAX)
        return LEY_OK;
    const float *x = position_A + 3 * first;
    *bad = (int)(first / n);
    return ley_fail(error, LEY_ERROR_INPUT, "atom %lld is at (%g, %g, %g) A, must be within 1e6 A",
                    (long long)(first % n) + 1, (double)x[0], (double)x[1], (double)x[2]);
}

/* As fit_place.h has them. */
static void put_grid(const density_model *m, double numbers[16])
{
    for (int axis = 0; axis < 3; axis++) {
        const double origin_A = m->grid.origin_A[axis];
        memcpy(numbers + 3 * axis, m->inverse[axis], sizeof m->inverse[axis]);
        numbers[9 + axis] = (double)(float)origin_A;
        numbers[12 + axis] = origin_A - (double)(float)origin_A;
    }
    numbers[15] = 0;
}

/* An item for each atom, or for each part of them. */
static void launch(const fit_places *s, command_sequence *w, const dev_kernel *kernel, int frames,
                   const void *arguments)
{
    const size_t n = s->problem->model.count, group = (size_t)s->group;
    const double atom_s = group > 1 ? 2e-10 : 2e-8;
    sequence_launch(w, kernel,
                    (const size_t[3]){group > 1 ? (n + group - 1) / group : (size_t)s->parts, (size_t)frames, 1},
                    arguments, atom_s * (double)n * frames);
}

void fit_launch_cells(const fit_places *s, command_sequence *w, const dev_kernel *kernel, int frames)
{
    const fit_problem *p = s->problem;
    const int64_t *n = p->model.grid.n;
    const int32_t *cells = s->bricks->cells;
    const buffer_of_int2 next = {s->group > 1 ? s->next.buffer : s->cell.buffer}; /* else it is not read */
    fit_cells_arguments a = {.kind = kernel->kind,
                             .gm_position = s->position,
                             .gm_weight = s->weight,
                             .n_atoms = (int32_t)p->model.count,
                             .size = {(int32_t)n[0], (int32_t)n[1], (int32_t)n[2], s->parts},
                             .cells = {cells[0], cells[1], cells[2], (int32_t)s->bricks->cell_count},
                             .reach = {p->reach_nodes[0], p->reach_nodes[1], p->reach_nodes[2], 0},
                             .gm_cell = s->cell,
                             .gm_count = s->count,
                             .gm_next = next,
                             .gm_rank = s->group > 1 ? s->rank : s->cell};
    put_grid(&p->model, a.numbers);
    sequence_fill(w, s->count.buffer, 0, 0, 4 * fit_count_words(s) * (size_t)frames);
    launch(s, w, kernel, frames, &a);
}

void fit_launch_place(const fit_places *s, command_sequence *w, const dev_kernel *kernel, int frames)
{
    const fit_problem *p = s->problem;
    const buffer_of_int2 next = {s->group > 1 ? s->next.buffer : s->cell.buffer};
    fit_place_arguments a = {.kind = kernel->kind,
                             .gm_position = s->position,
                             .gm_weight = s->weight,
                             .gm_fall = p->is_varied ? s->fall : s->weight,
                             .n_atoms = (int32_t)p->model.count,
                             .cells = (int32_t)s->bricks->cell_count,
                             .parts = s->parts,
                             .gm_cell = s->cell,
                             .gm_count = s->count,
                             .gm_next = next,
                             .gm_rank = s->group > 1 ? s->rank : s->cell,
                             .gm_first = s->begin,
                             .gm_atoms = s->atoms,
                             .gm_falls = p->is_varied ? s->falls : s->position,
                             .gm_order = s->order};
    put_grid(&p->model, a.numbers);
    launch(s, w, kernel, frames, &a);
}

/* Sums of counts are negative, so that fit_place.cl knows of it, where a launch that makes them is
 * left out. */
static void poison_sums(const fit_places *s, command_sequence *w, int frames)
{
    const int parts = lists_first_parts((int)s->sum.group_size[0], (int)fit_bins(s));
    sequence_fill(w, s->begin.buffer, 0, UINT32_MAX, 4 * fit_bins(s) * (size_t)frames);
    if (parts > 1)
        sequence_fill(w, s->sums.buffer, 0, (uint32_t)(INT32_MIN / parts), 4 * (size_t)parts * (size_t)frames);
}

void fit_places_launch(const fit_places *s, command_sequence *w, int frames)
{
    poison_sums(s, w, frames);
    fit_launch_cells(s, w, &s->find, frames);
    lists_launch_first(w, &s->sum, frames, (int)fit_bins(s), s->count, s->sums, s->begin);
    fit_launch_place(s, w, &s->place, frames);
}
