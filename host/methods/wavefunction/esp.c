#include "methods/wavefunction/esp.h"

#include "core/sizes.h"
#include "error.h"
#include "law/esp.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a device's multiply-adds the kernel reaches this share; Boys' function is as many, and a
 * coefficient of multipoles. A launch is predicted to take no longer. */
static const double share_of_rate = 0.25, boys_cost = 60, multipole_cost = 3, most_launch_s = 0.1;
enum { COORDINATES = 6, NUMBER = sizeof(float) };

static int components_of(bool has_field)
{
    return LEY_COMPONENTS(has_field);
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
    const double adds =
        hermite_size(l) * (has_field ? 4.0 : 1.0) * (l == HERMITE_MULTIPOLES ? multipole_cost : 1) + boys_cost;
    return adds / (share_of_rate * fmax(k->facts.fma_per_s, 1e8));
}

static double distance2_of(const esp_problem *p, const double place[3])
{
    double r2 = 0;
    for (int axis = 0; axis < 3; axis++)
        r2 += (place[axis] - p->centre[axis]) * (place[axis] - p->centre[axis]);
    return r2;
}

/* By the golden ratio: equal steps would be in the same few columns of some grids. */
void esp_count(const esp_problem *p, list_place *place, const void *context, int64_t points,
               double counts[HERMITE_CLASSES])
{
    enum { ASKED = 400 };
    const double golden = 0.6180339887498949;
    const hermite_charges *c = p->charges;
    memset(counts, 0, HERMITE_CLASSES * sizeof *counts);
    for (int i = 0; i < ASKED; i++) {
        double at[3];
        place(context, (int64_t)(fmod((i + 0.5) * golden, 1) * (double)points), at);
        for (int32_t cluster = 0; cluster < c->clusters && distance2_of(p, at) <= p->reach * p->reach; cluster++) {
            const bool is_near = hermite_cluster_is_near(c, cluster, at);
            for (int l = 0; l < HERMITE_CLASSES; l++)
                if (is_near == (l != HERMITE_MULTIPOLES) && c->classes[l].count > 0)
                    counts[l] += (double)(c->classes[l].first[cluster + 1] - c->classes[l].first[cluster]) / ASKED;
        }
    }
}

double esp_point_s(const esp_kernel *k, const double counts[HERMITE_CLASSES], bool has_field)
{
    double sum = 0;
    for (int l = 0; l < HERMITE_CLASSES; l++)
        sum += counts[l] * charge_s(k, l, has_field);
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
    const size_t n = (size_t)from->count;
    if (l < HERMITE_MULTIPOLES)
        to->boys = boys_fit_make(l + k->problem.has_field);
    ley_status status = arena_upload(&k->arena, from->places, HERMITE_PLACE * n * NUMBER, &to->places, error);
    if (status == LEY_OK)
        status =
            arena_upload(&k->arena, from->coefficients, (size_t)hermite_size(l) * n * NUMBER, &to->coefficients, error);
    if (status == LEY_OK)
        status = arena_upload(&k->arena, from->first, ((size_t)k->problem.charges->clusters + 1) * sizeof *from->first,
                              &to->firsts, error);
    if (status == LEY_OK)
        status = arena_upload(&k->arena, to->boys.pieces, (size_t)(to->boys.count + 1) * sizeof(boys_piece),
                              &to->pieces, error);
    return status;
}

ley_status esp_kernel_load(esp_kernel *k, const esp_problem *problem, ley_error *error)
{
    k->arena.device = k->flight.device = k->device;
    k->problem = *problem;
    const hermite_charges *c = problem->charges;
    ley_status status =
        arena_upload(&k->arena, c->reaches, HERMITE_PLACE * (size_t)c->clusters * NUMBER, &k->clusters, error);
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
    return status == LEY_OK
               ? arena_results(&k->arena, 2 * components_of(k->problem.has_field) * pitch * NUMBER, &run->values, error)
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
    const double share = count > 0 ? run->counts[l] / count : 0,
                 each_s = (double)run->pitch * fmax(share, 1e-6) * charge_s(k, l, p->has_field),
                 most = run->most > 0 ? run->most : fmin(fmax(most_launch_s / each_s, 1), INT32_MAX / 2);
    const size_t groups[3] = {(size_t)(run->pitch / group_points(k)), 1, 1};
    for (int32_t first = 0, n; first < count; first += n) {
        n = count - first < (int32_t)most ? count - first : (int32_t)most;
        sequence_launch(&run->command_sequence, &of->kernel, groups,
                        KERNEL_ARGUMENTS(hermite, .gm_places = {of->places}, .gm_coefficients = {of->coefficients},
                                         .gm_clusters = {k->clusters}, .gm_firsts = {of->firsts},
                                         .n_clusters = p->charges->clusters, .first = first, .n_charges = n,
                                         .gm_boys = {of->pieces}, .n_pieces = of->boys.count,
                                         .multipole_t = (double)of->boys.t_most, .gm_points = {run->points},
                                         .pitch = (int32_t)run->pitch,
                                         .reach = {p->centre[0], p->centre[1], p->centre[2], p->reach * p->reach},
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
    of->place(of->context, i, place);
    const double r2 = distance2_of(p, place);
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
    esp_count(&k->problem, place, context, count, run->counts);
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

/* ---- Nuclei ---------------------------------------------------------------------------------- */

/* A vector from a nucleus as the kernel has it, whose components are floats: so they are off by as
 * much as those of the electrons around the same nucleus, and both errors cancel with the
 * charges. */
static void way_from(const float *nucleus, const esp_run *run, size_t point, float way[3])
{
    for (size_t axis = 0; axis < 3; axis++) {
        const float *places = run->places + axis * (size_t)run->pitch + point;
        const float above = places[0] - nucleus[axis], below = places[3 * run->pitch] - nucleus[4 + axis];
        way[axis] = above + below;
    }
}

/* Adds a charge and a dipole `way` from there. */
static void add_poles(double charge, const double dipole[3], const double way[3], double values[4])
{
    const double r2 = way[0] * way[0] + way[1] * way[1] + way[2] * way[2], r = fmax(sqrt(r2), ESP_R_MIN_BOHR),
                 cubed = r > ESP_R_MIN_BOHR ? 1 / (r2 * r) : 0,
                 along = dipole[0] * way[0] + dipole[1] * way[1] + dipole[2] * way[2],
                 slope = (charge + (along != 0 ? 3 * along / r2 : 0)) * cubed;
    values[0] += charge / r + along * cubed;
    for (int axis = 0; axis < 3; axis++)
        values[1 + axis] += slope * way[axis] - dipole[axis] * cubed;
}

void esp_run_add_nuclei(const esp_run *run, int64_t point, const double *nuclei, const double place[3],
                        double values[4])
{
    const hermite_charges *c = run->kernel->problem.charges;
    static const double none[3] = {0};
    for (int32_t i = 0; i < c->clusters; i++) {
        const bool has_nucleus = i % HERMITE_BANDS == 0;
        const float *reach = c->reaches + HERMITE_PLACE * i;
        const double *pole = c->poles + 4 * i;
        float near[3];
        way_from(reach, run, (size_t)point, near);
        if (hermite_is_near(reach, near)) {
            if (has_nucleus)
                add_poles(nuclei[i / HERMITE_BANDS], none,
                          (const double[3]){(double)near[0], (double)near[1], (double)near[2]}, values);
            continue;
        }
        double way[3];
        for (int axis = 0; axis < 3; axis++)
            way[axis] = place[axis] - (double)reach[axis] - (double)reach[4 + axis];
        add_poles(pole[0], pole + 1, way, values);
    }
}
