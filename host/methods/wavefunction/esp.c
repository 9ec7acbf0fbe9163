#include "methods/wavefunction/esp.h"

#include "core/sizes.h"
#include "engine/specifications.h"
#include "engine/tuning.h"
#include "error.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a device's multiply-adds the kernel reaches this share; and Boys' function is as many. A
 * launch is predicted to take no longer. */
static const double share_of_rate = 0.25, boys_cost = 60, most_launch_s = 0.1;
enum { GPU_GROUP = 128, COORDINATES = 6, NUMBER = sizeof(float) };

static int components_of(bool has_field)
{
    return LEY_COMPONENTS(has_field);
}

/* ---- The kind -------------------------------------------------------------------------------- */

static void choose(const dev_info *info, const calibration *c, int momentum, bool has_field, int math,
                   hermite_spec *spec)
{
    static const double root_need = 2.5e-7;
    const int width = info->device_class == DEV_CPU ? calibrate_width(info) : 1;
    const bool is_standard = math == TUNING_STANDARD;
    *spec = (hermite_spec){
        .sum = LEY_SPEC_SUM_FLOAT,
        .width = width,
        .root = is_standard ? LEY_ROOT_STANDARD : tuning_root(info, c, width, tuning_need(math, root_need)),
        .wg = width > 1                                  ? 1
              : info->max_work_group < (size_t)GPU_GROUP ? (int)info->max_work_group
                                                         : GPU_GROUP,
        .exp = is_standard ? LEY_EXP_STANDARD
                           : calibrate_fastest_exp(info, c, width, tuning_need(math, CALIBRATE_FINEST)),
        .momentum = momentum,
        .field = has_field};
}

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    (void)info;
    size[0] = (size_t)((const hermite_spec *)spec)->wg;
    size[1] = size[2] = 1;
}

static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    const esp_class *of = context;
    esp_kernel trial = {.device = built->device};
    trial.classes[of->spec.momentum] = (esp_class){.spec = of->spec, .kernel = *built};
    return esp_self_test(&trial, of->spec.momentum, error);
}

static void list_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const calibration c = specifications_facts(calibrate_likely_root(info), calibrate_likely_exp(info), true);
    for (int field = 0; field <= 1; field++)
        for (int momentum = 0; momentum < (depth == KERNEL_FEW ? 5 : HERMITE_CLASSES); momentum++) {
            hermite_spec spec;
            char name[KERNEL_NAME];
            choose(info, &c, momentum, field != 0, TUNING_AUTO, &spec);
            snprintf(name, sizeof name, "%s%d-%s", field != 0 ? "field" : "potential", momentum,
                     calibrate_exp_word(spec.exp));
            visit(context, name, &spec);
        }
}

KERNEL_DESCRIBE_ARGUMENTS(hermite, LEY_HERMITE_ARGUMENTS)
const kernel_kind hermite_kind = {
    KERNEL_DESCRIPTION(hermite, LEY_HERMITE_KEYS, hermite),
    .group = group_of,
    .test = test_built,
    .specs = list_specs,
};

ley_status esp_kernel_create(dev *device, const bool wanted[HERMITE_CLASSES], bool has_field, int math, esp_kernel *k,
                             ley_error *error)
{
    const uint64_t facts = math == TUNING_STANDARD
                               ? CALIBRATE_ROOT(LEY_ROOT_STANDARD) | CALIBRATE_EXP(LEY_EXP_STANDARD)
                               : CALIBRATE_ROOTS | CALIBRATE_EXPS;
    *k = (esp_kernel){.device = device};
    ley_status status = calibrate_get(device, facts | CALIBRATE_MULTIPLY_ADDS, &k->facts, error);
    for (int l = 0; l < HERMITE_CLASSES && status == LEY_OK; l++)
        if (wanted[l]) {
            choose(device->info, &k->facts, l, has_field, math, &k->classes[l].spec);
            status = kernel_create(device, &hermite_kind, &k->classes[l].spec, NULL, &k->classes[l],
                                   &k->classes[l].kernel, error);
        }
    return status;
}

