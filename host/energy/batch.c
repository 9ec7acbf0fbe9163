#include "energy/batch.h"

#include "error.h"
#include "parallel.h"

#include <math.h>
#include <string.h>

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Floats of a frame's results. */
static size_t energy_floats(const energy_problem *p)
{
    return LEY_ENERGY_TERMS * p->padded;
}

static size_t part_floats(const energy_problem *p)
{
    return LEY_COLUMN_COUNT * (size_t)p->options.groups * p->padded;
}

static size_t matrix_floats(const energy_problem *p)
{
    return 2 * LEY_COLUMN_COUNT * (size_t)p->options.groups * (size_t)p->options.groups;
}

static size_t bytes_of_frame(const energy_problem *p)
{
    return 4 * (4 * p->padded + energy_floats(p) + part_floats(p) + matrix_floats(p) +
                (p->options.forces ? 4 * p->padded : 0) + (p->options.born != LEY_BORN_NONE ? 2 * p->padded : 0));
}

/* Frames of a batch: as many as keep a device busy, and are soon done. */
static int frames_of_batch(const energy_part *part, int64_t frames, size_t frame_bytes)
{
    static const double most_bytes = 512e6, most_pairs[2] = {2e7, 2e9}; /* of processors, of cards */
    enum { MOST = 512 };
    static const double near = 4096; /* particles that one may have in lists, about */
    const double left = (double)arena_left(&part->arena) / (4 * FRAME_BATCHES), others = (double)part->problem->padded,
                 pairs = others * (energy_are_listed(part->problem, part->is_periodic) ? fmin(near, others) : others);
    double most = fmin(most_bytes, left) / (double)(bytes_of_frame(part->problem) + frame_bytes);
    most = fmin(most, most_pairs[part->arena.device->info->device_class != DEV_CPU] / pairs);
    most = fmin(most, fmin(MOST, (double)frames));
    return most < 1 ? 1 : (int)most;
}

static ley_status make(energy_part *part, size_t frame_bytes, dev_buffer **buffer, dev_staging **staging,
                       ley_error *error)
{
    const size_t bytes = frame_bytes * (size_t)part->frames;
    if (bytes == 0)
        return LEY_OK;
    const ley_status status = arena_buffer(&part->arena, bytes, DEV_READ_WRITE, buffer, error);
    return status == LEY_OK && staging != NULL ? arena_staging(&part->arena, bytes, staging, error) : status;
}

static ley_status make_batch(energy_part *part, energy_batch *b, ley_error *error)
{
    const energy_problem *p = part->problem;
    const size_t place = p->padded * sizeof(float), force = p->options.forces ? 4 * place : 0,
                 born = p->options.born != LEY_BORN_NONE ? place : 0;
    ley_status status = make(part, 4 * place, &b->position.buffer, &b->position_out, error);
    if (status == LEY_OK)
        status = make(part, part->is_periodic ? 24 * sizeof(float) : 0, &b->cell.buffer, &b->cell_out, error);
    if (status == LEY_OK)
        status = make(part, energy_floats(p) * sizeof(float), &b->energy.buffer, &b->energy_back, error);
    if (status == LEY_OK)
        status = make(part, part_floats(p) * sizeof(float), &b->parts.buffer, NULL, error);
    if (status == LEY_OK)
        status = make(part, matrix_floats(p) * sizeof(float), &b->matrix.buffer, &b->matrix_back, error);
    if (status == LEY_OK)
        status = make(part, force, &b->force.buffer, &b->force_back, error);
    if (status == LEY_OK)
        status = make(part, born, &b->radius.buffer, &b->radius_back, error);
    return status == LEY_OK ? make(part, born, &b->slope.buffer, &b->slope_back, error) : status;
}

