/* Launches: which work-item is which, in what order things happen, by which clock, and what two
 * queues see of each other. */
#include "check/internal.h"

#include "bandwidth.h"
#include "calibrate.h"
#include "clock.h"
#include "error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KERNEL_ARGUMENTS_STRUCT(copies, LEY_COPIES_ARGUMENTS);
KERNEL_ARGUMENTS_STRUCT(multiply_adds, LEY_MULTIPLY_ADDS_ARGUMENTS);

/* ---- Work-groups ----------------------------------------------------------------------------- */

typedef struct group_case {
    int size[3];
    size_t groups[3];
} group_case;

static ley_status judge_items(const group_case *c, const int32_t *found, check_finding *f, ley_error *error)
{
    const size_t items = (size_t)(c->size[0] * c->size[1] * c->size[2]),
                 groups = c->groups[0] * c->groups[1] * c->groups[2];
    for (size_t i = 0; i < items * groups; i++) {
        const size_t group = i / items, item = i % items, x = (size_t)c->size[0], y = (size_t)c->size[1];
        const size_t in_group[3] = {item % x, item / x % y, item / x / y},
                     of[3] = {group % c->groups[0], group / c->groups[0] % c->groups[1],
                              group / c->groups[0] / c->groups[1]};
        for (int k = 0; k < 4; k++) {
            const int32_t right = k < 3 ? (int32_t)(of[k] * (size_t)c->size[k] + in_group[k]) : (int32_t)group;
            if (found[4 * i + (size_t)k] != right)
                return check_wrong(f, found[4 * i + (size_t)k], right, error,
                                   "groups of %d x %d x %d: %s of item %zu of group %zu is %d, not %d", c->size[0],
                                   c->size[1], c->size[2],
                                   k == 0   ? "the number along x"
                                   : k == 1 ? "the number along y"
                                   : k == 2 ? "the number along z"
                                            : "the group",
                                   item, group, found[4 * i + (size_t)k], right);
        }
    }
    return LEY_OK;
}

/* `size` groups along x. */
static ley_status attempt_groups(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    group_case *c = context;
    c->groups[0] = size;
    const work_items_spec spec = {.sum = LEY_SPEC_SUM_FLOAT,
                                  .width = 1,
                                  .root = LEY_ROOT_STANDARD,
                                  .lx = c->size[0],
                                  .ly = c->size[1],
                                  .lz = c->size[2]};
    const size_t items = (size_t)(c->size[0] * c->size[1] * c->size[2]) * size * c->groups[1] * c->groups[2],
                 bytes = items * 4 * sizeof(int32_t);
    dev_kernel kernel = {.device = run->device};
    results out = {NULL, NULL}, count = {NULL, NULL};
    check_bench b;
    check_bench_begin(&b, run->device);
    ley_status status = kernel_create_anew(run->device, &work_items_kind, &spec, false, NULL, &kernel, error);
    if (status == LEY_OK)
        status = check_bench_results(&b, bytes, &out, error);
    if (status == LEY_OK)
        status = check_bench_results(&b, sizeof(int32_t), &count, error);
    if (status == LEY_OK) {
        sequence_fill(&b.command_sequence, count.buffer, 0, 0, sizeof(int32_t));
        sequence_launch(&b.command_sequence, &kernel, (const size_t[]){size, c->groups[1], c->groups[2]},
                        KERNEL_ARGUMENTS(work_items, .first = 0, .gm_count = {count.buffer}, .gm_out = {out.buffer}),
                        0);
        sequence_read(&b.command_sequence, count.buffer, 0, count.staging, sizeof(int32_t));
        sequence_read(&b.command_sequence, out.buffer, 0, out.staging, bytes);
        status = check_bench_finish(&b, error);
    }
    if (status == LEY_OK)
        status = judge_items(c, out.staging->bytes, f, error);
    if (status == LEY_OK) {
        const int32_t ran = *(const int32_t *)count.staging->bytes;
        if (ran != (int32_t)items)
            status = check_wrong(f, ran, (double)items, error, "of %zu work-items %d have counted", items, ran);
    }
    check_bench_end(&b);
    kernel_destroy(&kernel);
    return status;
}

