#include "methods/cutoff/plan.h"

#include "clock.h"
#include "error.h"
#include "memory.h"
#include "methods/cutoff/device_binning.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rates of what is not known better, pairs within the cutoff a second. */
static const double unknown_gpu_rate = 5e11, unknown_cpu_rate = 3e9;

/* Adding a second map: bytes a second and core. */
static const double add_bytes_per_s = 4e9;

/* Binning: seconds an atom, of a core or of a device; of a device's launches and reads; bytes a
 * second to a device. */
static const double host_binning_s = 20e-9, device_binning_s = 1e-9, device_start_s = 1e-3, upload_bytes_per_s = 8e9;

/* Rows: bytes a second and core that are copied, or brought into rows; bytes a second of a device's
 * memory, in transactions of so many. */
static const double copied_bytes_per_s = 5e9, transposed_bytes_per_s = 4.4e9, device_bytes_per_s = 1e11,
                    transaction_bytes = 32;

/* The host takes the overflow only where it is predicted to be done well before the devices. */
static const double safety = 0.7;

cutoff_wish cutoff_wish_of(const ley_job *job, int store)
{
    const ley_short_range *range = &job->options.short_range;
    return (cutoff_wish){.variant = job->variant,
                         .math = job->options.math,
                         .sum = job->options.sum,
                         .pair = (int)range->pair,
                         .store = store,
                         .depth = range->bin_depth};
}

/* Of all devices in use; and whether one of them is the host's own processor. */
static double devices_rate(const ley_job *job, bool *host_is_device)
{
    const cutoff_wish wish = cutoff_wish_of(job, LEY_STORE_ROWS);
    double sum = 0;
    *host_is_device = false;
    for (size_t i = 0; i < job->engine->worker_count; i++) {
        const worker *w = &job->engine->workers[i];
        const dev_info *info = w->info;
        calibration facts;
        cutoff_choice choice;
        const bool is_cpu = info->device_class == DEV_CPU;
        if (calibrate_known(w->device, info, &facts) && tuning_cutoff(info, &facts, &wish, &choice, NULL) == LEY_OK)
            sum += tuning_cutoff_rate(&choice.spec, &facts);
        else
            sum += is_cpu ? unknown_cpu_rate : unknown_gpu_rate;
        *host_is_device = *host_is_device || is_cpu;
    }
    return fmax(sum, 1);
}

/* Whether every device in use is one beside the host, and able. */
static bool all_can_bin(const ley_job *job)
{
    bool all = true;
    for (size_t i = 0; i < job->engine->worker_count; i++) {
        const dev_info *info = job->engine->workers[i].info;
        all = all && info->device_class != DEV_CPU && info->has_double && !(info->quirks & DEV_QUIRK_INTERPRETER);
    }
    return all;
}

ley_place cutoff_plan_binning(const ley_job *job, const cutoff_problem *p)
{
    const ley_short_range *range = &job->options.short_range;
    if (range->binning == LEY_PLACE_HOST || range->overflow == LEY_PLACE_HOST || device_binning_obstacle(p) != NULL)
        return LEY_PLACE_HOST;
    if (range->binning == LEY_PLACE_DEVICE)
        return LEY_PLACE_DEVICE;
    const double atoms = (double)ley_atoms_count(p->atoms);
    const double host_s = atoms * host_binning_s / parallel_cores() + (double)p->plan.slot_bytes / upload_bytes_per_s;
    const double device_s = atoms * (4 * sizeof(double) / upload_bytes_per_s + device_binning_s) + device_start_s;
    return all_can_bin(job) && device_s < host_s ? LEY_PLACE_DEVICE : LEY_PLACE_HOST;
}

/* The host's loop counts points in 32 bits. */
static bool fits_host_loop(const cutoff_problem *p)
{
    bool fits = true;
    for (int axis = 0; axis < 3; axis++)
        fits = fits && p->cutoff_A / p->lattice.step_A[axis][axis] < 1e8 && p->lattice.n[axis] < 1 << 29;
    return fits;
}

/* Its sums are floats; an expression it does not have. */
static bool host_can_sum(const ley_job *job, const cutoff_problem *p)
{
    return job->options.short_range.pair != LEY_PAIR_EXPRESSION && job->options.sum == LEY_SUM_FLOAT &&
           fits_host_loop(p);
}

/* The kernel writes rows, in stretches as long as a region, of which the rest of a transaction is
 * lost, and the host copies them; or it writes regions one after the other, and the host brings
 * them into rows. */
static ley_place transposition_place(const cutoff_problem *p, double cores)
{
    const double bytes = 4 * (double)ley_lattice_points(&p->lattice), stretch = 4.0 * CUTOFF_LAYER;
    const double on_device_s =
        bytes * (fmax(transaction_bytes / stretch, 1) - 1) / device_bytes_per_s + bytes / (copied_bytes_per_s * cores);
    return on_device_s <= bytes / (transposed_bytes_per_s * cores) ? LEY_PLACE_DEVICE : LEY_PLACE_HOST;
}

