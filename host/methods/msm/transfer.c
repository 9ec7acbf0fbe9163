#include "methods/msm/transfer.h"

#include "error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void transfer_kernels_destroy(transfer_kernels *k)
{
    kernel_destroy(&k->anterpolate);
    kernel_destroy(&k->restriction);
    kernel_destroy(&k->prolongation);
    kernel_destroy(&k->interpolation);
}

/* ---- Lattices -------------------------------------------------------------------------------- */

/* As far as kernels look: tiles end behind the last node, windows reach beyond both ends. */
static int64_t before(const window *w)
{
    return 2 * w->points; /* of the finer lattice, around a coarser node that is itself beyond */
}

static int64_t after(const window *w)
{
    return 2 * w->points + SPREAD_EDGE;
}

static ley_status upload_window(const window *w, double factor, room *memory, buffer_of_float *made, ley_error *error)
{
    float c[WINDOW_MOST_POINTS * WINDOW_MOST_POINTS];
    for (int i = 0; i < w->points; i++)
        for (int k = 0; k < w->points; k++)
            c[i * w->points + k] = (float)(factor * w->c[i][k]);
    return room_upload(memory, c, (size_t)(w->points * w->points) * sizeof *c, &made->buffer, error);
}

/* phi(j / 2) in the order of restriction.cl. */
static ley_status upload_two_scale(const window *w, room *memory, buffer_of_float *made, ley_error *error)
{
    float share[WINDOW_MOST_POINTS + 1];
    int count = 0;
    for (int j = 1 - w->points; j < w->points; j++)
        if (j % 2 != 0 || j == 0)
            share[count++] = (float)window_two_scale(w, j);
    return room_upload(memory, share, (size_t)count * sizeof *share, &made->buffer, error);
}

ley_status transfer_lattices_create(transfer_lattices *l, const transfer_kernels *kernels, const hierarchy *h,
                                    const places_array *arrays, room *memory, ley_error *error)
{
    *l = (transfer_lattices){.kernels = kernels, .hierarchy = h};
    places all = {.count = 0};
    ley_status status = LEY_OK;
    for (int level = 0; level < h->levels && status == LEY_OK; level++)
        status = places_add(&all, &arrays[level], before(h->window), after(h->window), &l->level[level], error);
    places_array tiles = arrays[0];
    memset(tiles.periodic, 0, sizeof tiles.periodic);
    if (status == LEY_OK)
        status = places_add(&all, &tiles, 0, SPREAD_EDGE, &l->tiles, error);
    if (status == LEY_OK)
        status = room_upload(memory, all.values, all.count * sizeof *all.values, &l->places.buffer, error);
    free(all.values);
    if (status == LEY_OK)
        status = upload_window(h->window, 1, memory, &l->window, error);
    return status == LEY_OK && h->levels > 1 ? upload_two_scale(h->window, memory, &l->two_scale, error) : status;
}

ley_status transfer_atoms_create(transfer_atoms *a, const spread *s, room *memory, ley_error *error)
{
    const size_t bins = (size_t)(s->bins[0] * s->bins[1] * s->bins[2]), n = s->atoms > 0 ? s->atoms : 1;
    *a = (transfer_atoms){.tiles = {s->bins[0], s->bins[1], s->bins[2]}};
    ley_status status = room_upload(memory, s->tiles, s->tile_count * sizeof *s->tiles, &a->tile_list.buffer, error);
    if (status == LEY_OK)
        status = room_upload(memory, s->sources, s->source_count * sizeof *s->sources, &a->sources.buffer, error);
    if (status == LEY_OK)
        status = room_upload(memory, s->first, (bins + 1) * sizeof *s->first, &a->first.buffer, error);
    if (status == LEY_OK)
        status = room_upload(memory, s->at, n * sizeof *s->at, &a->atoms.buffer, error);
    return status == LEY_OK ? room_upload(memory, s->corner, n * sizeof *s->corner, &a->corners.buffer, error) : status;
}

/* ---- Maps ------------------------------------------------------------------------------------ */