/* More of them than 16 bits count, where kernels are not interpreted. */
enum { MANY_GROUPS = 70001, FEWER_GROUPS = 301 };

static void try_groups(check_run *run, const check_row *row, const char *variant, size_t along_x, group_case *c)
{
    check_try(run, row,
              &(check_case){.variant = variant,
                            .size = along_x,
                            .least = 1,
                            .unit = "groups along x",
                            .attempt = attempt_groups,
                            .context = c});
}

void check_groups(check_run *run, const check_row *row)
{
    static const int sizes[][3] = {{3, 5, 2}, {1, 1, 1}, {13, 1, 1}, {1, 7, 3}, {31, 2, 1}, {0, 1, 1}};
    const dev_info *info = run->device->info;
    for (size_t i = 0; i < (run->quick ? 1 : sizeof sizes / sizeof *sizes); i++) {
        group_case c = {.size = {sizes[i][0], sizes[i][1], sizes[i][2]}, .groups = {0, 3, 2}};
        char variant[64];
        if (c.size[0] == 0) /* the largest one */
            c.size[0] = (int)fmin((double)info->max_work_group,
                                  info->max_work_items[0] > 0 ? (double)info->max_work_items[0] : 1024);
        snprintf(variant, sizeof variant, "%dx%dx%d", c.size[0], c.size[1], c.size[2]);
        if ((size_t)(c.size[0] * c.size[1] * c.size[2]) > info->max_work_group)
            check_skip(run, row, variant, "the device has no groups as large");
        else
            try_groups(run, row, variant, 5, &c);
    }
    const bool is_slow = (info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    try_groups(run, row, "many", is_slow ? FEWER_GROUPS : MANY_GROUPS,
               &(group_case){.size = {1, 1, 1}, .groups = {0, 2, 2}});
}

/* ---- Order ----------------------------------------------------------------------------------- */

enum { CHAIN_WORDS = 4096, ROUNDS = 12 };

static kernel_dialect scalar_spec(void)
{
    return (kernel_dialect){.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD};
}

typedef struct chain {
    check_bench b;
    dev_kernel kernel;
    dev_buffer *in, *middle;
    results out;
    float words[CHAIN_WORDS];
} chain;

/* Each round: other numbers go there, a kernel copies them, the second half of that is copied on,
 * the first one filled, and all comes back; nobody waits in between. */
static ley_status run_round(chain *c, int round, check_finding *f, ley_error *error)
{
    const size_t bytes = sizeof c->words;
    for (size_t i = 0; i < CHAIN_WORDS; i++)
        c->words[i] = (float)(round * 10000 + (int)i);
    sequence_write(&c->b.command_sequence, c->in, 0, c->words, bytes);
    sequence_launch(&c->b.command_sequence, &c->kernel, (const size_t[]){CHAIN_WORDS / c->kernel.group_size[0], 1, 1},
                    KERNEL_ARGUMENTS(copies, .gm_in = {c->in}, .times = 1, .gm_out = {c->middle}), 0);
    sequence_copy(&c->b.command_sequence, c->out.buffer, bytes / 2, c->middle, bytes / 2, bytes / 2);
    sequence_fill(&c->b.command_sequence, c->out.buffer, 0, (uint32_t)round, bytes / 2);
    sequence_read(&c->b.command_sequence, c->out.buffer, 0, c->out.staging, bytes);
    const ley_status status = check_bench_finish(&c->b, error);
    const float *found = c->out.staging->bytes;
    for (size_t i = 0; i < CHAIN_WORDS && status == LEY_OK; i++) {
        float right = c->words[i];
        if (i < CHAIN_WORDS / 2)
            memcpy(&right, &(uint32_t){(uint32_t)round}, sizeof right);
        if (memcmp(&found[i], &right, sizeof right) != 0)
            return check_wrong(f, (double)found[i], (double)right, error,
                               "round %d of write, launch, copy, fill, read: word %zu is %g, not %g", round, i,
                               (double)found[i], (double)right);
    }
    return status;
}

static ley_status attempt_order(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    const kernel_dialect spec = scalar_spec();
    chain *c = calloc(1, sizeof *c);
    (void)context;
    if (c == NULL)
        return ley_fail_memory(error, sizeof *c, "a check");
    check_bench_begin(&c->b, run->device);
    c->kernel.device = run->device;
    ley_status status = kernel_create_anew(run->device, &copies_kind, &spec, false, NULL, &c->kernel, error);
    if (status == LEY_OK)
        status = arena_buffer(&c->b.arena, sizeof c->words, DEV_READ_WRITE, &c->in, error);
    if (status == LEY_OK)
        status = arena_buffer(&c->b.arena, sizeof c->words, DEV_READ_WRITE, &c->middle, error);
    if (status == LEY_OK)
        status = check_bench_results(&c->b, sizeof c->words, &c->out, error);
    for (int round = 1; round <= (int)size && status == LEY_OK; round++)
        status = run_round(c, round, f, error);
    check_bench_end(&c->b);
    kernel_destroy(&c->kernel);
    free(c);
    return status;
}

void check_order(check_run *run, const check_row *row)
{
    check_try(run, row,
              &(check_case){.variant = "", .size = ROUNDS, .least = 1, .unit = "rounds", .attempt = attempt_order});
}

/* ---- Launches that take a while -------------------------------------------------------------- */

/* x <- 0.5 x + 1, so often that it takes some milliseconds, from 0 to 2, which it reaches soon. */
enum { CHAINS = 16, GROUPS = 64 };

typedef struct long_launch {
    check_bench b;
    dev_kernel kernel;
    dev_buffer *in;
    results out[2];
    size_t bytes;
    int times;
} long_launch;

static ley_status long_launch_begin(long_launch *l, dev *device, int times, ley_error *error)
{
    const kernel_dialect spec = {
        .sum = LEY_SPEC_SUM_FLOAT, .width = calibrate_width(device->info), .root = LEY_ROOT_STANDARD};
    *l = (long_launch){.times = times, .kernel = {.device = device}};
    check_bench_begin(&l->b, device);
    ley_status status = kernel_create_anew(device, &multiply_adds_kind, &spec, false, NULL, &l->kernel, error);
    if (status != LEY_OK)
        return status;
    const size_t values = CHAINS * GROUPS * l->kernel.group_size[0] * (size_t)spec.width;
    l->bytes = values * sizeof(float);
    float *in = calloc(values, sizeof *in);
    if (in == NULL)
        return ley_fail_memory(error, l->bytes, "a check");
    for (int k = 0; k < spec.width; k++) {
        in[k] = 0.5f;
        in[spec.width + k] = 1;
    }
    status = arena_upload(&l->b.arena, in, l->bytes, &l->in, error);
    free(in);
    for (int i = 0; i < 2 && status == LEY_OK; i++)
        status = check_bench_results(&l->b, l->bytes, &l->out[i], error);
    return status == LEY_OK ? check_bench_finish(&l->b, error) : status;
}

static ley_status long_launch_start(long_launch *l, int which, dev_event **done, ley_error *error)
{
    return kernel_launch(
        &l->kernel, (const size_t[]){GROUPS, 1, 1},
        KERNEL_ARGUMENTS(multiply_adds, .gm_in = {l->in}, .times = l->times, .gm_out = {l->out[which].buffer}), done,
        error);
}

static void long_launch_end(long_launch *l)
{
    check_bench_end(&l->b);
    kernel_destroy(&l->kernel);
}

/* ---- Time stamps ----------------------------------------------------------------------------- */

enum { STAMPED = 4 };

/* What the host sees of a device's clock: threads come back late where others use the cores. */
static const double slack_s = 0.25, order_slack_s = 1e-4;

static ley_status judge_stamps(const dev_times *times, double begun_s, double ended_s, ley_error *error)
{
    for (int i = 0; i < STAMPED; i++) {
        if (times[i].end_s < times[i].start_s)
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "launch %d ends %.3g s before it begins", i,
                            times[i].start_s - times[i].end_s);
        if (times[i].start_s < begun_s - slack_s || times[i].end_s > ended_s + slack_s)
            return ley_fail(
                error, LEY_ERROR_WRONG_RESULT,
                "by its stamps launch %d ran from %.3g s to %.3g s after it was begun; the host had it back "
                "after %.3g s",
                i, times[i].start_s - begun_s, times[i].end_s - begun_s, ended_s - begun_s);
        if (i > 0 && times[i].start_s < times[i - 1].end_s - order_slack_s)
            return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                            "launch %d of a queue that is in order begins %.3g s before the one before it ends", i,
                            times[i - 1].end_s - times[i].start_s);
    }
    return LEY_OK;
}

