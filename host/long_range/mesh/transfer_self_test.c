#include "long_range/mesh/transfer_self_test.h"

#include "core/sizes.h"
#include "error.h"
#include "layout/grid_frame.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A box along whose axes windows reach beyond the ends, or around, along y several times: at least
 * about 20 x 11 x 19 nodes, and as many as the map needs. */
static const double least_box_A[3] = {37, 19, 35}, spacing_A = 2, cutoff_A = 8;

/* What each vector of that box has along the others' axes, per length, where they are oblique. */
static const double lean[3][3] = {{0, 0.2, -0.1}, {0.5, 0, 0.15}, {-0.3, 0.4, 0}};
enum { CROWD = 90 /* more than a work-group stages at once */, ATOMS = CROWD + 200, LEVELS = 2 };

typedef struct trial {
    transfer_kernels kernels; /* with the one on trial */
    bool periodic[3];
    double box_A[3];
    ley_grid points; /* of a map */
    hierarchy hierarchy;
    coordinate_table array[LEVELS];
    int64_t nodes; /* of all levels, with those of padding */
    double position_A[ATOMS][3], charge_e[ATOMS];
    arena arena;
    flight flight;
    command_sequence command_sequence;
    transfer_meshes meshes;
    float *values; /* what is there beforehand, and what comes back */
    reference_value *right;
} trial;

/* ---- Problems -------------------------------------------------------------------------------- */

static ley_status make_hierarchy(trial *t, ley_error *error)
{
    const double low[3] = {0, 0, 0};
    const bool has_levels = t->kernels.window->is_nodal && !t->kernels.by_plane;
    hierarchy_options o = {.splitting = SPLITTING_TAYLOR2,
                           .solver = has_levels ? HIERARCHY_MULTILEVEL : HIERARCHY_FOURIER,
                           .levels = has_levels ? LEVELS : 1,
                           .cutoff_A = cutoff_A,
                           .spacing_A = spacing_A};
    window_find(t->kernels.window->name, &o.window);
    for (int axis = 0; axis < 3; axis++) {
        o.periodic[axis] = t->periodic[axis];
        o.cell_A[axis][axis] = t->box_A[axis];
        for (int k = 0; k < 3 && t->kernels.blocks.oblique; k++)
            o.cell_A[axis][k] += lean[axis][k] * t->box_A[axis];
    }
    return hierarchy_make(&o, low, t->box_A, &t->hierarchy, error);
}

/* In sub-cubes, or, where only y is periodic, or nodes are numbered by plane, in rows, whose nodes
 * kernels may read at once. */
static void make_arrays(trial *t)
{
    const bool in_rows = t->periodic[1] || t->kernels.by_plane;
    for (int level = 0; level < t->hierarchy.levels; level++) {
        coordinate_table *a = &t->array[level];
        *a = (coordinate_table){.in_cubes = !in_rows, .first = t->nodes, .by_plane = t->kernels.by_plane};
        const int64_t edge = in_rows ? 1 : LEY_CUBE;
        int64_t nodes = edge * edge * edge;
        for (int axis = 0; axis < 3; axis++) {
            a->n[axis] = t->hierarchy.level[level].n[axis];
            a->periodic[axis] = t->periodic[axis];
            const int64_t cubes = ley_round_up(a->n[axis], edge) / edge + (in_rows ? 1 : 0);
            if (axis < 2)
                a->pitch[axis] = cubes;
            nodes *= cubes;
        }
        t->nodes += nodes;
    }
}

/* In a crowd between the same nodes, on nodes, next to the ends, and anywhere. */
static void make_atoms(trial *t)
{
    const hierarchy *h = &t->hierarchy;
    uint32_t state = 1971;
    for (int i = 0; i < ATOMS; i++) {
        for (int axis = 0; axis < 3; axis++) {
            const double box_A = t->box_A[axis], step_A = h->step_A[axis][axis], u = self_test_fraction(&state);
            const double crowded = floor((0.4 * box_A - h->origin_A[axis]) / step_A) + u;
            t->position_A[i][axis] = i < CROWD    ? h->origin_A[axis] + crowded * step_A
                                     : i % 8 == 1 ? (i % 16 == 1 ? 0 : box_A)
                                     : i % 8 == 2 ? h->origin_A[axis] + floor(u * box_A / step_A) * step_A
                                                  : u * box_A;
        }
        t->charge_e[i] = i == 7 ? 0 : (i % 3 == 0 ? -1 : 1) * (0.5 + self_test_fraction(&state));
    }
}