/* Along an axis: the first node of each point, and the weights of all of its. */
static void put_axis(const hierarchy *h, const ley_lattice *points, int axis, double factor, int32_t *nodes,
                     float *weights)
{
    const hierarchy_level *level = &h->level[0];
    const window *w = h->window;
    for (int64_t i = 0; i < points->n[axis]; i++) {
        double point_A[3], index[3], weight[WINDOW_MOST_POINTS];
        for (int k = 0; k < 3; k++)
            point_A[k] = points->origin_A[k] + (double)i * points->step_A[axis][k];
        hierarchy_index(h, point_A, index);
        const double below = floor(index[axis]);
        window_weights(w, index[axis] - below, weight);
        nodes[i] = (int32_t)((int64_t)below + 1 - w->points / 2 - (h->cell.periodic[axis] ? 0 : level->first[axis]));
        for (int k = 0; k < w->points; k++)
            weights[i * w->points + k] = (float)(factor * weight[k]);
    }
}

/* A block's nodes follow each other: along a periodic axis coordinates may be those of images, and
 * there are places for all of these. */
static ley_status make_axes(transfer_map *m, const transfer_lattices *l, const ley_lattice *points, double factor,
                            room *memory, int32_t *nodes, float *weights, ley_error *error)
{
    const size_t count = (size_t)(points->n[0] + points->n[1] + points->n[2]), p = (size_t)l->hierarchy->window->points;
    size_t at = 0;
    for (int axis = 0; axis < 3; axis++) {
        put_axis(l->hierarchy, points, axis, axis == 2 ? factor : 1, nodes + at, weights + at * p);
        at += (size_t)points->n[axis];
    }
    const ley_status status = room_upload(memory, nodes, count * sizeof *nodes, &m->nodes.buffer, error);
    return status == LEY_OK ? room_upload(memory, weights, count * p * sizeof *weights, &m->weights.buffer, error)
                            : status;
}

/* Nodes / 2^32 as two ints. */
static void put_fixed(double nodes, int32_t halves[2])
{
    const int64_t fixed = (int64_t)floor(nodes * 0x1p32 + 0.5);
    halves[0] = (int32_t)(uint32_t)(fixed & 0xffffffff);
    halves[1] = (int32_t)(fixed >> 32);
}

static ley_status make_index(transfer_map *m, const transfer_lattices *l, const ley_lattice *points, double factor,
                             room *memory, ley_error *error)
{
    const hierarchy *h = l->hierarchy;
    int32_t halves[12][2];
    double origin[3];
    hierarchy_index(h, points->origin_A, origin);
    for (int axis = 0; axis < 3; axis++) {
        const bool is_periodic = h->cell.periodic[axis];
        m->whole[axis] = is_periodic ? h->level[0].n[axis] : 0;
        put_fixed(origin[axis] - (is_periodic ? 0 : (double)h->level[0].first[axis]), halves[axis]);
        for (int along = 0; along < 3; along++) {
            double step = 0;
            for (int k = 0; k < 3; k++)
                step += h->inverse_per_A[axis][k] * points->step_A[along][k];
            put_fixed(step, halves[3 + 3 * along + axis]);
        }
    }
    const ley_status status = room_upload(memory, halves, sizeof halves, &m->index.buffer, error);
    return status == LEY_OK ? upload_window(h->window, cbrt(factor), memory, &m->window, error) : status;
}

/* Coordinates of nodes that a map looks at, of images too, before 0 and behind the last. */
static void find_beyond(const hierarchy *h, const ley_lattice *points, int64_t beyond[2])
{
    beyond[0] = before(h->window);
    beyond[1] = after(h->window);
    for (int axis = 0; axis < 3; axis++)
        for (int64_t i = 0; i<points->n[axis]; i += points->n[axis]> 1 ? points->n[axis] - 1 : 1) {
            double point_A[3], index[3];
            for (int k = 0; k < 3; k++)
                point_A[k] = points->origin_A[k] + (double)i * points->step_A[axis][k];
            hierarchy_index(h, point_A, index);
            const int64_t at = (int64_t)floor(index[axis]) - (h->cell.periodic[axis] ? 0 : h->level[0].first[axis]),
                          reach = h->window->points, behind = at + reach - h->level[0].n[axis];
            beyond[0] = reach - at > beyond[0] ? reach - at : beyond[0];
            beyond[1] = behind > beyond[1] ? behind : beyond[1];
        }
}

