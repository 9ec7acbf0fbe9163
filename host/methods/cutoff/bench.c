/* The benchmark of short-range maps: Taylor's C2 function in a box of water. Pairs are counted by
 * the device, by pair functions that count: those within the cutoff, and all that a variant
 * computes. */
#include "bench/bench.h"
#include "clock.h"
#include "error.h"
#include "law/accuracy.h"
#include "methods/cutoff/build.h"
#include "methods/cutoff/kernel.h"
#include "methods/cutoff/method.h"
#include "methods/cutoff/serial_pairs.h"
#include "methods/cutoff/short_range.h"
#include "schedule/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double h_A = 0.5, padding_A = 0.25, r_min_A = 0.05, usual_cutoff_A = 12;
static const int64_t papers_atoms = 1534539, cpu_atoms = 20000, most_linear_cpu_atoms = 100000,
                     least_linear_atoms = 10000;
static const int64_t slow_atoms = 60; /* where kernels are interpreted */
static const double slow_cutoff_A = 3;
static const double fma_slots_a_distance = 6; /* its square, the function, the sum, beside the root */
static const double most_run_bytes = 512 << 20, most_slab_bytes = 32 << 20; /* the latter as in a job */
enum { LEAST_SLABS = 8, SLOTS = METHOD_SLOTS };

typedef struct cutoff_bench {
    ley_atoms *atoms;
    ley_grid grid;
    ley_short_range range;
    cutoff_problem problem;
} cutoff_bench;

static cutoff_wish wish_of(const ley_bench_options *o, const ley_short_range *range, const char *variant)
{
    return (cutoff_wish){.variant = variant,
                         .math = (int)o->math,
                         .sum = (int)o->sum,
                         .pair = (int)range->pair,
                         .store = LEY_STORE_ROWS,
                         .depth = range->bin_depth,
                         .reach = {range->cutoff_A / h_A, range->cutoff_A / h_A, range->cutoff_A / h_A}};
}

static ley_short_range range_of(double cutoff_A)
{
    ley_short_range range;
    ley_short_range_default(&range);
    range.cutoff_A = cutoff_A;
    range.r_min_A = r_min_A;
    return range;
}

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    const bool slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0, gpu = w->info->device_class == DEV_GPU;
    d->cutoff_A = o->cutoff_A > 0 ? o->cutoff_A : slow ? slow_cutoff_A : usual_cutoff_A;
    const ley_short_range range = range_of(d->cutoff_A);
    const cutoff_wish wish = wish_of(o, &range, NULL);
    cutoff_choice choice = {.variant = NULL};
    tuning_cutoff(w->info, facts, &wish, &choice, NULL);
    d->root = calibrate_root_name(choice.spec.root);
    d->roots_per_s = facts->roots_per_s[choice.spec.root];
    d->fma_per_s = facts->fma_per_s;
    d->local_bytes_per_s = calibrate_local_bytes(w->device);
    d->atoms = o->atoms > 0 ? o->atoms
               : slow       ? slow_atoms
               : gpu        ? papers_atoms
               : o->linear  ? most_linear_cpu_atoms
                            : cpu_atoms;
}

/* ---- The problem ----------------------------------------------------------------------------- */

static void end(void *problem)
{
    cutoff_bench *p = problem;
    if (p == NULL)
        return;
    cutoff_problem_clear(&p->problem);
    ley_atoms_destroy(p->atoms);
    free(p);
}

static ley_status bin(const cutoff_bench *p, cutoff_problem *problem, ley_error *error)
{
    const ley_status status =
        cutoff_problem_init(problem, p->atoms, &p->grid, &p->range, 1, p->range.dielectric, r_min_A, error);
    return status == LEY_OK ? cutoff_problem_bin(problem, error) : status;
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    (void)o;
    cutoff_bench *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the benchmark");
    p->range = range_of(d->cutoff_A);
    ley_status status = short_range_check(&p->range, error);
    if (status == LEY_OK)
        status = ley_waterbox_create(d->atoms, 1, 0, &p->atoms, error);
    if (status == LEY_OK)
        status = ley_grid_around(p->atoms, h_A, padding_A, &p->grid, error);
    if (status == LEY_OK)
        status = bin(p, &p->problem, error);
    if (status != LEY_OK) {
        end(p);
        return status;
    }
    *problem = p;
    return LEY_OK;
}

