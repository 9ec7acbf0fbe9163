#include "average/sums.h"

#include "average/potential.h"
#include "error.h"
#include "numerics/cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t sums_nodes(const average_problem *p)
{
    return (size_t)average_mesh_nodes(&p->mesh);
}

size_t sums_points(const average_problem *p)
{
    return (size_t)(p->n[0] * p->n[1] * p->n[2]);
}

int64_t sums_block(const average_problem *p, int64_t frame)
{
    return p->options.block_frames > 0 ? frame / p->options.block_frames : 0;
}

int64_t sums_block_end(const average_problem *p, int64_t frame)
{
    return p->options.block_frames > 0 ? (sums_block(p, frame) + 1) * p->options.block_frames : INT64_MAX;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

void sums_end(frame_sums *s)
{
    density_destroy(&s->charge);
    density_destroy(&s->phi);
    density_destroy(&s->square);
    s->frames = 0;
}

ley_status sums_begin(const average_problem *p, frame_sums *s, ley_error *error)
{
    ley_status status = LEY_OK;
    if (s->charge.nodes == 0)
        status = density_create(sums_nodes(p), &s->charge, error);
    if (status == LEY_OK && p->by_frame && s->phi.nodes == 0)
        status = density_create(sums_points(p), &s->phi, error);
    if (status == LEY_OK && p->options.deviation && s->square.nodes == 0)
        status = density_create(sums_points(p), &s->square, error);
    return status;
}

static void add_values(const average_problem *p, frame_sums *s, const float *value, bool is_less)
{
    density_scale by = {
        .factor = 1 / p->coulomb_constant, .most = p->most_phi, .exponent = p->phi_exponent, .is_less = is_less};
    density_add_floats(&s->phi, value, &by);
    by.exponent = p->square_exponent;
    by.is_squared = true;
    if (p->options.deviation)
        density_add_floats(&s->square, value, &by);
}

/* To sums that have begun; or away from them again. */
static void add_frames(const average_problem *p, frame_sums *s, const part_sums *part, bool is_less)
{
    void (*const add)(density *, const int64_t *) = is_less ? density_take : density_add;
    add(&s->charge, part->charge);
    if (part->value != NULL)
        add_values(p, s, part->value, is_less);
    if (p->by_frame && part->value == NULL)
        add(&s->phi, part->phi);
    if (p->options.deviation && part->value == NULL)
        add(&s->square, part->square);
    s->frames += is_less ? -part->frames : part->frames;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

size_t sums_plane_count(const average_mesh *mesh)
{
    return (size_t)(mesh->n[0] + mesh->n[1] + mesh->n[2]);
}

void sums_planes(const average_mesh *mesh, const double *charge_e, double *planes)
{
    const int64_t *n = mesh->n;
    memset(planes, 0, sums_plane_count(mesh) * sizeof *planes);
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++) {
            const double *row = charge_e + (z * n[1] + y) * n[0];
            double sum = 0;
            for (int64_t x = 0; x < n[0]; x++) {
                planes[x] += row[x];
                sum += row[x];
            }
            planes[n[0] + y] += sum;
            planes[n[0] + n[1] + z] += sum;
        }
}

ley_status sums_open_block(ley_average *a, int64_t number, block_sums **made, ley_error *error)
{
    block_sums *b = calloc(1, sizeof *b);
    if (b == NULL)
        return ley_fail_memory(error, sizeof *b, "a block");
    b->number = number;
    b->next = a->open;
    a->open = b;
    *made = b;
    return LEY_OK;
}

ley_status sums_find_open(ley_average *a, int64_t number, block_sums **found, ley_error *error)
{
    for (block_sums *b = a->open; b != NULL; b = b->next)
        if (b->number == number) {
            *found = b;
            return LEY_OK;
        }
    return sums_open_block(a, number, found, error);
}

void sums_drop_block(ley_average *a, block_sums *b)
{
    block_sums **link = &a->open;
    while (*link != b)
        link = &(*link)->next;
    *link = b->next;
    sums_end(&b->sums);
    free(b);
}

ley_status sums_reserve_blocks(const average_problem *p, all_blocks *all, int64_t count, ley_error *error)
{
    ley_status status = all->phi.nodes > 0 ? LEY_OK : density_create(sums_points(p), &all->phi, error);
    if (status == LEY_OK && all->square.nodes == 0)
        status = density_create(sums_points(p), &all->square, error);
    if (status != LEY_OK || count <= all->capacity)
        return status;
    const size_t capacity = 2 * (size_t)count + 16, planes = sums_plane_count(&p->mesh);
    int64_t *number = realloc(all->number, capacity * sizeof *number);
    if (number != NULL)
        all->number = number;
    double *grown = realloc(all->planes, capacity * planes * sizeof *grown);
    if (grown != NULL)
        all->planes = grown;
    if (number == NULL || grown == NULL)
        return ley_fail_memory(error, capacity * planes * sizeof *grown, "the blocks");
    all->capacity = (int64_t)capacity;
    return LEY_OK;
}

/* The mean potential of a block, in e / A: by the first frame's cell where it is not frame by
 * frame. */
static ley_status block_potential(const average_problem *p, const block_sums *b, const double *charge_e, double *value,
                                  ley_error *error)
{
    average_problem own = *p;
    own.coulomb_constant = 1;
    if (!p->by_frame)
        return potential_of(&own, p->first_cell_A, charge_e, value, error);
    density_values(&b->sums.phi, ldexp(1 / (double)b->sums.frames, -p->phi_exponent), value);
    return LEY_OK;
}

/* The place of one more block among those that are full, whichever is done first. */
static double *place_block(const average_problem *p, all_blocks *all, int64_t number)
{
    const size_t planes = sums_plane_count(&p->mesh);
    int64_t place = all->count++;
    for (; place > 0 && all->number[place - 1] > number; place--) {
        all->number[place] = all->number[place - 1];
        memcpy(all->planes + (size_t)place * planes, all->planes + (size_t)(place - 1) * planes,
               planes * sizeof *all->planes);
    }
    all->number[place] = number;
    return all->planes + (size_t)place * planes;
}

static ley_status take_block(ley_average *a, const block_sums *b, double *charge_e, double *value, ley_error *error)
{
    const average_problem *p = &a->problem;
    all_blocks *all = &a->blocks;
    density_values(&b->sums.charge, ldexp(1 / (double)b->sums.frames, -p->exponent), charge_e);
    ley_status status = block_potential(p, b, charge_e, value, error);
    if (status == LEY_OK)
        status = sums_reserve_blocks(p, all, all->count + 1, error);
    if (status != LEY_OK)
        return status;
    density_add_values(&all->phi, value, BLOCK_EXPONENT);
    density_add_squares(&all->square, value, 2 * BLOCK_EXPONENT);
    sums_planes(&p->mesh, charge_e, place_block(p, all, b->number));
    return LEY_OK;
}

ley_status sums_end_block(ley_average *a, block_sums *b, ley_error *error)
{
    const average_problem *p = &a->problem;
    if (b->sums.frames < p->options.block_frames)
        return LEY_OK;
    double *charge_e = malloc(sums_nodes(p) * sizeof *charge_e), *value = malloc(sums_points(p) * sizeof *value);
    const ley_status status = charge_e != NULL && value != NULL ? take_block(a, b, charge_e, value, error)
                                                                : ley_fail_memory(error, 8 * sums_points(p), "a block");
    free(charge_e);
    free(value);
    if (status == LEY_OK)
        sums_drop_block(a, b);
    return status;
}

/* After a failure the block is what it was. */
static ley_status add_to_block(ley_average *a, const part_sums *part, ley_error *error)
{
    const average_problem *p = &a->problem;
    block_sums *b = NULL;
    ley_status status = sums_find_open(a, sums_block(p, part->first), &b, error);
    if (status == LEY_OK)
        status = sums_begin(p, &b->sums, error);
    if (status != LEY_OK)
        return status;
    add_frames(p, &b->sums, part, false);
    status = sums_end_block(a, b, error);
    if (status != LEY_OK)
        add_frames(p, &b->sums, part, true);
    return status;
}

/* ---- All ------------------------------------------------------------------------------------- */

ley_status sums_add(ley_average *a, const part_sums *part, ley_error *error)
{
    ley_status status;
    pthread_mutex_lock(&a->sum_mutex);
    if (part->is_partial) {
        sums_end(&a->extra);
        a->extra_first = part->first;
    }
    frame_sums *sums = part->is_partial ? &a->extra : &a->sums;
    status = sums_begin(&a->problem, sums, error);
    if (status == LEY_OK && !part->is_partial && a->problem.options.block_frames > 0)
        status = add_to_block(a, part, error);
    if (status == LEY_OK)
        add_frames(&a->problem, sums, part, false);
    pthread_mutex_unlock(&a->sum_mutex);
    return status;
}

static const density *of_kind(const frame_sums *s, sums_kind kind)
{
    return kind == SUMS_CHARGE ? &s->charge : kind == SUMS_PHI ? &s->phi : &s->square;
}

ley_status sums_values(ley_average *a, sums_kind kind, double *value, int64_t *frames, ley_error *error)
{
    const average_problem *p = &a->problem;
    const int exponent = kind == SUMS_CHARGE ? p->exponent : kind == SUMS_PHI ? p->phi_exponent : p->square_exponent;
    density all = {.nodes = 0};
    ley_status status = LEY_OK;
    pthread_mutex_lock(&a->sum_mutex);
    const bool has_extra = a->extra.frames > 0 && a->filling != NULL && a->extra_first == a->filling->first;
    *frames = a->sums.frames + (has_extra ? a->extra.frames : 0);
    if (has_extra)
        status = density_create(kind == SUMS_CHARGE ? sums_nodes(p) : sums_points(p), &all, error);
    if (has_extra && status == LEY_OK) {
        density_add_all(&all, of_kind(&a->extra, kind));
        if (a->sums.frames > 0)
            density_add_all(&all, of_kind(&a->sums, kind));
    }
    if (status == LEY_OK)
        density_values(has_extra ? &all : of_kind(&a->sums, kind), ldexp(1, -exponent), value);
    pthread_mutex_unlock(&a->sum_mutex);
    density_destroy(&all);
    return status;
}

static double widest_A(const double cell_A[9])
{
    return fmax(cell_length(cell_A), fmax(cell_length(cell_A + 3), cell_length(cell_A + 6)));
}

void sums_widen_cell(ley_average *a, const double cell_A[9])
{
    if (widest_A(cell_A) > widest_A(a->widest_cell_A))
        memcpy(a->widest_cell_A, cell_A, sizeof a->widest_cell_A);
}

void sums_add_exactly(double *sum, double *rest, double more)
{
    const double made = *sum + more, added = made - *sum;
    *rest += (*sum - (made - added)) + (more - added);
    *sum = made;
}

void sums_destroy(ley_average *a)
{
    while (a->open != NULL)
        sums_drop_block(a, a->open);
    sums_end(&a->sums);
    sums_end(&a->extra);
    density_destroy(&a->blocks.phi);
    density_destroy(&a->blocks.square);
    free(a->blocks.number);
    free(a->blocks.planes);
    free(a->response);
}