/* Some blocks and a partial one along each axis, fewer where kernels are interpreted or blocks are
 * large, as those of work-items that are alone; where axes are not the mesh's, skewed, and of rows
 * that are along the mesh's first one a group and a part. The box has room for all of them. */
static void count_points(trial *t)
{
    const interpolation_spec *s = &t->kernels.blocks;
    const bool slow = (t->kernels.device->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const int64_t blocks = slow || s->width > 1 ? 1 : 2,
                  axes[3] = {blocks * s->block_x + 3, s->block_y + 1, blocks * s->block_z + 3},
                  skewed[3] = {slow ? 9 : 19, 7, slow ? 6 : 9}, rows[3] = {LEY_ROW_POINTS + 9, 3, slow ? 4 : 8};
    memcpy(t->points.n, t->kernels.along_axes ? axes : t->kernels.row_nodes > 0 ? rows : skewed, sizeof t->points.n);
    for (int axis = 0; axis < 3; axis++)
        t->box_A[axis] =
            fmax(least_box_A[axis], (double)t->points.n[axis] * t->kernels.nodes_per_point[axis] * spacing_A);
}

/* Along periodic axes points lie on both sides of a cell's end, and where kernels themselves find
 * their nodes that is some periods away; along y the last one is at the end of an open box. */
static void place_points(trial *t)
{
    static const double skewed_A[3] = {1.1, 1.3, 0.9}, periods[3] = {-2, 3, 1};
    ley_grid *l = &t->points;
    for (int axis = 0; axis < 3; axis++) {
        const bool is_along = t->kernels.along_axes || (t->kernels.row_nodes > 0 && axis == 0);
        const double *mesh_step_A = t->hierarchy.step_A[axis], mesh_A = cell_length(mesh_step_A),
                     step_A = is_along ? t->kernels.nodes_per_point[axis] * mesh_A : skewed_A[axis],
                     length_A = (double)(l->n[axis] - 1) * step_A;
        double first_A = t->periodic[axis]                    ? -0.6 * length_A
                         : axis == 1 && t->kernels.along_axes ? t->box_A[axis] - length_A
                                                              : 0.4 * axis;
        if (t->periodic[axis] && !t->kernels.along_axes)
            first_A += periods[axis] * t->box_A[axis];
        for (int k = 0; k < 3; k++) {
            l->step_A[axis][k] = mesh_step_A[k] / mesh_A * step_A;
            l->origin_A[k] += mesh_step_A[k] / mesh_A * first_A;
        }
        if (!is_along)
            l->step_A[axis][(axis + 1) % 3] = 0.3;
    }
}

/* ---- What is right --------------------------------------------------------------------------- */

/* Nodes along an axis that have a share in something: what each adds to a number in the buffer, its
 * share, and what that is computed of, without signs. */
typedef struct shares {
    int count;
    int64_t at[2 * WINDOW_MOST_POINTS];
    double share[2 * WINDOW_MOST_POINTS], absolute[2 * WINDOW_MOST_POINTS];
} shares;

/* What a node's coordinate adds to its number in the buffer. */
static int64_t number_along(const coordinate_table *a, int axis, int64_t i)
{
    const int64_t edge = a->in_cubes ? LEY_CUBE : 1, within[3] = {1, edge, edge * edge},
                  cubes[3] = {1, a->pitch[0], a->pitch[0] * a->pitch[1]};
    return i / edge * cubes[axis] * edge * edge * edge + i % edge * within[axis];
}

static int64_t number(const trial *t, int level, const int64_t at[3])
{
    const coordinate_table *a = &t->array[level];
    return a->first + number_along(a, 0, at[0]) + number_along(a, 1, at[1]) + number_along(a, 2, at[2]);
}

/* Adds a node by its absolute coordinate, wrapped where the axis is periodic; where it is open
 * there may be none. */
static void add_share(const trial *t, int level, int axis, int64_t absolute_i, reference_value share, shares *to)
{
    const hierarchy_level *l = &t->hierarchy.level[level];
    const int64_t n = l->n[axis], i = t->periodic[axis] ? (absolute_i % n + n) % n : absolute_i - l->first[axis];
    if (i < 0 || i >= n)
        return;
    to->at[to->count] = number_along(&t->array[level], axis, i);
    to->share[to->count] = share.value;
    to->absolute[to->count++] = share.absolute;
}

static void add(reference_value *to, double term)
{
    to->value += term;
    to->absolute += fabs(term);
}

/* A weight, as a sum with absolute terms: those of its polynomial, which floats round. */
static reference_value weight_of(const window *w, int i, double u)
{
    reference_value weight = {.value = 0};
    double power = 1;
    for (int k = 0; k < w->points; k++, power *= u)
        add(&weight, w->c[i][k] * power);
    return weight;
}

/* Its derivative. */
static reference_value slope_of(const window *w, int i, double u)
{
    reference_value slope = {.value = 0};
    double power = 1;
    for (int k = 1; k < w->points; k++, power *= u)
        add(&slope, k * w->c[i][k] * power);
    return slope;
}

/* The nodes that have a share in a point; along one of the mesh's axes (-1: none) in the derivative
 * there. */
static void find_nodes(const trial *t, const double point_A[3], int derived, shares found[3])
{
    const window *w = t->hierarchy.window;
    double index[3];
    hierarchy_index(&t->hierarchy, point_A, index);
    for (int axis = 0; axis < 3; axis++) {
        const double below = floor(index[axis]);
        found[axis].count = 0;
        for (int i = 0; i < w->points; i++)
            add_share(t, 0, axis, (int64_t)below + 1 - w->points / 2 + i,
                      (axis == derived ? slope_of : weight_of)(w, i, index[axis] - below - 0.5), &found[axis]);
    }
}

/* The finer nodes that have a share in a coarser one: share[j + points] of the node j further. */
static void find_finer(const trial *t, const double share[], const int64_t m[3], shares found[3])
{
    const int points = t->hierarchy.window->points;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t middle = 2 * (m[axis] + (t->periodic[axis] ? 0 : t->hierarchy.level[1].first[axis]));
        found[axis].count = 0;
        for (int j = 1 - points; j < points; j++) {
            const reference_value part = {.value = share[j + points], .absolute = fabs(share[j + points])};
            if (part.value != 0)
                add_share(t, 0, axis, middle + j, part, &found[axis]);
        }
    }
}

