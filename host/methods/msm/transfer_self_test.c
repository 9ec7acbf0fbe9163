#include "methods/msm/transfer_self_test.h"

#include "core/sizes.h"
#include "error.h"
#include "run/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A box along whose axes windows reach beyond the ends, or around: about 20 x 11 x 26 nodes. */
static const double box_A[3] = {37, 19, 35}, spacing_A = 2, cutoff_A = 8;
enum { ATOMS = 200, LEVELS = 2 };

typedef struct trial {
    transfer_kernels kernels; /* with the one on trial */
    bool periodic[3];
    hierarchy hierarchy;
    places_array array[LEVELS];
    int64_t nodes; /* of all levels, with those of padding */
    double position_A[ATOMS][3], charge_e[ATOMS];
    room room;
    flight flight;
    work work;
    transfer_lattices lattices;
    float *values; /* what is there beforehand, and what comes back */
    reference_value *right;
} trial;

/* ---- Problems -------------------------------------------------------------------------------- */

static ley_status make_hierarchy(trial *t, ley_error *error)
{
    double low[3] = {0, 0, 0}, high[3];
    memcpy(high, box_A, sizeof high);
    hierarchy_options o = {.splitting = SPLITTING_TAYLOR2,
                           .solver = t->kernels.window->is_nodal ? HIERARCHY_DIRECT : HIERARCHY_FFT,
                           .levels = t->kernels.window->is_nodal ? LEVELS : 1,
                           .cutoff_A = cutoff_A,
                           .spacing_A = spacing_A};
    window_find(t->kernels.window->name, &o.window);
    for (int axis = 0; axis < 3; axis++) {
        o.periodic[axis] = t->periodic[axis];
        o.cell_A[axis][axis] = box_A[axis];
    }
    return hierarchy_make(&o, low, high, &t->hierarchy, error);
}

static void make_arrays(trial *t)
{
    for (int level = 0; level < t->hierarchy.levels; level++) {
        places_array *a = &t->array[level];
        *a = (places_array){.in_cubes = true, .first = t->nodes};
        int64_t nodes = (int64_t)LEY_CUBE * LEY_CUBE * LEY_CUBE;
        for (int axis = 0; axis < 3; axis++) {
            a->n[axis] = t->hierarchy.level[level].n[axis];
            a->periodic[axis] = t->periodic[axis];
            const int64_t cubes = ley_round_up(a->n[axis], LEY_CUBE) / LEY_CUBE;
            if (axis < 2)
                a->pitch[axis] = cubes;
            nodes *= cubes;
        }
        t->nodes += nodes;
    }
}

/* Some on nodes, some next to the ends. */
static void make_atoms(trial *t)
{
    uint32_t state = 1971;
    for (int i = 0; i < ATOMS; i++) {
        for (int axis = 0; axis < 3; axis++) {
            const double u = self_test_fraction(&state);
            t->position_A[i][axis] = i % 8 == 1   ? (i % 16 == 1 ? 0 : box_A[axis])
                                     : i % 8 == 2 ? floor(u * box_A[axis] / spacing_A) * spacing_A
                                                  : u * box_A[axis];
        }
        t->charge_e[i] = i == 7 ? 0 : (i % 3 == 0 ? -1 : 1) * (0.5 + self_test_fraction(&state));
    }
}

/* The number of a node in the buffer. */
static int64_t number(const trial *t, int level, const int64_t at[3])
{
    const places_array *a = &t->array[level];
    const int64_t cube = (at[2] / LEY_CUBE * a->pitch[1] + at[1] / LEY_CUBE) * a->pitch[0] + at[0] / LEY_CUBE;
    return a->first + cube * LEY_CUBE * LEY_CUBE * LEY_CUBE +
           (at[2] % LEY_CUBE * LEY_CUBE + at[1] % LEY_CUBE) * LEY_CUBE + at[0] % LEY_CUBE;
}

/* A node by its absolute coordinates, wrapped where it may be; false: it is none. */
static bool find(const trial *t, int level, const int64_t absolute[3], int64_t *found)
{
    int64_t at[3];
    for (int axis = 0; axis < 3; axis++) {
        const hierarchy_level *l = &t->hierarchy.level[level];
        at[axis] = t->periodic[axis] ? (absolute[axis] % l->n[axis] + l->n[axis]) % l->n[axis]
                                     : absolute[axis] - l->first[axis];
        if (at[axis] < 0 || at[axis] >= l->n[axis])
            return false;
    }
    *found = number(t, level, at);
    return true;
}