void esp_kernel_destroy(esp_kernel *k)
{
    arena_clear(&k->arena);
    for (int l = 0; l < HERMITE_CLASSES; l++)
        kernel_destroy(&k->classes[l].kernel);
    *k = (esp_kernel){.device = k->device};
}

/* ---- Predictions ----------------------------------------------------------------------------- */

static double charge_s(const esp_kernel *k, int l, bool has_field)
{
    const double adds = hermite_size(l) * (has_field ? 4.0 : 1.0) + boys_cost;
    return adds / (share_of_rate * fmax(k->facts.fma_per_s, 1e8));
}

double esp_point_s(const esp_kernel *k, const hermite_charges *charges, bool has_field)
{
    double sum = 0;
    for (int l = 0; l < HERMITE_CLASSES; l++)
        sum += (double)charges->classes[l].count * charge_s(k, l, has_field);
    return sum;
}

int64_t esp_point_bytes(bool has_field)
{
    return (COORDINATES + 2 * components_of(has_field)) * NUMBER;
}

double esp_bytes(const hermite_charges *charges)
{
    double sum = 0;
    for (int l = 0; l < HERMITE_CLASSES; l++)
        sum += (double)charges->classes[l].count * (HERMITE_PLACE + hermite_size(l)) * NUMBER;
    return sum;
}

/* ---- Its data -------------------------------------------------------------------------------- */

static ley_status load_class(esp_kernel *k, int l, ley_error *error)
{
    esp_class *to = &k->classes[l];
    const hermite_class *from = &k->problem.charges->classes[l];
    if (from->count == 0)
        return LEY_OK;
    if (from->count > INT32_MAX)
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "%lld pairs of Gaussians are more than the kernel can number",
                        (long long)from->count);
    const size_t n = (size_t)from->count;
    to->boys = boys_fit_make(l + k->problem.has_field);
    ley_status status = arena_upload(&k->arena, from->places, HERMITE_PLACE * n * NUMBER, &to->places, error);
    if (status == LEY_OK)
        status = arena_upload(&k->arena, from->coefficients, (size_t)hermite_size(l) * n * NUMBER, &to->coefficients,
                              error);
    if (status == LEY_OK)
        status =
            arena_upload(&k->arena, to->boys.pieces, (size_t)to->boys.count * sizeof(boys_piece), &to->pieces, error);
    return status;
}

ley_status esp_kernel_load(esp_kernel *k, const esp_problem *problem, ley_error *error)
{
    ley_status status = LEY_OK;
    k->arena.device = k->flight.device = k->device;
    k->problem = *problem;
    for (int l = 0; l < HERMITE_CLASSES && status == LEY_OK; l++)
        status = load_class(k, l, error);
    return status;
}

/* ---- Points ---------------------------------------------------------------------------------- */

static int64_t group_points(const esp_kernel *k)
{
    int64_t points = 1;
    for (int l = 0; l < HERMITE_CLASSES; l++)
        if (k->classes[l].kernel.program != NULL)
            points = (int64_t)k->classes[l].spec.wg * k->classes[l].spec.width;
    return points;
}

ley_status esp_run_create(esp_run *run, esp_kernel *k, int64_t most, ley_error *error)
{
    const int64_t pitch = ley_round_up(most, group_points(k));
    const size_t bytes = COORDINATES * (size_t)pitch * NUMBER;
    *run = (esp_run){.kernel = k, .places = malloc(bytes)};
    if (run->places == NULL)
        return ley_fail_memory(error, bytes, "points");
    const ley_status status = arena_buffer(&k->arena, bytes, DEV_READ_ONLY, &run->points, error);
    return status == LEY_OK ? arena_results(&k->arena, 2 * components_of(k->problem.has_field) * pitch * NUMBER,
                                            &run->values, error)
                            : status;
}

