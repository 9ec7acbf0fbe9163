/* The benchmark of orbitals: the papers' C60 in 6-31G*, 172 x 173 x 169 points, one orbital by
 * every variant; the density and its gradient; new coefficients frame after frame; and the papers'
 * loop in plain C beside. Rates are of points times Gaussians, whatever a variant computes of
 * these: the exponentials of the direct sum. */
#include "bench/bench.h"

#include "clock.h"
#include "core/units.h"
#include "engine/tuning.h"
#include "error.h"
#include "law/wavefunction.h"
#include "methods/wavefunction/build.h"
#include "methods/wavefunction/c60.h"
#include "methods/wavefunction/density_matrix_build.h"
#include "methods/wavefunction/esp_bench.h"
#include "methods/wavefunction/esp_build.h"
#include "methods/wavefunction/list_build.h"
#include "methods/wavefunction/loop.h"
#include "methods/wavefunction/method.h"
#include "methods/wavefunction/task.h"
#include "target/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JUDGED = 200, FRAME_POINTS = 80, FRAMES = 20, SHARE_OF_PLANES = 8 };
static const double most_slab_bytes = 256 << 20;
static const char density_name[] = "density", gradient_name[] = "gradient", frames_name[] = "frames",
                  potential_name[] = "potential", scattered_name[] = "potential-points";

typedef struct orbital_bench {
    ley_wavefunction *wavefunction, *small, *caffeine;
    ley_grid grid;
    double gaussians; /* of C60, each exponent around a nucleus once */
} orbital_bench;

/* ---- The problem ----------------------------------------------------------------------------- */

static const char *named(size_t i)
{
    static const char *const others[] = {density_name, gradient_name, frames_name, potential_name, scattered_name};
    size_t own = 0, lists = 0;
    while (separable_variant(own) != NULL)
        own++;
    while (list_variant(lists) != NULL)
        lists++;
    return i < own                                            ? separable_variant(i)
           : i < own + lists                                  ? list_variant(i - own)
           : i < own + lists + sizeof others / sizeof *others ? others[i - own - lists]
                                                              : NULL;
}

static const char *usual(const worker *w, const ley_bench_options *o, const ley_bench_device *d)
{
    (void)d;
    return o->sum == LEY_SUM_FLOAT ? separable_kind.usual(w->info, (int)o->sum)
                                   : gaussians_kind.usual(w->info, (int)o->sum);
}

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    static const int64_t papers[3] = {172, 173, 169};
    const bool is_slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const int exp =
        calibrate_fastest_exp(w->info, facts, calibrate_width(w->info), tuning_need((int)o->math, CALIBRATE_FINEST));
    d->exp = calibrate_exp_name(exp);
    d->exps_per_s = facts->exps_per_s[exp];
    d->root = calibrate_root_name(LEY_ROOT_STANDARD);
    d->roots_per_s = facts->roots_per_s[LEY_ROOT_STANDARD];
    d->fma_per_s = facts->fma_per_s;
    d->points = 1;
    d->atoms = 60;
    for (int axis = 0; axis < 3; axis++) {
        d->n[axis] = o->n[axis] > 0 ? o->n[axis] : is_slow ? 6 : papers[axis];
        d->points *= d->n[axis];
    }
}

static void end(void *problem)
{
    orbital_bench *p = problem;
    if (p == NULL)
        return;
    ley_wavefunction_destroy(p->wavefunction);
    ley_wavefunction_destroy(p->small);
    ley_wavefunction_destroy(p->caffeine);
    free(p);
}

/* So many points over the default box. */
static ley_status make_grid(const ley_wavefunction *w, const int64_t n[3], ley_grid *grid, ley_error *error)
{
    const ley_status status = ley_wavefunction_grid(w, 0, 0, grid, error);
    for (int axis = 0; axis < 3 && status == LEY_OK; axis++) {
        grid->step_A[axis][axis] *= (double)(grid->n[axis] - 1) / fmax(1, (double)n[axis] - 1);
        grid->n[axis] = n[axis];
    }
    return status;
}