/* Adds to each node's number its share of an amount; or to a sum the nodes' shares of what they
 * have. */
static void spread_amount(const shares of[3], double amount, int64_t first, reference_value *right)
{
    for (int k = 0; k < of[2].count; k++)
        for (int j = 0; j < of[1].count; j++)
            for (int i = 0; i < of[0].count; i++) {
                reference_value *to = &right[first + of[2].at[k] + of[1].at[j] + of[0].at[i]];
                to->value += of[2].share[k] * of[1].share[j] * of[0].share[i] * amount;
                to->absolute += of[2].absolute[k] * of[1].absolute[j] * of[0].absolute[i] * fabs(amount);
            }
}

static reference_value gather_values(const shares of[3], const float *values)
{
    reference_value sum = {.value = 0};
    for (int k = 0; k < of[2].count; k++)
        for (int j = 0; j < of[1].count; j++)
            for (int i = 0; i < of[0].count; i++) {
                const double value = values[of[2].at[k] + of[1].at[j] + of[0].at[i]];
                sum.value += of[2].share[k] * of[1].share[j] * of[0].share[i] * value;
                sum.absolute += of[2].absolute[k] * of[1].absolute[j] * of[0].absolute[i] * fabs(value);
            }
    return sum;
}

/* Each node of a level in turn: begins at (-1, 0, 0). */
static bool next_node(const trial *t, int level, int64_t at[3])
{
    const int64_t *n = t->hierarchy.level[level].n;
    if (++at[0] == n[0]) {
        at[0] = 0;
        at[1]++;
    }
    if (at[1] == n[1]) {
        at[1] = 0;
        at[2]++;
    }
    return at[2] < n[2];
}

/* ---- The trial ------------------------------------------------------------------------------- */

static ley_status begin(trial *t, ley_error *error)
{
    count_points(t);
    ley_status status = make_hierarchy(t, error);
    while (status == LEY_OK && t->kernels.by_plane && t->hierarchy.level[0].n[0] % SPREAD_EDGE == 0) {
        t->box_A[0] += spacing_A; /* so that tiles end behind the last node */
        status = make_hierarchy(t, error);
    }
    if (status != LEY_OK)
        return status;
    make_arrays(t);
    make_atoms(t);
    place_points(t);
    t->values = malloc((size_t)t->nodes * sizeof *t->values);
    t->right = calloc((size_t)t->nodes, sizeof *t->right);
    t->arena = (arena){.device = t->kernels.device};
    t->flight = (flight){.device = t->kernels.device};
    if (t->values == NULL || t->right == NULL)
        return ley_fail_memory(error, (size_t)t->nodes * sizeof *t->right, "the self-test");
    sequence_begin(&t->command_sequence, &t->flight, NULL);
    return transfer_meshes_create(&t->meshes, &t->kernels, &t->hierarchy, t->array, &t->arena, error);
}

