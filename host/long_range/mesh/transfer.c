#include "long_range/mesh/transfer.h"

#include "core/sizes.h"
#include "error.h"
#include "layout/grid_frame.h"
#include "long_range/mesh/step_costs.h"

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

/* ---- Meshes -------------------------------------------------------------------------------- */

/* As far as kernels look: tiles end behind the last node, windows reach beyond both ends, and the
 * coarser level of a part has whole edges. */
static int64_t before(const window *w)
{
    return 2 * (w->points + HIERARCHY_EDGE); /* of the finer mesh, around a coarser node that is itself beyond */
}

static int64_t after(const window *w)
{
    return before(w) + SPREAD_EDGE;
}

/* Behind it come nine more numbers, of interpolation_gather.cl with the field; or NULL. */
static ley_status upload_window(const window *w, double factor, const double more[3][3], arena *memory,
                                buffer_of_float *made, ley_error *error)
{
    float c[WINDOW_MOST_POINTS * WINDOW_MOST_POINTS + 9];
    const int count = w->points * w->points;
    for (int i = 0; i < w->points; i++)
        for (int k = 0; k < w->points; k++)
            c[i * w->points + k] = (float)(factor * w->c[i][k]);
    for (int i = 0; i < 9 && more != NULL; i++)
        c[count + i] = (float)more[i / 3][i % 3];
    return arena_upload(memory, c, (size_t)(count + (more != NULL ? 9 : 0)) * sizeof *c, &made->buffer, error);
}

/* phi(j / 2) in the order of restriction.cl. */
static ley_status upload_two_scale(const window *w, arena *memory, buffer_of_float *made, ley_error *error)
{
    float share[WINDOW_MOST_POINTS + 1];
    int count = 0;
    for (int j = 1 - w->points; j < w->points; j++)
        if (j % 2 != 0 || j == 0)
            share[count++] = (float)window_two_scale(w, j);
    return arena_upload(memory, share, (size_t)count * sizeof *share, &made->buffer, error);
}

ley_status transfer_meshes_create(transfer_meshes *l, const transfer_kernels *kernels, const hierarchy *h,
                                  const coordinate_table *arrays, arena *memory, ley_error *error)
{
    *l = (transfer_meshes){.kernels = kernels, .hierarchy = h};
    coordinates all = {.count = 0};
    ley_status status = LEY_OK;
    for (int level = 0; level < h->levels && status == LEY_OK; level++)
        status = coordinates_add(&all, &arrays[level], before(h->window), after(h->window), &l->level[level], error);
    coordinate_table tiles = arrays[0];
    memset(tiles.periodic, 0, sizeof tiles.periodic);
    if (status == LEY_OK)
        status = coordinates_add(&all, &tiles, 0, SPREAD_EDGE, &l->tiles, error);
    if (status == LEY_OK)
        status = arena_upload(memory, all.values, all.count * sizeof *all.values, &l->places.buffer, error);
    free(all.values);
    if (status == LEY_OK)
        status = upload_window(h->window, 1, NULL, memory, &l->window, error);
    return status == LEY_OK && h->levels > 1 ? upload_two_scale(h->window, memory, &l->two_scale, error) : status;
}

ley_status transfer_atoms_tiles(transfer_atoms *a, const spread *s, arena *memory, ley_error *error)
{
    ley_status status = LEY_OK;
    a->count = s->atoms;
    memcpy(a->tiles, s->bins, sizeof a->tiles);
    if (a->tile_list.buffer == NULL)
        status = arena_upload(memory, s->tiles, s->tile_count * sizeof *s->tiles, &a->tile_list.buffer, error);
    if (status == LEY_OK && a->sources.buffer == NULL)
        status = arena_upload(memory, s->sources, s->source_count * sizeof *s->sources, &a->sources.buffer, error);
    return status == LEY_OK
               ? arena_upload(memory, s->first, (spread_bins(s) + 1) * sizeof *s->first, &a->first.buffer, error)
               : status;
}

