/* The benchmark of the lattice cutoff: the papers' parameters, cutoff 12 A and spacing 2 A, on
 * meshes as large as a box of water needs, with charges at random. A pair is two nodes of a level
 * whose weight is not 0. */
#include "long_range/bench/lattice.h"

#include "clock.h"
#include "error.h"
#include "law/accuracy.h"
#include "long_range/bench/lattice_serial_loop.h"
#include "long_range/multilevel/lattice_build.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double cutoff_A = 12, h_A = 2;
static const int64_t papers_atoms = 1534539, cpu_atoms = 1534539 / 8;
static const int64_t slow_atoms = 300; /* where kernels are interpreted */
enum { RADIUS = 11, COARSEST = 16 };   /* nodes: within 2 cutoff_A; along a mesh that is the top level's */
enum { WINDOW = 3 };                   /* nodes beside a box that its atoms reach, and a coarser level's nodes */
static const double tolerance = 1e-5;  /* of the absolute terms */

typedef struct lattice_bench {
    lattice_layout layout;
    lattice_weights weights;
    float *charges;
    double pairs;
} lattice_bench;

/* ---- The problem ----------------------------------------------------------------------------- */

static int64_t finest_nodes(int64_t atoms)
{
    return (int64_t)ceil(ley_waterbox_side_A(atoms) / h_A) + 1 + WINDOW;
}

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    const bool slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0, gpu = w->info->device_class == DEV_GPU;
    d->fma_per_s = facts->fma_per_s;
    d->local_bytes_per_s = calibrate_local_bytes(w->device);
    d->cutoff_A = cutoff_A;
    d->atoms = o->atoms > 0 ? o->atoms : slow ? slow_atoms : gpu ? papers_atoms : cpu_atoms;
    d->points = 1;
    for (int axis = 0; axis < 3; axis++)
        d->points *= d->n[axis] = finest_nodes(d->atoms);
}

static void end(void *problem)
{
    lattice_bench *p = problem;
    if (p == NULL)
        return;
    memory_free(p->weights.values);
    free(p->charges);
    free(p);
}

/* Taylor's C2 splitting: gamma(rho) = 15/8 - 5/4 rho^2 + 3/8 rho^4 within 1. */
static double gamma_of(double rho)
{
    const double s = rho * rho;
    return rho < 1 ? 15.0 / 8 - 5.0 / 4 * s + 3.0 / 8 * s * s : 1 / rho;
}

/* Of any level, in units of 1 / its cutoff. */
static double weight_at(int x, int y, int z)
{
    const double rho = sqrt((double)(x * x + y * y + z * z)) * h_A / cutoff_A;
    return rho < 2 ? gamma_of(rho) - gamma_of(rho / 2) / 2 : 0;
}

static ley_status make_weights(lattice_weights *weights, ley_error *error)
{
    *weights = (lattice_weights){.radius = {RADIUS, RADIUS, RADIUS}, .mirrored = true};
    const size_t count = lattice_weights_count(weights), along = RADIUS + 1;
    double *values = malloc(count * sizeof *values);
    weights->values = values;
    if (values == NULL)
        return ley_fail_memory(error, count * sizeof *values, "weights");
    for (size_t i = 0; i < count; i++)
        values[i] = weight_at((int)(i % along), (int)(i / along % along), (int)(i / along / along));
    return LEY_OK;
}

static ley_status make_layout(int64_t n, lattice_layout *layout, ley_error *error)
{
    lattice_level levels[LATTICE_MOST_LEVELS];
    int count = 0;
    do {
        levels[count] = (lattice_level){.n = {n, n, n}, .scale = ldexp(1 / cutoff_A, -count)};
        n = (n + 1) / 2 + WINDOW;
        count++;
    } while (n > COARSEST && count < LATTICE_MOST_LEVELS);
    return lattice_layout_make(levels, count, layout, error);
}

static ley_status make_charges(lattice_bench *p, ley_error *error)
{
    const int64_t bytes = lattice_layout_bytes(&p->layout);
    uint64_t state = 1;
    ley_status status =
        memory_check_one("the benchmark's meshes", 4 * (double)bytes, "fewer atoms, for a smaller grid", error);
    p->charges = status == LEY_OK ? calloc((size_t)bytes, 1) : NULL;
    if (status == LEY_OK && p->charges == NULL)
        status = ley_fail_memory(error, (size_t)bytes, "charges");
    for (int64_t i = 0; status == LEY_OK && i < p->layout.first_node[p->layout.count]; i++)
        p->charges[i] = (float)(2 * bench_random(&state) - 1);
    return status;
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    (void)o;
    lattice_bench *p = calloc(1, sizeof *p);
    if (p == NULL)
        return ley_fail_memory(error, sizeof *p, "the benchmark");
    ley_status status = make_layout(d->n[0], &p->layout, error);
    if (status == LEY_OK)
        status = make_weights(&p->weights, error);
    if (status == LEY_OK)
        status = make_charges(p, error);
    for (int level = 0; level < p->layout.count && status == LEY_OK; level++)
        p->pairs += lattice_pairs(&p->weights, &p->layout.levels[level]);
    if (status != LEY_OK) {
        end(p);
        return status;
    }
    *problem = p;
    return LEY_OK;
}

