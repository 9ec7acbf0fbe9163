/* What several devices gain over one: whole jobs, from what is in the host's memory to results
 * there, by 1, 2, 4 ... devices and by all of them. A row is a job by the first device alone; what
 * is right was known before, or is verified in the job that warms up. */
#include "clock.h"
#include "engine/selector.h"
#include "error.h"
#include "methods/frames.h"
#include "methods/subjects.h"
#include "methods/wavefunction/c60.h"
#include "parallel.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORBITALS = 180, KEPT_FRAMES = 32, MOST_DEVICES = 64 };

/* On processors, and where kernels are interpreted. */
typedef struct gain_sizes {
    int64_t direct_atoms, direct_edge, map_atoms, average_atoms, average_edge, orbital_edge, molecules, molecule_atoms;
    size_t frames;
    double map_spacing_A;
} gain_sizes;

static const gain_sizes on_gpus = {99999, 512, 15000000, 92001, 108, 170, 1000, 999, 4096, 0.5};
static const gain_sizes on_cpus = {9999, 64, 29999, 9999, 48, 60, 16, 300, 32, 0.5};
static const gain_sizes of_interpreters = {30, 8, 300, 30, 12, 6, 2, 30, 4, 2};

/* What is computed: made for one row, or for one gain, and not kept, as it is large. */
typedef struct gain_problem {
    const gain_sizes *sizes;
    ley_atoms *atoms;
    ley_map **maps;
    size_t map_count;
    water_frames frames;
    ley_wavefunction *wavefunction;
    ley_request request;
} gain_problem;

/* By whom. */
typedef struct gain_devices {
    ley_engine *engine; /* of all */
    size_t count;
    char selectors[MOST_DEVICES][32];
} gain_devices;

/* What became of a run. */
typedef struct gain_outcome {
    double seconds;
    size_t devices_used;
    ley_accuracy accuracy; /* points = 0: not measured by itself, a wrong result fails */
} gain_outcome;

typedef struct gain_job {
    const char *name;
    ley_status (*make)(gain_problem *p, ley_error *error);
    ley_status (*run)(const gain_devices *d, const ley_bench_options *o, gain_problem *p, bool is_first,
                      gain_outcome *outcome, ley_error *error);
} gain_job;

/* ---- Problems -------------------------------------------------------------------------------- */

static ley_status make_maps(gain_problem *p, const ley_grid *grid, size_t count, ley_error *error)
{
    ley_status status = LEY_OK;
    p->maps = calloc(count, sizeof *p->maps);
    if (p->maps == NULL)
        return ley_fail_memory(error, count * sizeof *p->maps, "the benchmark");
    for (; p->map_count < count && status == LEY_OK; p->map_count += status == LEY_OK)
        status = ley_map_create(grid, &p->maps[p->map_count], error);
    return status;
}

/* Water, and a map around it: `edge` points along each axis, or, with 0, so far apart. */
static ley_status make_box(gain_problem *p, int64_t atoms, int64_t edge, ley_error *error)
{
    ley_grid_options o;
    ley_grid grid;
    ley_request_default(&p->request);
    ley_grid_options_default(&o);
    o.spacing_A[0] = p->sizes->map_spacing_A;
    if (edge > 0) {
        o.given = LEY_GIVEN_N | LEY_GIVEN_PADDING;
        o.n[0] = o.n[1] = o.n[2] = edge;
    }
    ley_status status = ley_waterbox_create(atoms - atoms % 3, 1, 0.1, &p->atoms, error);
    if (status == LEY_OK)
        status = ley_grid_choose(&o, p->atoms, NULL, NULL, &grid, error);
    return status == LEY_OK ? make_maps(p, &grid, 1, error) : status;
}

static ley_status make_direct(gain_problem *p, ley_error *error)
{
    const ley_status status = make_box(p, p->sizes->direct_atoms, p->sizes->direct_edge, error);
    p->request.method = "dcs";
    p->request.tolerance = 0;
    return status;
}

static ley_status make_papers(gain_problem *p, ley_error *error)
{
    const ley_status status = make_box(p, p->sizes->map_atoms, 0, error);
    p->request.method = "msm";
    p->request.tolerance = 0;
    ley_long_range_papers(&p->request.potential);
    return status;
}