/* Layers a run: as many as there is room for, and no more than a part of the map on a CPU, where a
 * run takes long. */
static int64_t run_layers(const cutoff_kernel *k, double most_bytes, bool in_parts)
{
    const dev_info *info = k->device->info;
    const int64_t layers = cutoff_layers(&k->problem->grid);
    int64_t layer_bytes = INT64_MAX;
    cutoff_kernel_bytes(k, 1, &layer_bytes);
    double most = most_bytes;
    if (info->max_allocation_bytes > 0)
        most = fmin(most, (double)info->max_allocation_bytes);
    if (info->global_bytes > 0)
        most = fmin(most, (double)info->global_bytes / 8);
    double wanted =
        fmin(floor(most / (double)layer_bytes), in_parts ? ceil((double)layers / LEAST_SLABS) : (double)layers);
    if (info->max_groups[2] > 0)
        wanted = fmin(wanted, floor((double)info->max_groups[2] * (double)k->region[2] / CUTOFF_LAYER));
    return (int64_t)fmax(wanted, 1);
}

/* ---- Pairs, counted -------------------------------------------------------------------------- */

static double sum_of(const float *values, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)values[i];
    return sum;
}

/* Adds up what is counted at all points: the grid's own, or all that the device has. */
static ley_status sum_counts(cutoff_kernel *k, bool with_padding, const ley_bench_options *o, ley_map *map, double *sum,
                             ley_error *error)
{
    const int64_t layers = cutoff_layers(&k->problem->grid),
                  piece = run_layers(k, most_run_bytes, k->device->info->device_class != DEV_GPU);
    cutoff_run run = {.kernel = NULL};
    ley_status status = cutoff_run_create(&run, k, piece, error);
    *sum = 0;
    for (int64_t first = 0; first < layers && status == LEY_OK; first += piece) {
        status = bench_cancelled(o)
                     ? ley_fail(error, LEY_CANCELLED, "cancelled")
                     : cutoff_run_begin(&run, first, piece < layers - first ? piece : layers - first, NULL, error);
        if (status == LEY_OK)
            status = cutoff_run_finish(&run, (float *[]){cutoff_run_place(&run, ley_map_values(map))}, NULL, error);
        if (status == LEY_OK && with_padding) {
            const int64_t *n = k->problem->grid.n;
            const tiled_slab regions = {.n = {n[0], n[1], run.planes},
                                        .region = {k->region[0], k->region[1], k->region[2]},
                                        .store = PADDED_FLOAT};
            int64_t points = 0;
            tiled_points(&regions, &points);
            *sum += sum_of(run.phi.staging->bytes, points);
        }
    }
    if (status == LEY_OK && !with_padding)
        *sum = sum_of(ley_map_read_values(map), ley_grid_points(&k->problem->grid));
    cutoff_run_destroy(&run);
    return status;
}

/* `pair`: LEY_PAIR_SPEC_INSIDE, at the grid's points, or LEY_PAIR_SPEC_TESTED, also at those of
 * padding. A sum a point is below 2^24, so that floats count. */
static ley_status count_pairs(worker *w, const ley_bench_options *o, const char *variant, const cutoff_bench *p,
                              int pair, double *pairs, ley_error *error)
{
    cutoff_kernel kernel = {.device = w->device};
    cutoff_wish wish = wish_of(o, &p->range, variant);
    ley_map *map = NULL;
    wish.pair = pair;
    wish.math = (int)LEY_MATH_STANDARD;
    wish.sum = LEY_SPEC_SUM_FLOAT;
    wish.store = LEY_STORE_REGIONS;
    ley_status status = ley_map_create(&p->grid, &map, error);
    if (status == LEY_OK)
        status = cutoff_kernel_create(w->device, &wish, &p->problem, &kernel, error);
    if (status == LEY_OK)
        status = cutoff_kernel_load(&kernel, &p->problem, error);
    if (status == LEY_OK)
        status = sum_counts(&kernel, pair == LEY_PAIR_SPEC_TESTED, o, map, pairs, error);
    cutoff_kernel_destroy(&kernel);
    ley_map_destroy(map);
    return status;
}

