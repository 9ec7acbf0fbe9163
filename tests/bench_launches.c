/* What a launch of next to nothing costs on each device: in a row of which two are under way at a
 * time, so that the host waits for each, and in a sequence (engine/command_sequence.h), in turns.
 *
 *     bench_launches [DEVICE [LAUNCHES]]      opencl:0, cuda, ...; all when left out */
#include "clock.h"
#include "engine/command_sequence.h"
#include "engine/engine.h"
#include "error.h"
#include "methods/mdh/kernel.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 9, VALUES = 64 };

typedef struct row {
    dev *device;
    dev_kernel kernel;
    arena arena;
    flight flight;
    command_sequence command_sequence;
    dev_buffer *buffer;
    int launches;
} row;

static ley_status make(row *r, ley_error *error)
{
    static kernel_kind kind; /* sum_parts, untested: what it adds up does not matter */
    const kernel_dialect spec = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD};
    kind = sum_parts_kind;
    kind.test = NULL;
    ley_status status = kernel_create(r->device, &kind, &spec, NULL, NULL, &r->kernel, error);
    if (status == LEY_OK)
        status = arena_buffer(&r->arena, VALUES * sizeof(float), DEV_READ_WRITE, &r->buffer, error);
    return status;
}

static void end(row *r)
{
    sequence_end(&r->command_sequence);
    arena_clear(&r->arena);
    kernel_destroy(&r->kernel);
}

static const size_t groups[3] = {1, 1, 1};

/* No parts: nothing to add up. */
static sum_parts_arguments arguments_of(const row *r)
{
    return (sum_parts_arguments){
        .kind = r->kernel.kind, .gm_parts = {r->buffer}, .part_values = 1, .gm_sums = {r->buffer}};
}

/* As rows of launches went before there were sequences. */
static ley_status launch_two_at_a_time(row *r, ley_error *error)
{
    enum { UNDER_WAY = 2 };
    const dev_backend *b = r->device->backend;
    dev_event *done[UNDER_WAY] = {NULL};
    dev_times when;
    const sum_parts_arguments arguments = arguments_of(r);
    int launched = 0, waited = 0;
    ley_status status = LEY_OK;
    while (status == LEY_OK && waited < r->launches) {
        while (status == LEY_OK && launched < r->launches && launched < waited + UNDER_WAY) {
            status = kernel_launch(&r->kernel, groups, &arguments, &done[launched % UNDER_WAY], error);
            launched += status == LEY_OK;
        }
        if (status == LEY_OK)
            status = b->wait(r->device, done[waited++ % UNDER_WAY], &when, error);
    }
    while (waited < launched)
        b->wait(r->device, done[waited++ % UNDER_WAY], NULL, NULL);
    return status;
}

static ley_status launch_in_sequence(row *r, ley_error *error)
{
    const sum_parts_arguments arguments = arguments_of(r);
    sequence_begin(&r->command_sequence, &r->flight, NULL);
    for (int i = 0; i < r->launches; i++)
        sequence_launch(&r->command_sequence, &r->kernel, groups, &arguments, 1e-6);
    return sequence_finish(&r->command_sequence, error);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Rounds of both ways in turns, after one that does not count; medians. */
static ley_status measure(row *r, double us[2], ley_error *error)
{
    static ley_status (*const ways[2])(row *, ley_error *) = {launch_two_at_a_time, launch_in_sequence};
    double took_us[2][ROUNDS] = {{0}};
    ley_status status = make(r, error);
    for (int round = -1; round < ROUNDS; round++)
        for (int way = 0; way < 2 && status == LEY_OK; way++) {
            const double start_s = ley_clock_s();
            status = ways[way](r, error);
            if (round >= 0)
                took_us[way][round] = 1e6 * (ley_clock_s() - start_s) / r->launches;
        }
    for (int way = 0; way < 2; way++) {
        qsort(took_us[way], ROUNDS, sizeof took_us[way][0], ascending);
        us[way] = took_us[way][ROUNDS / 2];
    }
    return status;
}

static void bench(worker *w, void *context)
{
    row *r = calloc(1, sizeof *r);
    double us[2];
    ley_error error = {0};
    if (w->device == NULL || r == NULL) {
        printf("%s: %s\n", w->info->name, r == NULL ? "out of memory" : w->open_error.message);
        free(r);
        return;
    }
    r->device = r->arena.device = r->flight.device = w->device;
    r->launches = *(const int *)context;
    if (measure(r, us, &error) == LEY_OK)
        printf("%s, %s: %d launches, microseconds per launch: %.2f two at a time, %.2f in sequence\n", w->info->name,
               w->public_info.path, r->launches, us[0], us[1]);
    else
        printf("%s: %s\n", w->info->name, error.message);
    ley_error_clear(&error);
    end(r);
    free(r);
}

int main(int argc, char **argv)
{
    ley_engine *engine = NULL;
    ley_error error = {0};
    int wanted = argc > 2 ? atoi(argv[2]) : 1000;
    const engine_task task = {.run = bench};
    if (wanted < 1 || ley_engine_create(argc > 1 ? argv[1] : "all", &engine, &error) != LEY_OK) {
        fprintf(stderr, "%s\n", wanted < 1 ? "no number of launches" : error.message);
        return 1;
    }
    const size_t count = engine->worker_count;
    for (size_t i = 0; i < count; i++) { /* one device after the other */
        engine->worker_count = i + 1;
        engine_run(engine, i, &task, &wanted);
    }
    engine->worker_count = count;
    ley_engine_destroy(engine);
    return 0;
}