static void add(reference_value *to, double term)
{
    to->value += term;
    to->absolute += fabs(term);
}

/* A weight, as a sum with absolute terms: those of its polynomial, which floats round. */
static reference_value weight_at(const window *w, double x)
{
    const double below = floor(x), u = x - below - 0.5;
    const int i = w->points / 2 - 1 - (int)below;
    reference_value weight = {.value = 0};
    double power = 1;
    for (int k = 0; k < w->points && i >= 0 && i < w->points; k++) {
        add(&weight, w->c[i][k] * power);
        power *= u;
    }
    return weight;
}

/* A term of three weights: what they are of `value`, at nodes `at` of a place `index`. */
static void add_weighted(reference_value *to, const window *w, double value, const double index[3], const int64_t at[3])
{
    double product = value, absolute = fabs(value);
    for (int axis = 0; axis < 3; axis++) {
        const reference_value weight = weight_at(w, index[axis] - (double)at[axis]);
        product *= weight.value;
        absolute *= weight.absolute;
    }
    to->value += product;
    to->absolute += absolute;
}

static ley_status begin(trial *t, ley_error *error)
{
    ley_status status = make_hierarchy(t, error);
    if (status != LEY_OK)
        return status;
    make_arrays(t);
    make_atoms(t);
    t->values = malloc((size_t)t->nodes * sizeof *t->values);
    t->right = calloc((size_t)t->nodes, sizeof *t->right);
    t->room = (room){.device = t->kernels.device};
    t->flight = (flight){.device = t->kernels.device};
    if (t->values == NULL || t->right == NULL)
        return ley_fail_memory(error, (size_t)t->nodes * sizeof *t->right, "the self-test");
    work_begin(&t->work, &t->flight, NULL);
    return transfer_lattices_create(&t->lattices, &t->kernels, &t->hierarchy, t->array, &t->room, error);
}

static void end(trial *t)
{
    work_end(&t->work);
    room_clear(&t->room);
    free(t->values);
    free(t->right);
}

/* Nodes of a level get numbers, and padding none. */
static void set_values(trial *t, int level)
{
    const hierarchy_level *l = &t->hierarchy.level[level];
    uint32_t state = 2009;
    int64_t at[3];
    for (at[2] = 0; at[2] < l->n[2]; at[2]++)
        for (at[1] = 0; at[1] < l->n[1]; at[1]++)
            for (at[0] = 0; at[0] < l->n[0]; at[0]++)
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
    ley_status status = room_staging(&t->room, (size_t)count * sizeof *to, &staging, error);
    if (status != LEY_OK)
        return status;
    work_read(&t->work, buffer, 0, staging, (size_t)count * sizeof *to);
    status = work_finish(&t->work, error);
    if (status == LEY_OK)
        memcpy(to, staging->bytes, (size_t)count * sizeof *to);
    return status;
}

static ley_status judge_one(const trial *t, int64_t i, float value, const reference_value *right, ley_error *error)
{
    const double limit = SELF_TEST_FLOAT * right->absolute + 1e-30;
    return fabs((double)value - right->value) <= limit /* no number is not, either */
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_WRONG_RESULT, "%s, number %lld is %g, not %g", t->kernels.window->name,
                          (long long)i, (double)value, right->value);
}

static ley_status judge_level(trial *t, int level, ley_error *error)
{
    const hierarchy_level *l = &t->hierarchy.level[level];
    int64_t at[3];
    for (at[2] = 0; at[2] < l->n[2]; at[2]++)
        for (at[1] = 0; at[1] < l->n[1]; at[1]++)
            for (at[0] = 0; at[0] < l->n[0]; at[0]++) {
                const int64_t i = number(t, level, at);
                const ley_status status = judge_one(t, i, t->values[i], &t->right[i], error);
                if (status != LEY_OK)
                    return status;
            }
    return LEY_OK;
}

static ley_status upload_values(trial *t, buffer_of_float *made, ley_error *error)
{
    const size_t bytes = (size_t)t->nodes * sizeof *t->values;
    const ley_status status = room_buffer(&t->room, bytes, DEV_READ_WRITE, &made->buffer, error);
    if (status == LEY_OK)
        work_write(&t->work, made->buffer, 0, t->values, bytes);
    return status;
}

/* ---- Anterpolation --------------------------------------------------------------------------- */

