/* The benchmark of direct Coulomb summation. */
#include "bench/bench.h"
#include "error.h"
#include "law/accuracy.h"
#include "memory.h"
#include "methods/dcs/build.h"
#include "methods/dcs/kernel.h"
#include "methods/dcs/method.h"
#include "methods/dcs/yardstick.h"

#include <math.h>
#include <stdlib.h>

static const double bench_s = 0.1; /* aim: one launch */
static const double h_A = 0.5, r_min_A = 0.05;
static const double fma_slots_a_pair = 2; /* an addition and a multiply-add, beside the root */

typedef struct dcs_bench {
    ley_grid grid;
    ley_atoms *atoms;
} dcs_bench;

/* Random charges in the grid's box, the same in every run; a flat box is made 20 A high, and
 * high enough for a protein's density, 0.1 atoms in a cubic Angstrom: closer ones would measure
 * rounding and the path for near atoms. */
static ley_status make_atoms(int64_t n, const ley_grid *grid, ley_atoms **atoms, ley_error *error)
{
    const ley_status fits =
        memory_check_one("benchmark atoms", (double)n * (4 + 5) * sizeof(double), "fewer atoms", error);
    if (fits != LEY_OK)
        return fits;
    double *numbers = calloc((size_t)n, 4 * sizeof(double));
    if (numbers == NULL)
        return ley_fail_memory(error, (size_t)n * 4 * sizeof(double), "benchmark atoms");
    uint64_t state = 1;
    double box_A[3];
    for (int axis = 0; axis < 3; axis++)
        box_A[axis] = (double)grid->n[axis] * grid->step_A[axis][axis];
    box_A[2] = fmax(box_A[2], fmax(20, (double)n / (0.1 * box_A[0] * box_A[1])));
    for (int64_t i = 0; i < 4 * n; i++) {
        const double fraction = bench_random(&state);
        numbers[i] = i >= 3 * n ? 2 * fraction - 1 : fraction * box_A[i % 3];
    }
    ley_status status = ley_atoms_create((size_t)n, numbers, numbers + 3 * n, NULL, atoms, error);
    free(numbers);
    return status;
}

/* A problem that keeps the device busy for about bench_s: planes of 512 x 512 on a GPU, 256 x 256
 * elsewhere. */
static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    const int root = tuning_dcs_root(w->info, facts, calibrate_width(w->info), o->math);
    d->root = calibrate_root_name(root);
    d->roots_per_s = facts->roots_per_s[root];
    d->fma_per_s = facts->fma_per_s;
    const bool gpu = w->info->device_class == DEV_GPU;
    const bool slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    d->atoms = o->atoms > 0 ? o->atoms : slow ? 20 : gpu ? 32768 : 4096;
    for (int axis = 0; axis < 2; axis++)
        d->n[axis] = o->n[axis] > 0 ? o->n[axis] : slow ? 16 : gpu ? 512 : 256;
    const double plane = (double)d->n[0] * (double)d->n[1] * (double)d->atoms;
    const double planes = ceil(d->roots_per_s * bench_s / plane);
    d->n[2] = o->n[2] > 0 ? o->n[2] : planes > 256 || slow ? (slow ? 1 : 256) : planes < 4 ? 4 : (int64_t)planes;
    d->points = d->n[0] * d->n[1] * d->n[2];
}

static void end(void *problem)
{
    dcs_bench *p = problem;
    if (p != NULL)
        ley_atoms_destroy(p->atoms);
    free(p);
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    (void)o;
    dcs_bench *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the benchmark");
    p->grid = (ley_grid){.step_A = LEY_STEPS(h_A, h_A, h_A), .n = {d->n[0], d->n[1], d->n[2]}};
    ley_status status = ley_grid_check(&p->grid, error);
    if (status == LEY_OK)
        status = make_atoms(d->atoms, &p->grid, &p->atoms, error);
    if (status != LEY_OK) {
        end(p);
        return status;
    }
    *problem = p;
    return LEY_OK;
}

/* One resident problem. */
typedef struct resident {
    dcs_run run;
    int64_t planes;
    float *values;
} resident;

static ley_status run_once(void *context, double *seconds, ley_error *error)
{
    resident *r = context;
    ley_status status = dcs_run_begin(&r->run, 0, r->planes, NULL, error);
    if (status == LEY_OK)
        status = dcs_run_finish(&r->run, &r->values, error);
    *seconds = r->run.command_sequence.times.kernel.end_s - r->run.command_sequence.times.kernel.start_s;
    return status;
}

