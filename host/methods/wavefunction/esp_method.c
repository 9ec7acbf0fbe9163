/* Potentials of molecules as a method. Each device has the electrons as charges (hermite.h), whose
 * potential it sums at the points of slabs in floats; nuclei, and charges and dipoles of clusters
 * that are multipoles, are added by the host in double precision, as they nearly cancel. The bound:
 * for each point and pair of Gaussians of a cluster that is near as many multiply-adds as it has
 * coefficients, of fields four times as many. */
#include "methods/wavefunction/method.h"

#include "core/units.h"
#include "error.h"
#include "law/esp.h"
#include "methods/wavefunction/esp_build.h"
#include "methods/wavefunction/task.h"
#include "parallel.h"
#include "plan/forecast.h"
#include "schedule/host_sum.h"
#include "schedule/job_memory.h"
#include "schedule/slab_size.h"
#include "target/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pairs that are left out add up to no more anywhere, in hartree/e or hartree/(e bohr); and what is
 * promised of the error at each point, relative to what law/esp.h says. */
static const double most_left_out = 1e-7, promise = 2e-6, most_staging_bytes = 256 << 20;

typedef struct esp_state {
    wavefunction_task *task;
    esp_kernel kernel;
    int64_t slab_planes;
    esp_run slots[METHOD_SLOTS];
} esp_state;

static ley_status prepare(void *context, const job_view *job, ley_error *error)
{
    wavefunction_task *task = context;
    const ley_status taken = wavefunction_take_job(task, job, error);
    if (taken != LEY_OK)
        return taken;
    if (job->options->sum != LEY_SUM_FLOAT)
        return ley_fail(error, LEY_ERROR_USAGE, "potentials of electrons are summed in floats, with compensation");
    const hermite_wish wish = {.weights = task->weights,
                               .has_field = task->request.field,
                               .most_left_out = task->is_exact ? 0 : most_left_out,
                               .cancelled = job->cancelled};
    ley_status status = expansion_create(task->wavefunction, &task->e, error);
    if (status == LEY_OK)
        status = hermite_create(&task->e, &wish, &task->charges, error);
    for (size_t v = 0; v < task->values; v++) {
        task->quantities[v].least = task->charges.left_out / promise;
        task->quantities[v].cancelled = job->cancelled;
    }
    return status;
}

static double count_evaluations(const void *context)
{
    const wavefunction_task *task = context;
    return (double)hermite_count(&task->charges) * (double)ley_grid_points(&task->grid);
}

/* ---- A device -------------------------------------------------------------------------------- */

typedef struct order {
    int math;
    bool has_field, wanted[HERMITE_CLASSES];
} order;

static ley_status make_wish(const void *context, const job_view *job, void **made, ley_error *error)
{
    const wavefunction_task *task = context;
    order *o = calloc(1, sizeof *o);
    if (o == NULL)
        return ley_fail_memory(error, sizeof *o, "the job");
    *o = (order){.math = job->options->math, .has_field = task->request.field};
    for (int l = 0; l < HERMITE_CLASSES; l++)
        o->wanted[l] = task->charges.classes[l].count > 0;
    *made = o;
    return LEY_OK;
}

static ley_status ready(dev *device, const void *wish, kernel_notes *noted, void **state, ley_error *error)
{
    const order *o = wish;
    esp_state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a device's state");
    *state = s;
    const ley_status status = esp_kernel_create(device, o->wanted, o->has_field, o->math, &s->kernel, error);
    noted->variant = "hermite";
    for (int l = 0; l < HERMITE_CLASSES && status == LEY_OK; l++)
        if (o->wanted[l]) {
            const esp_class *of = &s->kernel.classes[l];
            noted->root = calibrate_root_name(of->spec.root);
            noted->exp = calibrate_exp_name(of->spec.exp);
            noted->from_cache = of->kernel.from_cache;
            kernel_options(&hermite_kind, &of->spec, noted->specification, sizeof noted->specification);
        }
    return status;
}

/* Far away the host has the values, by the molecule's multipoles. */
static esp_problem problem_of(const wavefunction_task *task)
{
    const far_away *from = &task->charges.far_away;
    return (esp_problem){.charges = &task->charges,
                         .has_field = task->request.field,
                         .centre = {from->centre[0], from->centre[1], from->centre[2]},
                         .reach = 1.001 * from->reach};
}

/* Seconds of a plane. */
static double plane_s(const esp_state *s)
{
    const wavefunction_task *task = s->task;
    const esp_problem problem = problem_of(task);
    double counts[HERMITE_CLASSES];
    const slab_points all = {task, 0};
    const int64_t points = wavefunction_plane_points(task);
    esp_count(&problem, wavefunction_place, &all, task->grid.n[2] * points, counts);
    return (double)points * esp_point_s(&s->kernel, counts, task->request.field);
}

