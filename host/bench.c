/* The benchmark: each device's own limits, then every kernel variant against them, kernels only. */
#include "accuracy.h"
#include "engine.h"
#include "error.h"
#include "methods/dcs_kernel.h"
#include "yardstick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VARIANTS = 32, MOST_REPEATS = 64, SAMPLE_POINTS = 500 };
static const double bench_s = 0.1, enough_s = 3; /* aims: one launch; all launches of a slow variant */
static const double h_A = 0.5, r_min_A = 0.05;
static const double fma_slots_a_pair = 2; /* an addition and a multiply-add, beside the root */

typedef struct bench_row {
    ley_bench_row row;
    char specification[512];
    ley_error failure;
} bench_row;

typedef struct bench_device {
    ley_bench_device device;
    ley_bench_row public_rows[MOST_VARIANTS];
    bench_row rows[MOST_VARIANTS];
    ley_error failure;
} bench_device;

struct ley_bench {
    size_t count;
    bench_device *devices;
    ley_bench_options options;
    pthread_mutex_t mutex; /* devices take turns: their rates must not disturb each other */
};

void ley_bench_options_default(ley_bench_options *options)
{
    *options = (ley_bench_options){.repeats = 7, .math = LEY_MATH_AUTO, .sum = LEY_SUM_FLOAT};
}

/* Random charges in the lattice's box, the same in every run; a flat box is made 20 A high, and high enough for a
 * protein's density, 0.1 atoms in a cubic Angstrom: closer ones would measure rounding and the path for near atoms. */
static ley_status make_atoms(int64_t n, const ley_lattice *lattice, ley_atoms **atoms, ley_error *error)
{
    double *numbers = calloc((size_t)n, 4 * sizeof(double));
    if (numbers == NULL)
        return ley_fail_memory(error, (size_t)n * 4 * sizeof(double), "benchmark atoms");
    uint64_t state = 1;
    double box_A[3];
    for (int axis = 0; axis < 3; axis++)
        box_A[axis] = (double)lattice->n[axis] * lattice->spacing_A[axis];
    box_A[2] = fmax(box_A[2], fmax(20, (double)n / (0.1 * box_A[0] * box_A[1])));
    for (int64_t i = 0; i < 4 * n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
        const double fraction = (double)(state >> 11) / 9007199254740992.0;
        numbers[i] = i >= 3 * n ? 2 * fraction - 1 : fraction * box_A[i % 3];
    }
    ley_status status = ley_atoms_create((size_t)n, numbers, numbers + 3 * n, NULL, atoms, error);
    free(numbers);
    return status;
}