static ley_status attempt_stamps(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    const dev_backend *backend = run->device->backend;
    dev_event *events[STAMPED] = {NULL};
    dev_times times[STAMPED];
    long_launch l;
    (void)context, (void)size;
    if (!run->device->has_timestamps)
        return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                        "its stamps do not advance as the host's clock does, or there are none");
    ley_status status = long_launch_begin(&l, run->device, 2000, error);
    const double begun_s = ley_clock_s();
    for (int i = 0; i < STAMPED && status == LEY_OK; i++)
        status = long_launch_start(&l, i % 2, &events[i], error);
    for (int i = 0; i < STAMPED; i++)
        if (events[i] != NULL) {
            const ley_status waited = backend->wait(run->device, events[i], &times[i], status == LEY_OK ? error : NULL);
            status = status == LEY_OK ? waited : status;
        }
    if (status == LEY_OK)
        status = judge_stamps(times, begun_s, ley_clock_s(), error);
    if (status == LEY_OK)
        snprintf(f->text, sizeof f->text, "%.3g ms a launch", 1e3 * (times[0].end_s - times[0].start_s));
    long_launch_end(&l);
    return status;
}

void check_stamps(check_run *run, const check_row *row)
{
    if ((run->device->info->quirks & DEV_QUIRK_INTERPRETER) != 0)
        check_skip(run, row, "", "it interprets kernels: nothing is timed on it");
    else
        check_try(run, row, &(check_case){.variant = "", .attempt = attempt_stamps});
}

