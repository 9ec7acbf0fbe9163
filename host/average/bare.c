/* The caller's thread makes potentials; one beside it adds those of the frame before. */
#include "average/bare.h"

#include "average/sums.h"
#include "error.h"
#include "parallel.h"
#include "plan/plan.h"
#include "target/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bare_frames {
    ley_plan *plan;
    ley_map *map, *former; /* a run makes values in the first one, the second one has those of the frame before */
    int64_t former_frame;
    pthread_t adder;
    bool has_adder;
};

void bare_destroy(ley_average *a)
{
    if (a->bare == NULL)
        return;
    if (a->bare->has_adder)
        pthread_join(a->bare->adder, NULL); /* `quits` is set */
    ley_plan_destroy(a->bare->plan);
    ley_map_destroy(a->bare->map);
    ley_map_destroy(a->bare->former);
    free(a->bare);
    a->bare = NULL;
}

void bare_cancel(ley_average *a)
{
    if (a->bare != NULL && a->bare->plan != NULL)
        ley_plan_cancel(a->bare->plan);
}

/* The map's first point, which is a fraction of each frame's own cell: positions are as seen from
 * there, so that a plan's map stays where it is. */
static void first_point(const ley_average *a, const double cell_A[9], double first_A[3])
{
    first_A[0] = first_A[1] = first_A[2] = 0;
    for (int i = 0; i < 9; i++)
        first_A[i % 3] += a->problem.origin[i / 3] * cell_A[i];
}

static ley_status make_atoms(const ley_average *a, const float *position_A, const double first_A[3], ley_atoms **atoms,
                             ley_error *error)
{
    const size_t n = 3 * a->problem.atoms;
    double *own_A = malloc(n * sizeof *own_A);
    if (own_A == NULL)
        return ley_fail_memory(error, n * sizeof *own_A, "a frame");
    for (size_t i = 0; i < n; i++)
        own_A[i] = (double)position_A[i] - first_A[i % 3];
    const ley_status status = ley_atoms_create(a->problem.atoms, own_A, a->problem.charge_e, NULL, atoms, error);
    free(own_A);
    return status;
}

static void request_of(const average_problem *p, const double cell_A[9], ley_request *request)
{
    ley_request_default(request);
    request->tolerance = p->options.tolerance;
    request->potential.units = p->options.units;
    request->potential.dielectric = p->options.dielectric;
    request->potential.temperature_K = p->options.temperature_K;
    for (int axis = 0; axis < 3; axis++)
        request->potential.periodic[axis] = true;
    memcpy(request->potential.cell_A, cell_A, sizeof request->potential.cell_A);
}

