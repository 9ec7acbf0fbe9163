#include "fit/part.h"

#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Bytes of a frame. */
typedef struct frame_bytes {
    size_t position, places, boxes, threshold, parts, density, windows, gradient;
} frame_bytes;

static frame_bytes bytes_of(const fit_part *part)
{
    const fit_problem *p = part->problem;
    const size_t n = p->model.count;
    return (frame_bytes){.position = 12 * n,
                         .places = 16 * p->window_atoms,
                         .boxes = 32 * p->window_boxes,
                         .threshold = p->has_threshold ? 4 : 0,
                         .parts = part->bricks.brick_count * 4 * (size_t)LEY_FIT_SUMS(part->sets),
                         .density = part->is_stored ? 4 * part->bricks.node_count : 0,
                         .windows = 4 * LEY_FIT_WINDOW_SUMS * (size_t)p->windows,
                         .gradient = p->has_gradient ? 4 * LEY_FIT_ATOM_SUMS * n : 0};
}

/* As many as keep a device busy, and are soon done. */
static int frames_of_batch(const fit_part *part, int64_t frames)
{
    static const double most_bytes = 256e6, most_atoms[2] = {4e5, 2e6}; /* of processors, of cards */
    enum { MOST = 512 };
    const frame_bytes b = bytes_of(part);
    const double own = (double)(fit_places_bytes(&part->places, part->arena.device->info) + b.places + b.boxes +
                                b.threshold + b.parts + b.density + b.windows + b.gradient),
                 left = (double)arena_left(&part->arena) / (2 * FRAME_BATCHES);
    double most = fmin(most_bytes, left) / own;
    most =
        fmin(most, most_atoms[part->arena.device->info->device_class != DEV_CPU] / (double)part->problem->model.count);
    most = fmin(most, fmin(MOST, (double)frames));
    return most < 1 ? 1 : (int)most;
}

static ley_status make(fit_part *part, size_t bytes, dev_buffer **buffer, dev_staging **staging, ley_error *error)
{
    bytes *= (size_t)part->frames;
    if (bytes == 0)
        return LEY_OK;
    const ley_status status = arena_buffer(&part->arena, bytes, DEV_READ_WRITE, buffer, error);
    return status == LEY_OK && staging != NULL ? arena_staging(&part->arena, bytes, staging, error) : status;
}

static ley_status make_batch(fit_part *part, fit_batch *b, ley_error *error)
{
    const frame_bytes own = bytes_of(part);
    ley_status status = arena_staging(&part->arena, own.position * (size_t)part->frames, &b->position_out, error);
    if (status == LEY_OK)
        status = make(part, own.places, &b->places.buffer, &b->places_out, error);
    if (status == LEY_OK)
        status = make(part, own.boxes, &b->boxes.buffer, &b->boxes_out, error);
    if (status == LEY_OK)
        status = make(part, own.threshold, &b->threshold.buffer, &b->threshold_out, error);
    if (status == LEY_OK)
        status =
            make(part, own.density, &b->density.buffer, part->problem->map == NULL ? &b->density_back : NULL, error);
    if (status == LEY_OK)
        status = make(part, own.parts, &b->parts.buffer, &b->parts.staging, error);
    if (status == LEY_OK)
        status = make(part, own.windows, &b->windows.buffer, &b->windows.staging, error);
    if (status == LEY_OK)
        status = make(part, own.gradient, &b->gradient.buffer, &b->gradient.staging, error);
    return status;
}

/* Rows of the grid into those of whole bricks, `rest` beside them. */
static ley_status upload_padded(fit_part *part, const float *from, float rest, buffer_of_float *to, ley_error *error)
{
    const fit_bricks *b = &part->bricks;
    const int64_t *n = part->problem->model.grid.n;
    if (from == NULL)
        return LEY_OK;
    float *padded = malloc(b->node_count * sizeof *padded);
    if (padded == NULL)
        return ley_fail_memory(error, b->node_count * sizeof *padded, "the map");
    for (size_t i = 0; i < b->node_count; i++)
        padded[i] = rest;
    for (int64_t row = 0; row < n[1] * n[2]; row++)
        memcpy(padded + (row / n[1] * b->nodes[1] + row % n[1]) * b->nodes[0], from + row * n[0],
               (size_t)n[0] * sizeof *padded);
    const ley_status status = arena_upload(&part->arena, padded, b->node_count * sizeof *padded, &to->buffer, error);
    free(padded);
    return status;
}