static ley_status make_map(gain_problem *p, ley_error *error)
{
    return make_box(p, p->sizes->map_atoms, 0, error);
}

static ley_status make_average(gain_problem *p, ley_error *error)
{
    const double edge_A = (double)p->sizes->average_edge, edges_A[3] = {edge_A, edge_A, edge_A};
    ley_status status = water_frames_make(p->sizes->average_atoms, KEPT_FRAMES, edges_A, &p->frames, error);
    if (status != LEY_OK)
        return status;
    return water_frames_atoms(&p->frames, &p->atoms, error);
}

static ley_status make_orbitals(gain_problem *p, ley_error *error)
{
    ley_grid grid = {.n = {0}};
    ley_status status = c60_create(&p->wavefunction, error);
    if (status == LEY_OK)
        status = ley_wavefunction_grid(p->wavefunction, 6, 0.2, &grid, error);
    for (int axis = 0; axis < 3; axis++)
        grid.n[axis] = grid.n[axis] < p->sizes->orbital_edge ? grid.n[axis] : p->sizes->orbital_edge;
    return status == LEY_OK ? make_maps(p, &grid, ORBITALS, error) : status;
}

static ley_status make_molecules(gain_problem *p, ley_error *error)
{
    return make_box(p, p->sizes->molecule_atoms, 0, error);
}

