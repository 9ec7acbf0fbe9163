/* How many maps a second plans make, of random charges that have other places in each run: from the
 * host's memory to the host's memory, verified as plans are. Medians of rounds.
 *
 *     bench_plan DEVICE ATOMS POINTS [METHOD [PLANS [RUNS]]]
 *
 * POINTS along each axis of the box, which is periodic with METHOD msm (the usual one) and open
 * with dcs. Of several plans each has an engine and a thread of its own. */
#include "leyden.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, FRAMES = 4, FIRST_RUNS = 3, MOST_PLANS = 16 };

typedef struct bench {
    const char *device, *method;
    size_t atoms;
    int points, plans, runs;
    pthread_barrier_t barrier;
    pthread_mutex_t mutex; /* plans are prepared one after the other: each measures what it chooses by */
    double seconds[ROUNDS];
} bench;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(ley_status status, const ley_error *error)
{
    if (status == LEY_OK)
        return;
    fprintf(stderr, "bench_plan: %s\n", error->message);
    exit(ley_status_exit_code(status));
}

/* As dense as water, in [0, edge)^3; later frames are the first one, each atom moved by up to 0.1
 * A. */
static double *make_frames(const bench *b, double edge_A, unsigned seed)
{
    const size_t numbers = 3 * b->atoms;
    double *frames = malloc(FRAMES * numbers * sizeof *frames);
    for (size_t i = 0; frames != NULL && i < FRAMES * numbers; i++) {
        const double u = rand_r(&seed) / (RAND_MAX + 1.0);
        frames[i] = i < numbers ? edge_A * u : fmin(fmax(frames[i % numbers] + 0.2 * u - 0.1, 0), 0.999999 * edge_A);
    }
    return frames;
}

static void prepare(bench *b, double edge_A, const double *frames, ley_engine **engine, ley_map **map, ley_plan **plan)
{
    ley_error error = {0};
    ley_grid grid = {.n = {b->points, b->points, b->points}};
    ley_request request;
    ley_request_default(&request);
    request.method = b->method;
    for (int axis = 0; axis < 3; axis++) {
        grid.step_A[axis][axis] = edge_A / b->points;
        request.potential.periodic[axis] = strcmp(b->method, "dcs") != 0;
        request.potential.cell_A[axis][axis] = edge_A;
    }
    double *charge_e = malloc(b->atoms * sizeof *charge_e);
    for (size_t i = 0; charge_e != NULL && i < b->atoms; i++)
        charge_e[i] = i + 1 == b->atoms && i % 2 == 0 ? 0 : i % 2 == 0 ? 1 : -1;
    ley_atoms *atoms = NULL;
    check(ley_atoms_create(b->atoms, frames, charge_e, NULL, &atoms, &error), &error);
    free(charge_e);
    check(ley_engine_create(b->device, engine, &error), &error);
    check(ley_map_create(&grid, map, &error), &error);
    check(ley_plan_create(*engine, atoms, (ley_target){.map = *map}, &request, NULL, plan, &error), &error);
    ley_atoms_destroy(atoms);
}

static void run(ley_plan *plan, const double *position_A)
{
    ley_error error = {0};
    check(ley_plan_update(plan, position_A, NULL, NULL, &error), &error);
    check(ley_plan_run(plan, &error), &error);
}

static void say_totals(const bench *b, ley_plan *plan)
{
    ley_error error = {0};
    ley_plan_totals t;
    check(ley_plan_finish(plan, &t, &error), &error);
    printf("%s, %zu atoms, %d^3 points, %s: %lld runs, %lld prepared, %zu points of %lld runs verified, relative RMS "
           "%.2g\n",
           b->device, b->atoms, b->points, ley_plan_report(plan)->method, (long long)t.runs, (long long)t.prepared,
           t.checked_points, (long long)t.checked_runs, t.relative_rms);
}

/* A plan, in a thread. */
static void *work(void *context)
{
    static int started;
    bench *b = context;
    ley_engine *engine = NULL;
    ley_map *map = NULL;
    ley_plan *plan = NULL;
    const double edge_A = cbrt((double)b->atoms / 0.1);
    pthread_mutex_lock(&b->mutex);
    const int which = started++;
    double *frames = make_frames(b, edge_A, (unsigned)which + 1);
    if (frames == NULL)
        exit(LEY_ERROR_MEMORY);
    prepare(b, edge_A, frames, &engine, &map, &plan);
    for (int k = 0; k < FIRST_RUNS; k++)
        run(plan, frames);
    pthread_mutex_unlock(&b->mutex);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&b->barrier);
        const double start_s = now_s();
        for (int k = 0; k < b->runs; k++)
            run(plan, frames + 3 * b->atoms * (size_t)(k % FRAMES));
        pthread_barrier_wait(&b->barrier);
        if (which == 0)
            b->seconds[round] = now_s() - start_s;
    }
    if (which == 0)
        say_totals(b, plan);
    ley_plan_destroy(plan);
    ley_map_destroy(map);
    ley_engine_destroy(engine);
    free(frames);
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST_PLANS];
    if (argc < 4) {
        fprintf(stderr, "Usage: bench_plan DEVICE ATOMS POINTS [METHOD [PLANS [RUNS]]]\n");
        return LEY_ERROR_USAGE;
    }
    bench b = {.device = argv[1],
               .atoms = (size_t)atoll(argv[2]),
               .points = atoi(argv[3]),
               .method = argc > 4 ? argv[4] : "msm",
               .plans = argc > 5 && atoi(argv[5]) > 0 && atoi(argv[5]) < MOST_PLANS ? atoi(argv[5]) : 1,
               .runs = argc > 6 ? atoi(argv[6]) : 300};
    pthread_barrier_init(&b.barrier, NULL, (unsigned)b.plans);
    pthread_mutex_init(&b.mutex, NULL);
    for (int i = 0; i < b.plans; i++)
        if (pthread_create(&threads[i], NULL, work, &b) != 0)
            return LEY_ERROR_MEMORY;
    for (int i = 0; i < b.plans; i++)
        pthread_join(threads[i], NULL);
    qsort(b.seconds, ROUNDS, sizeof *b.seconds, by_size);
    const double all = (double)b.runs * b.plans;
    printf("%d plan%s: %.0f runs a second (rounds: %.0f to %.0f)\n", b.plans, b.plans == 1 ? "" : "s",
           all / b.seconds[ROUNDS / 2], all / b.seconds[ROUNDS - 1], all / b.seconds[0]);
    return 0;
}