/* ---- Two queues ------------------------------------------------------------------------------ */

/* What comes back in one queue waits for the launch that makes it, and for nothing else, while the
 * other one has launched the next. */
static ley_status read_beside(long_launch *l, check_finding *f, ley_error *error)
{
    dev *device = l->kernel.device;
    const dev_backend *backend = device->backend;
    dev_event *first = NULL, *second = NULL, *read = NULL;
    ley_status status = long_launch_start(l, 0, &first, error);
    if (status == LEY_OK)
        status = backend->read(device, l->out[0].buffer, 0, l->out[0].staging, l->bytes, first, &read, error);
    if (status == LEY_OK)
        status = long_launch_start(l, 1, &second, error);
    if (read != NULL) {
        const ley_status waited = backend->wait(device, read, NULL, status == LEY_OK ? error : NULL);
        status = status == LEY_OK ? waited : status;
    }
    const float *found = l->out[0].staging->bytes;
    for (size_t i = 0; i < l->bytes / sizeof *found && status == LEY_OK; i++)
        if (found[i] != 2)
            status = check_wrong(f, (double)found[i], 2, error,
                                 "value %zu that comes back beside another launch is %g, not 2", i, (double)found[i]);
    if (second != NULL) {
        const ley_status waited = backend->wait(device, second, NULL, status == LEY_OK ? error : NULL);
        status = status == LEY_OK ? waited : status;
    }
    if (first != NULL)
        backend->forget(device, first);
    return status;
}

static ley_status attempt_two_queues(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    const bool slow = (run->device->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    long_launch l;
    (void)context;
    ley_status status = long_launch_begin(&l, run->device, slow ? 30 : 2000, error);
    for (size_t i = 0; i < size && status == LEY_OK; i++) {
        sequence_fill(&l.b.command_sequence, l.out[0].buffer, 0, DEV_NO_NUMBERS, l.bytes);
        status = read_beside(&l, f, error);
    }
    long_launch_end(&l);
    return status;
}

void check_two_queues(check_run *run, const check_row *row)
{
    check_try(run, row,
              &(check_case){.variant = "", .size = 4, .least = 1, .unit = "rounds", .attempt = attempt_two_queues});
}