ley_status fit_memory_make(fit_part *part, const fit_problem *problem, dev *device, const atom_density_spec *spec,
                           int group, int parts, int64_t frames, ley_error *error)
{
    *part = (fit_part){.problem = problem,
                       .places = {.problem = problem, .bricks = &part->bricks, .group = group, .parts = parts},
                       .sets = fit_sets(problem),
                       .is_stored = spec->stored,
                       .arena = {.device = device},
                       .flight = {.device = device}};
    ley_status status =
        fit_bricks_make(problem, spec->width > 1 ? spec->width : LEY_DENSITY_BRICK, &part->bricks, error);
    if (status == LEY_OK)
        status = upload_padded(part, problem->map, NAN, &part->map, error);
    if (status == LEY_OK)
        status = upload_padded(part, problem->mask, 0, &part->mask, error);
    if (status == LEY_OK && problem->windows > 0)
        status = arena_upload(&part->arena, problem->window_first,
                              2 * ((size_t)problem->windows + 1) * sizeof *problem->window_first, &part->window.buffer,
                              error);
    part->frames = status == LEY_OK ? frames_of_batch(part, frames) : 0;
    if (status == LEY_OK)
        status = fit_places_make(&part->places, &part->arena, part->frames, error);
    for (int i = 0; i < FRAME_BATCHES && status == LEY_OK; i++)
        status = make_batch(part, &part->batch[i], error);
    return status;
}