/* A problem that keeps the device busy for about bench_s: planes of 512 x 512 on a GPU, 256 x 256 elsewhere. */
static void choose_size(const ley_bench_options *o, const worker *w, double roots_per_s, ley_bench_device *d)
{
    const bool gpu = w->info->device_class == DEV_GPU;
    const bool slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    d->atoms = o->atoms > 0 ? o->atoms : slow ? 20 : gpu ? 32768 : 4096;
    for (int axis = 0; axis < 2; axis++)
        d->n[axis] = o->n[axis] > 0 ? o->n[axis] : slow ? 16 : gpu ? 512 : 256;
    const double plane = (double)d->n[0] * (double)d->n[1] * (double)d->atoms;
    const double planes = ceil(roots_per_s * bench_s / plane);
    d->n[2] = o->n[2] > 0 ? o->n[2] : planes > 256 || slow ? (slow ? 1 : 256) : planes < 4 ? 4 : (int64_t)planes;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Repeated launches on one resident problem; the last one's result lands in `map`. */
static ley_status time_kernel(dcs_kernel *k, const ley_bench_options *o, ley_map *map, ley_bench_row *row,
                              ley_error *error)
{
    const dev_backend *b = k->device->backend;
    const ley_lattice *lattice = ley_map_lattice(map);
    padded_slab layout = k->layout;
    int64_t bytes = 0;
    layout.planes = lattice->n[2];
    dev_buffer *phi = NULL;
    dev_staging *staging = NULL;
    dev_event *read = NULL;
    dcs_run run;
    double seconds[MOST_REPEATS] = {0};
    const int wanted = o->repeats < 1 ? 1 : o->repeats > MOST_REPEATS ? MOST_REPEATS : o->repeats;
    int repeats = 0;
    double spent_s = 0;
    if (!padding_bytes(&layout, &bytes))
        return ley_fail(error, LEY_ERROR_USAGE, "the benchmark's lattice is too large");
    ley_status status = b->buffer_create(k->device, (size_t)bytes, DEV_READ_WRITE, &phi, error);
    if (status == LEY_OK)
        status = b->staging_create(k->device, (size_t)bytes, &staging, error);
    for (int i = -1; i < wanted && status == LEY_OK && (spent_s < enough_s || i < 1); i++) { /* the first warms up */
        status = dcs_run_begin(&run, k, 0, lattice->n[2], phi, error);
        if (status == LEY_OK)
            status = launches_finish(&run.launches, NULL, error);
        spent_s += run.launches.times.end_s - run.launches.times.start_s;
        if (i >= 0 && status == LEY_OK)
            seconds[repeats++] = run.launches.times.end_s - run.launches.times.start_s;
    }
    if (status == LEY_OK)
        status = b->read(k->device, phi, 0, staging, (size_t)bytes, NULL, &read, error);
    if (status == LEY_OK)
        status = b->wait(k->device, read, NULL, error);
    if (status == LEY_OK) {
        padding_crop(&layout, staging->bytes, ley_map_values(map));
        qsort(seconds, (size_t)repeats, sizeof seconds[0], ascending);
        const double median_s = seconds[repeats / 2];
        row->evaluations_per_s = (double)ley_lattice_points(lattice) * (double)ley_atoms_count(k->problem.atoms) / median_s;
        row->spread = (seconds[repeats - 1] - seconds[0]) / median_s;
    }
    if (staging != NULL)
        b->staging_destroy(k->device, staging);
    if (phi != NULL)
        b->buffer_destroy(k->device, phi);
    return status;
}

static ley_status bench_variant(worker *w, const ley_bench_options *o, const char *variant, const ley_atoms *atoms,
                                const ley_lattice *lattice, const ley_bench_device *limits, bench_row *r)
{
    ley_error *error = &r->failure;
    ley_map *map = NULL;
    const dcs_problem problem = {atoms, *lattice, 1, r_min_A};
    dcs_kernel kernel = {.device = w->device};
    const tuning_wish wish = {.variant = variant, .math = o->math, .sum = o->sum, .n_x = lattice->n[0], .n_y = lattice->n[1]};
    ley_status status = ley_map_create(lattice, &map, error);
    if (status == LEY_OK)
        status = dcs_kernel_create(w->device, &wish, &kernel, error);
    if (status == LEY_OK)
        status = dcs_kernel_load(&kernel, &problem, lattice->n[2], 1e9, error);
    if (status == LEY_OK)
        status = time_kernel(&kernel, o, map, &r->row, error);
    if (status == LEY_OK)
        status = accuracy_sample(atoms, map, 1, r_min_A, SAMPLE_POINTS, 1, accuracy_promise(o->math, o->sum),
                                 NULL, &r->row.accuracy, error);
    if (status == LEY_OK) {
        r->row.root = calibrate_root_name(kernel.choice.spec.root);
        r->row.root_share = r->row.evaluations_per_s / limits->roots_per_s;
        r->row.fma_share = r->row.evaluations_per_s * fma_slots_a_pair / limits->fma_per_s;
        tuning_dcs_options(&kernel.choice.spec, r->specification, sizeof r->specification);
    }
    dcs_kernel_destroy(&kernel);
    ley_map_destroy(map);
    return status;
}

static bool bench_cancelled(const ley_bench_options *o)
{
    return o->cancel != NULL && __atomic_load_n(o->cancel, __ATOMIC_RELAXED);
}

static void bench_variants(worker *w, const ley_bench_options *o, const ley_atoms *atoms, const ley_lattice *lattice,
                           bench_device *d)
{
    const char *name, *usual = tuning_dcs_default(w->info, o->sum);
    for (size_t i = 0; (name = tuning_dcs_variant(i)) != NULL && d->device.row_count < MOST_VARIANTS; i++) {
        if ((o->variant != NULL && strcmp(o->variant, name) != 0) || bench_cancelled(o))
            continue;
        bench_row *r = &d->rows[d->device.row_count++];
        r->row.variant = name;
        r->row.is_default = strcmp(name, usual) == 0;
        r->row.status = bench_variant(w, o, name, atoms, lattice, &d->device, r);
        if (o->row_done != NULL)
            o->row_done(o->context);
    }
}

static ley_status bench_host_loop(const ley_bench_options *o, const ley_atoms *atoms, ley_bench_device *d,
                                  ley_error *error)
{
    const ley_lattice lattice = {.spacing_A = {h_A, h_A, h_A}, .n = {d->n[0], d->n[1], d->n[2]}};
    float *phi = calloc((size_t)ley_lattice_points(&lattice), sizeof *phi);
    float(*packed)[4] = calloc(ley_atoms_count(atoms), sizeof *packed);
    ley_status status = LEY_OK;
    if (phi == NULL || packed == NULL)
        status = ley_fail_memory(error, (size_t)ley_lattice_points(&lattice) * sizeof *phi, "the host loop");
    else {
        dcs_pack(DCS_PACK_FLOAT, atoms, &lattice, 1, packed);
        const yardstick y = yardstick_measure((const float(*)[4])packed, ley_atoms_count(atoms), (int)d->n[0],
                                              (int)d->n[1], (int)d->n[2], (float)h_A, o->repeats, phi);
        d->host_loop = y.instructions;
        d->host_threads = y.threads;
        d->host_loop_evaluations_per_s = y.evaluations_per_s;
    }
    free(packed);
    free(phi);
    return status;
}

static ley_status bench_one(worker *w, const ley_bench_options *o, bench_device *d, ley_error *error)
{
    calibration facts;
    ley_atoms *atoms = NULL;
    if (w->device == NULL) {
        ley_error_copy(error, &w->open_error);
        return w->open_error.status;
    }
    ley_status status = calibrate_measure(w->device, &facts, error);
    if (status != LEY_OK)
        return status;
    const int root = tuning_dcs_root(w->info, &facts, calibrate_width(w->info), o->math);
    d->device.root = calibrate_root_name(root);
    d->device.roots_per_s = facts.roots_per_s[root];
    d->device.fma_per_s = facts.fma_per_s;
    choose_size(o, w, facts.roots_per_s[root], &d->device);
    ley_lattice lattice = {.spacing_A = {h_A, h_A, h_A}, .n = {d->device.n[0], d->device.n[1], d->device.n[2]}};
    status = ley_lattice_check(&lattice, error);
    if (status == LEY_OK)
        status = make_atoms(d->device.atoms, &lattice, &atoms, error);
    if (status == LEY_OK) {
        bench_variants(w, o, atoms, &lattice, d);
        if (w->info->device_class == DEV_CPU && !(w->info->quirks & DEV_QUIRK_INTERPRETER) && !bench_cancelled(o))
            status = bench_host_loop(o, atoms, &d->device, error);
    }
    ley_atoms_destroy(atoms);
    return status;
}

typedef struct bench_context {
    ley_bench *bench;
    ley_engine *engine;
} bench_context;

static void bench_task(worker *w, void *context)
{
    const bench_context *c = context;
    bench_device *d = &c->bench->devices[w - c->engine->workers];
    pthread_mutex_lock(&c->bench->mutex);
    d->device.device = &w->public_info;
    d->device.status = bench_one(w, &c->bench->options, d, &d->failure);
    d->device.failure = d->device.status != LEY_OK ? d->failure.message : NULL;
    d->device.rows = d->public_rows;
    for (size_t i = 0; i < d->device.row_count; i++) {
        bench_row *r = &d->rows[i];
        r->row.specification = r->specification;
        r->row.failure = r->row.status != LEY_OK ? r->failure.message : NULL;
        d->public_rows[i] = r->row;
    }
    pthread_mutex_unlock(&c->bench->mutex);
}

ley_status ley_bench_run(ley_engine *engine, const ley_bench_options *options, ley_bench **bench, ley_error *error)
{
    bool known = options->variant == NULL;
    for (size_t i = 0; !known && tuning_dcs_variant(i) != NULL; i++)
        known = strcmp(tuning_dcs_variant(i), options->variant) == 0;
    if (!known)
        return ley_fail(error, LEY_ERROR_USAGE, "no kernel variant is named %s", options->variant);
    ley_bench *b = calloc(1, sizeof *b);
    if (b != NULL)
        b->devices = calloc(engine->worker_count, sizeof *b->devices);
    if (b == NULL || b->devices == NULL) {
        free(b);
        return ley_fail_memory(error, engine->worker_count * sizeof *b->devices, "the benchmark");
    }
    b->count = engine->worker_count;
    b->options = *options;
    pthread_mutex_init(&b->mutex, NULL);
    engine_run(engine, 0, bench_task, &(bench_context){b, engine});
    *bench = b;
    return LEY_OK;
}

void ley_bench_destroy(ley_bench *bench)
{
    if (bench == NULL)
        return;
    for (size_t d = 0; d < bench->count; d++) {
        for (size_t i = 0; i < MOST_VARIANTS; i++)
            ley_error_clear(&bench->devices[d].rows[i].failure);
        ley_error_clear(&bench->devices[d].failure);
    }
    pthread_mutex_destroy(&bench->mutex);
    free(bench->devices);
    free(bench);
}

size_t ley_bench_device_count(const ley_bench *bench)
{
    return bench->count;
}

const ley_bench_device *ley_bench_get(const ley_bench *bench, size_t i)
{
    return &bench->devices[i].device;
}
