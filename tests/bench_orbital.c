/* Kernels of orbitals and densities, every variant that a device can run: milliseconds, medians of
 * rounds.
 *
 *     bench_orbital DEVICE FILE.npz|c60like [NX NY NZ] [orbital|occupied|density|gradient]
 * [VARIANT]
 *
 * c60like: 60 carbon atoms on a sphere, in 6-31G*, with made-up orbitals, 172 x 173 x 169 points. A
 * multiply-add is counted for each point, term and pass, also of terms that are left out; beside it
 * stands what it would be of the device's measured multiply-adds if none were. */
#include "core/units.h"
#include "engine/engine.h"
#include "error.h"
#include "law/wavefunction.h"
#include "methods/wavefunction/build.h"
#include "methods/wavefunction/task.h"
#include "some_wavefunction.h"
#include "target/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, JUDGED = 100 };
static const double most_slab_bytes = 512 << 20;

typedef struct bench {
    ley_wavefunction *wavefunction;
    wavefunction_task *task;
    const char *what, *only;
    dev *device;
    int64_t n[3];
} bench;

static ley_status make_task(bench *b, ley_error *error)
{
    const bool is_density = strcmp(b->what, "density") == 0 || strcmp(b->what, "gradient") == 0;
    ley_wavefunction_request request = {.kind = is_density ? LEY_DENSITY : LEY_ORBITALS,
                                        .gradient = strcmp(b->what, "gradient") == 0};
    ley_grid grid;
    int64_t *orbitals = NULL;
    ley_status status = ley_wavefunction_grid(b->wavefunction, 0, 0, &grid, error);
    for (int axis = 0; axis < 3 && status == LEY_OK; axis++) { /* so many points over the same box
                                                                */
        grid.step_A[axis][axis] *= (double)(grid.n[axis] - 1) / (double)(b->n[axis] > 1 ? b->n[axis] - 1 : 1);
        grid.n[axis] = b->n[axis];
    }
    if (status == LEY_OK)
        status = ley_wavefunction_find(b->wavefunction, strcmp(b->what, "occupied") == 0 ? "1-homo" : "homo", &orbitals,
                                       &request.orbital_count, error);
    request.orbitals = orbitals;
    const size_t values = ley_wavefunction_values(&request);
    ley_map **maps = calloc(values, sizeof *maps);
    for (size_t i = 0; i < values && status == LEY_OK; i++)
        status = ley_map_outline(&grid, &maps[i], error);
    request.maps = maps;
    if (status == LEY_OK)
        status = wavefunction_task_create(b->wavefunction, &request, NULL, &b->task, error);
    if (status == LEY_OK)
        status = wavefunction_task_prepare(b->task, error);
    free(orbitals);
    return status;
}

static double worst_of(const bench *b, const separable_run *run, float *const *planes)
{
    const ley_grid *grid = &b->task->grid;
    const int64_t points = grid->n[0] * grid->n[1] * run->planes;
    double worst = 0;
    unsigned seed = 5;
    for (int i = 0; i < JUDGED; i++) {
        const int64_t at = (int64_t)(rand_r(&seed) / (RAND_MAX + 1.0) * (double)points);
        const size_t value = (size_t)i % b->task->values;
        const int64_t index[3] = {at % grid->n[0], at / grid->n[0] % grid->n[1],
                                  at / (grid->n[0] * grid->n[1]) + run->first};
        double place[3];
        ley_grid_point_A(grid, index, place);
        for (int axis = 0; axis < 3; axis++)
            place[axis] /= units_bohr_A;
        const reference_value right = wavefunction_value(&b->task->quantities[value], place);
        worst = fmax(worst, fabs((double)planes[value][at] - right.value) / right.absolute);
    }
    return worst;
}