void esp_run_destroy(esp_run *run)
{
    sequence_end(&run->command_sequence);
    if (run->kernel != NULL) {
        arena_free_results(&run->kernel->arena, &run->values);
        arena_free_buffer(&run->kernel->arena, &run->points);
    }
    free(run->places);
}

/* Launches over some of the charges at a time, so that none lasts for long. The sums go on from one
 * to the next. */
static void launch_class(esp_run *run, int l, bool *is_begun)
{
    const esp_kernel *k = run->kernel;
    const esp_problem *p = &k->problem;
    const esp_class *of = &k->classes[l];
    const int32_t count = (int32_t)p->charges->classes[l].count;
    const double each_s = (double)run->pitch * charge_s(k, l, p->has_field),
                 most = run->most > 0 ? run->most : fmin(fmax(most_launch_s / each_s, 1), INT32_MAX / 2);
    const size_t groups[3] = {(size_t)(run->pitch / group_points(k)), 1, 1};
    for (int32_t first = 0, n; first < count; first += n) {
        n = count - first < (int32_t)most ? count - first : (int32_t)most;
        sequence_launch(&run->command_sequence, &of->kernel, groups,
                        KERNEL_ARGUMENTS(hermite, .gm_places = {of->places}, .gm_coefficients = {of->coefficients},
                                         .first = first, .n_charges = n, .gm_boys = {of->pieces},
                                         .n_pieces = of->boys.count, .multipole_t = (double)of->boys.t_most,
                                         .gm_points = {run->points}, .pitch = (int32_t)run->pitch,
                                         .reach = {p->centre[0], p->centre[1], p->centre[2],
                                                   p->reach * p->reach},
                                         .accumulate = *is_begun, .gm_values = {run->values.buffer}),
                        n * each_s);
        *is_begun = true;
    }
}

typedef struct near_places {
    const esp_problem *problem;
    list_place *place;
    const void *context;
} near_places;

/* Points that are left out are where floats do not end. */
static void place_near(const void *context, int64_t i, double place[3])
{
    const near_places *of = context;
    const esp_problem *p = of->problem;
    double r2 = 0;
    of->place(of->context, i, place);
    for (int axis = 0; axis < 3; axis++)
        r2 += (place[axis] - p->centre[axis]) * (place[axis] - p->centre[axis]);
    for (int axis = 0; axis < 3 && r2 > p->reach * p->reach; axis++)
        place[axis] = p->centre[axis] + (axis == 0 ? 1.5 * p->reach : 0);
}

ley_status esp_run_begin(esp_run *run, list_place *place, const void *context, int64_t count,
                         const atomic_bool *cancelled, ley_error *error)
{
    esp_kernel *k = run->kernel;
    command_sequence *w = &run->command_sequence;
    bool is_begun = false;
    run->count = count;
    run->pitch = ley_round_up(count, group_points(k));
    const size_t bytes = 2 * (size_t)components_of(k->problem.has_field) * (size_t)run->pitch * NUMBER;
    list_put_places(run->places, run->pitch, count, place_near, &(near_places){&k->problem, place, context});
    sequence_begin(w, &k->flight, cancelled);
    sequence_write(w, run->points, 0, run->places, COORDINATES * (size_t)run->pitch * NUMBER);
    if (hermite_count(k->problem.charges) > 0)
        sequence_poison(w, &run->values, bytes);
    else
        sequence_fill(w, run->values.buffer, 0, 0, bytes);
    for (int l = 0; l < HERMITE_CLASSES; l++)
        launch_class(run, l, &is_begun);
    sequence_read(w, run->values.buffer, 0, run->values.staging, bytes);
    return sequence_status(w, error);
}

ley_status esp_run_finish(esp_run *run, ley_error *error)
{
    const ley_status status = sequence_finish(&run->command_sequence, error);
    for (int d = 0; status == LEY_OK && d < components_of(run->kernel->problem.has_field); d++)
        for (int64_t i = 0; i < run->count; i++)
            if (!isfinite(esp_run_value(run, d, i)))
                return sequence_no_number(error);
    return status;
}
