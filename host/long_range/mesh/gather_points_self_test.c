#include "long_range/mesh/gather_points_self_test.h"

#include "error.h"
#include "long_range/mesh/gather_points.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_X = 14, NODES_Y = 12, NODES_Z = 13, NODES = NODES_X * NODES_Y * NODES_Z, POINTS = 200, SLOW_POINTS = 40 };

typedef struct trial {
    hierarchy h;
    coordinate_table array;
    float potential[NODES];
    int32_t number[POINTS];
    double point_A[POINTS][3];
    double value[POINTS], field[POINTS][3];
} trial;

/* A mesh whose axes are oblique and unlike each other. */
static void make_trial(trial *t, const window *w, bool by_plane)
{
    static const double step_A[3][3] = {{1.5, 0, 0}, {0.25, 1.25, 0}, {0, 0.5, 2}};
    static const double inverse_per_A[3][3] = {
        {1 / 1.5, -0.25 / (1.5 * 1.25), 0.5 * 0.25 / (1.5 * 1.25 * 2)}, {0, 1 / 1.25, -0.5 / (1.25 * 2)}, {0, 0, 0.5}};
    const int64_t n[3] = {NODES_X, NODES_Y, NODES_Z};
    uint32_t state = 5;
    t->h.window = w;
    t->h.levels = 1;
    t->array = (coordinate_table){.pitch = {NODES_X, NODES_Y}, .by_plane = by_plane};
    memcpy(t->h.step_A, step_A, sizeof step_A);
    memcpy(t->h.inverse_per_A, inverse_per_A, sizeof inverse_per_A);
    for (int axis = 0; axis < 3; axis++) {
        t->h.level[0].n[axis] = t->array.n[axis] = n[axis];
        t->h.level[0].first[axis] = axis == 1 ? 0 : -3 + axis;
        t->h.cell.periodic[axis] = t->array.periodic[axis] = axis == 1;
    }
    for (int i = 0; i < NODES; i++)
        t->potential[i] = (float)(2 * self_test_fraction(&state) - 1);
    for (int i = 0; i < POINTS; i++) {
        double index[3];
        for (int axis = 0; axis < 3; axis++) {
            const double low = (double)t->h.level[0].first[axis], beyond = axis == 1 ? 40 : 0.5;
            index[axis] = low - beyond + self_test_fraction(&state) * ((double)n[axis] - 1 + 2 * beyond);
            index[axis] = i % 20 == 7 ? floor(index[axis]) : index[axis];
        }
        for (int axis = 0; axis < 3; axis++)
            t->point_A[i][axis] = index[0] * step_A[0][axis] + index[1] * step_A[1][axis] + index[2] * step_A[2][axis];
        t->number[i] = (int32_t)(POINTS - 1 - i);
    }
}

/* The value at a point and less its gradient, and what their terms add up to. */
static void right_sums(const trial *t, const double point_A[3], double sum[4], double *absolute)
{
    const window *w = t->h.window;
    double index[3], weight[3][WINDOW_MOST_POINTS], slope[3][WINDOW_MOST_POINTS], along[3] = {0}, below[3];
    hierarchy_index(&t->h, point_A, index);
    for (int m = 0; m < 3; m++) {
        below[m] = floor(index[m]);
        window_weights(w, index[m] - below[m], weight[m]);
        window_slopes(w, index[m] - below[m], slope[m]);
    }
    *absolute = sum[0] = 0;
    for (int i = 0; i < w->points * w->points * w->points; i++) {
        const int at[3] = {i % w->points, i / w->points % w->points, i / w->points / w->points};
        int64_t node[3];
        for (int m = 0; m < 3; m++)
            node[m] = (int64_t)below[m] + 1 - w->points / 2 + at[m];
        const int64_t number = hierarchy_number(&t->h, 0, node);
        const double value = number >= 0 ? (double)t->potential[number] : 0, a = weight[0][at[0]], b = weight[1][at[1]],
                     c = weight[2][at[2]];
        sum[0] += a * b * c * value;
        along[0] += slope[0][at[0]] * b * c * value;
        along[1] += a * slope[1][at[1]] * c * value;
        along[2] += a * b * slope[2][at[2]] * value;
        *absolute += fabs(value) * (fabs(a) + fabs(slope[0][at[0]])) * (fabs(b) + fabs(slope[1][at[1]])) *
                     (fabs(c) + fabs(slope[2][at[2]]));
    }
    for (int axis = 0; axis < 3; axis++)
        sum[1 + axis] = -(t->h.inverse_per_A[0][axis] * along[0] + t->h.inverse_per_A[1][axis] * along[1] +
                          t->h.inverse_per_A[2][axis] * along[2]);
}

static ley_status judge(const trial *t, int count, bool field, ley_error *error)
{
    for (int i = POINTS - count; i < POINTS; i++) {
        double right[4], absolute;
        right_sums(t, t->point_A[i], right, &absolute);
        const double made[4] = {t->value[i], t->field[i][0], t->field[i][1], t->field[i][2]};
        for (int k = 0; k < (field ? 4 : 1); k++) {
            self_test_note(fabs(made[k] - right[k]) / absolute, 2e-6, absolute, made[k], right[k]);
            if (!(fabs(made[k] - right[k]) <= 2e-6 * absolute))
                return ley_fail(error, LEY_ERROR_WRONG_RESULT, "%s: point %d, number %d is %.9g, not %.9g",
                                t->h.window->name, i, k, made[k], right[k]);
        }
    }
    return LEY_OK;
}

static ley_status compute(trial *t, const transfer_kernels *kernels, int count, ley_error *error)
{
    arena memory = {.device = kernels->device};
    flight f = {.device = kernels->device};
    command_sequence w = {.flight = NULL};
    gather_points far;
    gather_run run = {.count = 0};
    buffer_of_float potentials = {NULL};
    ley_status status = arena_upload(&memory, t->potential, sizeof t->potential, &potentials.buffer, error);
    if (status == LEY_OK)
        status = gather_points_create(&far, kernels, &t->h, &t->array, potentials, &memory, error);
    if (status == LEY_OK) {
        sequence_begin(&w, &f, NULL);
        status = gather_points_run(&far, &run, &w, count, t->number, t->point_A[0], error);
    }
    if (status == LEY_OK)
        status = sequence_finish(&w, error);
    if (status == LEY_OK)
        status = gather_points_add(&far, &run, 1, t->number, t->value, t->field[0], error);
    sequence_end(&w);
    arena_clear(&memory);
    return status;
}

ley_status gather_points_self_test(const dev_kernel *built, void *context, ley_error *error)
{
    transfer_kernels kernels = *(const transfer_kernels *)context;
    const interpolation_list_spec *spec = (const interpolation_list_spec *)built->spec;
    const bool slow = (built->device->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const int count = slow ? SLOW_POINTS : POINTS;
    trial *t = calloc(1, sizeof *t);
    if (t == NULL)
        return ley_fail_memory(error, sizeof *t, "the self-test");
    kernels.interpolation = *built;
    make_trial(t, kernels.window, spec->by_plane != 0);
    ley_status status = compute(t, &kernels, count, error);
    if (status == LEY_OK)
        status = judge(t, count, spec->field, error);
    free(t);
    return status;
}