static ley_status make_places(transfer_map *m, const transfer_lattices *l, const places_array *array,
                              const ley_lattice *points, const places_array *planes, room *memory, ley_error *error)
{
    places all = {.count = 0};
    int64_t beyond[2] = {before(l->hierarchy->window), after(l->hierarchy->window)};
    if (l->kernels->along_axes)
        find_beyond(l->hierarchy, points, beyond);
    ley_status status = places_add(&all, array, beyond[0], beyond[1], &m->lattice, error);
    if (status == LEY_OK)
        status = places_add(&all, planes, 0, 0, &m->planes, error);
    if (status == LEY_OK)
        status = room_upload(memory, all.values, all.count * sizeof *all.values, &m->places.buffer, error);
    free(all.values);
    return status;
}

ley_status transfer_map_create(transfer_map *m, const transfer_lattices *l, const places_array *array,
                               const ley_lattice *points, const places_array *planes, double factor, room *memory,
                               ley_error *error)
{
    const size_t count = (size_t)(points->n[0] + points->n[1] + points->n[2]), p = (size_t)l->hierarchy->window->points;
    *m = (transfer_map){.n = {points->n[0], points->n[1], points->n[2]}};
    ley_status status = make_places(m, l, array, points, planes, memory, error);
    if (status != LEY_OK || !l->kernels->along_axes)
        return status == LEY_OK ? make_index(m, l, points, factor, memory, error) : status;
    int32_t *nodes = malloc(count * sizeof *nodes);
    float *weights = malloc(count * p * sizeof *weights);
    status = nodes != NULL && weights != NULL
                 ? make_axes(m, l, points, factor, memory, nodes, weights, error)
                 : ley_fail_memory(error, count * p * sizeof *weights, "weights of a map's points");
    free(nodes);
    free(weights);
    return status;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void put_places(int32_t to[4], const places_of *from)
{
    memcpy(to, from->at, sizeof from->at);
}

void transfer_anterpolate(work *w, const transfer_lattices *l, const transfer_atoms *a, buffer_of_float charges)
{
    const int64_t tiles = a->tiles[0] * a->tiles[1] * a->tiles[2];
    anterpolate_arguments arguments = {.kind = &anterpolate_kind,
                                       .gm_window = l->window,
                                       .gm_tiles = a->tile_list,
                                       .tiles = {(int32_t)a->tiles[0], (int32_t)a->tiles[1], (int32_t)a->tiles[2], 0},
                                       .gm_sources = a->sources,
                                       .bins = {(int32_t)a->tiles[0], (int32_t)a->tiles[1], (int32_t)a->tiles[2], 0},
                                       .gm_first = a->first,
                                       .gm_atoms = a->atoms,
                                       .gm_corners = a->corners,
                                       .gm_places = l->places,
                                       .gm_charges = charges};
    put_places(arguments.places, &l->tiles);
    work_launch(w, &l->kernels->anterpolate, (const size_t[3]){(size_t)tiles, 1, 1}, &arguments, 0);
}

/* How far a finer lattice's node is from the coarser one's node 0, by their numbers; nodes of the
 * one that is computed; its work-groups. */
typedef struct between {
    int32_t shift[4], nodes[4];
    size_t groups[3];
} between;

static between between_levels(const transfer_lattices *l, int fine, int computed, const dev_kernel *kernel)
{
    const hierarchy *h = l->hierarchy;
    between b = {.shift = {0}};
    for (int axis = 0; axis < 3; axis++) {
        const int64_t first = h->cell.periodic[axis] ? 0 : h->level[fine].first[axis],
                      coarse_first = h->cell.periodic[axis] ? 0 : h->level[fine + 1].first[axis];
        b.shift[axis] = (int32_t)(2 * coarse_first - first);
        b.nodes[axis] = (int32_t)h->level[computed].n[axis];
        b.groups[axis] = ((size_t)b.nodes[axis] + kernel->group_size[axis] - 1) / kernel->group_size[axis];
    }
    return b;
}

void transfer_restrict(work *w, const transfer_lattices *l, int fine, buffer_of_float charges)
{
    const between b = between_levels(l, fine, fine + 1, &l->kernels->restriction);
    restriction_arguments arguments = {
        .kind = &restriction_kind, .gm_two_scale = l->two_scale, .gm_places = l->places, .gm_charges = charges};
    put_places(arguments.fine, &l->level[fine]);
    put_places(arguments.coarse, &l->level[fine + 1]);
    memcpy(arguments.shift, b.shift, sizeof b.shift);
    memcpy(arguments.nodes, b.nodes, sizeof b.nodes);
    work_launch(w, &l->kernels->restriction, b.groups, &arguments, 0);
}

void transfer_prolongate(work *w, const transfer_lattices *l, int fine, buffer_of_float potentials)
{
    const between b = between_levels(l, fine, fine, &l->kernels->prolongation);
    prolongation_arguments arguments = {
        .kind = &prolongation_kind, .gm_two_scale = l->two_scale, .gm_places = l->places, .gm_potentials = potentials};
    put_places(arguments.fine, &l->level[fine]);
    put_places(arguments.coarse, &l->level[fine + 1]);
    memcpy(arguments.shift, b.shift, sizeof b.shift);
    memcpy(arguments.nodes, b.nodes, sizeof b.nodes);
    work_launch(w, &l->kernels->prolongation, b.groups, &arguments, 0);
}

static void interpolate_along_axes(work *w, const transfer_lattices *l, const transfer_map *m, int64_t first,
                                   int64_t count, bool accumulate, buffer_of_float potentials, buffer_of_float phi)
{
    const interpolation_spec *s = &l->kernels->blocks;
    const int64_t block[3] = {s->block_x, s->block_y, s->block_z}, points[3] = {m->n[0], m->n[1], count};
    size_t groups[3];
    for (int axis = 0; axis < 3; axis++)
        groups[axis] = (size_t)((points[axis] + block[axis] - 1) / block[axis]);
    interpolation_arguments arguments = {
        .kind = &interpolation_kind,
        .gm_potentials = potentials,
        .gm_places = m->places,
        .gm_nodes = m->nodes,
        .gm_weights = m->weights,
        .axes = {(int32_t)m->n[0], (int32_t)(m->n[0] + m->n[1]), 0, 0},
        .points = {(int32_t)m->n[0], (int32_t)m->n[1], (int32_t)first, (int32_t)(first + count)},
        .accumulate = accumulate,
        .gm_phi = phi};
    put_places(arguments.lattice, &m->lattice);
    put_places(arguments.map, &m->planes);
    work_launch(w, &l->kernels->interpolation, groups, &arguments, 0);
}

static void interpolate_anywhere(work *w, const transfer_lattices *l, const transfer_map *m, int64_t first,
                                 int64_t count, bool accumulate, buffer_of_float potentials, buffer_of_float phi)
{
    const int64_t points[3] = {m->n[0], m->n[1], count};
    const dev_kernel *kernel = &l->kernels->interpolation;
    size_t groups[3];
    for (int axis = 0; axis < 3; axis++)
        groups[axis] = ((size_t)points[axis] + kernel->group_size[axis] - 1) / kernel->group_size[axis];
    interpolation_gather_arguments arguments = {
        .kind = &interpolation_gather_kind,
        .gm_window = m->window,
        .gm_potentials = potentials,
        .gm_places = m->places,
        .gm_index = m->index,
        .whole = {(int32_t)m->whole[0], (int32_t)m->whole[1], (int32_t)m->whole[2], 0},
        .points = {(int32_t)m->n[0], (int32_t)m->n[1], (int32_t)first, (int32_t)(first + count)},
        .accumulate = accumulate,
        .gm_phi = phi};
    put_places(arguments.lattice, &m->lattice);
    put_places(arguments.map, &m->planes);
    work_launch(w, kernel, groups, &arguments, 0);
}

void transfer_interpolate(work *w, const transfer_lattices *l, const transfer_map *m, int64_t first, int64_t count,
                          bool accumulate, buffer_of_float potentials, buffer_of_float phi)
{
    (l->kernels->along_axes ? interpolate_along_axes : interpolate_anywhere)(w, l, m, first, count, accumulate,
                                                                             potentials, phi);
}