ley_status transfer_atoms_create(transfer_atoms *a, const spread *s, arena *memory, ley_error *error)
{
    const size_t n = s->atoms > 0 ? s->atoms : 1;
    ley_status status = transfer_atoms_tiles(a, s, memory, error);
    if (status == LEY_OK)
        status = arena_upload(memory, s->at, n * sizeof *s->at, &a->atoms.buffer, error);
    return status == LEY_OK ? arena_upload(memory, s->corner, n * sizeof *s->corner, &a->corners.buffer, error)
                            : status;
}

void transfer_atoms_free(transfer_atoms *a, arena *memory)
{
    dev_buffer **const own[] = {&a->first.buffer, &a->atoms.buffer, &a->corners.buffer};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        arena_free_buffer(memory, own[i]);
}

/* ---- Maps ------------------------------------------------------------------------------------ */

/* What each component of the field is of derivatives along the mesh's axes, per node: components
 * are along the axes of the frame that pairs are summed in. */
static void find_field(const hierarchy *h, const ley_grid *points, double field[3][3])
{
    grid_frame frame;
    grid_frame_make(points, GRID_FRAME_COLUMNS_ALONG_Z, &frame);
    for (int k = 0; k < 3; k++) {
        double gradient[3];
        grid_frame_vector(&frame, h->inverse_per_A[k], gradient);
        for (int axis = 0; axis < 3; axis++)
            field[axis][k] = -gradient[axis];
    }
}

/* Along an axis: the first node of each point, and the weights of all of its; with the field behind
 * them their slopes, times `slope_factor`; 0: without. */
static void put_axis(const hierarchy *h, const ley_grid *points, int axis, double factor, double slope_factor,
                     int32_t *nodes, float *weights)
{
    const bool field = slope_factor != 0;
    const hierarchy_level *level = &h->level[0];
    const window *w = h->window;
    for (int64_t i = 0; i < points->n[axis]; i++) {
        double point_A[3], index[3], weight[WINDOW_MOST_POINTS], slope[WINDOW_MOST_POINTS];
        float *own = weights + i * w->points * (field ? 2 : 1);
        for (int k = 0; k < 3; k++)
            point_A[k] = points->origin_A[k] + (double)i * points->step_A[axis][k];
        hierarchy_index(h, point_A, index);
        const double below = floor(index[axis]);
        window_weights(w, index[axis] - below, weight);
        nodes[i] = (int32_t)((int64_t)below + 1 - w->points / 2 - (h->cell.periodic[axis] ? 0 : level->first[axis]));
        for (int k = 0; k < w->points; k++)
            own[k] = (float)(factor * weight[k]);
        if (field)
            window_slopes(w, index[axis] - below, slope);
        for (int k = 0; k < w->points && field; k++)
            own[w->points + k] = (float)(slope_factor * slope[k]);
    }
}

/* Of a coordinate: weights, and slopes. */
static size_t numbers_of_coordinate(const transfer_meshes *l)
{
    return (size_t)l->hierarchy->window->points * (l->kernels->field ? 2 : 1);
}

/* A block's nodes follow each other: along a periodic axis coordinates may be those of images, and
 * there are places for all of these. */
static ley_status make_axes(transfer_map *m, const transfer_meshes *l, const ley_grid *points, double factor,
                            arena *memory, int32_t *nodes, float *weights, ley_error *error)
{
    const size_t count = (size_t)(points->n[0] + points->n[1] + points->n[2]), p = numbers_of_coordinate(l);
    double field[3][3];
    size_t at = 0;
    find_field(l->hierarchy, points, field);
    for (int axis = 0; axis < 3; axis++) {
        const double own_factor = axis == 2 ? factor : 1;
        put_axis(l->hierarchy, points, axis, own_factor, l->kernels->field ? own_factor * field[axis][axis] : 0,
                 nodes + at, weights + at * p);
        at += (size_t)points->n[axis];
    }
    m->shear[0] = field[0][1] / field[1][1];
    m->shear[1] = field[0][2] / field[2][2];
    m->shear[2] = field[1][2] / field[2][2];
    const ley_status status = arena_upload(memory, nodes, count * sizeof *nodes, &m->nodes.buffer, error);
    return status == LEY_OK ? arena_upload(memory, weights, count * p * sizeof *weights, &m->weights.buffer, error)
                            : status;
}