static void end(trial *t)
{
    sequence_end(&t->command_sequence);
    arena_clear(&t->arena);
    free(t->values);
    free(t->right);
}

/* Nodes of a level get numbers, and padding none. */
static void set_values(trial *t, int level)
{
    uint32_t state = 2009;
    for (int64_t at[3] = {-1, 0, 0}; next_node(t, level, at);)
        t->values[number(t, level, at)] = (float)(self_test_fraction(&state) - 0.3);
}

static void clear_values(trial *t)
{
    for (int64_t i = 0; i < t->nodes; i++)
        t->values[i] = NAN;
}

/* ---- What comes back ------------------------------------------------------------------------- */

static ley_status bring(trial *t, dev_buffer *buffer, float *to, int64_t count, ley_error *error)
{
    dev_staging *staging = NULL;
    ley_status status = arena_staging(&t->arena, (size_t)count * sizeof *to, &staging, error);
    if (status != LEY_OK)
        return status;
    sequence_read(&t->command_sequence, buffer, 0, staging, (size_t)count * sizeof *to);
    status = sequence_finish(&t->command_sequence, error);
    if (status == LEY_OK)
        memcpy(to, staging->bytes, (size_t)count * sizeof *to);
    return status;
}

static ley_status judge_one(const trial *t, const char *what, const int64_t at[3], float value, reference_value right,
                            ley_error *error)
{
    const double limit = SELF_TEST_FLOAT * right.absolute + 1e-30;
    self_test_note(fabs((double)value - right.value) / (limit / SELF_TEST_FLOAT), SELF_TEST_FLOAT,
                   limit / SELF_TEST_FLOAT, (double)value, right.value);
    return fabs((double)value - right.value) <= limit /* no number is not, either */
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_WRONG_RESULT, "%s: %s (%lld, %lld, %lld) is %g, not %g",
                          t->kernels.window->name, what, (long long)at[0], (long long)at[1], (long long)at[2],
                          (double)value, right.value);
}

static ley_status judge_level(const trial *t, int level, ley_error *error)
{
    ley_status status = LEY_OK;
    for (int64_t at[3] = {-1, 0, 0}; next_node(t, level, at) && status == LEY_OK;) {
        const int64_t i = number(t, level, at);
        status = judge_one(t, level == 0 ? "node" : "coarser node", at, t->values[i], t->right[i], error);
    }
    return status;
}

static ley_status upload_values(trial *t, buffer_of_float *made, ley_error *error)
{
    const size_t bytes = (size_t)t->nodes * sizeof *t->values;
    const ley_status status = arena_buffer(&t->arena, bytes, DEV_READ_WRITE, &made->buffer, error);
    if (status == LEY_OK)
        sequence_write(&t->command_sequence, made->buffer, 0, t->values, bytes);
    return status;
}

/* ---- Anterpolation --------------------------------------------------------------------------- */

static void expect_anterpolated(trial *t)
{
    shares of[3];
    for (int i = 0; i < ATOMS; i++) {
        find_nodes(t, t->position_A[i], -1, of);
        spread_amount(of, t->charge_e[i], t->array[0].first, t->right);
    }
}

static ley_status run_anterpolation(trial *t, ley_error *error)
{
    spread s;
    transfer_atoms atoms = {.count = 0};
    buffer_of_float charges;
    ley_status status = spread_make(&t->hierarchy, ATOMS, t->position_A[0], t->charge_e, NULL, &s, error);
    if (status != LEY_OK)
        return status;
    clear_values(t);
    expect_anterpolated(t);
    status = transfer_atoms_create(&atoms, &s, &t->arena, error);
    if (status == LEY_OK)
        status = upload_values(t, &charges, error);
    if (status == LEY_OK) {
        transfer_anterpolate(&t->command_sequence, &t->meshes, &atoms, charges);
        status = bring(t, charges.buffer, t->values, t->nodes, error);
    }
    spread_clear(&s);
    return status == LEY_OK ? judge_level(t, 0, error) : status;
}