static ley_status time_kernel(dcs_kernel *k, const ley_bench_options *o, ley_map *map, bench_row *row, ley_error *error)
{
    const ley_grid *grid = ley_map_grid(map);
    const double pairs = (double)ley_grid_points(grid) * (double)ley_atoms_count(k->problem.atoms);
    resident r = {.planes = grid->n[2], .values = ley_map_values(map)};
    ley_status status = dcs_run_create(&r.run, k, grid->n[2], error);
    if (status == LEY_OK)
        status = bench_time(o, pairs, run_once, &r, row, error);
    dcs_run_destroy(&r.run);
    return status;
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *variant, const void *problem,
                          const ley_bench_device *limits, bench_row *r)
{
    const dcs_bench *p = problem;
    const ley_grid *grid = &p->grid;
    ley_error *error = &r->failure;
    ley_map *map = NULL;
    const dcs_problem summed = {p->atoms, *grid, 1, r_min_A, NULL};
    dcs_kernel kernel = {.device = w->device};
    const dcs_wish wish = {.variant = variant, .math = o->math, .sum = o->sum, .n_x = grid->n[0], .n_y = grid->n[1]};
    ley_status status = ley_map_create(grid, &map, error);
    if (status == LEY_OK)
        status = dcs_kernel_create(w->device, &wish, &kernel, error);
    if (status == LEY_OK)
        status = dcs_kernel_load(&kernel, &summed, grid->n[2], 1e9, error);
    if (status == LEY_OK)
        status = time_kernel(&kernel, o, map, r, error);
    if (status == LEY_OK)
        status = accuracy_sample(p->atoms, map, 1, r_min_A, BENCH_SAMPLE_POINTS, 1,
                                 dcs_problem_promise(&summed, variant, o->math, o->sum), NULL, &r->row.accuracy, error);
    if (status == LEY_OK) {
        r->row.root = calibrate_root_name(kernel.choice.spec.root);
        r->row.has_other_roots = kernel.choice.spec.newton_roots > 0;
        r->row.root_share = r->row.evaluations_per_s / limits->roots_per_s;
        r->row.fma_share = r->row.evaluations_per_s * fma_slots_a_pair / limits->fma_per_s;
        kernel_options(&dcs_kind, &kernel.choice.spec, r->specification, sizeof r->specification);
    }
    dcs_kernel_destroy(&kernel);
    ley_map_destroy(map);
    return status;
}

static ley_status host_loop(const ley_bench_options *o, const void *problem, ley_bench_device *d, ley_error *error)
{
    const dcs_bench *p = problem;
    const ley_atoms *atoms = p->atoms;
    const ley_grid grid = p->grid;
    const double bytes =
        (double)ley_grid_points(&grid) * sizeof(float) + (double)ley_atoms_count(atoms) * 4 * sizeof(float);
    ley_status status = memory_check_one("the host loop's map", bytes, "a smaller grid", error);
    if (status != LEY_OK)
        return status;
    float *phi = calloc((size_t)ley_grid_points(&grid), sizeof *phi);
    float(*packed)[4] = calloc(ley_atoms_count(atoms), sizeof *packed);
    if (phi == NULL || packed == NULL)
        status = ley_fail_memory(error, (size_t)ley_grid_points(&grid) * sizeof *phi, "the host loop");
    else {
        dcs_pack(DCS_PACK_FLOAT, atoms, &grid, 1, packed);
        const yardstick y =
            yardstick_measure((const float(*)[4])packed, ley_atoms_count(atoms), (int)d->n[0], (int)d->n[1],
                              (int)d->n[2], (float)h_A, bench_repeats_begin(o->repeats, o->most_s), phi);
        d->host_loop = y.instructions;
        d->host_threads = y.threads;
        d->host_runs = y.times.n;
        d->host_spread = y.times.spread;
        d->host_loop_evaluations_per_s = y.evaluations_per_s;
    }
    free(packed);
    free(phi);
    return status;
}

const bench_subject bench_dcs = {
    .kernel = &dcs_kind,
    .choose = choose,
    .make = make,
    .end = end,
    .measure = measure,
    .host_loop = host_loop,
};