/* All slabs; seconds of their kernels. */
static ley_status run_all(const bench *b, separable_kernel *k, separable_run *run, int64_t planes, float *const *to,
                          bool judges, double *seconds, double *worst, ley_error *error)
{
    ley_status status = LEY_OK;
    *seconds = 0;
    for (int64_t first = 0; first < b->n[2] && status == LEY_OK; first += planes) {
        const int64_t count = b->n[2] - first < planes ? b->n[2] - first : planes;
        status = separable_run_begin(run, first, count, NULL, error);
        if (status == LEY_OK)
            status = separable_run_finish(run, to, error);
        *seconds += run->command_sequence.times.kernel_s;
        if (status == LEY_OK && judges)
            *worst = fmax(*worst, worst_of(b, run, to));
    }
    return status;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static ley_status measure(const bench *b, const char *variant, ley_error *error)
{
    separable_kernel k;
    separable_run run = {.kernel = NULL};
    double seconds[ROUNDS], worst = 0, passes = 0;
    ley_status status = separable_kernel_create(b->device, variant, b->task->e.most_l + 1, &k, error);
    if (status == LEY_OK)
        status = separable_kernel_load(&k, &b->task->problem, error);
    if (status != LEY_OK) { /* a variant that this device cannot have */
        separable_kernel_destroy(&k);
        return status;
    }
    const padded_slab layout = separable_layout(&k, &b->task->problem);
    int64_t plane_bytes = 0, planes;
    padding_bytes(&layout, &plane_bytes);
    planes = (int64_t)fmax(1, fmin((double)b->n[2], most_slab_bytes / (double)plane_bytes));
    const size_t points = (size_t)(b->n[0] * b->n[1] * planes);
    float *values = malloc(b->task->values * points * sizeof *values), **to = calloc(b->task->values, sizeof *to);
    for (size_t i = 0; i < b->task->values; i++)
        to[i] = values + i * points;
    if (status == LEY_OK)
        status = separable_run_create(&run, &k, planes, error);
    for (int round = -1; round < ROUNDS && status == LEY_OK; round++)
        status = run_all(b, &k, &run, planes, to, round < 0, &seconds[round < 0 ? 0 : round], &worst, error);
    for (size_t i = 0; i < b->task->problem.pass_count; i++)
        passes += b->task->problem.passes[i].orbitals;
    if (status == LEY_OK) {
        qsort(seconds, ROUNDS, sizeof *seconds, ascending);
        const double terms = passes * b->task->e.rows * (double)b->n[0] * (double)b->n[1] * (double)b->n[2];
        printf("%-9s %9.3f ms (%.3f to %.3f), %7.1f G multiply-adds/s of %.1f G, limit without screening %.3f ms, "
               "error %.1e\n",
               variant, 1e3 * seconds[ROUNDS / 2], 1e3 * seconds[0], 1e3 * seconds[ROUNDS - 1],
               1e-9 * terms / seconds[ROUNDS / 2], 1e-9 * k.facts.fma_per_s, 1e3 * terms / k.facts.fma_per_s, worst);
    }
    separable_run_destroy(&run);
    separable_kernel_destroy(&k);
    free(values);
    free(to);
    return status;
}

static void run_bench(worker *w, void *context)
{
    bench *b = context;
    const char *variant;
    if (w->device == NULL) {
        printf("%s: %s\n", w->info->name, w->open_error.message);
        return;
    }
    b->device = w->device;
    printf("%s, %s: %s, %d terms, %d orbitals, %lld x %lld x %lld points\n", w->info->name, w->public_info.path,
           b->what, b->task->e.rows, b->task->used_count, (long long)b->n[0], (long long)b->n[1], (long long)b->n[2]);
    for (size_t i = 0; (variant = separable_variant(i)) != NULL; i++) {
        ley_error error = {0};
        if ((b->only == NULL || strcmp(b->only, variant) == 0) && measure(b, variant, &error) != LEY_OK)
            printf("%-9s %s\n", variant, error.message);
        fflush(stdout);
        ley_error_clear(&error);
    }
}

int main(int argc, char **argv)
{
    bench b = {.what = "orbital", .n = {172, 173, 169}};
    ley_engine *engine = NULL;
    ley_error error = {0};
    int at = 3;
    if (argc < 3) {
        fprintf(stderr, "bench_orbital DEVICE FILE.npz|c60like [NX NY NZ] [orbital|occupied|density|gradient] "
                        "[VARIANT]\n");
        return 1;
    }
    for (; at < argc && at < 6 && atoi(argv[at]) > 0; at++)
        b.n[at - 3] = atoi(argv[at]);
    if (at < argc)
        b.what = argv[at++];
    b.only = at < argc ? argv[at] : NULL;
    ley_status status = strcmp(argv[2], "c60like") == 0 ? some_c60(&b.wavefunction, &error)
                                                        : ley_wavefunction_read(argv[2], &b.wavefunction, &error);
    if (status == LEY_OK)
        status = make_task(&b, &error);
    if (status == LEY_OK)
        status = ley_engine_create(argv[1], &engine, &error);
    if (status != LEY_OK) {
        fprintf(stderr, "bench_orbital: %s\n", error.message);
        return ley_status_exit_code(status);
    }
    const engine_task task = {.run = run_bench};
    const size_t count = engine->worker_count;
    for (size_t i = 0; i < count; i++) {
        engine->worker_count = i + 1;
        engine_run(engine, i, &task, &b);
    }
    engine->worker_count = count;
    ley_engine_destroy(engine);
    return 0;
}