static ley_status count(worker *w, const ley_bench_options *o, const void *problem, ley_bench_device *d,
                        ley_error *error)
{
    const cutoff_bench *p = problem;
    for (int axis = 0; axis < 3; axis++)
        d->n[axis] = p->grid.n[axis];
    d->points = ley_grid_points(&p->grid);
    return count_pairs(w, o, NULL, p, LEY_PAIR_SPEC_INSIDE, &d->pairs, error);
}

/* ---- A variant ------------------------------------------------------------------------------- */

typedef struct resident {
    const ley_bench_options *options;
    cutoff_kernel *kernel;
    cutoff_run run;
    int64_t slab;
    float *map;
} resident;

static ley_status run_once(void *context, double *seconds, ley_error *error)
{
    resident *r = context;
    const int64_t layers = cutoff_layers(&r->kernel->problem->grid);
    ley_status status = LEY_OK;
    *seconds = 0;
    for (int64_t first = 0; first < layers && status == LEY_OK; first += r->slab) {
        if (bench_cancelled(r->options))
            return ley_fail(error, LEY_CANCELLED, "cancelled");
        status = cutoff_run_begin(&r->run, first, r->slab < layers - first ? r->slab : layers - first, NULL, error);
        if (status == LEY_OK)
            status = cutoff_run_finish(&r->run, (float *[]){cutoff_run_place(&r->run, r->map)}, NULL, error);
        *seconds += r->run.command_sequence.times.kernel_s;
    }
    return status;
}

static ley_status time_kernel(cutoff_kernel *k, const ley_bench_options *o, double pairs, ley_map *map, bench_row *row,
                              ley_error *error)
{
    resident r = {.options = o,
                  .kernel = k,
                  .slab = run_layers(k, most_run_bytes, k->device->info->device_class != DEV_GPU),
                  .map = ley_map_values(map)};
    ley_status status = cutoff_run_create(&r.run, k, r.slab, error);
    if (status == LEY_OK)
        status = bench_time(o, pairs, run_once, &r, row, error);
    row->row.kernel_s = status == LEY_OK ? row->row.median_s : 0;
    cutoff_run_destroy(&r.run);
    return status;
}

static ley_status sample(const cutoff_bench *p, const ley_bench_options *o, const ley_map *map, ley_accuracy *accuracy,
                         ley_error *error)
{
    const double promise =
        short_range_promise(&p->range, o->math, p->problem.r_min_A, cutoff_problem_largest_A(&p->problem));
    return accuracy_sample_map(map, cutoff_problem_reference, &p->problem, BENCH_SAMPLE_POINTS, 1, promise, NULL,
                               accuracy, NULL, error);
}