/* ---- Between meshes ------------------------------------------------------------------------ */

static void expect_between(trial *t, bool is_restriction)
{
    const window *w = t->hierarchy.window;
    double share[2 * WINDOW_MOST_POINTS];
    shares of[3];
    for (int j = 0; j < 2 * w->points; j++)
        share[j] = window_at(w, 0.5 * (j - w->points));
    for (int64_t at[3] = {-1, 0, 0}; next_node(t, 1, at);) {
        const int64_t coarse = number(t, 1, at);
        find_finer(t, share, at, of);
        if (is_restriction)
            t->right[coarse] = gather_values(of, t->values + t->array[0].first);
        else
            spread_amount(of, t->values[coarse], t->array[0].first, t->right);
    }
}

static ley_status run_between(trial *t, bool is_restriction, ley_error *error)
{
    buffer_of_float values;
    clear_values(t);
    set_values(t, 0);
    if (!is_restriction) {
        set_values(t, 1);
        for (int64_t i = 0; i < t->array[1].first; i++)
            add(&t->right[i], isnan(t->values[i]) ? 0 : t->values[i]);
    }
    expect_between(t, is_restriction);
    const ley_status status = upload_values(t, &values, error);
    if (status != LEY_OK)
        return status;
    if (is_restriction)
        transfer_restrict(&t->command_sequence, &t->meshes, 0, values, values);
    else
        transfer_prolongate(&t->command_sequence, &t->meshes, 0, values, values);
    const ley_status back = bring(t, values.buffer, t->values, t->nodes, error);
    return back == LEY_OK ? judge_level(t, is_restriction ? 1 : 0, error) : back;
}

/* ---- Interpolation --------------------------------------------------------------------------- */

/* The mesh's potential at a point; and the field there along an axis of the map's frame, less the
 * derivative. */
static reference_value expect_value(const trial *t, const double point_A[3])
{
    shares of[3];
    find_nodes(t, point_A, -1, of);
    return gather_values(of, t->values + t->array[0].first);
}

static reference_value expect_field(const trial *t, const double point_A[3], int axis)
{
    reference_value sum = {.value = 0};
    shares of[3];
    grid_frame frame;
    grid_frame_make(&t->points, GRID_FRAME_COLUMNS_ALONG_Z, &frame);
    for (int m = 0; m < 3; m++) {
        double along[3];
        grid_frame_vector(&frame, t->hierarchy.inverse_per_A[m], along);
        const double nodes_per_A = along[axis];
        find_nodes(t, point_A, m, of);
        const reference_value part = gather_values(of, t->values + t->array[0].first);
        sum.value -= nodes_per_A * part.value;
        sum.absolute += fabs(nodes_per_A) * part.absolute;
    }
    return sum;
}

/* A component at points of planes [first, first + count). */
static void expect_points(const trial *t, const ley_grid *l, int64_t first, int64_t count, double factor, int component,
                          reference_value *right)
{
    for (int64_t i = 0; i < l->n[0] * l->n[1] * count; i++) {
        const int64_t at[3] = {i % l->n[0], i / l->n[0] % l->n[1], first + i / l->n[0] / l->n[1]};
        double point_A[3];
        for (int k = 0; k < 3; k++) {
            point_A[k] = l->origin_A[k];
            for (int axis = 0; axis < 3; axis++)
                point_A[k] += (double)at[axis] * l->step_A[axis][k];
        }
        right[i] = component == 0 ? expect_value(t, point_A) : expect_field(t, point_A, component - 1);
        right[i].value *= factor;
        right[i].absolute *= factor;
    }
}

static ley_status judge_points(const trial *t, const ley_grid *l, int64_t first, int64_t count, int component,
                               const reference_value *right, const float *phi, bool accumulate, ley_error *error)
{
    static const char *const names[] = {"point", "field along x at point", "field along y at point",
                                        "field along z at point"};
    ley_status status = LEY_OK;
    for (int64_t i = 0; i < l->n[0] * l->n[1] * count && status == LEY_OK; i++) {
        const int64_t at[3] = {i % l->n[0], i / l->n[0] % l->n[1], first + i / l->n[0] / l->n[1]};
        reference_value expected = right[i];
        if (accumulate)
            add(&expected, 1);
        status = judge_one(t, names[component], at, phi[i], expected, error);
    }
    return status;
}