static void clear(gain_problem *p)
{
    for (size_t i = 0; i < p->map_count; i++)
        ley_map_destroy(p->maps[i]);
    free(p->maps);
    ley_atoms_destroy(p->atoms);
    water_frames_clear(&p->frames);
    ley_wavefunction_destroy(p->wavefunction);
    *p = (gain_problem){.sizes = p->sizes};
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static ley_status run_job(ley_job *job, bool is_first, gain_outcome *outcome, ley_error *error)
{
    const ley_status status = ley_job_run(job, error);
    const ley_report *report = ley_job_report(job);
    for (size_t i = 0; status == LEY_OK && i < report->device_count; i++)
        outcome->devices_used += report->devices[i].points > 0;
    if (status == LEY_OK && is_first)
        outcome->accuracy = report->accuracy;
    return status;
}

static void set_options(const ley_bench_options *o, bool is_first, ley_run_options *options)
{
    ley_run_options_default(options);
    options->math = o->math;
    options->sum = o->sum;
    options->verify_points = is_first ? BENCH_SAMPLE_POINTS : 0;
}

static ley_status run_map(const gain_devices *d, const ley_bench_options *o, gain_problem *p, bool is_first,
                          gain_outcome *outcome, ley_error *error)
{
    ley_run_options options;
    ley_job *job = NULL;
    set_options(o, is_first, &options);
    const double start_s = ley_clock_s();
    ley_status status =
        ley_job_create_chosen(d->engine, p->atoms, (ley_target){.map = p->maps[0]}, &p->request, &options, &job, error);
    if (status == LEY_OK)
        status = run_job(job, is_first, outcome, error);
    outcome->seconds = ley_clock_s() - start_s;
    ley_job_destroy(job);
    return status;
}

static ley_status run_orbitals(const gain_devices *d, const ley_bench_options *o, gain_problem *p, bool is_first,
                               gain_outcome *outcome, ley_error *error)
{
    int64_t orbitals[ORBITALS];
    ley_run_options options;
    ley_job *job = NULL;
    for (int64_t i = 0; i < ORBITALS; i++)
        orbitals[i] = i;
    const ley_wavefunction_request request = {
        .kind = LEY_ORBITALS, .orbitals = orbitals, .orbital_count = ORBITALS, .maps = p->maps};
    set_options(o, is_first, &options);
    const double start_s = ley_clock_s();
    ley_status status = ley_job_create_wavefunction(d->engine, p->wavefunction, &request, NULL, &options, &job, error);
    if (status == LEY_OK)
        status = run_job(job, is_first, outcome, error);
    outcome->seconds = ley_clock_s() - start_s;
    ley_job_destroy(job);
    return status;
}

/* The first frame, with which everything is prepared, does not count. */
static ley_status run_average(const gain_devices *d, const ley_bench_options *o, gain_problem *p, bool is_first,
                              gain_outcome *outcome, ley_error *error)
{
    const int64_t edge = p->sizes->average_edge;
    ley_average_options options;
    ley_average_totals totals = {.frames = 0};
    ley_average *average = NULL;
    double start_s = 0;
    ley_average_options_default(&options);
    for (int axis = 0; axis < 3; axis++)
        options.n[axis] = edge;
    ley_status status = ley_average_create(d->engine, p->atoms, &options, &average, error);
    for (size_t i = 0; i < p->sizes->frames + 1 && status == LEY_OK; i++) {
        const size_t frame = i % p->frames.count;
        status = bench_cancelled(o)
                     ? ley_fail(error, LEY_CANCELLED, "cancelled")
                     : ley_average_add(average, 1, water_frame_positions_A(&p->frames, frame), p->frames.cell_A, error);
        if (i == 0 && status == LEY_OK) {
            status = ley_average_finish(average, &totals, error);
            start_s = ley_clock_s();
        }
    }
    if (status == LEY_OK)
        status = ley_average_finish(average, &totals, error);
    outcome->seconds = ley_clock_s() - start_s;
    outcome->devices_used = status == LEY_OK ? (size_t)totals.devices : 0;
    ley_average_destroy(average);
    (void)is_first;
    return status;
}

/* A device with an engine and a plan of its own, which takes one molecule after the other. */
typedef struct gain_worker {
    const ley_bench_options *o;
    const gain_problem *p;
    atomic_llong *next;
    uint64_t random;
    ley_engine *engine;
    ley_map *map;
    ley_plan *plan;
    pthread_t thread;
    bool has_thread;
    int64_t taken;
    ley_status status;
    ley_error failure;
} gain_worker;

/* The first run prepares everything. */
static ley_status open_worker(gain_worker *w, const char *selector, ley_error *error)
{
    ley_status status = ley_engine_create(selector, &w->engine, error);
    if (status == LEY_OK)
        status = ley_map_create(ley_map_grid(w->p->maps[0]), &w->map, error);
    if (status == LEY_OK)
        status =
            ley_plan_create(w->engine, w->p->atoms, (ley_target){.map = w->map}, &w->p->request, NULL, &w->plan, error);
    return status == LEY_OK ? ley_plan_run(w->plan, error) : status;
}

static void close_worker(gain_worker *w)
{
    ley_plan_destroy(w->plan);
    ley_map_destroy(w->map);
    ley_engine_destroy(w->engine);
    ley_error_clear(&w->failure);
}

static ley_status take_molecules(gain_worker *w, ley_error *error)
{
    const size_t n = 3 * ley_atoms_count(w->p->atoms);
    const double *from_A = ley_atoms_positions_A(w->p->atoms);
    double *position_A = malloc(n * sizeof *position_A);
    ley_status status = position_A != NULL ? LEY_OK : ley_fail_memory(error, n * sizeof *position_A, "a molecule");
    while (status == LEY_OK && atomic_fetch_add(w->next, 1) < w->p->sizes->molecules) {
        for (size_t i = 0; i < n; i++)
            position_A[i] = from_A[i] + 0.1 * (bench_random(&w->random) - 0.5);
        status = bench_cancelled(w->o) ? ley_fail(error, LEY_CANCELLED, "cancelled")
                                       : ley_plan_update(w->plan, position_A, NULL, NULL, error);
        if (status == LEY_OK)
            status = ley_plan_run(w->plan, error);
        w->taken += status == LEY_OK;
    }
    free(position_A);
    return status == LEY_OK ? ley_plan_finish(w->plan, NULL, error) : status;
}

static void *run_worker(void *context)
{
    gain_worker *w = context;
    w->status = take_molecules(w, &w->failure);
    return NULL;
}

/* Where there is no thread for a worker, the caller's does its part. */
static void run_workers(gain_worker *workers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        workers[i].has_thread = parallel_start(&workers[i].thread, run_worker, &workers[i]) == 0;
    for (size_t i = 0; i < count; i++)
        if (workers[i].has_thread)
            pthread_join(workers[i].thread, NULL);
        else
            run_worker(&workers[i]);
}

static ley_status run_molecules(const gain_devices *d, const ley_bench_options *o, gain_problem *p, bool is_first,
                                gain_outcome *outcome, ley_error *error)
{
    gain_worker workers[MOST_DEVICES];
    atomic_llong next = 0;
    ley_status status = LEY_OK;
    (void)is_first;
    for (size_t i = 0; i < d->count; i++)
        workers[i] = (gain_worker){.o = o, .p = p, .next = &next, .random = i + 1};
    for (size_t i = 0; i < d->count && status == LEY_OK; i++)
        status = open_worker(&workers[i], d->selectors[i], error);
    const double start_s = ley_clock_s();
    if (status == LEY_OK)
        run_workers(workers, d->count);
    outcome->seconds = ley_clock_s() - start_s;
    for (size_t i = 0; i < d->count; i++) {
        outcome->devices_used += workers[i].taken > 0;
        if (workers[i].status != LEY_OK && status == LEY_OK) {
            status = workers[i].status;
            ley_error_copy(error, &workers[i].failure);
        }
        close_worker(&workers[i]);
    }
    return status;
}

static const gain_job jobs[] = {{"direct", make_direct, run_map},
                                {"papers", make_papers, run_map},
                                {"map", make_map, run_map},
                                {"average", make_average, run_average},
                                {"orbitals", make_orbitals, run_orbitals},
                                {"molecules", make_molecules, run_molecules}};
enum { JOBS = sizeof jobs / sizeof *jobs };

/* ---- Timing ---------------------------------------------------------------------------------- */

static const gain_sizes *sizes_of(const worker *w)
{
    return (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0 ? &of_interpreters
           : w->info->device_class == DEV_GPU             ? &on_gpus
                                                          : &on_cpus;
}

/* An engine of the first `count` devices of this one. */
static ley_status open_devices(const ley_engine *engine, size_t count, gain_devices *d, ley_error *error)
{
    char all[MOST_DEVICES * 33] = "";
    *d = (gain_devices){.count = count};
    for (size_t i = 0; i < count; i++) {
        const dev_list *list = &engine->list;
        size_t device = 0;
        while (device + 1 < list->count && &list->infos[device] != engine->workers[i].info)
            device++;
        selector_of(list, device, d->selectors[i], sizeof d->selectors[i]);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i > 0 ? "," : "", d->selectors[i]);
    }
    return ley_engine_create(all, &d->engine, error);
}

typedef struct gain_run {
    const gain_job *job;
    const ley_bench_options *o;
    const gain_devices *devices;
    gain_problem problem;
    gain_outcome outcome;
    ley_accuracy accuracy;
    bool has_run;
} gain_run;

static ley_status run_once(void *context, double *seconds, ley_error *error)
{
    gain_run *r = context;
    r->outcome = (gain_outcome){.seconds = 0};
    const ley_status status = bench_cancelled(r->o)
                                  ? ley_fail(error, LEY_CANCELLED, "cancelled")
                                  : r->job->run(r->devices, r->o, &r->problem, !r->has_run, &r->outcome, error);
    if (!r->has_run)
        r->accuracy = r->outcome.accuracy;
    r->has_run = true;
    *seconds = r->outcome.seconds;
    return status;
}

/* The job by the first `count` devices of the engine. */
static ley_status time_job(const ley_engine *engine, size_t count, const ley_bench_options *o, const gain_job *job,
                           bench_row *row, gain_run *r, ley_error *error)
{
    gain_devices devices;
    *r = (gain_run){.job = job, .o = o, .devices = &devices, .problem = {.sizes = sizes_of(&engine->workers[0])}};
    ley_status status = open_devices(engine, count, &devices, error);
    if (status == LEY_OK)
        status = job->make(&r->problem, error);
    if (status == LEY_OK)
        status = bench_time(o, 1, run_once, r, row, error);
    clear(&r->problem);
    ley_engine_destroy(devices.engine);
    return status;
}

/* ---- The subject ----------------------------------------------------------------------------- */

static const char *named(size_t i)
{
    return i < JOBS ? jobs[i].name : NULL;
}

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    (void)w, (void)facts, (void)o;
    d->points = d->atoms = 1;
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    (void)o, (void)d, (void)error;
    *problem = NULL;
    return LEY_OK;
}