double transfer_step_nodes(const hierarchy *h, int axis, const double step_A[3])
{
    return cell_dot(h->inverse_per_A[axis], step_A);
}

/* Nodes / 2^32 as two ints. */
static void put_fixed(double nodes, int32_t halves[2])
{
    const int64_t fixed = (int64_t)floor(nodes * 0x1p32 + 0.5);
    halves[0] = (int32_t)(uint32_t)(fixed & 0xffffffff);
    halves[1] = (int32_t)(fixed >> 32);
}

static ley_status make_index(transfer_map *m, const transfer_meshes *l, const ley_grid *points, double factor,
                             arena *memory, ley_error *error)
{
    const hierarchy *h = l->hierarchy;
    int32_t halves[12][2];
    double origin[3];
    hierarchy_index(h, points->origin_A, origin);
    for (int axis = 0; axis < 3; axis++) {
        const bool is_periodic = h->cell.periodic[axis];
        m->whole[axis] = is_periodic ? h->level[0].n[axis] : 0;
        put_fixed(origin[axis] - (is_periodic ? 0 : (double)h->level[0].first[axis]), halves[axis]);
        for (int along = 0; along < 3; along++)
            put_fixed(transfer_step_nodes(h, axis, points->step_A[along]), halves[3 + 3 * along + axis]);
    }
    const ley_status status = arena_upload(memory, halves, sizeof halves, &m->index.buffer, error);
    double field[3][3];
    find_field(h, points, field);
    return status == LEY_OK
               ? upload_window(h->window, cbrt(factor), l->kernels->field ? (const double(*)[3])field : NULL, memory,
                               &m->window, error)
               : status;
}

/* Coordinates of nodes that a map looks at, of images too, before 0 and behind the last. */
static void find_beyond(const hierarchy *h, const ley_grid *points, int64_t beyond[2])
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

static ley_status make_places(transfer_map *m, const transfer_meshes *l, const coordinate_table *array,
                              const ley_grid *points, const coordinate_table *planes, arena *memory, ley_error *error)
{
    coordinates all = {.count = 0};
    int64_t beyond[2] = {before(l->hierarchy->window), after(l->hierarchy->window)};
    if (l->kernels->along_axes)
        find_beyond(l->hierarchy, points, beyond);
    ley_status status = coordinates_add(&all, array, beyond[0], beyond[1], &m->mesh, error);
    if (status == LEY_OK)
        status = coordinates_add(&all, planes, 0, 0, &m->planes, error);
    if (status == LEY_OK)
        status = arena_upload(memory, all.values, all.count * sizeof *all.values, &m->places.buffer, error);
    free(all.values);
    return status;
}