static ley_status size_slabs(esp_state *s, ley_error *error)
{
    const wavefunction_task *task = s->task;
    const double points = (double)wavefunction_plane_points(task);
    const slab_needs needs = {.pieces = task->grid.n[2],
                              .piece_s = plane_s(s),
                              .piece_bytes = esp_point_bytes(task->request.field) * wavefunction_plane_points(task),
                              .fixed_bytes = esp_bytes(&task->charges),
                              .staging_bytes = most_staging_bytes,
                              .most_per_launch = (double)INT32_MAX / (2 * points),
                              .most_pieces = task->job->options->slab_planes,
                              .planned = plan_slab(task->job->plan, s->kernel.device->info),
                              .piece = task->request.maps != NULL ? "one plane of the grid needs" : "a point needs"};
    return slab_size(&s->kernel.arena, &needs, &s->slab_planes, error);
}

static ley_status begin(void *context, const stage_place *place, void **state, ley_error *error)
{
    esp_state *s = *state;
    s->task = context;
    s->kernel.arena = (arena){.device = place->device, .within = place->arena};
    const esp_problem problem = problem_of(s->task);
    ley_status status = size_slabs(s, error);
    if (status == LEY_OK)
        status = esp_kernel_load(&s->kernel, &problem, error);
    for (int i = 0; i < METHOD_SLOTS && status == LEY_OK; i++)
        status = esp_run_create(&s->slots[i], &s->kernel, s->slab_planes * wavefunction_plane_points(s->task), error);
    return status;
}

/* What does not depend on slabs, these, their kernels and their way back. */
static ley_status forecast(void *context, const stage_place *place, void *state, device_forecast *f, ley_error *error)
{
    esp_state *s = state;
    s->task = context;
    s->kernel.arena = (arena){.device = place->device, .within = place->arena};
    const wavefunction_task *task = s->task;
    const double points = (double)wavefunction_plane_points(task), planes = (double)task->grid.n[2],
                 fixed = esp_bytes(&task->charges), plane_bytes = points * (double)esp_point_bytes(task->request.field);
    const ley_status sized = size_slabs(s, error),
                     needed = forecast_need(f, "pairs of Gaussians", fixed, fixed, sized == LEY_OK ? error : NULL);
    f->slab = sized == LEY_OK ? s->slab_planes : 1;
    const ley_status slabs = forecast_in_slabs(f, plane_bytes * (double)f->slab, planes, planes * plane_s(s),
                                               sized == LEY_OK && needed == LEY_OK ? error : NULL);
    return sized != LEY_OK ? sized : needed != LEY_OK ? needed : slabs;
}

static void end(void *state)
{
    esp_state *s = state;
    for (int i = 0; i < METHOD_SLOTS; i++)
        esp_run_destroy(&s->slots[i]);
    esp_kernel_destroy(&s->kernel);
    free(s);
}

static int64_t slab_count(const void *state)
{
    return ((const esp_state *)state)->slab_planes;
}

static ley_status submit(void *state, int slot, slab piece, ley_error *error)
{
    esp_state *s = state;
    const slab_points points = {s->task, piece.first * wavefunction_plane_points(s->task)};
    return esp_run_begin(&s->slots[slot], wavefunction_place, &points, piece.count * wavefunction_plane_points(s->task),
                         s->task->job->cancelled, error);
}

/* ---- Values ---------------------------------------------------------------------------------- */

typedef struct storing {
    const esp_run *run;
    slab_points points;
    float *const *planes; /* or NULL: among the values of a list */
} storing;

static void store(void *context, size_t first, size_t last)
{
    const storing *s = context;
    const wavefunction_task *task = s->points.task;
    for (size_t i = first; i < last; i++) {
        double place[3], values[4] = {0};
        wavefunction_place(&s->points, (int64_t)i, place);
        const bool is_far = far_away_values(&task->charges.far_away, place, values);
        if (!is_far)
            esp_run_add_nuclei(s->run, (int64_t)i, task->wavefunction->arrays.charges, place, values);
        for (size_t v = 0; v < task->values; v++) {
            const double electrons = is_far ? 0 : esp_run_value(s->run, (int)v, (int64_t)i),
                         value = (v == 0 ? task->unit : task->field_unit) * (values[v] + electrons);
            if (s->planes != NULL)
                s->planes[v][i] = (float)value;
            else
                task->request.values[(int64_t)v * task->request.points + s->points.first + (int64_t)i] = value;
        }
    }
}