static ley_status make_plan(ley_average *a, const float *position_A, const double cell_A[9], ley_error *error)
{
    const average_problem *p = &a->problem;
    bare_frames *b = a->bare;
    ley_grid grid = {.n = {p->n[0], p->n[1], p->n[2]}};
    ley_request request;
    ley_run_options options;
    ley_atoms *atoms = NULL;
    double first_A[3];
    for (int axis = 0; axis < 3; axis++)
        for (int d = 0; d < 3; d++)
            grid.step_A[axis][d] = cell_A[3 * axis + d] / (double)p->n[axis];
    first_point(a, cell_A, first_A);
    request_of(p, cell_A, &request);
    ley_run_options_default(&options);
    ley_status status = ley_map_create(&grid, &b->map, error);
    if (status == LEY_OK)
        status = ley_map_create(&grid, &b->former, error);
    if (status == LEY_OK)
        status = make_atoms(a, position_A, first_A, &atoms, error);
    if (status == LEY_OK)
        status = ley_plan_create(a->engine, atoms, (ley_target){.map = b->map}, &request, &options, &b->plan, error);
    ley_atoms_destroy(atoms);
    return status;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static ley_status add_former(ley_average *a, ley_error *error)
{
    static const int64_t no_charge[1];
    const part_sums part = {.first = a->bare->former_frame,
                            .frames = 1,
                            .charge = no_charge,
                            .value = ley_map_read_values(a->bare->former)};
    return sums_add(a, &part, error);
}

static void *add_frames(void *context)
{
    ley_average *a = context;
    ley_error error = {.status = LEY_OK};
    pthread_mutex_lock(&a->mutex);
    while (!a->quits) {
        if (a->pending == 0 || a->failure.status != LEY_OK) {
            pthread_cond_wait(&a->changed, &a->mutex);
            continue;
        }
        pthread_mutex_unlock(&a->mutex);
        const ley_status status = add_former(a, &error);
        pthread_mutex_lock(&a->mutex);
        if (status != LEY_OK)
            ley_error_copy(&a->failure, &error);
        a->pending = 0;
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->mutex);
    ley_error_clear(&error);
    return NULL;
}

/* The map's values are those of this frame; waits until those of the one before are added. */
static ley_status deal(ley_average *a, ley_error *error)
{
    pthread_mutex_lock(&a->mutex);
    while (a->pending > 0 && a->failure.status == LEY_OK)
        pthread_cond_wait(&a->changed, &a->mutex);
    const ley_status status = a->failure.status;
    if (status == LEY_OK) {
        map_swap_values(a->bare->map, a->bare->former);
        a->bare->former_frame = a->added;
        a->pending = 1;
        pthread_cond_broadcast(&a->changed);
    } else {
        ley_error_copy(error, &a->failure);
    }
    pthread_mutex_unlock(&a->mutex);
    return status;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static ley_status begin(ley_average *a, const float *position_A, const double cell_A[9], ley_error *error)
{
    bare_frames *b = calloc(1, sizeof *b);
    if (b == NULL)
        return ley_fail_memory(error, sizeof *b, "a plan");
    a->bare = b;
    ley_status status = make_plan(a, position_A, cell_A, error);
    if (status == LEY_OK) {
        b->has_adder = parallel_start(&b->adder, add_frames, a) == 0;
        status = b->has_adder ? LEY_OK : ley_fail(error, LEY_ERROR_MEMORY, "no thread for the average");
    }
    if (status != LEY_OK)
        bare_destroy(a);
    return status;
}

ley_status bare_add(ley_average *a, const float *position_A, const double cell_A[9], ley_error *error)
{
    double first_A[3], vector_A[3][3];
    ley_status status = a->bare != NULL ? LEY_OK : begin(a, position_A, cell_A, error);
    if (status != LEY_OK)
        return status;
    first_point(a, cell_A, first_A);
    memcpy(vector_A, cell_A, sizeof vector_A);
    status = plan_move(a->bare->plan, position_A, first_A, (const double(*)[3])vector_A, error);
    if (status == LEY_OK)
        status = ley_plan_run(a->bare->plan, error);
    if (status != LEY_OK) {
        ley_error_prefix(error, "frame %lld", (long long)a->added + 1);
        return status;
    }
    return deal(a, error);
}

/* What was prepared anew is verified by itself, the others by samples. */
ley_status bare_finish(ley_average *a, ley_average_totals *totals, ley_error *error)
{
    ley_plan_totals done;
    if (a->bare == NULL)
        return LEY_OK;
    const ley_status status = ley_plan_finish(a->bare->plan, &done, error);
    const ley_report *report = ley_plan_report(a->bare->plan);
    if (status != LEY_OK || report == NULL)
        return status;
    totals->checked_frames = done.checked_runs + done.prepared;
    totals->checked_points = (int64_t)done.checked_points + (int64_t)report->accuracy.points;
    for (size_t i = 0; i < report->device_count; i++) {
        const size_t used = strlen(totals->device);
        totals->devices++;
        snprintf(totals->device + used, sizeof totals->device - used, "%s%s", used > 0 ? ", " : "",
                 report->devices[i].device->name);
    }
    totals->relative_rms = fmax(done.relative_rms, report->accuracy.relative_rms);
    return LEY_OK;
}
