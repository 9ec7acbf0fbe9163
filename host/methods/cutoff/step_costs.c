#include "methods/cutoff/step_costs.h"

#include "clock.h"
#include "law/accuracy.h"
#include "parallel.h"
#include "spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Binning --------------------------------------------------------------------------------- */

/* Atoms that one core has at a time (binning.c), how many times each has as many in the host's
 * sample, and devices' samples: cubes, as dense as water. */
enum { CHUNK = 8192, HOST_TURNS = 4, DEVICE_EDGE = 40, DEVICE_LARGE_EDGE = 68 };

/* Cores that have something to do, with so many atoms. */
static double busy_cores(double atoms)
{
    return fmin(parallel_cores(), ceil(atoms / CHUNK));
}

/* Each atom anywhere in a cell of its own. */
static ley_atoms *make_sample(size_t edge)
{
    const double cell_A = 2.15;
    const size_t n = edge * edge * edge;
    double *position_A = malloc(4 * n * sizeof *position_A);
    ley_atoms *atoms = NULL;
    uint64_t random = 1;
    if (position_A == NULL)
        return NULL;
    double *charge_e = position_A + 3 * n;
    for (size_t i = 0; i < n; i++) {
        const size_t at[3] = {i % edge, i / edge % edge, i / edge / edge};
        for (size_t axis = 0; axis < 3; axis++)
            position_A[3 * i + axis] = cell_A * ((double)at[axis] + (double)(accuracy_random(&random) >> 11) * 0x1p-53);
        charge_e[i] = i % 3 == 0 ? -0.8 : 0.4;
    }
    ley_atoms_create(n, position_A, charge_e, NULL, &atoms, NULL);
    free(position_A);
    return atoms;
}

/* What is measured: a box of atoms, and its bins. */
typedef struct sample {
    ley_atoms *atoms;
    ley_short_range range;
    cutoff_problem problem;
} sample;

static bool sample_plan(sample *s)
{
    ley_grid grid;
    return ley_grid_around(s->atoms, 0.5, 1, &grid, NULL) == LEY_OK &&
           cutoff_problem_init(&s->problem, s->atoms, &grid, &s->range, 1, 1, s->range.r_min_A, NULL) == LEY_OK;
}

static bool sample_create(sample *s, int edge)
{
    s->atoms = make_sample((size_t)edge);
    ley_short_range_default(&s->range);
    return s->atoms != NULL;
}

/* Touching so many bytes for the first time, by so many cores. */
static double touching_s(double bytes, double cores)
{
    double memory[COSTS_MOST];
    costs_get(&memory_costs, NULL, NULL, memory);
    return bytes * memory[COST_TOUCH] / cores;
}

static bool time_binning(sample *s, double *seconds)
{
    const double start_s = ley_clock_s();
    if (!sample_plan(s))
        return false;
    const bool done = cutoff_problem_bin(&s->problem, NULL) == LEY_OK;
    const double atoms = (double)ley_atoms_count(s->atoms), all_s = ley_clock_s() - start_s,
                 beside_s = touching_s((double)s->problem.plan.slot_bytes, busy_cores(atoms));
    *seconds = (all_s - beside_s) * busy_cores(atoms) / atoms;
    cutoff_problem_clear(&s->problem);
    return done;
}

/* With all cores busy: they share the memory. The first time, threads are not there yet. */
static bool measure_binning(void *context, double *seconds)
{
    sample s = {.atoms = NULL};
    (void)context;
    const bool done = sample_create(&s, (int)ceil(cbrt((double)parallel_cores() * CHUNK * HOST_TURNS))) &&
                      time_binning(&s, seconds) && time_binning(&s, seconds);
    ley_atoms_destroy(s.atoms);
    return done;
}

const costs_kind binning_costs = {
    .name = "binning", .count = 1, .bounds = {{2e-9, 4e-8, 2e-6}}, .measure = measure_binning};

double cutoff_host_binning_s(const cutoff_problem *p)
{
    double each[COSTS_MOST];
    const double atoms = fmax((double)ley_atoms_count(p->atoms), p->plan.entries);
    costs_get(&binning_costs, NULL, NULL, each);
    return atoms * each[0] / busy_cores(atoms) + touching_s((double)p->plan.slot_bytes, busy_cores(atoms));
}

/* ---- Binning on a device --------------------------------------------------------------------- */

/* From where the atoms are into bins on the device. */
static bool time_device_binning(const device_binning_context *c, sample *s, double *seconds)
{
    buffer_of_atom slots = {NULL};
    buffer_of_int extra = {NULL};
    device_bins counts = {.declined = NULL};
    if (!sample_plan(s))
        return false;
    const double start_s = ley_clock_s();
    const bool done =
        device_binning_run(c->arena, c->kernels, &s->problem, &slots, &extra, NULL, &counts, NULL) == LEY_OK &&
        counts.declined == NULL;
    *seconds = ley_clock_s() - start_s;
    arena_free_buffer(c->arena, &slots.buffer);
    arena_free_buffer(c->arena, &extra.buffer);
    cutoff_problem_clear(&s->problem);
    return done;
}