static ley_status collect(void *state, int slot, slab piece, slab_times *times, ley_error *error)
{
    enum { MOST_VALUES = 4 };
    esp_state *s = state;
    esp_run *run = &s->slots[slot];
    const wavefunction_task *task = s->task;
    float *planes[MOST_VALUES];
    const bool has_maps = task->request.maps != NULL;
    size_t taken = 0;
    ley_status status = esp_run_finish(run, error);
    *times = run->command_sequence.times;
    if (status == LEY_OK && has_maps)
        status = wavefunction_take_planes(task, piece, planes, &taken, error);
    if (status == LEY_OK)
        parallel_ranges(
            (size_t)run->count, store,
            &(storing){run, {task, piece.first * wavefunction_plane_points(task)}, has_maps ? planes : NULL});
    const ley_status given = wavefunction_give_planes(task, piece, planes, taken, status == LEY_OK, error);
    return status == LEY_OK ? given : status;
}

static void drop(void *state, int slot)
{
    sequence_finish(&((esp_state *)state)->slots[slot].command_sequence, NULL);
}

/* ---- The result ------------------------------------------------------------------------------ */

static ley_status finish(void *context, ley_error *error)
{
    static const char *const what[] = {"POTENTIAL", "FIELD, ALONG X", "FIELD, ALONG Y", "FIELD, ALONG Z"};
    const wavefunction_task *task = context;
    const char *units = task->request.units != NULL ? task->request.units : "hartree/e";
    char of_field[64];
    (void)error;
    snprintf(of_field, sizeof of_field, "%s/%s", units, strcmp(units, "hartree/e") == 0 ? "bohr" : "A");
    for (size_t v = 0; v < task->values && task->request.maps != NULL; v++) {
        map_set_what(task->maps[v], what[v], task->wavefunction->atoms, task->wavefunction->arrays.numbers);
        map_name_units(task->maps[v], v == 0 ? units : of_field);
    }
    return LEY_OK;
}

static void terms(const void *context, reference_terms *t)
{
    const wavefunction_task *task = context;
    *t = (reference_terms){
        .law = &law_esp, .constant = task->unit, .atoms = task->wavefunction->atoms, .quantity = task->quantities};
}

static void terms_at(const void *context, int64_t number, reference_terms *t)
{
    const wavefunction_task *task = context;
    t->quantity = &task->quantities[number / ley_grid_points(&task->grid)];
    t->constant = t->quantity->derivative == 0 ? task->unit : task->field_unit;
}

/* Seconds of a value: of each pair of primitives. */
static bool by_host(const void *context, host_sum *sum)
{
    static const double pair_s = 300e-9;
    const wavefunction_task *task = context;
    const double primitives = (double)task->wavefunction->arrays.primitives;
    *sum = (host_sum){.how = "integrals by quadrature", .builds_s = 2.5};
    terms(context, &sum->terms);
    return wavefunction_by_host(task, 0.5 * primitives * primitives * pair_s, sum);
}

static accuracy_limits limits(const void *context)
{
    (void)context;
    return (accuracy_limits){.tolerance = promise, .nothing = ACCURACY_NOTHING};
}

static const stage stages[] = {{.name = "sum",
                                .split = STAGE_SLABS,
                                .count = wavefunction_count_planes,
                                .wish = make_wish,
                                .wish_destroy = free,
                                .ready = ready,
                                .begin = begin,
                                .forecast = forecast,
                                .end = end,
                                .slab_count = slab_count,
                                .submit = submit,
                                .collect = collect,
                                .drop = drop}};

static uint64_t needs(const void *context, const ley_run_options *options)
{
    (void)context;
    (void)options;
    return CALIBRATE_ROOTS | CALIBRATE_EXPS | CALIBRATE_MULTIPLY_ADDS;
}

const method method_esp = {
    .name = "esp",
    .needs = needs,
    .prepare = prepare,
    .release = wavefunction_release,
    .host_needs = wavefunction_host_needs,
    .end = wavefunction_task_end,
    .stages = stages,
    .stage_count = sizeof stages / sizeof *stages,
    .points = wavefunction_count_points,
    .evaluations = count_evaluations,
    .finish = finish,
    .terms = terms,
    .terms_at = terms_at,
    .error_scale = "the value and the root of the sum of squares of what nuclei and pairs of primitives add, a nucleus "
                   "with those that are multipoles there",
    .limits = limits,
    .point = wavefunction_point_number,
    .value = wavefunction_value_at,
    .maps = wavefunction_maps,
    .list = wavefunction_list,
    .by_host = by_host,
};