static void expect_anterpolated(trial *t)
{
    const window *w = t->hierarchy.window;
    for (int i = 0; i < ATOMS; i++) {
        double index[3];
        int64_t first[3], at[3], found;
        hierarchy_index(&t->hierarchy, t->position_A[i], index);
        for (int axis = 0; axis < 3; axis++)
            first[axis] = (int64_t)floor(index[axis]) + 1 - w->points / 2;
        for (at[2] = first[2]; at[2] < first[2] + w->points; at[2]++)
            for (at[1] = first[1]; at[1] < first[1] + w->points; at[1]++)
                for (at[0] = first[0]; at[0] < first[0] + w->points; at[0]++)
                    if (find(t, 0, at, &found))
                        add_weighted(&t->right[found], w, t->charge_e[i], index, at);
    }
}

static ley_status run_anterpolation(trial *t, ley_error *error)
{
    spread s;
    transfer_atoms atoms;
    buffer_of_float charges;
    ley_status status = spread_make(&t->hierarchy, ATOMS, t->position_A[0], t->charge_e, NULL, &s, error);
    if (status != LEY_OK)
        return status;
    clear_values(t);
    expect_anterpolated(t);
    status = transfer_atoms_create(&atoms, &s, &t->room, error);
    if (status == LEY_OK)
        status = upload_values(t, &charges, error);
    if (status == LEY_OK) {
        transfer_anterpolate(&t->work, &t->lattices, &atoms, charges);
        status = bring(t, charges.buffer, t->values, t->nodes, error);
    }
    spread_clear(&s);
    return status == LEY_OK ? judge_level(t, 0, error) : status;
}

/* ---- Between lattices ------------------------------------------------------------------------ */

/* What a node of the coarser lattice has to do with the finer ones around it. */
static void expect_around(trial *t, const double share[], const int64_t m[3], bool is_restriction)
{
    const hierarchy *h = &t->hierarchy;
    const int p = h->window->points;
    const int64_t coarse = number(t, 1, m);
    int64_t j[3], at[3], fine;
    for (j[2] = 1 - p; j[2] < p; j[2]++)
        for (j[1] = 1 - p; j[1] < p; j[1]++) {
            const double across = share[j[2]] * share[j[1]];
            for (j[0] = 1 - p; j[0] < p && across != 0; j[0]++) {
                if (share[j[0]] == 0)
                    continue;
                for (int axis = 0; axis < 3; axis++)
                    at[axis] = 2 * (m[axis] + (t->periodic[axis] ? 0 : h->level[1].first[axis])) + j[axis];
                if (!find(t, 0, at, &fine))
                    continue;
                if (is_restriction)
                    add(&t->right[coarse], across * share[j[0]] * t->values[fine]);
                else
                    add(&t->right[fine], across * share[j[0]] * t->values[coarse]);
            }
        }
}

static void expect_between(trial *t, bool is_restriction)
{
    const int64_t *n = t->hierarchy.level[1].n;
    double share[2 * WINDOW_MOST_POINTS];
    int64_t m[3];
    for (int j = -WINDOW_MOST_POINTS; j < WINDOW_MOST_POINTS; j++)
        share[WINDOW_MOST_POINTS + j] = window_at(t->hierarchy.window, 0.5 * j);
    for (m[2] = 0; m[2] < n[2]; m[2]++)
        for (m[1] = 0; m[1] < n[1]; m[1]++)
            for (m[0] = 0; m[0] < n[0]; m[0]++)
                expect_around(t, share + WINDOW_MOST_POINTS, m, is_restriction);
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
        transfer_restrict(&t->work, &t->lattices, 0, values);
    else
        transfer_prolongate(&t->work, &t->lattices, 0, values);
    const ley_status back = bring(t, values.buffer, t->values, t->nodes, error);
    return back == LEY_OK ? judge_level(t, is_restriction ? 1 : 0, error) : back;
}

/* ---- Interpolation --------------------------------------------------------------------------- */

/* Several blocks and a partial one, as far as there is room for them; where axes are not the
 * lattice's, they are skewed. */