/* The first time, the driver locks pages and gives out memory, which it keeps. */
static bool measure_device_binning(void *context, double *seconds)
{
    const device_binning_context *c = context;
    sample few = {.atoms = NULL}, many = {.atoms = NULL};
    const bool done = c->kernels->works && sample_create(&many, DEVICE_LARGE_EDGE) &&
                      sample_create(&few, DEVICE_EDGE) && time_device_binning(c, &many, &seconds[COST_LARGE_SAMPLE]) &&
                      time_device_binning(c, &few, &seconds[COST_SAMPLE]) &&
                      time_device_binning(c, &many, &seconds[COST_LARGE_SAMPLE]);
    ley_atoms_destroy(few.atoms);
    ley_atoms_destroy(many.atoms);
    return done;
}

const costs_kind device_binning_costs = {
    .name = "binning on a device",
    .count = 2,
    .bounds = {[COST_SAMPLE] = {1e-5, 1.3e-3, 10}, [COST_LARGE_SAMPLE] = {1e-5, 2.6e-3, 10}},
    .measure = measure_device_binning};

/* On the line through both samples: memory and launches take a time of their own, however few the
 * atoms are. */
double cutoff_device_binning_s(const cutoff_problem *p, const dev_info *info)
{
    const double few = (double)DEVICE_EDGE * DEVICE_EDGE * DEVICE_EDGE,
                 many = (double)DEVICE_LARGE_EDGE * DEVICE_LARGE_EDGE * DEVICE_LARGE_EDGE;
    double sample_s[COSTS_MOST];
    costs_known(&device_binning_costs, info, sample_s);
    const double atom_s = fmax(sample_s[COST_LARGE_SAMPLE] - sample_s[COST_SAMPLE], 0) / (many - few),
                 start_s = fmax(sample_s[COST_SAMPLE] - few * atom_s, 0);
    return start_s + fmax((double)ley_atoms_count(p->atoms), p->plan.entries) * atom_s;
}

/* ---- The way there --------------------------------------------------------------------------- */

double cutoff_upload_s(const cutoff_problem *p, const dev_info *info)
{
    double bus[COSTS_MOST];
    const double bytes = (double)p->plan.slot_bytes;
    costs_known(&bus_costs, info, bus);
    return bytes * bus[COST_TO_DEVICE] + bus[COST_START] + (info->device_class == DEV_CPU ? touching_s(bytes, 1) : 0);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* As many points as slabs have, for all cores together: rows, and a row of regions. */
enum { ROWS_X = 512, ROWS_Y = 256, ROWS_Z = 64, POINTS = ROWS_X * ROWS_Y * ROWS_Z };

static void time_rows(float *from, float *to, double *seconds)
{
    const int64_t n_x = POINTS / CUTOFF_LAYER / CUTOFF_LAYER;
    const padded_slab rows = {
        .n_x = ROWS_X, .n_y = ROWS_Y, .padded_x = ROWS_X, .padded_y = ROWS_Y, .planes = ROWS_Z, .store = PADDED_FLOAT};
    const tiled_slab regions = {.n = {n_x, CUTOFF_LAYER, CUTOFF_LAYER},
                                .region = {CUTOFF_LAYER, CUTOFF_LAYER, CUTOFF_LAYER},
                                .store = PADDED_FLOAT};
    padding_crop(&rows, from, to); /* so that both find the caches alike */
    const double start_s = ley_clock_s();
    padding_crop(&rows, from, to);
    const double copied_s = ley_clock_s();
    transpose_to_rows(&regions, from, to);
    const double cores = parallel_cores();
    seconds[COST_ROW_COPIED] = cores * (copied_s - start_s) / (4.0 * POINTS);
    seconds[COST_ROW_TRANSPOSED] = cores * (ley_clock_s() - copied_s) / (4.0 * POINTS);
}

static bool measure_rows(void *context, double *seconds)
{
    (void)context;
    float *from = malloc(POINTS * sizeof *from), *to = malloc(POINTS * sizeof *to);
    const bool done = from != NULL && to != NULL;
    if (done) {
        memset(from, 0, POINTS * sizeof *from);
        memset(to, 0, POINTS * sizeof *to);
        time_rows(from, to, seconds);
    }
    free(from);
    free(to);
    return done;
}

double cutoff_rows_s(ley_place transposition, double points, bool host_is_device)
{
    double rows[COSTS_MOST];
    costs_get(&row_costs, NULL, NULL, rows);
    const bool is_host = transposition == LEY_PLACE_HOST;
    const double each_s = 4 * rows[is_host ? COST_ROW_TRANSPOSED : COST_ROW_COPIED] * (host_is_device ? 2 : 1);
    return points * each_s / (is_host ? parallel_cores() : padding_crop_threads((size_t)points));
}

const costs_kind row_costs = {
    .name = "rows",
    .count = 2,
    .bounds = {[COST_ROW_COPIED] = {1e-11, 2e-10, 1e-8}, [COST_ROW_TRANSPOSED] = {1e-11, 2.3e-10, 1e-8}},
    .measure = measure_rows};