static ley_status count(worker *w, const ley_bench_options *o, const void *problem, ley_bench_device *d,
                        ley_error *error)
{
    (void)w;
    (void)o;
    (void)error;
    d->pairs = ((const lattice_bench *)problem)->pairs;
    return LEY_OK;
}

/* ---- What is right --------------------------------------------------------------------------- */

/* Sampled nodes, of all levels, as these have nodes. */
static ley_status sample(const lattice_bench *p, const float *potentials, ley_accuracy *accuracy, ley_error *error)
{
    enum { POINTS = BENCH_SAMPLE_POINTS };
    reference_value *right = calloc(POINTS, sizeof *right);
    double *values = calloc(POINTS, sizeof *values);
    uint64_t state = 1;
    if (right == NULL || values == NULL) {
        free(right);
        free(values);
        return ley_fail_memory(error, POINTS * sizeof *right, "a sample");
    }
    for (int i = 0; i < POINTS; i++) {
        int level = 0;
        int64_t at[3];
        while (level + 1 < p->layout.count && accuracy_random(&state) % 8 == 0)
            level++;
        for (int axis = 0; axis < 3; axis++)
            at[axis] = (int64_t)(accuracy_random(&state) % (uint64_t)p->layout.levels[level].n[axis]);
        right[i] = lattice_reference_node(&p->layout, &p->weights, p->charges, level, at);
        values[i] = (double)potentials[lattice_layout_node(&p->layout, level, at[0], at[1], at[2])];
    }
    *accuracy = accuracy_compare(POINTS, values, right,
                                 (accuracy_limits){.tolerance = tolerance, .nothing = ACCURACY_NOTHING}, NULL);
    accuracy->host_points = POINTS;
    free(right);
    free(values);
    return LEY_OK;
}

/* ---- A variant ------------------------------------------------------------------------------- */

typedef struct measured {
    const ley_bench_options *options;
    lattice_resident on;
} measured;

static ley_status run_once(void *context, double *seconds, ley_error *error)
{
    measured *m = context;
    lattice_resident *r = &m->on;
    if (bench_cancelled(m->options))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    sequence_begin(&r->command_sequence, &r->flight, NULL);
    lattice_launch(&r->command_sequence, &r->tables, 0, r->tables.layout.count, r->weights, r->charges,
                   (buffer_of_float){r->potentials.buffer});
    const ley_status status = sequence_finish(&r->command_sequence, error);
    *seconds = r->command_sequence.times.kernel_s;
    return status;
}

static ley_status load(lattice_resident *r, const lattice_kernel *k, const lattice_bench *p, ley_error *error)
{
    const size_t bytes = (size_t)lattice_layout_bytes(&p->layout);
    const ley_status status = lattice_resident_create(r, k, &p->layout, &p->weights, error);
    if (status != LEY_OK)
        return status;
    sequence_begin(&r->command_sequence, &r->flight, NULL);
    sequence_poison(&r->command_sequence, &r->potentials, bytes);
    sequence_write(&r->command_sequence, r->charges.buffer, 0, p->charges, bytes);
    return sequence_finish(&r->command_sequence, error);
}

static ley_status read_back(lattice_resident *r, ley_error *error)
{
    sequence_begin(&r->command_sequence, &r->flight, NULL);
    sequence_read(&r->command_sequence, r->potentials.buffer, 0, r->potentials.staging,
                  (size_t)lattice_layout_bytes(&r->tables.layout));
    return sequence_finish(&r->command_sequence, error);
}

/* A multiplication of mirrored weights serves four pairs. */
static void set_shares(const lattice_resident *r, const ley_bench_device *limits, ley_bench_row *row)
{
    const lattice_kernel *k = r->tables.kernel;
    const lattice_spec *s = &k->choice.spec;
    const lattice_operations done = lattice_count(&r->tables);
    bench_put_figure(row, "hit_rate",
                     limits->pairs / (done.multiply_adds * (s->slide == LEY_SLIDE_NOT && s->mirrored ? 4 : 1)));
    row->fma_share = (done.multiply_adds + done.additions) / row->kernel_s / limits->fma_per_s;
    bench_put_figure(row, "local_share",
                     limits->local_bytes_per_s > 0 ? done.local_bytes / row->kernel_s / limits->local_bytes_per_s : 0);
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *variant, const void *problem,
                          const ley_bench_device *limits, bench_row *b)
{
    const lattice_bench *p = problem;
    ley_error *error = &b->failure;
    const lattice_wish wish = {
        .variant = variant, .sum = (int)o->sum, .radius = {RADIUS, RADIUS, RADIUS}, .mirrored = true};
    lattice_kernel kernel = {.device = w->device};
    measured m = {.options = o, .on = {.memory = {.device = w->device}, .flight = {.device = w->device}}};
    lattice_resident *r = &m.on;
    ley_status status = lattice_kernel_create(w->device, &wish, &kernel, error);
    if (status == LEY_OK)
        status = load(r, &kernel, p, error);
    if (status == LEY_OK)
        status = bench_time(o, p->pairs, run_once, &m, b, error);
    if (status == LEY_OK)
        status = read_back(r, error);
    if (status == LEY_OK)
        status = sample(p, r->potentials.staging->bytes, &b->row.accuracy, error);
    if (status == LEY_OK) {
        b->row.kernel_s = b->row.median_s;
        set_shares(r, limits, &b->row);
        kernel_options(&lattice_kind, &kernel.choice.spec, b->specification, sizeof b->specification);
    }
    lattice_resident_end(r);
    lattice_kernel_destroy(&kernel);
    return status;
}

