/* What a launch of next to nothing costs on each device: in a row of which two are under way at a
 * time, so that the host waits for each, and in a sequence (run/work.h), in turns.
 *
 *     bench_launches [DEVICE [LAUNCHES]]      opencl:0, cuda, ...; all when left out */
#include "clock.h"
#include "error.h"
#include "run/engine.h"
#include "run/work.h"
#include "source.h"
#include "spec.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 9, VALUES = 64 };

typedef struct row {
    dev *device;
    dev_program *program;
    room room;
    flight flight;
    work work;
    dev_buffer *buffer;
    int launches;
} row;

static ley_status make(row *r, ley_error *error)
{
    char options[128];
    char *text = NULL;
    snprintf(options, sizeof options, "-DLEY_SUM=%d -DLEY_WIDTH=1 -DLEY_ROOT=%d", LEY_SPEC_SUM_FLOAT,
             LEY_ROOT_STANDARD);
    const dev_backend *b = r->device->backend;
    ley_status status = source_load("sum_parts", b->source_suffix, &text, error);
    const dev_source source = {.kernel = "sum_parts", .text = text, .options = options};
    if (status == LEY_OK)
        status = b->build(r->device, &source, NULL, 0, &r->program, error);
    if (status == LEY_OK)
        status = room_buffer(&r->room, VALUES * sizeof(float), DEV_READ_WRITE, &r->buffer, error);
    free(text);
    return status;
}

static void end(row *r)
{
    work_end(&r->work);
    room_clear(&r->room);
    if (r->program != NULL)
        r->device->backend->program_destroy(r->device, r->program);
}

static dev_launch launch_of(const row *r, dev_argument arguments[4])
{
    arguments[0] = arguments[3] = dev_argument_buffer(r->buffer);
    arguments[1] = dev_argument_int(0); /* parts: nothing to add up */
    arguments[2] = dev_argument_int(1);
    return (dev_launch){.program = r->program,
                        .groups = {1, 1, 1},
                        .group_size = {VALUES, 1, 1},
                        .argument_count = 4,
                        .arguments = arguments};
}

/* As rows of launches went before there were sequences. */
static ley_status launch_two_at_a_time(row *r, ley_error *error)
{
    enum { UNDER_WAY = 2 };
    const dev_backend *b = r->device->backend;
    dev_event *done[UNDER_WAY] = {NULL};
    dev_argument arguments[4];
    dev_times when;
    const dev_launch launch = launch_of(r, arguments);
    int launched = 0, waited = 0;
    ley_status status = LEY_OK;
    while (status == LEY_OK && waited < r->launches) {
        while (status == LEY_OK && launched < r->launches && launched < waited + UNDER_WAY) {
            status = b->launch(r->device, &launch, &done[launched % UNDER_WAY], error);
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
    dev_argument arguments[4];
    const dev_launch launch = launch_of(r, arguments);
    work_begin(&r->work, &r->flight, NULL);
    for (int i = 0; i < r->launches; i++)
        work_launch(&r->work, &launch, 1e-6);
    return work_finish(&r->work, error);
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

static void bench(worker *w, void *launches)
{
    row *r = calloc(1, sizeof *r);
    double us[2];
    ley_error error = {0};
    if (w->device == NULL || r == NULL) {
        printf("%s: %s\n", w->info->name, r == NULL ? "out of memory" : w->open_error.message);
        free(r);
        return;
    }
    r->device = r->room.device = r->flight.device = w->device;
    r->launches = *(const int *)launches;
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
    int launches = argc > 2 ? atoi(argv[2]) : 1000;
    const engine_task task = {.run = bench};
    if (launches < 1 || ley_engine_create(argc > 1 ? argv[1] : "all", &engine, &error) != LEY_OK) {
        fprintf(stderr, "%s\n", launches < 1 ? "no number of launches" : error.message);
        return 1;
    }
    const size_t count = engine->worker_count;
    for (size_t i = 0; i < count; i++) { /* one device after the other */
        engine->worker_count = i + 1;
        engine_run(engine, i, &task, &launches);
    }
    engine->worker_count = count;
    ley_engine_destroy(engine);
    return 0;
}