ley_status transfer_map_create(transfer_map *m, const transfer_meshes *l, const coordinate_table *array,
                               const ley_grid *points, const coordinate_table *planes, double factor, arena *memory,
                               ley_error *error)
{
    const size_t count = (size_t)(points->n[0] + points->n[1] + points->n[2]), p = numbers_of_coordinate(l);
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

cutoff_mesh transfer_map_mesh(const transfer_meshes *l, const transfer_map *m, buffer_of_float potentials)
{
    cutoff_mesh made = {.potentials = potentials,
                        .weights = m->weights,
                        .places = m->places,
                        .nodes = m->nodes,
                        .axes = {(int32_t)m->n[0], (int32_t)(m->n[0] + m->n[1]), l->hierarchy->window->points, 0}};
    memcpy(made.mesh, m->mesh.at, sizeof made.mesh);
    return made;
}

/* ---- Predictions ----------------------------------------------------------------------------- */

/* Steps count as multiply-adds, of whose rate kernels reach about these shares, until a job has
 * shown what they cost on the device: measured with PoCL on two cores, where nodes, and points
 * anywhere, are computed without vectors; guessed for GPUs, where too low a guess only makes more
 * launches. */
typedef struct share {
    double cpu, gpu;
} share;
static const share anterpolation_share = {0.25, 0.15}, node_share = {0.012, 0.05}, block_share = {0.15, 0.1};

static double cube(double x)
{
    return x * x * x;
}

static double unit_s_of(const dev_info *info, const calibration *facts, share of)
{
    const double per_s = (info->device_class == DEV_CPU ? of.cpu : of.gpu) * facts->fma_per_s;
    return per_s > 0 ? 1 / per_s : 0;
}

static double usual_unit_s(const transfer_kernels *k, share of)
{
    return unit_s_of(k->device->info, &k->facts, of);
}

static double seconds(const transfer_kernels *k, share of, double multiply_adds)
{
    return multiply_adds * usual_unit_s(k, of);
}

static const char *const step_names[TRANSFER_LEARNT] = {"anterpolation", "restriction", "prolongation"};

void transfer_take_usual_costs(transfer_kernels *k)
{
    for (int i = 0; i < TRANSFER_LEARNT; i++)
        k->unit_s[i] = usual_unit_s(k, i == TRANSFER_ANTERPOLATION ? anterpolation_share : node_share);
}

void transfer_look_up_costs(transfer_kernels *k)
{
    for (int i = 0; i < TRANSFER_LEARNT; i++)
        k->unit_s[i] = step_cost(k->device->info, step_names[i], k->window->name,
                                 usual_unit_s(k, i == TRANSFER_ANTERPOLATION ? anterpolation_share : node_share));
}

bool transfer_was_used(const transfer_kernels *k)
{
    return step_cost(k->device->info, step_names[TRANSFER_ANTERPOLATION], k->window->name, 0) > 0;
}

void transfer_learn(const transfer_kernels *k, int step, double predicted_s, double took_s)
{
    step_cost_learn(k->device->info, step_names[step], k->window->name, k->unit_s[step], predicted_s, took_s);
}

/* An atom has nodes in so many tiles along an axis, on average. In each it has weights, and gives
 * shares to all of a tile's nodes, or, of work-items that are alone, to planes that it reaches. */
double transfer_anterpolation_s(const transfer_kernels *k, size_t atoms)
{
    const double edge = SPREAD_EDGE, points = k->window->points, tiles = (edge + points - 1) / edge;
    const double weights = cube(tiles) * 3 * edge * points,
                 planes = k->anterpolate.group_size[0] == 1 ? tiles * tiles * points : cube(tiles) * edge,
                 shares = planes * edge * edge;
    return k->unit_s[TRANSFER_ANTERPOLATION] * (double)atoms * (weights + shares);
}

/* Multiply-adds of nodes that others have a share in, so many for each along an axis. */
static double count_shares(const int64_t n[3], double shares)
{
    return (double)n[0] * (double)n[1] * (double)n[2] * cube(shares);
}

/* What predicts before there are kernels; `device` is to live as long. */
static transfer_kernels foreseen(dev *device, const calibration *facts, const window *w)
{
    transfer_kernels t = {.device = device, .window = w};
    t.anterpolate.group_size[0] = device->info->device_class == DEV_CPU ? 1 : 64;
    if (facts != NULL)
        t.facts = *facts;
    else
        calibrate_known(NULL, device->info, CALIBRATE_MULTIPLY_ADDS, &t.facts);
    transfer_look_up_costs(&t);
    return t;
}

double transfer_foresee_anterpolation_s(const dev_info *info, const calibration *facts, const window *w, size_t atoms)
{
    dev device = {.info = info};
    const transfer_kernels t = foreseen(&device, facts, w);
    return transfer_anterpolation_s(&t, atoms);
}

double transfer_restriction_s(const transfer_kernels *k, const int64_t n[3])
{
    return k->unit_s[TRANSFER_RESTRICTION] * count_shares(n, k->window->points + 1);
}

double transfer_prolongation_s(const transfer_kernels *k, const int64_t n[3])
{
    return k->unit_s[TRANSFER_PROLONGATION] * count_shares(n, 0.5 * (k->window->points + 1));
}

double transfer_foresee_levels_s(const dev_info *info, const calibration *facts, const hierarchy *h)
{
    dev device = {.info = info};
    const transfer_kernels t = foreseen(&device, facts, h->window);
    double sum_s = 0;
    for (int k = 0; k + 1 < h->levels; k++)
        sum_s += transfer_restriction_s(&t, h->level[k + 1].n) + transfer_prolongation_s(&t, h->level[k].n);
    return sum_s;
}

int transfer_block_nodes(int block, double nodes_per_point, int points)
{
    enum { MOST_NODES = 1000 };
    const double nodes = ceil((block - 1) * nodes_per_point) + points + 1;
    return nodes < MOST_NODES ? (int)nodes : MOST_NODES;
}

static double rounded_nodes(int block, double nodes_per_point, int points)
{
    return (double)ley_round_up(transfer_block_nodes(block, nodes_per_point, points), LEY_INTERPOLATION_ROWS);
}

double transfer_block_s(const dev_info *info, const calibration *facts, const interpolation_spec *s,
                        const double nodes_per_point[3])
{
    const double nodes_x = rounded_nodes(s->block_x, nodes_per_point[0], s->window),
                 nodes_y = rounded_nodes(s->block_y, nodes_per_point[1], s->window),
                 nodes_z = (s->block_z - 1) * nodes_per_point[2] + s->window, rows = nodes_y * nodes_z,
                 planes = s->block_y * nodes_z, columns = (double)s->block_y * s->block_z;
    const int weight_sets = s->field ? 2 : 1, plane_sets = s->field ? 3 : 1;
    return unit_s_of(info, facts, block_share) *
           (rows * nodes_x +
            s->window * s->block_x * (weight_sets * rows + plane_sets * planes + LEY_COMPONENTS(s->field) * columns));
}

static double blocks_seconds(const transfer_kernels *k, const size_t groups[3])
{
    return (double)groups[0] * (double)groups[1] * (double)groups[2] *
           transfer_block_s(k->device->info, &k->facts, &k->blocks, k->nodes_per_point);
}

/* Of `count` planes or tiles: what one launch takes, a multiple of `step` but at the end. */
static int64_t per_launch(const transfer_kernels *k, int64_t count, int64_t step, double predicted_s)
{
    const double most = predicted_s > k->launch_s ? (double)count * k->launch_s / predicted_s : (double)count;
    const int64_t whole = (int64_t)most / step * step;
    return most >= (double)count ? count : whole > step ? whole : step;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void put_places(int32_t to[4], const coordinates_of *from)
{
    memcpy(to, from->at, sizeof from->at);
}

void transfer_anterpolate(command_sequence *w, const transfer_meshes *l, const transfer_atoms *a,
                          buffer_of_float charges)
{
    transfer_anterpolate_layers(w, l, a, (spread_layers){0, a->tiles[2]}, charges);
}

void transfer_anterpolate_layers(command_sequence *w, const transfer_meshes *l, const transfer_atoms *a,
                                 spread_layers layers, buffer_of_float charges)
{
    const transfer_kernels *k = l->kernels;
    const int64_t per_layer = a->tiles[0] * a->tiles[1], before = layers.first * per_layer,
                  tiles = (layers.end - layers.first) * per_layer;
    const double predicted_s = transfer_anterpolation_s(k, a->count);
    const size_t limit = k->device->info->max_groups[0];
    int64_t most = per_launch(k, tiles, 1, predicted_s), count;
    if (limit > 0 && (uint64_t)most > limit)
        most = (int64_t)limit;
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
    for (int64_t first = 0; first < tiles; first += count) {
        count = tiles - first < most ? tiles - first : most;
        arguments.tiles[3] = (int32_t)(before + first);
        sequence_launch(w, &k->anterpolate, (const size_t[3]){(size_t)count, 1, 1}, &arguments,
                        predicted_s * (double)count / (double)tiles);
    }
}

/* How far a finer mesh's node is from the coarser one's node 0, by their numbers. */
static void find_device_run(const hierarchy *h, int fine, int32_t shift[4])
{
    for (int axis = 0; axis < 3; axis++)
        shift[axis] =
            h->cell.periodic[axis] ? 0 : (int32_t)(2 * h->level[fine + 1].first[axis] - h->level[fine].first[axis]);
    shift[3] = 0;
}

/* Work-groups for n[0] x n[1] x planes of something, of which each one has these. */
static void count_groups(const int64_t n[3], int64_t planes, const int64_t per_group[3], size_t groups[3])
{
    for (int axis = 0; axis < 3; axis++)
        groups[axis] = (size_t)(ley_round_up(axis == 2 ? planes : n[axis], per_group[axis]) / per_group[axis]);
}

static void count_groups_of_nodes(const dev_kernel *kernel, const int64_t n[3], int64_t planes, size_t groups[3])
{
    const int64_t size[3] = {(int64_t)kernel->group_size[0], (int64_t)kernel->group_size[1],
                             (int64_t)kernel->group_size[2]};
    count_groups(n, planes, size, groups);
}

/* From one level to its neighbour: level `fine` + 1 is written, or level `fine`. */
static void launch_between(command_sequence *w, const transfer_meshes *l, const dev_kernel *kernel, int fine,
                           bool to_coarse, buffer_of_float from, buffer_of_float to)
{
    const transfer_kernels *k = l->kernels;
    const int64_t *n = l->hierarchy->level[to_coarse ? fine + 1 : fine].n;
    const double predicted_s = to_coarse ? transfer_restriction_s(k, n) : transfer_prolongation_s(k, n);
    const int64_t most = per_launch(k, n[2], (int64_t)kernel->group_size[2], predicted_s);
    between_arguments arguments = {.kind = to_coarse ? &restriction_kind : &prolongation_kind,
                                   .gm_two_scale = l->two_scale,
                                   .gm_places = l->places,
                                   .nodes = {(int32_t)n[0], (int32_t)n[1], 0, 0},
                                   .gm_from = from,
                                   .gm_to = to};
    find_device_run(l->hierarchy, fine, arguments.shift);
    put_places(arguments.fine, &l->level[fine]);
    put_places(arguments.coarse, &l->level[fine + 1]);
    for (int64_t z = 0, planes; z < n[2]; z += planes) {
        size_t groups[3];
        planes = n[2] - z < most ? n[2] - z : most;
        arguments.nodes[2] = (int32_t)planes;
        count_groups_of_nodes(kernel, n, planes, groups);
        sequence_launch(w, kernel, groups, &arguments, predicted_s * (double)planes / (double)n[2]);
        (to_coarse ? arguments.coarse : arguments.fine)[2] += (int32_t)planes; /* the next launch's plane 0 */
        arguments.shift[2] += (to_coarse ? 2 : -1) * (int32_t)planes;
    }
}

void transfer_restrict(command_sequence *w, const transfer_meshes *l, int fine, buffer_of_float from,
                       buffer_of_float to)
{
    launch_between(w, l, &l->kernels->restriction, fine, true, from, to);
}

void transfer_prolongate(command_sequence *w, const transfer_meshes *l, int fine, buffer_of_float from,
                         buffer_of_float to)
{
    launch_between(w, l, &l->kernels->prolongation, fine, false, from, to);
}

static interpolation_arguments along_axes(const transfer_meshes *l, const transfer_map *m, bool accumulate,
                                          int64_t component, buffer_of_float potentials, buffer_of_float phi)
{
    const cutoff_mesh tables = transfer_map_mesh(l, m, potentials);
    interpolation_arguments made = {.kind = &interpolation_kind,
                                    .gm_potentials = tables.potentials,
                                    .gm_places = tables.places,
                                    .gm_nodes = tables.nodes,
                                    .gm_weights = tables.weights,
                                    .points = {(int32_t)m->n[0], (int32_t)m->n[1], 0, 0},
                                    .accumulate = accumulate,
                                    .gm_phi = phi};
    memcpy(made.mesh, tables.mesh, sizeof made.mesh);
    memcpy(made.axes, tables.axes, sizeof made.axes);
    made.axes[3] = (int32_t)component;
    memcpy(made.shear, m->shear, sizeof m->shear);
    put_places(made.map, &m->planes);
    return made;
}

static interpolation_gather_arguments anywhere(const transfer_map *m, bool accumulate, int64_t component,
                                               buffer_of_float potentials, buffer_of_float phi)
{
    interpolation_gather_arguments made = {
        .kind = &interpolation_gather_kind,
        .gm_window = m->window,
        .gm_potentials = potentials,
        .gm_places = m->places,
        .gm_index = m->index,
        .whole = {(int32_t)m->whole[0], (int32_t)m->whole[1], (int32_t)m->whole[2], (int32_t)component},
        .points = {(int32_t)m->n[0], (int32_t)m->n[1], 0, 0},
        .accumulate = accumulate,
        .gm_phi = phi};
    put_places(made.mesh, &m->mesh);
    put_places(made.map, &m->planes);
    return made;
}

/* What a launch does of a map's n[0] x n[1] x planes points. */
typedef struct piece {
    size_t groups[3];
    double predicted_s;
} piece;

static piece make_piece(const transfer_kernels *k, const int64_t n[3], int64_t planes)
{
    const interpolation_spec *s = &k->blocks;
    piece p;
    if (k->along_axes) {
        count_groups(n, planes, (const int64_t[3]){s->block_x, s->block_y, s->block_z}, p.groups);
        p.predicted_s = blocks_seconds(k, p.groups);
    } else {
        const double points = (double)n[0] * (double)n[1] * (double)planes, along = k->window->points,
                     across = along * along;
        const double shares = k->row_nodes > 0 ? along + k->nodes_per_point[0] * across : along * across;
        count_groups_of_nodes(&k->interpolation, n, planes, p.groups);
        p.predicted_s = (k->field ? k->row_nodes > 0 ? 3 : 2 : 1) * seconds(k, node_share, points * shares);
    }
    return p;
}

double transfer_interpolation_s(const transfer_kernels *kernels, const int64_t n[3])
{
    return make_piece(kernels, n, n[2]).predicted_s;
}

void transfer_interpolate(command_sequence *w, const transfer_meshes *l, const transfer_map *m, int64_t first,
                          int64_t count, bool accumulate, int64_t component, buffer_of_float potentials,
                          buffer_of_float phi)
{
    const transfer_kernels *k = l->kernels;
    interpolation_arguments in_blocks = along_axes(l, m, accumulate, component, potentials, phi);
    interpolation_gather_arguments at_points = anywhere(m, accumulate, component, potentials, phi);
    int32_t *points = k->along_axes ? in_blocks.points : at_points.points,
            *map = k->along_axes ? in_blocks.map : at_points.map;
    const void *arguments = k->along_axes ? (const void *)&in_blocks : (const void *)&at_points;
    const int64_t step = k->along_axes ? k->blocks.block_z : (int64_t)k->interpolation.group_size[2],
                  most = per_launch(k, count, step, make_piece(k, m->n, count).predicted_s);
    for (int64_t done = 0, planes; done < count; done += planes) {
        planes = count - done < most ? count - done : most;
        const piece p = make_piece(k, m->n, planes);
        points[2] = (int32_t)(first + done);
        points[3] = (int32_t)(first + done + planes);
        sequence_launch(w, &k->interpolation, p.groups, arguments, p.predicted_s);
        map[2] += (int32_t)planes; /* where the next launch stores */
    }
}