void cutoff_plan(ley_job *job, const cutoff_problem *p, double pairs)
{
    const ley_short_range *range = &job->options.short_range;
    ley_short_range_report *r = &job->report.short_range;
    const binned_atoms *b = p->binned;
    bool host_is_device;
    const double rate = devices_rate(job, &host_is_device), cores = parallel_cores();
    const double share = b != NULL && b->binned > 0 ? (double)b->overflow / (double)b->binned : 0;
    const double adding_s = (double)ley_lattice_points(&p->lattice) * 12 / (add_bytes_per_s * cores);
    r->predicted_overflow_s = share > 0 ? pairs * share / (overflow_rate() * cores) + adding_s : 0;
    r->predicted_device_s = pairs * (1 - share) / rate;
    const bool sooner = host_can_sum(job, p) && b != NULL && !host_is_device &&
                        r->predicted_overflow_s < safety * r->predicted_device_s;
    const bool is_given =
        range->overflow == LEY_PLACE_DEVICE || (range->overflow == LEY_PLACE_HOST && fits_host_loop(p));
    r->overflow_sum = is_given ? range->overflow : sooner ? LEY_PLACE_HOST : LEY_PLACE_DEVICE;
    r->transposition = range->transposition != LEY_PLACE_AUTO ? range->transposition : transposition_place(p, cores);
}

/* ---- Host threads ---------------------------------------------------------------------------- */

enum { BLOCK = 8 }; /* planes that one thread adds at a time */

struct overflow_team {
    ley_job *job;
    overflow_terms terms;
    overflow_atom *atoms;
    size_t n;
    float *map; /* [n_z][n_y][n_x], 0 where nothing was added */
    pthread_t thread;
    bool running;
    atomic_bool stopped; /* nobody wants it any more */
    double started_s, done_s;
};

static void add_blocks(void *context, size_t first, size_t last)
{
    overflow_team *t = context;
    const int64_t *n = t->terms.n;
    for (size_t block = first; block < last && !atomic_load_explicit(&t->stopped, memory_order_relaxed); block++) {
        const int64_t plane = (int64_t)block * BLOCK, end = plane + BLOCK < n[2] ? plane + BLOCK : n[2];
        overflow_add(&t->terms, t->atoms, t->n, plane, end, t->map + plane * n[0] * n[1], &t->job->cancelled);
    }
}

static void *run_team(void *context)
{
    overflow_team *t = context;
    parallel_ranges((size_t)((t->terms.n[2] + BLOCK - 1) / BLOCK), add_blocks, t);
    t->done_s = ley_clock_s();
    return NULL;
}

static void set_atoms(overflow_team *t, const cutoff_problem *p)
{
    const binning_plan *plan = &p->plan;
    const binned_atoms *b = p->binned;
    for (size_t i = 0; i < t->n && (i % 4096 != 0 || !job_cancelled(t->job)); i++) {
        const int64_t bin = b->overflow_bin[i];
        const int64_t at[3] = {bin % plan->n[0], bin / plan->n[0] % plan->n[1], bin / plan->n[0] / plan->n[1]};
        for (int axis = 0; axis < 3; axis++)
            t->atoms[i].place[axis] =
                ((double)(at[axis] - plan->origin_bin[axis]) * plan->side_A[axis] + (double)b->overflow_slot[i][axis]) *
                p->unit_per_A;
        cutoff_problem_numbers(p, (size_t)b->overflow_index[i], t->atoms[i].numbers);
    }
}

ley_status overflow_team_start(ley_job *job, const cutoff_problem *p, overflow_team **team, ley_error *error)
{
    overflow_team *t = calloc(1, sizeof *t);
    if (t == NULL)
        return ley_fail_memory(error, sizeof *t, "the overflow");
    *t = (overflow_team){
        .job = job, .n = (size_t)p->binned->overflow, .terms = cutoff_problem_terms(p), .started_s = ley_clock_s()};
    const int64_t points = ley_lattice_points(&p->lattice);
    const ley_status status =
        memory_check_one("a second map, of the overflow on the host",
                         (double)points * sizeof *t->map + (double)t->n * sizeof *t->atoms, "--overflow device", error);
    if (status != LEY_OK) {
        overflow_team_destroy(t);
        return status;
    }
    t->atoms = calloc(t->n + 1, sizeof *t->atoms);
    t->map = calloc((size_t)points, sizeof *t->map);
    if (t->atoms == NULL || t->map == NULL) {
        overflow_team_destroy(t);
        return ley_fail_memory(error, (size_t)points * sizeof *t->map, "the overflow's map");
    }
    set_atoms(t, p);
    t->running = pthread_create(&t->thread, NULL, run_team, t) == 0;
    if (!t->running)
        run_team(t);
    *team = t;
    return LEY_OK;
}

void overflow_team_wait(overflow_team *t, double *done_s)
{
    if (t->running)
        pthread_join(t->thread, NULL);
    t->running = false;
    t->job->report.short_range.overflow_s = t->done_s - t->started_s;
    *done_s = t->done_s;
}

typedef struct addition {
    const float *from;
    float *to;
    size_t row;
} addition;

static void add_rows(void *context, size_t first, size_t last)
{
    const addition *a = context;
    for (size_t i = first * a->row; i < last * a->row; i++)
        a->to[i] += a->from[i];
}

void overflow_team_add(const overflow_team *t, int64_t first, int64_t end, float *map)
{
    const int64_t *n = t->terms.n, last = end < n[2] ? end : n[2];
    addition a = {t->map + first * n[0] * n[1], map + first * n[0] * n[1], (size_t)n[0]};
    parallel_ranges((size_t)(n[1] * (last - first)), add_rows, &a);
}

void overflow_team_destroy(overflow_team *t)
{
    if (t == NULL)
        return;
    atomic_store_explicit(&t->stopped, true, memory_order_relaxed);
    if (t->running)
        pthread_join(t->thread, NULL);
    free(t->atoms);
    free(t->map);
    free(t);
}