static void end(void *problem)
{
    (void)problem;
}

static void describe(const gain_job *job, const gain_sizes *s, char *text, size_t size)
{
    const long long edge = s->direct_edge;
    if (job->make == make_direct)
        snprintf(text, size, "%lld atoms, %lld^3 points", (long long)s->direct_atoms, edge);
    else if (job->make == make_papers || job->make == make_map)
        snprintf(text, size, "%lld atoms, %.3g A, %s", (long long)s->map_atoms, s->map_spacing_A,
                 job->make == make_map ? "1e-4" : "the papers' meshes");
    else if (job->make == make_average)
        snprintf(text, size, "%zu frames of %lld atoms, %lld^3 points", s->frames, (long long)s->average_atoms,
                 (long long)s->average_edge);
    else if (job->make == make_orbitals)
        snprintf(text, size, "%d of C60, up to %lld points an axis", ORBITALS, (long long)s->orbital_edge);
    else
        snprintf(text, size, "%lld of %lld atoms each", (long long)s->molecules, (long long)s->molecule_atoms);
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *name, const void *problem,
                          const ley_bench_device *limits, bench_row *b)
{
    gain_run r;
    size_t i = 0;
    (void)problem, (void)limits;
    while (strcmp(jobs[i].name, name) != 0)
        i++;
    const ley_status status = time_job(w->engine, 1, o, &jobs[i], b, &r, &b->failure);
    b->row.accuracy = r.accuracy;
    describe(&jobs[i], sizes_of(w), b->specification, sizeof b->specification);
    return status;
}