static ley_status count_gaussians(orbital_bench *p, ley_error *error)
{
    expansion e;
    const ley_status status = expansion_create(p->wavefunction, &e, error);
    p->gaussians = status == LEY_OK ? e.count : 0;
    if (status == LEY_OK)
        expansion_destroy(&e);
    return status;
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    (void)o;
    orbital_bench *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the benchmark");
    ley_status status = c60_create(&p->wavefunction, error);
    if (status == LEY_OK)
        status = c60_small(&p->small, error);
    if (status == LEY_OK)
        status = c60_caffeine(&p->caffeine, error);
    if (status == LEY_OK)
        status = count_gaussians(p, error);
    if (status == LEY_OK)
        status = make_grid(p->wavefunction, d->n, &p->grid, error);
    if (status == LEY_OK)
        *problem = p;
    else
        end(p);
    return status;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* A task's planes by one of the kernels, slab by slab. */
typedef struct kernel_run {
    const ley_bench_options *o;
    wavefunction_task *task;
    separable_kernel separable;
    list_kernel list;
    separable_run slab;
    list_run points;
    int64_t planes, slab_planes; /* all that are computed; and at a time */
    int64_t first;               /* of the slab at hand */
    float **values;              /* [values of the task]: planes of the slab, of separable */
    float *room;
    double worst, error2, right2; /* of judged points */
    size_t judged;
    bool judges;
} kernel_run;

static void place_of(const kernel_run *r, int64_t i, double place[3])
{
    const int64_t *n = r->task->grid.n, index[3] = {i % n[0], i / n[0] % n[1], r->first + i / (n[0] * n[1])};
    ley_grid_point_A(&r->task->grid, index, place);
    for (int axis = 0; axis < 3; axis++)
        place[axis] /= units_bohr_A;
}

static void put_place(const void *context, int64_t i, double place[3])
{
    place_of(context, i, place);
}

/* Some points of each slab, all values of them. */
static void judge(kernel_run *r, int64_t points)
{
    uint64_t random = (uint64_t)r->first + 1;
    const double promise = wavefunction_task_promise(r->task);
    const int64_t slabs = (r->planes + r->slab_planes - 1) / r->slab_planes, each = (JUDGED + slabs - 1) / slabs;
    for (int64_t k = 0; k < each; k++) {
        const int64_t at = (int64_t)(bench_random(&random) * (double)points);
        double place[3];
        place_of(r, at, place);
        for (size_t v = 0; v < r->task->values; v++) {
            const reference_value right = wavefunction_value(&r->task->quantities[v], place);
            const double found =
                r->task->is_listed ? list_run_value(&r->points, (int64_t)v, at) : (double)r->values[v][at];
            const double off = fabs(found - right.value);
            r->worst = isfinite(off) ? fmax(r->worst, off / (right.absolute + r->task->left_out / promise)) : INFINITY;
            r->error2 += off * off;
            r->right2 += right.value * right.value;
            r->judged++;
        }
    }
}

static ley_status run_slab(kernel_run *r, int64_t count, double *seconds, ley_error *error)
{
    const int64_t points = count * r->task->grid.n[0] * r->task->grid.n[1];
    ley_status status = r->task->is_listed ? list_run_begin(&r->points, put_place, r, points, NULL, error)
                                           : separable_run_begin(&r->slab, r->first, count, NULL, error);
    if (status == LEY_OK)
        status =
            r->task->is_listed ? list_run_finish(&r->points, error) : separable_run_finish(&r->slab, r->values, error);
    *seconds += (r->task->is_listed ? &r->points.command_sequence : &r->slab.command_sequence)->times.kernel_s;
    if (status == LEY_OK && r->judges)
        judge(r, points);
    return status;
}

static ley_status run_once(void *context, double *seconds, ley_error *error)
{
    kernel_run *r = context;
    ley_status status = LEY_OK;
    *seconds = 0;
    const int64_t begin = (r->task->grid.n[2] - r->planes) / 2, end = begin + r->planes; /* around the middle */
    for (r->first = begin; r->first < end && status == LEY_OK; r->first += r->slab_planes) {
        const int64_t left = end - r->first, count = left < r->slab_planes ? left : r->slab_planes;
        status =
            bench_cancelled(r->o) ? ley_fail(error, LEY_CANCELLED, "cancelled") : run_slab(r, count, seconds, error);
    }
    r->judges = false; /* only the first time */
    return status;
}

/* Of all occupied orbitals. */
static bool is_of_density(const char *name)
{
    return name == density_name || name == gradient_name || strcmp(name, LIST_OF_MANY) == 0 ||
           strcmp(name, DENSITY_BY_MATRIX) == 0;
}

static const char *variant_of(const char *name)
{
    return name == density_name || name == gradient_name ? NULL : name;
}

static ley_status make_task(const orbital_bench *p, const char *name, const ley_bench_options *o,
                            wavefunction_task **made, ley_error *error)
{
    static const int64_t homo[] = {179};
    const bool has_gradient = name == gradient_name, is_density = is_of_density(name);
    ley_map *maps[4] = {NULL};
    ley_wavefunction_request request = {.kind = is_density ? LEY_DENSITY : LEY_ORBITALS,
                                        .orbitals = is_density ? NULL : homo, /* of a density: all that are occupied */
                                        .orbital_count = is_density ? 0 : 1,
                                        .gradient = has_gradient,
                                        .maps = maps};
    ley_status status = LEY_OK;
    for (size_t i = 0; i < ley_wavefunction_values(&request) && status == LEY_OK; i++)
        status = ley_map_outline(&p->grid, &maps[i], error);
    if (status == LEY_OK)
        status = wavefunction_task_create(p->wavefunction, &request, NULL, made, error);
    if (status == LEY_OK)
        status = wavefunction_task_prepare(*made, (int)o->sum, variant_of(name), error);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        ley_map_destroy(maps[i]);
    return status;
}

static ley_status ready_list(const worker *w, kernel_run *r, const char *variant, const ley_bench_options *o,
                             ley_error *error)
{
    wavefunction_task *t = r->task;
    list_wish wish = {.math = (int)o->math,
                      .sum = (int)o->sum,
                      .has_derivatives = t->request.gradient,
                      .is_single = t->used_count == 1};
    ley_status status = list_wish_create(&t->e, t->is_many ? LIST_OF_MANY : variant, &wish, error);
    if (status == LEY_OK)
        status = list_kernel_create(w->device, &wish, &r->list, error);
    list_wish_destroy(&wish);
    if (status == LEY_OK)
        status = list_kernel_load(&r->list, &t->list, error);
    const double plane = (double)(t->grid.n[0] * t->grid.n[1]),
                 bytes = plane * (double)list_point_bytes(&r->list, &t->list);
    r->slab_planes = (int64_t)fmin((double)r->planes, fmax(1, most_slab_bytes / bytes));
    return status == LEY_OK ? list_run_create(&r->points, &r->list, r->slab_planes * (int64_t)plane, error) : status;
}

static ley_status ready_separable(const worker *w, kernel_run *r, const char *variant, const ley_bench_options *o,
                                  ley_error *error)
{
    wavefunction_task *t = r->task;
    const separable_wish wish = wavefunction_task_wish(t, variant, (int)o->math);
    int64_t bytes = 0;
    ley_status status = separable_kernel_create(w->device, &wish, &r->separable, error);
    if (status == LEY_OK)
        status = separable_kernel_load(&r->separable, &t->problem, error);
    if (status != LEY_OK)
        return status;
    const padded_slab layout = separable_layout(&r->separable, &t->problem);
    padding_bytes(&layout, &bytes);
    r->slab_planes = (int64_t)fmin((double)r->planes, fmax(1, most_slab_bytes / (double)bytes));
    const size_t each = (size_t)(t->grid.n[0] * t->grid.n[1] * r->slab_planes);
    r->room = malloc(t->values * each * sizeof *r->room);
    r->values = calloc(t->values, sizeof *r->values);
    if (r->room == NULL || r->values == NULL)
        return ley_fail_memory(error, t->values * each * sizeof *r->room, "the benchmark");
    for (size_t v = 0; v < t->values; v++)
        r->values[v] = r->room + v * each;
    return separable_run_create(&r->slab, &r->separable, r->slab_planes, error);
}

static void end_run(kernel_run *r)
{
    separable_run_destroy(&r->slab);
    list_run_destroy(&r->points);
    separable_kernel_destroy(&r->separable);
    list_kernel_destroy(&r->list);
    free(r->values);
    free(r->room);
    if (r->task != NULL) {
        wavefunction_task_release(r->task);
        wavefunction_task_end(r->task);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static ley_status put_accuracy(bench_row *b, size_t points, double worst, double relative_rms, double tolerance,
                               ley_error *error)
{
    ley_accuracy *a = &b->row.accuracy;
    a->points = a->compared = points;
    a->max_error = worst;
    a->relative_rms = relative_rms;
    a->tolerance = tolerance;
    a->passed = worst <= tolerance;
    return a->passed ? LEY_OK
                     : ley_fail(error, LEY_ERROR_WRONG_RESULT, "off by %.2g of the magnitudes there, %.2g is allowed",
                                worst, tolerance);
}

/* What the kernel's limit is, of the terms that are not left out: exponentials and a multiply-add
 * for each coefficient, at some points; or a multiply-add for each term, in some planes. */
static ley_status count_terms(kernel_run *r, double *exponentials, double *multiply_adds, ley_error *error)
{
    enum { PLANES = 8, POINTS = 4096 };
    const wavefunction_task *t = r->task;
    const int64_t plane_points = t->grid.n[0] * t->grid.n[1], points = plane_points * r->planes,
                  step = points / POINTS | 1, plane_step = (r->planes + PLANES - 1) / PLANES;
    list_counts counts = {0, 0};
    r->first = (t->grid.n[2] - r->planes) / 2;
    *exponentials = *multiply_adds = 0;
    if (t->is_listed) {
        const ley_status status = list_count(&r->list, put_place, r, points, step, &counts, error);
        const double each = (double)points / (double)((points + step - 1) / step);
        *exponentials = counts.exponentials * each;
        *multiply_adds = counts.multiply_adds * each;
        return status;
    }
    int64_t counted = 0;
    for (int64_t plane = plane_step / 2; plane < r->planes; plane += plane_step, counted++)
        *multiply_adds += separable_multiply_adds(&r->separable, r->first + plane);
    *multiply_adds *= (double)r->planes / (double)counted;
    return LEY_OK;
}

static ley_status put_shares(kernel_run *r, const ley_bench_device *limits, bench_row *b, ley_error *error)
{
    const wavefunction_task *t = r->task;
    double exps, multiply_adds;
    const ley_status status = count_terms(r, &exps, &multiply_adds, error);
    b->row.root_share = exps / limits->exps_per_s / b->row.median_s;
    b->row.fma_share = multiply_adds / limits->fma_per_s / b->row.median_s;
    b->row.exp = t->is_listed ? calibrate_exp_name(r->list.spec.exp) : NULL;
    b->row.root = t->is_listed ? NULL : "none: tables";
    bench_put_figure(&b->row, "multiply_adds", multiply_adds);
    bench_put_figure(&b->row, "exponentials", exps);
    if (t->is_listed)
        kernel_options(&gaussians_kind, &r->list.spec, b->specification, sizeof b->specification);
    else
        separable_kernel_describe(&r->separable, b->specification, sizeof b->specification);
    return status;
}

/* Densities take long on processors: a part of the planes does. */
static ley_status measure_kernel(worker *w, const ley_bench_options *o, const char *name, const orbital_bench *p,
                                 const ley_bench_device *limits, bench_row *b)
{
    const bool is_density = is_of_density(name);
    kernel_run r = {.o = o, .judges = true};
    ley_error *error = &b->failure;
    if (o->sum != LEY_SUM_FLOAT && variant_of(name) != NULL && !list_has_variant(name))
        return ley_fail(error, LEY_ERROR_NO_DEVICE, "variant %s sums floats", name);
    ley_status status = make_task(p, name, o, &r.task, error);
    r.planes = is_density && w->info->device_class != DEV_GPU ? (p->grid.n[2] + SHARE_OF_PLANES - 1) / SHARE_OF_PLANES
                                                              : p->grid.n[2];
    const char *variant = variant_of(name);
    if (status == LEY_OK)
        status = r.task->is_listed ? ready_list(w, &r, variant, o, error) : ready_separable(w, &r, variant, o, error);
    const double points = (double)(p->grid.n[0] * p->grid.n[1] * r.planes);
    if (status == LEY_OK)
        status = bench_time(o, points * p->gaussians * (is_density ? r.task->used_count : 1), run_once, &r, b, error);
    if (status == LEY_OK) {
        status = put_shares(&r, limits, b, error);
        bench_put_figure(
            &b->row, "build_s",
            kernel_build_s(w->info, r.task->is_listed ? &gaussians_kind : separable_kernel_kind(&r.separable)));
    }
    if (status == LEY_OK)
        status =
            put_accuracy(b, r.judged, r.worst, sqrt(r.error2 / r.right2), wavefunction_task_promise(r.task), error);
    end_run(&r);
    return status;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

typedef struct frames_run {
    const ley_bench_options *o;
    ley_wavefunction_plan *plan;
    int64_t count; /* of coefficients */
    double *coefficients;
    uint64_t random;
} frames_run;

/* New coefficients for each frame, made before the clock starts. */
static ley_status run_frames(void *context, double *seconds, ley_error *error)
{
    frames_run *r = context;
    ley_status status = LEY_OK;
    *seconds = 0;
    for (int frame = 0; frame < FRAMES && status == LEY_OK; frame++) {
        for (int64_t k = 0; k < r->count; k++)
            r->coefficients[k] += 0.01 * (bench_random(&r->random) - 0.5);
        const double start_s = ley_clock_s();
        status = bench_cancelled(r->o) ? ley_fail(error, LEY_CANCELLED, "cancelled")
                                       : ley_wavefunction_plan_update(r->plan, r->coefficients, NULL, error);
        if (status == LEY_OK)
            status = ley_wavefunction_plan_run(r->plan, error);
        *seconds += ley_clock_s() - start_s;
    }
    return status;
}

/* The last frame, against the formula with the last coefficients. */
static ley_status judge_frames(const frames_run *r, const orbital_bench *p, const ley_map *map, bench_row *b,
                               ley_error *error)
{
    ley_wavefunction_arrays a = ley_wavefunction_get(p->small);
    ley_wavefunction *w = NULL;
    a.orbital_coefficients = r->coefficients;
    const ley_status made = ley_wavefunction_create(&a, &w, error);
    if (made != LEY_OK)
        return made;
    const wavefunction_quantity q = {.wavefunction = w, .orbital = a.orbitals - 2};
    uint64_t random = 3;
    double worst = 0, error2 = 0, right2 = 0;
    for (int i = 0; i < JUDGED; i++) {
        const int64_t at = (int64_t)(bench_random(&random) * (double)ley_grid_points(ley_map_grid(map)));
        double place[3];
        const double found = map_value(map, at, place);
        for (int axis = 0; axis < 3; axis++)
            place[axis] /= units_bohr_A;
        const reference_value right = wavefunction_value(&q, place);
        worst = fmax(worst, fabs(found - right.value) / (right.absolute + 0.1));
        error2 += pow(found - right.value, 2);
        right2 += pow(right.value, 2);
    }
    ley_wavefunction_destroy(w);
    return put_accuracy(b, JUDGED, worst, sqrt(error2 / right2), 1e-5, error);
}

static ley_status measure_frames(worker *w, const ley_bench_options *o, const orbital_bench *p, bench_row *b)
{
    const bool is_slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const int64_t edge = is_slow ? 6 : FRAME_POINTS, n[3] = {edge, edge, edge};
    const ley_wavefunction_arrays a = ley_wavefunction_get(p->small);
    const int64_t homo[] = {a.orbitals - 2};
    frames_run r = {.o = o, .count = a.orbitals * ley_wavefunction_functions(p->small), .random = 1};
    ley_run_options run_options;
    ley_error *error = &b->failure;
    ley_engine *engine = NULL;
    ley_map *map = NULL;
    ley_grid grid;
    ley_run_options_default(&run_options);
    run_options.math = o->math;
    run_options.sum = o->sum;
    r.coefficients = calloc((size_t)r.count, sizeof *r.coefficients);
    ley_status status = r.coefficients != NULL
                            ? bench_open(w, &engine, error)
                            : ley_fail_memory(error, (size_t)r.count * sizeof *r.coefficients, "the benchmark");
    if (status == LEY_OK)
        status = make_grid(p->small, n, &grid, error);
    if (status == LEY_OK)
        status = ley_map_create(&grid, &map, error);
    const ley_wavefunction_request request = {.orbitals = homo, .orbital_count = 1, .maps = &map};
    if (status == LEY_OK) {
        memcpy(r.coefficients, a.orbital_coefficients, (size_t)r.count * sizeof *r.coefficients);
        status = ley_wavefunction_plan_create(engine, p->small, &request, NULL, &run_options, &r.plan, error);
    }
    if (status == LEY_OK)
        status = bench_time(o, (double)FRAMES * (double)ley_grid_points(&grid), run_frames, &r, b, error);
    if (status == LEY_OK) {
        bench_put_figure(&b->row, "frames_per_s", FRAMES / b->row.median_s);
        snprintf(b->specification, sizeof b->specification, "threonine's size, %lld^3, %.0f frames/s", (long long)edge,
                 FRAMES / b->row.median_s);
        status = judge_frames(&r, p, map, b, error);
    }
    ley_wavefunction_plan_destroy(r.plan);
    ley_map_destroy(map);
    ley_engine_destroy(engine);
    free(r.coefficients);
    return status;
}

/* ---- Potentials ------------------------------------------------------------------------------ */

static ley_status measure_potential(worker *w, const ley_bench_options *o, const char *name, const orbital_bench *p,
                                    const ley_bench_device *limits, bench_row *b)
{
    const bool is_slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    int64_t n[3];
    ley_grid grid;
    esp_bench_found found;
    for (int axis = 0; axis < 3; axis++)
        n[axis] = o->n[axis] > 0 && o->n[axis] < FRAME_POINTS ? o->n[axis] : is_slow ? 6 : FRAME_POINTS;
    ley_error *error = &b->failure;
    ley_status status = make_grid(p->caffeine, n, &grid, error);
    const esp_bench problem = {.wavefunction = p->caffeine, .grid = &grid, .is_scattered = name == scattered_name};
    if (status == LEY_OK)
        status = esp_bench_measure(w, o, &problem, b, &found, error);
    if (status != LEY_OK)
        return status;
    snprintf(b->specification, sizeof b->specification, "caffeine's size, %lld x %lld x %lld%s, %.3g us a point",
             (long long)n[0], (long long)n[1], (long long)n[2], problem.is_scattered ? " points in no order" : "",
             1e6 * b->row.median_s / (double)ley_grid_points(&grid));
    b->row.fma_share = found.multiply_adds / limits->fma_per_s / b->row.median_s;
    b->row.root_share = found.exponentials / limits->exps_per_s / b->row.median_s;
    b->row.exp = found.exp;
    b->row.root = found.root;
    bench_put_figure(&b->row, "multiply_adds", found.multiply_adds);
    bench_put_figure(&b->row, "exponentials", found.exponentials);
    bench_put_figure(&b->row, "build_s", kernel_build_s(w->info, &hermite_kind));
    return put_accuracy(b, found.judged, found.worst, sqrt(found.error2 / found.right2), 2e-6, error);
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *name, const void *problem,
                          const ley_bench_device *limits, bench_row *b)
{
    const orbital_bench *p = problem;
    const char *own = NULL;
    for (size_t i = 0; own == NULL || strcmp(own, name) != 0; i++)
        own = named(i);
    return own == frames_name                               ? measure_frames(w, o, p, b)
           : own == potential_name || own == scattered_name ? measure_potential(w, o, own, p, limits, b)
                                                            : measure_kernel(w, o, own, p, limits, b);
}

/* ---- The papers' loop ------------------------------------------------------------------------ */

static ley_status host_loop(const ley_bench_options *o, const void *problem, ley_bench_device *d, ley_error *error)
{
    const orbital_bench *p = problem;
    (void)error;
    const orbital_loop loop =
        orbital_loop_measure(p->wavefunction, 179, &p->grid, bench_repeats_begin(o->repeats, o->most_s));
    if (loop.times.n > 0 && loop.worst < 1e-4) {
        d->host_loop = "the papers', no vectors";
        d->host_threads = loop.threads;
        d->host_runs = loop.times.n;
        d->host_spread = loop.times.spread;
        d->host_loop_evaluations_per_s = loop.points * p->gaussians / loop.times.median_s;
    }
    return LEY_OK;
}

/* clang-format off */
static const ley_bench_figure figures[] = {
    {.name = "multiply_adds", .sentence = "of the terms that are not left out"},
    {.name = "exponentials", .sentence = "the same; 0: by tables alone"},
    {.name = "build_s", .unit = "s", .hangs_on_time = true, .sentence = "that building such a kernel took at least"},
    {.name = "frames_per_s", .unit = "frames/s", .hangs_on_time = true, .may_be_unknown = true,
     .sentence = "of 80 x 80 x 80 points, with new coefficients each time, from and to the host's memory"},
    {.name = NULL}};
/* clang-format on */

const bench_subject bench_orbital = {
    .name = "orbital",
    .figures = figures,
    .named = named,
    .usual = usual,
    .choose = choose,
    .make = make,
    .end = end,
    .measure = measure,
    .host_loop = host_loop,
};