/* Of the limits: a work-item reads a staged atom once for all of its points. */
static void set_shares(const cutoff_spec *spec, const ley_bench_device *limits, double tested, ley_bench_row *row)
{
    const double per_s = tested / row->kernel_s;
    const double reads_per_s = spec->width > 1 ? 0 : per_s / (spec->ux * spec->uy * spec->uz);
    bench_put_figure(row, "hit_rate", limits->pairs / tested);
    row->root = calibrate_root_name(spec->root);
    row->root_share = per_s / limits->roots_per_s;
    row->fma_share = per_s * fma_slots_a_distance / limits->fma_per_s;
    bench_put_figure(row, "local_share",
                     limits->local_bytes_per_s > 0 ? reads_per_s * sizeof(float[4]) / limits->local_bytes_per_s : 0);
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *variant, const void *problem,
                          const ley_bench_device *limits, bench_row *r)
{
    const cutoff_bench *p = problem;
    ley_error *error = &r->failure;
    cutoff_kernel kernel = {.device = w->device};
    const cutoff_wish wish = wish_of(o, &p->range, variant);
    ley_map *map = NULL;
    double tested = 0;
    ley_status status = ley_map_create(&p->grid, &map, error);
    if (status == LEY_OK)
        status = cutoff_kernel_create(w->device, &wish, &p->problem, &kernel, error);
    if (status == LEY_OK)
        status = cutoff_kernel_load(&kernel, &p->problem, error);
    if (status == LEY_OK)
        status = time_kernel(&kernel, o, limits->pairs, map, r, error);
    if (status == LEY_OK)
        status = sample(p, o, map, &r->row.accuracy, error);
    ley_map_destroy(map);
    if (status == LEY_OK)
        status = count_pairs(w, o, variant, p, LEY_PAIR_SPEC_TESTED, &tested, error);
    if (status == LEY_OK) {
        set_shares(&kernel.choice.spec, limits, tested, &r->row);
        kernel_options(&cutoff_kind, &kernel.choice.spec, r->specification, sizeof r->specification);
    }
    cutoff_kernel_destroy(&kernel);
    return status;
}

/* Which variant a job takes at this cutoff. */
static const char *usual(const worker *w, const ley_bench_options *o, const ley_bench_device *d)
{
    const ley_short_range range = range_of(d->cutoff_A);
    const cutoff_wish wish = wish_of(o, &range, NULL);
    cutoff_choice choice;
    return tuning_cutoff(w->info, &w->device->facts, &wish, &choice, NULL) == LEY_OK ? choice.variant : NULL;
}

/* ---- End to end ------------------------------------------------------------------------------ */

typedef struct whole_job {
    const cutoff_bench *bench;
    const cutoff_wish *wish;
    cutoff_run *runs; /* [SLOTS], with their buffers */
    int64_t slab;
    float *map;
} whole_job;

static ley_status finish_slab(const whole_job *j, cutoff_run *run, ley_error *error)
{
    return cutoff_run_finish(run, (float *[]){cutoff_run_place(run, j->map)}, NULL, error);
}

/* One slab computes while the one before travels, and the one before that is put into the map. */
static ley_status run_slabs(const whole_job *j, ley_error *error)
{
    const int64_t layers = cutoff_layers(&j->bench->grid), slabs = (layers + j->slab - 1) / j->slab;
    ley_status status = LEY_OK;
    for (int64_t i = 0; i < slabs + SLOTS - 1 && status == LEY_OK; i++) {
        const int64_t first = i * j->slab;
        if (i < slabs)
            status = cutoff_run_begin(&j->runs[i % SLOTS], first, j->slab < layers - first ? j->slab : layers - first,
                                      NULL, error);
        if (i >= SLOTS - 1 && status == LEY_OK)
            status = finish_slab(j, &j->runs[(i + 1) % SLOTS], error);
    }
    for (int i = 0; i < SLOTS; i++)
        sequence_finish(&j->runs[i].command_sequence, NULL);
    return status;
}

/* From the atoms, with a kernel that is built and has no bins yet. */
static ley_status do_job(void *context, double *seconds, ley_error *error)
{
    whole_job *j = context;
    cutoff_problem problem = {.binned = NULL};
    dev *device = j->runs[0].kernel->device;
    cutoff_kernel kernel = {.device = device}, *loaded[SLOTS];
    ley_status status = cutoff_kernel_create(device, j->wish, &j->bench->problem, &kernel, error);
    const double start_s = ley_clock_s();
    if (status == LEY_OK)
        status = bin(j->bench, &problem, error);
    if (status == LEY_OK)
        status = cutoff_kernel_load(&kernel, &problem, error);
    for (int i = 0; i < SLOTS; i++) { /* the same regions, so that buffers fit */
        loaded[i] = j->runs[i].kernel;
        j->runs[i].kernel = &kernel;
    }
    if (status == LEY_OK)
        status = run_slabs(j, error);
    *seconds = ley_clock_s() - start_s;
    for (int i = 0; i < SLOTS; i++)
        j->runs[i].kernel = loaded[i];
    cutoff_kernel_destroy(&kernel);
    cutoff_problem_clear(&problem);
    return status;
}