static void measure_gain(ley_engine *engine, const ley_bench_options *o, const bench_row *alone, const gain_job *job,
                         size_t count, bench_gain *gain)
{
    ley_bench_gain *g = &gain->gain;
    bench_row row = {.energy = NULL};
    gain_run r;
    snprintf(gain->name, sizeof gain->name, "%s", job->name);
    *g = (ley_bench_gain){.device_count = count,
                          .fastest_s = alone->row.median_s,
                          .fastest_spread = alone->row.spread,
                          .fastest_runs = alone->row.run_count,
                          .median_s = NAN,
                          .spread = NAN,
                          .gain = NAN};
    g->status = time_job(engine, count, o, job, &row, &r, &gain->failure);
    if (g->status != LEY_OK)
        return;
    memcpy(gain->runs_s, row.runs_s, sizeof gain->runs_s);
    g->run_count = row.row.run_count;
    g->runs_wanted = row.row.runs_wanted;
    g->median_s = row.row.median_s;
    g->spread = row.row.spread;
    g->gain = g->fastest_s / g->median_s;
    g->devices_used = r.outcome.devices_used;
    g->accuracy = r.accuracy;
}

/* By 2, 4, 8 ... devices, and by all. */
static size_t together(ley_engine *engine, const ley_bench_options *o, const bench_device *devices,
                       bench_gain gains[BENCH_MOST_GAINS])
{
    const ley_bench_device *first = &devices[0].device;
    const size_t all = engine->worker_count < MOST_DEVICES ? engine->worker_count : MOST_DEVICES;
    size_t made = 0;
    for (size_t i = 0; i < first->row_count; i++) {
        const bench_row *alone = &devices[0].rows[i];
        size_t job = 0;
        while (strcmp(jobs[job].name, alone->name) != 0)
            job++;
        for (size_t count = 2;
             count <= all && alone->row.status == LEY_OK && made < BENCH_MOST_GAINS && !bench_cancelled(o);
             count = 2 * count > all && count < all ? all : 2 * count) {
            measure_gain(engine, o, alone, &jobs[job], count, &gains[made++]);
            if (o->row_done != NULL)
                o->row_done(o->context);
        }
    }
    return made;
}

const bench_subject bench_of_gain = {.name = "gain",
                                     .makes_grid = true,
                                     .needs_no_facts = true,
                                     .is_of_host = true,
                                     .named = named,
                                     .variant = NULL,
                                     .choose = choose,
                                     .make = make,
                                     .end = end,
                                     .measure = measure,
                                     .together = together};