static ley_lattice points_for(const trial *t)
{
    const interpolation_spec *s = &t->kernels.blocks;
    const bool skewed = !t->kernels.along_axes;
    const int64_t block[3] = {skewed ? 8 : s->block_x, skewed ? 6 : s->block_y, skewed ? 5 : s->block_z};
    ley_lattice l = {.n = {block[0] + 3, block[1] + 1, block[2] + 3}};
    for (int axis = 0; axis < 3; axis++) {
        const double room_A = box_A[axis] - (skewed ? 8 : 0);
        double step_A =
            skewed ? room_A / (double)l.n[axis] : t->kernels.nodes_per_point[axis] * t->hierarchy.step_A[axis][axis];
        const int64_t most = (int64_t)(room_A / step_A);
        l.n[axis] = l.n[axis] < most ? l.n[axis] : most;
        l.step_A[axis][axis] = step_A;
        l.origin_A[axis] = axis == 1 && !skewed ? box_A[axis] - (double)(l.n[axis] - 1) * step_A : 0.4 * axis;
        if (skewed)
            l.step_A[axis][(axis + 1) % 3] = 0.3;
    }
    return l;
}

static reference_value expect_at(const trial *t, const double point_A[3])
{
    const window *w = t->hierarchy.window;
    reference_value right = {.value = 0};
    double index[3];
    int64_t first[3], at[3], found;
    hierarchy_index(&t->hierarchy, point_A, index);
    for (int axis = 0; axis < 3; axis++)
        first[axis] = (int64_t)floor(index[axis]) + 1 - w->points / 2;
    for (at[2] = first[2]; at[2] < first[2] + w->points; at[2]++)
        for (at[1] = first[1]; at[1] < first[1] + w->points; at[1]++)
            for (at[0] = first[0]; at[0] < first[0] + w->points; at[0]++)
                if (find(t, 0, at, &found))
                    add_weighted(&right, w, t->values[found], index, at);
    return right;
}

static ley_status judge_points(const trial *t, const ley_lattice *l, int64_t first, int64_t count, double factor,
                               const float *phi, bool accumulate, ley_error *error)
{
    for (int64_t i = 0; i < l->n[0] * l->n[1] * count; i++) {
        const int64_t at[3] = {i % l->n[0], i / l->n[0] % l->n[1], first + i / l->n[0] / l->n[1]};
        double point_A[3];
        for (int k = 0; k < 3; k++) {
            point_A[k] = l->origin_A[k];
            for (int axis = 0; axis < 3; axis++)
                point_A[k] += (double)at[axis] * l->step_A[axis][k];
        }
        reference_value right = expect_at(t, point_A);
        right.value *= factor;
        right.absolute *= factor;
        if (accumulate)
            add(&right, 1);
        const ley_status status = judge_one(t, i, phi[i], &right, error);
        if (status != LEY_OK)
            return status;
    }
    return LEY_OK;
}

static ley_status run_interpolation(trial *t, ley_error *error)
{
    const ley_lattice l = points_for(t);
    const int64_t first = 2, count = l.n[2] - 2, points = l.n[0] * l.n[1] * count;
    const places_array planes = {.n = {l.n[0], l.n[1], count}, .pitch = {l.n[0], l.n[1]}};
    const double factor = 332.06;
    transfer_map map;
    buffer_of_float potentials, phi;
    ley_status status = LEY_OK;
    clear_values(t);
    set_values(t, 0);
    float *back = malloc((size_t)points * sizeof *back);
    if (back == NULL)
        return ley_fail_memory(error, (size_t)points * sizeof *back, "the self-test");
    status = transfer_map_create(&map, &t->lattices, &t->array[0], &l, &planes, factor, &t->room, error);
    if (status == LEY_OK)
        status = upload_values(t, &potentials, error);
    if (status == LEY_OK)
        status = room_buffer(&t->room, (size_t)points * sizeof(float), DEV_READ_WRITE, &phi.buffer, error);
    for (int accumulate = 0; accumulate <= 1 && status == LEY_OK; accumulate++) {
        work_fill(&t->work, phi.buffer, 0, accumulate ? 0x3f800000 : 0x7fc00000, (size_t)points * sizeof(float));
        transfer_interpolate(&t->work, &t->lattices, &map, first, count, accumulate, potentials, phi);
        status = bring(t, phi.buffer, back, points, error);
        if (status == LEY_OK)
            status = judge_points(t, &l, first, count, factor, back, accumulate, error);
        work_end(&t->work);
        work_begin(&t->work, &t->flight, NULL);
    }
    free(back);
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
    static const bool periodic[][3] = {{false, false, false}, {true, false, true}, {false, true, false}};
    ley_status status = LEY_OK;
    for (size_t i = 0; i < sizeof periodic / sizeof periodic[0] && status == LEY_OK; i++) {
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