ley_status energy_memory_make(energy_part *part, const energy_problem *problem, dev *device, bool is_periodic,
                              int64_t frames, size_t frame_bytes, ley_error *error)
{
    *part = (energy_part){
        .problem = problem, .is_periodic = is_periodic, .arena = {.device = device}, .flight = {.device = device}};
    const size_t table = problem->types * problem->types * sizeof *problem->table,
                 column = ((size_t)problem->options.groups + 1) * sizeof *problem->column_first;
    part->frames = frames_of_batch(part, frames, frame_bytes);
    ley_status status =
        arena_upload(&part->arena, problem->type, problem->padded * sizeof *problem->type, &part->type.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(&part->arena, problem->table, table, &part->table.buffer, error);
    if (status == LEY_OK && problem->column_first != NULL)
        status = arena_upload(&part->arena, problem->column_first, column, &part->column_first.buffer, error);
    for (int i = 0; i < FRAME_BATCHES && status == LEY_OK; i++)
        status = make_batch(part, &part->batch[i], error);
    return status;
}

void energy_memory_end(energy_part *part)
{
    for (int i = 0; i < FRAME_BATCHES; i++)
        sequence_end(&part->batch[i].sequence);
    arena_clear(&part->arena);
    part->arena.device = NULL;
}

/* ---- Positions ------------------------------------------------------------------------------- */

enum { PLACES = 4096 }; /* of a piece of a frame */

typedef struct placing {
    const energy_problem *problem;
    const float *from; /* [frames][count][3] */
    float (*to)[4];
    const double *cell_A;
    double (*dual)[3][3], (*middle)[3];
    size_t pieces; /* of a frame */
} placing;

/* Rows whose products with a place are its fractions of the cell's vectors. */
static void make_dual(const double *cell_A, double dual[3][3])
{
    double volume = 0;
    for (int k = 0; k < 3; k++) {
        const double *u = cell_A + 3 * ((k + 1) % 3), *v = cell_A + 3 * ((k + 2) % 3);
        for (int d = 0; d < 3; d++)
            dual[k][d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
        volume = dual[k][0] * cell_A[3 * k] + dual[k][1] * cell_A[3 * k + 1] + dual[k][2] * cell_A[3 * k + 2];
        for (int d = 0; d < 3; d++)
            dual[k][d] /= volume;
    }
}

/* What is taken from coordinates from `low` to `high`, so that they become small and none of them
 * is rounded: in floats x - y is exact where it is no more than x in size, and y a multiple of the
 * last digit of the largest x. */
static double exact_shift(double low, double high)
{
    const double least = fmax(fmax(low, -high), 0), most = fmax(fabs(low), fabs(high)),
                 shift = fmin(most - (high - low) / 2, 2 * least), digit = ldexp(1, ilogb(fmax(most, 1e-30)) - 23);
    return copysign(floor(shift / digit) * digit, low + high);
}

static void find_middle(const energy_problem *p, const float *position_A, double middle[3])
{
    float low[3], high[3];
    memcpy(low, position_A, sizeof low);
    memcpy(high, position_A, sizeof high);
    for (size_t i = 1; i < p->count; i++)
        for (size_t d = 0; d < 3; d++) {
            const float x = position_A[3 * i + d];
            low[d] = x < low[d] ? x : low[d];
            high[d] = x > high[d] ? x : high[d];
        }
    for (int d = 0; d < 3; d++)
        middle[d] = exact_shift((double)low[d], (double)high[d]);
}

static void find_middles(void *context, size_t first, size_t last)
{
    const placing *c = context;
    for (size_t f = first; f < last; f++)
        find_middle(c->problem, c->from + 3 * f * c->problem->count, c->middle[f]);
}

/* Into the cell around 0. */
static inline void wrap(const double *cell_A, double dual[3][3], double x[3])
{
    double whole[3];
    for (int k = 0; k < 3; k++)
        whole[k] = rint(dual[k][0] * x[0] + dual[k][1] * x[1] + dual[k][2] * x[2]);
    for (int d = 0; d < 3; d++)
        x[d] -= whole[0] * cell_A[d] + whole[1] * cell_A[3 + d] + whole[2] * cell_A[6 + d];
}

static inline void place_particle(const placing *c, size_t frame, const float from[3], float to[3])
{
    double x[3] = {(double)from[0], (double)from[1], (double)from[2]};
    if (c->cell_A != NULL)
        wrap(c->cell_A + 9 * frame, c->dual[frame], x);
    for (int d = 0; d < 3; d++)
        to[d] = (float)(c->cell_A != NULL ? x[d] : x[d] - c->middle[frame][d]);
}

/* Those that are no particles are far away, each at a place of its own. */
static void place_pieces(void *context, size_t first, size_t last)
{
    static const float away_A = 4e6F; /* where no particle may be */
    const placing *c = context;
    const energy_problem *p = c->problem;
    for (size_t piece = first; piece < last; piece++) {
        const size_t frame = piece / c->pieces, begin = piece % c->pieces * PLACES,
                     end = begin + PLACES < p->padded ? begin + PLACES : p->padded;
        for (size_t i = begin; i < end; i++) {
            float *to = c->to[frame * p->padded + i];
            if (p->order[i] >= 0)
                place_particle(c, frame, c->from + 3 * (frame * p->count + (size_t)p->order[i]), to);
            else
                memcpy(to, (const float[3]){away_A * (float)(1 + i - p->count), 0, 0}, 3 * sizeof *to);
            to[3] = p->charge[i];
        }
    }
}

void energy_batch_place(const energy_problem *p, int frames, const float *position_A, const double *cell_A,
                        float (*to)[4], float *cell)
{
    enum { AT_ONCE = 64 };
    double dual[AT_ONCE][3][3], middle[AT_ONCE][3];
    for (int f = 0; f < frames; f += AT_ONCE) {
        const int count = frames - f < AT_ONCE ? frames - f : AT_ONCE;
        placing c = {.problem = p,
                     .from = position_A + 3 * (size_t)f * p->count,
                     .to = to + (size_t)f * p->padded,
                     .cell_A = cell_A != NULL ? cell_A + 9 * f : NULL,
                     .dual = dual,
                     .middle = middle,
                     .pieces = (p->padded + PLACES - 1) / PLACES};
        if (cell_A == NULL)
            parallel_ranges((size_t)count, find_middles, &c);
        for (int i = 0; i < count && cell_A != NULL; i++) {
            make_dual(c.cell_A + 9 * i, dual[i]);
            for (int row = 0; row < 6; row++)
                for (int d = 0; d < 4; d++)
                    cell[24 * (f + i) + 4 * row + d] = (float)(d == 3    ? 0
                                                               : row < 3 ? c.cell_A[9 * i + 3 * row + d]
                                                                         : dual[i][row - 3][d]);
        }
        parallel_ranges((size_t)count * c.pieces, place_pieces, &c);
    }
}

/* ---- Batches --------------------------------------------------------------------------------- */

void energy_batch_begin(energy_part *part, energy_batch *b, int64_t first, int frames, const float *position_A,
                        const double *cell_A)
{
    const size_t places = (size_t)frames * part->problem->padded;
    b->first = first;
    b->frames = frames;
    energy_batch_place(part->problem, frames, position_A, cell_A, b->position_out->bytes,
                       cell_A != NULL ? b->cell_out->bytes : NULL);
    sequence_begin(&b->sequence, &part->flight, part->cancelled);
    sequence_send(&b->sequence, b->position.buffer, 0, b->position_out, 0, 4 * places * sizeof(float));
    if (cell_A != NULL)
        sequence_send(&b->sequence, b->cell.buffer, 0, b->cell_out, 0, 24 * (size_t)frames * sizeof(float));
}

static void poison(command_sequence *w, dev_buffer *buffer, size_t floats)
{
    if (buffer != NULL)
        sequence_fill(w, buffer, 0, UINT32_MAX, floats * sizeof(float));
}

void energy_batch_poison(energy_part *part, energy_batch *b)
{
    const energy_problem *p = part->problem;
    const size_t frames = (size_t)b->frames, places = frames * p->padded;
    poison(&b->sequence, b->energy.buffer, frames * energy_floats(p));
    poison(&b->sequence, b->parts.buffer, frames * part_floats(p));
    poison(&b->sequence, b->matrix.buffer, frames * matrix_floats(p));
    poison(&b->sequence, b->radius.buffer, places);
    poison(&b->sequence, b->slope.buffer, places);
    if (b->force.buffer != NULL)
        sequence_fill(&b->sequence, b->force.buffer, 0, 0, 4 * places * sizeof(float));
}

static void read_back(command_sequence *w, dev_buffer *buffer, dev_staging *staging, size_t floats)
{
    if (staging != NULL)
        sequence_read(w, buffer, 0, staging, floats * sizeof(float));
}

void energy_batch_read(energy_part *part, energy_batch *b)
{
    const energy_problem *p = part->problem;
    const size_t frames = (size_t)b->frames, places = frames * p->padded;
    read_back(&b->sequence, b->energy.buffer, b->energy_back, frames * energy_floats(p));
    read_back(&b->sequence, b->matrix.buffer, b->matrix_back, frames * matrix_floats(p));
    read_back(&b->sequence, b->force.buffer, b->force_back, 4 * places);
    read_back(&b->sequence, b->radius.buffer, b->radius_back, places);
    read_back(&b->sequence, b->slope.buffer, b->slope_back, places);
}
