#include "average/bare.h"

#include "average/sums.h"
#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bare_frames {
    ley_plan *plan;
    ley_map *map;
    double *position_A;
};

void bare_destroy(ley_average *a)
{
    if (a->bare == NULL)
        return;
    ley_plan_destroy(a->bare->plan);
    ley_map_destroy(a->bare->map);
    free(a->bare->position_A);
    free(a->bare);
    a->bare = NULL;
}

void bare_cancel(ley_average *a)
{
    if (a->bare != NULL && a->bare->plan != NULL)
        ley_plan_cancel(a->bare->plan);
}

typedef struct copying {
    double *to_A, first_A[3];
    const float *position_A;
} copying;

static void copy_atoms(void *context, size_t first, size_t last)
{
    const copying *c = context;
    for (size_t i = first; i < last; i++)
        for (size_t d = 0; d < 3; d++)
            c->to_A[3 * i + d] = (double)c->position_A[3 * i + d] - c->first_A[d];
}

/* As seen from the map's first point, which is a fraction of each frame's own cell: a plan's map
 * stays where it is. */
static void copy_positions(const ley_average *a, const float *position_A, const double cell_A[9])
{
    copying c = {.to_A = a->bare->position_A, .position_A = position_A};
    for (int i = 0; i < 9; i++)
        c.first_A[i % 3] += a->problem.origin[i / 3] * cell_A[i];
    parallel_ranges(a->problem.atoms, copy_atoms, &c);
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

static ley_status make_plan(ley_average *a, const double cell_A[9], ley_error *error)
{
    const average_problem *p = &a->problem;
    bare_frames *b = a->bare;
    ley_grid grid = {.n = {p->n[0], p->n[1], p->n[2]}};
    ley_request request;
    ley_run_options options;
    ley_atoms *atoms = NULL;
    for (int axis = 0; axis < 3; axis++)
        for (int d = 0; d < 3; d++)
            grid.step_A[axis][d] = cell_A[3 * axis + d] / (double)p->n[axis];
    request_of(p, cell_A, &request);
    ley_run_options_default(&options);
    ley_status status = ley_map_create(&grid, &b->map, error);
    if (status == LEY_OK)
        status = ley_atoms_create(p->atoms, b->position_A, p->charge_e, NULL, &atoms, error);
    if (status == LEY_OK)
        status = ley_plan_create(a->engine, atoms, (ley_target){.map = b->map}, &request, &options, &b->plan, error);
    ley_atoms_destroy(atoms);
    return status;
}

static ley_status begin(ley_average *a, const float *position_A, const double cell_A[9], ley_error *error)
{
    bare_frames *b = calloc(1, sizeof *b);
    if (b == NULL)
        return ley_fail_memory(error, sizeof *b, "a plan");
    a->bare = b;
    b->position_A = malloc(3 * a->problem.atoms * sizeof *b->position_A);
    ley_status status = LEY_OK;
    if (b->position_A == NULL)
        status = ley_fail_memory(error, 24 * a->problem.atoms, "a frame");
    if (status == LEY_OK) {
        copy_positions(a, position_A, cell_A);
        status = make_plan(a, cell_A, error);
    }
    if (status != LEY_OK)
        bare_destroy(a);
    return status;
}

ley_status bare_add(ley_average *a, const float *position_A, const double cell_A[9], ley_error *error)
{
    static const int64_t no_charge[1];
    double vector_A[3][3];
    ley_status status = a->bare != NULL ? LEY_OK : begin(a, position_A, cell_A, error);
    if (status != LEY_OK)
        return status;
    copy_positions(a, position_A, cell_A);
    memcpy(vector_A, cell_A, sizeof vector_A);
    status = ley_plan_update(a->bare->plan, a->bare->position_A, NULL, (const double(*)[3])vector_A, error);
    if (status == LEY_OK)
        status = ley_plan_run(a->bare->plan, error);
    if (status != LEY_OK) {
        ley_error_prefix(error, "frame %lld", (long long)a->added + 1);
        return status;
    }
    const part_sums part = {
        .first = a->added, .frames = 1, .charge = no_charge, .value = ley_map_read_values(a->bare->map)};
    return sums_add(a, &part, error);
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