static ley_status whole(worker *w, const ley_bench_options *o, const void *problem, ley_bench_device *d,
                        ley_error *error)
{
    const cutoff_bench *p = problem;
    const cutoff_wish wish = wish_of(o, &p->range, NULL);
    cutoff_kernel kernel = {.device = w->device};
    cutoff_run runs[SLOTS] = {{.kernel = NULL}};
    whole_job j = {.bench = p, .wish = &wish, .runs = runs};
    ley_map *map = NULL;
    bench_row row = {.name = ""};
    ley_status status = ley_map_create(&p->grid, &map, error);
    if (status == LEY_OK)
        status = cutoff_kernel_create(w->device, &wish, &p->problem, &kernel, error);
    if (status == LEY_OK)
        status = cutoff_kernel_load(&kernel, &p->problem, error);
    if (status == LEY_OK) {
        j.slab = run_layers(&kernel, most_slab_bytes, true);
        j.map = ley_map_values(map);
    }
    for (int i = 0; i < SLOTS && status == LEY_OK; i++)
        status = cutoff_run_create(&runs[i], &kernel, j.slab, error);
    if (status == LEY_OK)
        status = bench_time(o, d->pairs, do_job, &j, &row, error);
    if (status == LEY_OK)
        status = sample(p, o, map, &row.row.accuracy, error);
    if (status == LEY_OK && !row.row.accuracy.passed)
        status = ley_fail(error, LEY_ERROR_WRONG_RESULT,
                          "from end to end: an error of %.3g of the absolute terms, at most %.3g is right",
                          row.row.accuracy.max_error, row.row.accuracy.tolerance);
    if (status == LEY_OK) {
        d->whole_variant = kernel.choice.variant;
        d->whole_s = row.row.median_s;
        d->whole_spread = row.row.spread;
        d->whole_runs = row.row.run_count;
    }
    for (int i = 0; i < SLOTS; i++)
        cutoff_run_destroy(&runs[i]);
    cutoff_kernel_destroy(&kernel);
    ley_map_destroy(map);
    return status;
}

/* ---- A peer on one core ---------------------------------------------------------------------- */

typedef struct sequential {
    const cutoff_problem *problem;
    ley_map *map;
} sequential;

static ley_status run_sequential(void *context, double *seconds, ley_error *error)
{
    const sequential *s = context;
    return serial_pairs_map(s->problem, s->map, seconds, error);
}

static ley_status host_loop(const ley_bench_options *o, const void *problem, ley_bench_device *d, ley_error *error)
{
    const cutoff_bench *p = problem;
    sequential s = {.problem = &p->problem};
    bench_row row = {.name = ""};
    ley_status status = ley_map_create(&p->grid, &s.map, error);
    if (status == LEY_OK)
        status = bench_time(o, d->pairs, run_sequential, &s, &row, error);
    if (status == LEY_OK)
        status = sample(p, o, s.map, &row.row.accuracy, error);
    if (status == LEY_OK && row.row.accuracy.max_error > 1e-5) /* single precision, whatever the devices' */
        status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "the host loop: an error of %.3g of the absolute terms",
                          row.row.accuracy.max_error);
    if (status == LEY_OK) {
        d->host_loop = "sphere by sphere";
        d->host_threads = 1;
        d->host_loop_evaluations_per_s = row.row.evaluations_per_s;
        d->host_runs = row.row.run_count;
        d->host_spread = row.row.spread;
    }
    ley_map_destroy(s.map);
    return status;
}

/* ---- Ever larger boxes ----------------------------------------------------------------------- */