/* ---- A peer on one core ---------------------------------------------------------------------- */

typedef struct sequential {
    const lattice_bench *bench;
    float *weights, *charges, *potentials; /* all of them; of all levels, in rows */
} sequential;

static size_t first_of(const lattice_bench *p, int level)
{
    size_t first = 0;
    for (int k = 0; k < level; k++)
        first += (size_t)(p->layout.levels[k].n[0] * p->layout.levels[k].n[1] * p->layout.levels[k].n[2]);
    return first;
}

static ley_status run_sequential(void *context, double *seconds, ley_error *error)
{
    const sequential *s = context;
    const lattice_layout *layout = &s->bench->layout;
    const double start_s = ley_clock_s();
    (void)error;
    for (int level = 0; level < layout->count; level++) {
        const size_t first = first_of(s->bench, level);
        lattice_host_loop(&layout->levels[level], s->bench->weights.radius, s->weights, s->charges + first,
                          s->potentials + first);
    }
    *seconds = ley_clock_s() - start_s;
    return LEY_OK;
}

static void set_sequential(const sequential *s)
{
    float *weight = s->weights;
    for (int dz = -RADIUS; dz <= RADIUS; dz++)
        for (int dy = -RADIUS; dy <= RADIUS; dy++)
            for (int dx = -RADIUS; dx <= RADIUS; dx++)
                *weight++ = (float)lattice_weight(&s->bench->weights, dx, dy, dz);
    for (int level = 0; level < s->bench->layout.count; level++) {
        const tiled_slab slab = lattice_layout_slab(&s->bench->layout, level);
        transpose_to_rows(&slab, s->bench->charges + s->bench->layout.first_node[level],
                          s->charges + first_of(s->bench, level));
    }
}

/* Its potentials, in sub-cubes again, in place of what was there. */
static ley_status judge_sequential(const sequential *s, ley_error *error)
{
    const lattice_layout *layout = &s->bench->layout;
    ley_accuracy accuracy;
    float *potentials = calloc((size_t)lattice_layout_bytes(layout), 1);
    if (potentials == NULL)
        return ley_fail_memory(error, (size_t)lattice_layout_bytes(layout), "the host loop");
    for (int level = 0; level < layout->count; level++) {
        const tiled_slab slab = lattice_layout_slab(layout, level);
        transpose_to_regions(&slab, s->potentials + first_of(s->bench, level), 0,
                             potentials + layout->first_node[level]);
    }
    ley_status status = sample(s->bench, potentials, &accuracy, error);
    if (status == LEY_OK && !accuracy.passed)
        status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "the host loop: an error of %.3g of the absolute terms",
                          accuracy.max_error);
    free(potentials);
    return status;
}

static ley_status host_loop(const ley_bench_options *o, const void *problem, ley_bench_device *d, ley_error *error)
{
    const lattice_bench *p = problem;
    const size_t nodes = first_of(p, p->layout.count), along = 2 * RADIUS + 1, weights = along * along * along;
    float *all = calloc(2 * nodes + weights, sizeof *all);
    bench_row row = {.name = ""};
    if (all == NULL)
        return ley_fail_memory(error, (2 * nodes + weights) * sizeof *all, "the host loop");
    const sequential s = {p, all, all + weights, all + weights + nodes};
    set_sequential(&s);
    ley_status status = bench_time(o, p->pairs, run_sequential, (void *)(uintptr_t)&s, &row, error);
    if (status == LEY_OK)
        status = judge_sequential(&s, error);
    if (status == LEY_OK) {
        d->host_loop = lattice_host_loop_name();
        d->host_threads = 1;
        d->host_loop_evaluations_per_s = row.row.evaluations_per_s;
        d->host_runs = row.row.run_count;
        d->host_spread = row.row.spread;
    }
    free(all);
    return status;
}

/* clang-format off */
static const ley_bench_figure figures[] = {
    {.name = "hit_rate",
     .sentence = "pairs within the cutoff, as part of all that are computed, those of padding too; counted"},
    BENCH_LOCAL_SHARE,
    {.name = NULL}};
/* clang-format on */

const bench_subject bench_lattice = {
    .figures = figures,
    .name = "lattice",
    .makes_grid = true,
    .kernel = &lattice_kind,
    .choose = choose,
    .make = make,
    .end = end,
    .count = count,
    .measure = measure,
    .host_loop = host_loop,
};