static ley_status run_interpolation(trial *t, ley_error *error)
{
    const ley_grid l = t->points;
    const int components = LEY_COMPONENTS(t->kernels.field);
    const int64_t first = 2, count = l.n[2] - 2, points = l.n[0] * l.n[1] * count, all = components * points;
    const coordinate_table planes = {.n = {l.n[0], l.n[1], count}, .pitch = {l.n[0], l.n[1]}};
    const double factor = 332.06;
    transfer_map map;
    buffer_of_float potentials = {NULL}, phi = {NULL};
    clear_values(t);
    set_values(t, 0);
    float *back = malloc((size_t)all * sizeof *back);
    reference_value *right = malloc((size_t)all * sizeof *right);
    ley_status status =
        back != NULL && right != NULL ? LEY_OK : ley_fail_memory(error, (size_t)all * sizeof *right, "the self-test");
    for (int c = 0; c < components && status == LEY_OK; c++)
        expect_points(t, &l, first, count, factor, c, right + c * points);
    if (status == LEY_OK)
        status = transfer_map_create(&map, &t->meshes, &t->array[0], &l, &planes, factor, &t->arena, error);
    if (status == LEY_OK)
        status = upload_values(t, &potentials, error);
    if (status == LEY_OK)
        status = arena_buffer(&t->arena, (size_t)all * sizeof(float), DEV_READ_WRITE, &phi.buffer, error);
    for (int accumulate = 0; accumulate <= 1 && status == LEY_OK; accumulate++) {
        for (int64_t i = 0; i < all; i++)
            back[i] = accumulate ? 1 : NAN;
        sequence_write(&t->command_sequence, phi.buffer, 0, back, (size_t)all * sizeof *back);
        transfer_interpolate(&t->command_sequence, &t->meshes, &map, first, count, accumulate, points, potentials, phi);
        status = bring(t, phi.buffer, back, all, error);
        for (int c = 0; c < components && status == LEY_OK; c++)
            status = judge_points(t, &l, first, count, c, right + c * points, back + c * points, accumulate, error);
        sequence_end(&t->command_sequence);
        sequence_begin(&t->command_sequence, &t->flight, NULL);
    }
    free(back);
    free(right);
    return status;
}

/* ---- Open and periodic ----------------------------------------------------------------------- */

typedef enum step { ANTERPOLATION, RESTRICTION, PROLONGATION, INTERPOLATION } step;

static ley_status run(trial *t, step which, ley_error *error)
{
    switch (which) {
    case ANTERPOLATION:
        return run_anterpolation(t, error);
    case RESTRICTION:
    case PROLONGATION:
        return run_between(t, which == RESTRICTION, error);
    case INTERPOLATION:
        break;
    }
    return run_interpolation(t, error);
}

static ley_status test(const transfer_kernels *made, const dev_kernel *built, step which, ley_error *error)
{
    /* In the last one points have shares of node 0, which a test for numbers above 0 leaves out. */
    static const bool periodic[][3] = {
        {true, false, true}, {false, true, false}, {false, false, false}, {true, true, true}};
    const bool slow = (made->device->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const size_t count = slow ? 2 : sizeof periodic / sizeof *periodic;
    ley_status status = LEY_OK;
    for (size_t i = 0; i < count && status == LEY_OK; i++) {
        trial *t = calloc(1, sizeof *t);
        if (t == NULL)
            return ley_fail_memory(error, sizeof *t, "the self-test");
        t->kernels = *made;
        *(which == ANTERPOLATION  ? &t->kernels.anterpolate
          : which == RESTRICTION  ? &t->kernels.restriction
          : which == PROLONGATION ? &t->kernels.prolongation
                                  : &t->kernels.interpolation) = *built;
        memcpy(t->periodic, periodic[i], sizeof t->periodic);
        status = begin(t, error);
        if (status == LEY_OK)
            status = run(t, which, error);
        end(t);
        free(t);
    }
    return status;
}

ley_status transfer_test_anterpolation(const dev_kernel *built, void *context, ley_error *error)
{
    return test(context, built, ANTERPOLATION, error);
}

ley_status transfer_test_restriction(const dev_kernel *built, void *context, ley_error *error)
{
    return test(context, built, RESTRICTION, error);
}

ley_status transfer_test_prolongation(const dev_kernel *built, void *context, ley_error *error)
{
    return test(context, built, PROLONGATION, error);
}

ley_status transfer_test_interpolation(const dev_kernel *built, void *context, ley_error *error)
{
    return test(context, built, INTERPOLATION, error);
}