void fit_part_end(fit_part *part)
{
    for (int i = 0; i < FRAME_BATCHES; i++)
        sequence_end(&part->batch[i].sequence);
    fit_places_destroy(&part->places);
    kernel_destroy(&part->density);
    kernel_destroy(&part->windows);
    kernel_destroy(&part->gradient);
    arena_clear(&part->arena);
    part->arena.device = NULL;
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* Atoms of windows, window after window. */
typedef struct placing {
    const fit_problem *p;
    const float *position_A;
    float (*to)[4], (*box)[4];
} placing;

static void place_windows(void *context, size_t first, size_t last)
{
    static const double most = 1e6; /* nodes: farther away it is all the same */
    const placing *c = context;
    for (size_t k = first; k < last; k++) {
        const size_t frame = k / c->p->window_atoms, atom = (size_t)c->p->window_atom[k % c->p->window_atoms];
        double at[3];
        density_place(&c->p->model, c->position_A + 3 * (frame * c->p->model.count + atom), at);
        for (int axis = 0; axis < 3; axis++)
            c->to[k][axis] = (float)fmin(fmax(at[axis], -most), most);
        c->to[k][3] = 0;
    }
}

/* And the boxes of some of them each, of so many frames. */
static void box_windows(void *context, size_t first, size_t last)
{
    const placing *c = context;
    const fit_problem *p = c->p;
    const int32_t *box = p->window_first + p->windows + 1;
    const double reach = fit_window_A(p) / p->model.cut;
    for (size_t k = first; k < last; k++) {
        const size_t frame = k / (size_t)p->windows, w = k % (size_t)p->windows;
        float(*to)[4] = c->box + 2 * (frame * p->window_boxes + (size_t)box[w]);
        for (int32_t i = p->window_first[w]; i < p->window_first[w + 1]; i++) {
            const float *at = c->to[frame * p->window_atoms + (size_t)i];
            const int32_t own = (i - p->window_first[w]) / LEY_FIT_CHUNK;
            for (int d = 0; d < 4; d++) {
                const float far = d < 3 ? (float)(reach * density_reach_nodes(&p->model, 1, d)) + 1e-3F : 0,
                            low = at[d] - far, high = at[d] + far;
                const bool is_first = (i - p->window_first[w]) % LEY_FIT_CHUNK == 0;
                to[2 * own][d] = is_first || low < to[2 * own][d] ? low : to[2 * own][d];
                to[2 * own + 1][d] = is_first || high > to[2 * own + 1][d] ? high : to[2 * own + 1][d];
            }
        }
    }
}

ley_status fit_batch_begin(fit_part *part, fit_batch *b, int frames, const float *position_A, const double *threshold,
                           int *bad, ley_error *error)
{
    const fit_problem *p = part->problem;
    const frame_bytes own = bytes_of(part);
    const size_t count = (size_t)frames;
    b->frames = frames;
    sequence_begin(&b->sequence, &part->flight, part->cancelled);
    const ley_status status =
        fit_places_send(&part->places, &b->sequence, frames, position_A, b->position_out, bad, error);
    if (status != LEY_OK)
        return status;
    if (b->places_out != NULL) {
        placing c = {p, position_A, b->places_out->bytes, b->boxes_out->bytes};
        parallel_ranges(count * p->window_atoms, place_windows, &c);
        parallel_ranges(count * (size_t)p->windows, box_windows, &c);
        sequence_send(&b->sequence, b->boxes.buffer, 0, b->boxes_out, 0, count * own.boxes);
        sequence_send(&b->sequence, b->places.buffer, 0, b->places_out, 0, count * own.places);
    }
    if (b->threshold_out != NULL) {
        for (size_t f = 0; f < count; f++)
            ((float *)b->threshold_out->bytes)[f] = threshold != NULL ? (float)threshold[f] : INFINITY;
        sequence_send(&b->sequence, b->threshold.buffer, 0, b->threshold_out, 0, count * own.threshold);
    }
    return LEY_OK;
}

/* For kernels, whose rows spec.h and the heads of their sources explain. */
static void put_metric(const fit_problem *p, double numbers[16])
{
    memset(numbers, 0, 16 * sizeof *numbers);
    memcpy(numbers, p->metric, sizeof p->metric);
}

static void put_numbers(const fit_problem *p, double numbers[16])
{
    put_metric(p, numbers);
    for (int axis = 0; axis < 3; axis++) /* fall d^2 of the last node in reach */
        numbers[6 + axis] = 0.5 * M_LOG2E * pow(density_reach_nodes(&p->model, 1, axis), 2);
    numbers[9] = (double)fit_fall(p->model.sigma_A[0]);
}

/* Bricks of a work-item that is alone: all along x, and as many along y and z as leave each unit of
 * the processor some of them. Returns how many work-items there are. */
static size_t choose_block(const fit_part *part, const fit_batch *b, int32_t block[3])
{
    enum { FOR_EACH = 4, THICK = 2 }; /* work-items of a unit; bricks */
    const int32_t *bricks = part->bricks.bricks;
    const size_t wanted = FOR_EACH * (size_t)part->arena.device->info->compute_units;
    memcpy(block, bricks, 3 * sizeof *block);
    for (;;) {
        const size_t blocks =
            (size_t)((bricks[1] + block[1] - 1) / block[1]) * (size_t)((bricks[2] + block[2] - 1) / block[2]);
        const int axis = block[2] > THICK || (block[1] <= THICK && block[2] >= block[1]) ? 2 : 1;
        if (blocks * (size_t)b->frames >= wanted || block[axis] == 1)
            return blocks;
        block[axis] = (block[axis] + 1) / 2;
    }
}

void fit_launch_density(fit_part *part, fit_batch *b, const dev_kernel *kernel)
{
    const fit_problem *p = part->problem;
    const fit_bricks *k = &part->bricks;
    const frame_bytes own = bytes_of(part);
    const bool is_cpu = part->arena.device->info->device_class == DEV_CPU;
    const double atom_s = is_cpu ? 3e-7 : 1e-9, brick_s = is_cpu ? 1e-6 : 1e-9;
    buffer_of_float any = b->density; /* for arguments that are not read */
    double numbers[16];
    const bool is_alone = ((const atom_density_spec *)kernel->spec)->width > 1;
    int32_t block[3] = {1, 1, 1};
    const size_t items = is_alone ? choose_block(part, b, block) : k->brick_count;
    if (b->parts.buffer != NULL)
        any.buffer = b->parts.buffer;
    put_numbers(p, numbers);
    if (b->parts.buffer != NULL)
        sequence_poison(&b->sequence, &b->parts, (size_t)b->frames * own.parts);
    if (fit_is_stored(p))
        sequence_fill(&b->sequence, b->density.buffer, 0, UINT32_MAX, (size_t)b->frames * own.density);
    atom_density_arguments a = {.kind = kernel->kind,
                                .gm_atoms = part->places.atoms,
                                .gm_falls = p->is_varied ? part->places.falls : any,
                                .gm_first = part->places.begin,
                                .gm_count = part->places.count,
                                .n_atoms = (int32_t)p->model.count,
                                .parts = part->places.parts,
                                .bricks = {k->bricks[0], k->bricks[1], k->bricks[2], 1},
                                .block = {block[0], block[1], block[2], 1},
                                .gm_map = p->map != NULL ? part->map : any,
                                .gm_mask = p->mask != NULL ? part->mask : any,
                                .gm_threshold = p->has_threshold ? b->threshold : any,
                                .gm_density = part->is_stored ? b->density : any,
                                .gm_parts = any};
    for (int axis = 0; axis < 3; axis++)
        a.reach[axis] = (int32_t)ceil(fmin(p->reach_nodes[axis], 1e6));
    memcpy(a.numbers, numbers, sizeof numbers);
    sequence_launch(&b->sequence, kernel, (const size_t[3]){items, (size_t)b->frames, 1}, &a,
                    b->frames * (atom_s * (double)p->model.count + brick_s * (double)k->brick_count));
}

void fit_launch_windows(fit_part *part, fit_batch *b, const dev_kernel *kernel)
{
    static const double window_s = 1e-5;
    const fit_problem *p = part->problem;
    const size_t items = kernel->group_size[0];
    const double reach_A = fit_window_A(p);
    fit_windows_arguments a = {
        .kind = kernel->kind,
        .gm_places = b->places,
        .gm_boxes = b->boxes,
        .gm_window = part->window,
        .windows = p->windows,
        .n_places = (int32_t)p->window_atoms,
        .n_boxes = (int32_t)p->window_boxes,
        .size = {part->bricks.nodes[0], part->bricks.nodes[1], part->bricks.nodes[2], 0},
        .gm_map = part->map,
        .gm_density = b->density,
        .gm_sums = {b->windows.buffer},
    };
    put_metric(p, a.numbers);
    a.numbers[9] = reach_A * reach_A;
    sequence_poison(&b->sequence, &b->windows, (size_t)b->frames * bytes_of(part).windows);
    sequence_launch(&b->sequence, kernel,
                    (const size_t[3]){((size_t)p->windows + items - 1) / items, (size_t)b->frames, 1}, &a,
                    window_s * p->windows * b->frames / 16);
}

void fit_launch_gradient(fit_part *part, fit_batch *b, const dev_kernel *kernel)
{
    const fit_problem *p = part->problem;
    const size_t items = kernel->group_size[0];
    const double atom_s = part->arena.device->info->device_class == DEV_CPU ? 2e-6 : 2e-9;
    fit_gradient_arguments a = {
        .kind = kernel->kind,
        .gm_atoms = part->places.atoms,
        .gm_falls = p->is_varied ? part->places.falls : b->density,
        .gm_cell = part->places.cell,
        .gm_order = part->places.order,
        .gm_first = part->places.begin,
        .n_atoms = (int32_t)p->model.count,
        .bins = (int32_t)fit_bins(&part->places),
        .size = {part->bricks.nodes[0], part->bricks.nodes[1], part->bricks.nodes[2], 0},
        .gm_map = part->map,
        .gm_density = b->density,
        .gm_sums = {b->gradient.buffer},
    };
    put_numbers(p, a.numbers);
    sequence_poison(&b->sequence, &b->gradient, (size_t)b->frames * bytes_of(part).gradient);
    sequence_launch(&b->sequence, kernel, (const size_t[3]){(p->model.count + items - 1) / items, (size_t)b->frames, 1},
                    &a, atom_s * (double)p->model.count * b->frames);
}

void fit_batch_read(fit_part *part, fit_batch *b)
{
    const frame_bytes own = bytes_of(part);
    const size_t count = (size_t)b->frames;
    if (b->density_back != NULL)
        sequence_read(&b->sequence, b->density.buffer, 0, b->density_back, count * own.density);
    if (b->parts.buffer != NULL)
        sequence_read(&b->sequence, b->parts.buffer, 0, b->parts.staging, count * own.parts);
    if (b->windows.buffer != NULL)
        sequence_read(&b->sequence, b->windows.buffer, 0, b->windows.staging, count * own.windows);
    if (b->gradient.buffer != NULL)
        sequence_read(&b->sequence, b->gradient.buffer, 0, b->gradient.staging, count * own.gradient);
}