/* One box, as if it were the only one. */
static ley_status measure_size(worker *w, const ley_bench_options *o, const ley_bench_device *d, bench_size *size,
                               ley_error *error)
{
    void *problem = NULL;
    ley_bench_device one = *d;
    bench_row row = {.failure = {.status = LEY_OK}};
    one.atoms = size->size.atoms;
    ley_status status = make(o, &one, &problem, error);
    if (status == LEY_OK)
        status = count(w, o, problem, &one, error);
    if (status == LEY_OK) {
        status = measure(w, o, o->variant, problem, &one, &row);
        ley_error_copy(error, &row.failure);
    }
    if (status == LEY_OK) {
        size->size = (ley_bench_size){
            .atoms = one.atoms, .pairs = one.pairs, .kernel_s = row.row.kernel_s, .accuracy = row.row.accuracy};
        bench_put_size_times(size, row.runs_s, row.row.run_count);
        memcpy(size->size.n, one.n, sizeof size->size.n);
    }
    ley_error_clear(&row.failure);
    end(problem);
    return status;
}

/* The slope of log y over log x, by least squares. */
static double slope(size_t n, const double *x, const double *y)
{
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        mean_x += log(x[i]) / (double)n;
        mean_y += log(y[i]) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (log(x[i]) - mean_x) * (log(x[i]) - mean_x);
        xy += (log(x[i]) - mean_x) * (log(y[i]) - mean_y);
    }
    return xx > 0 ? xy / xx : 0;
}

static void fit(ley_bench_device *d, const bench_size *sizes)
{
    double atoms[BENCH_MOST_SIZES], seconds[BENCH_MOST_SIZES], pairs[BENCH_MOST_SIZES];
    for (size_t i = 0; i < d->size_count; i++) {
        atoms[i] = (double)sizes[i].size.atoms;
        seconds[i] = sizes[i].size.kernel_s;
        pairs[i] = sizes[i].size.pairs;
    }
    d->exponent = slope(d->size_count, atoms, seconds);
    d->pairs_exponent = slope(d->size_count, atoms, pairs);
}

/* Two sizes per decade, from 10,000 atoms or a tenth of the largest number of them. */
static ley_status scale(worker *w, const ley_bench_options *o, ley_bench_device *d, bench_size sizes[BENCH_MOST_SIZES],
                        ley_error *error)
{
    const double largest = (double)d->atoms, smallest = fmax(fmin((double)least_linear_atoms, largest / 10), 3);
    ley_status status = LEY_OK;
    for (bool last = false; !last && status == LEY_OK && d->size_count < BENCH_MOST_SIZES;) {
        const double wanted = smallest * pow(10, 0.5 * (double)d->size_count);
        last = wanted * 1.25 > largest || d->size_count == BENCH_MOST_SIZES - 1;
        if (bench_cancelled(o))
            return ley_fail(error, LEY_CANCELLED, "cancelled");
        bench_size *size = &sizes[d->size_count];
        size->size.atoms = last ? d->atoms : (int64_t)wanted;
        status = measure_size(w, o, d, size, error);
        if (status == LEY_OK)
            d->size_count++;
        if (o->row_done != NULL)
            o->row_done(o->context);
    }
    if (status == LEY_OK)
        fit(d, sizes);
    return status;
}

/* clang-format off */
static const ley_bench_figure figures[] = {
    {.name = "hit_rate",
     .sentence = "pairs within the cutoff, as part of all that are computed, those of padding too; counted"},
    BENCH_LOCAL_SHARE,
    {.name = NULL}};
/* clang-format on */

/* Its loops are unrolled in a work-group that PoCL 3.1 makes one function of: over a minute of a
 * core of an AMD EPYC. Beside other work that is longer than a driver may take for a first
 * launch. */
static const char *on_request(const dev_info *info, const char *variant)
{
    return info->device_class == DEV_CPU && strcmp(variant, "octants16") == 0
               ? "compilers for processors take minutes for it; it is measured if it is asked for by name"
               : NULL;
}

const bench_subject bench_cutoff = {
    .figures = figures,
    .makes_grid = true,
    .on_request = on_request,

    .kernel = &cutoff_kind,
    .check = bench_check_box,
    .choose = choose,
    .make = make,
    .end = end,
    .count = count,
    .measure = measure,
    .whole = whole,
    .usual = usual,
    .scale = scale,
    .host_loop = host_loop,
};
