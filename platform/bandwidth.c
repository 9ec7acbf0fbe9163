#include "bandwidth.h"

#include "arguments.h"
#include "calibrate.h"

#include <math.h>

KERNEL_ARGUMENTS_STRUCT(copies, LEY_COPIES_ARGUMENTS);
KERNEL_DESCRIBE_ARGUMENTS(copies, LEY_COPIES_ARGUMENTS)

/* Of each of the two buffers: more than the caches of processors and cards hold. */
static const uint64_t cpu_bytes = 64 << 20, gpu_bytes = 256 << 20;
static const int times = 4; /* values of a work-item */

typedef struct probe {
    dev *device;
    dev_kernel kernel;
    dev_buffer *in, *out;
    size_t bytes, groups;
} probe;

/* ---- The kernel ------------------------------------------------------------------------------ */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    const size_t wanted = info->device_class == DEV_GPU ? 256 : 64;
    (void)spec;
    size[0] = wanted < info->max_work_group ? wanted : info->max_work_group;
    size[1] = size[2] = 1;
}

static kernel_dialect spec_of(const dev_info *info)
{
    return (kernel_dialect){.sum = LEY_SPEC_SUM_FLOAT, .width = calibrate_width(info), .root = LEY_ROOT_STANDARD};
}

static void specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    const kernel_dialect spec = spec_of(info);
    (void)depth;
    visit(context, "copies", &spec);
}

const kernel_kind copies_kind = {KERNEL_DESCRIPTION(copies, LEY_DIALECT_KEYS, copies), .group = group_of,
                                 .specs = specs};

/* ---- Measuring ------------------------------------------------------------------------------- */

/* An eighth of the memory at most, and whole groups. */
static void choose_size(probe *p)
{
    const dev_info *info = p->device->info;
    uint64_t bytes = info->device_class == DEV_GPU ? gpu_bytes : cpu_bytes;
    if (info->global_bytes > 0 && bytes > info->global_bytes / 8)
        bytes = info->global_bytes / 8;
    if (info->max_allocation_bytes > 0 && bytes > info->max_allocation_bytes)
        bytes = info->max_allocation_bytes;
    const size_t of_group = p->kernel.group_size[0] * (size_t)times * (size_t)spec_of(info).width * sizeof(float);
    p->groups = (size_t)bytes / of_group > 0 ? (size_t)bytes / of_group : 1;
    p->bytes = p->groups * of_group;
}

static bool copy_once(const probe *p, double *seconds)
{
    const dev_backend *b = p->device->backend;
    const size_t groups[3] = {p->groups, 1, 1};
    dev_event *event = NULL;
    dev_times when = {0, 0};
    if (kernel_launch(&p->kernel, groups,
                      KERNEL_ARGUMENTS(copies, .gm_in = {p->in}, .times = times, .gm_out = {p->out}), &event,
                      NULL) != LEY_OK ||
        b->wait(p->device, event, &when, NULL) != LEY_OK)
        return false;
    *seconds = when.end_s - when.start_s;
    return *seconds > 0;
}

static bool measure(const probe *p, double *seconds)
{
    double took_s = 0;
    const bool done = copy_once(p, &took_s);
    seconds[COST_DEVICE_BYTE] = took_s / (2 * (double)p->bytes);
    return done;
}

const costs_kind bandwidth_costs = {
    .name = "device memory", .count = 1, .bounds = {[COST_DEVICE_BYTE] = {1e-14, 1e-10, 1e-7}}};

static const double usual_gpu_byte_s = 2e-12;

double bandwidth_byte_s(const dev_info *info, bool *is_known)
{
    double seconds[COSTS_MOST];
    const bool known = costs_known(&bandwidth_costs, info, seconds);
    if (is_known != NULL)
        *is_known = known;
    return known || info->device_class != DEV_GPU ? seconds[COST_DEVICE_BYTE] : usual_gpu_byte_s;
}

/* Both buffers are touched before anything is timed. */
static bool begin(probe *p)
{
    const dev_backend *b = p->device->backend;
    const kernel_dialect spec = spec_of(p->device->info);
    if (kernel_create(p->device, &copies_kind, &spec, NULL, NULL, &p->kernel, NULL) != LEY_OK)
        return false;
    choose_size(p);
    return b->buffer_create(p->device, p->bytes, DEV_READ_WRITE, &p->in, NULL) == LEY_OK &&
           b->buffer_create(p->device, p->bytes, DEV_READ_WRITE, &p->out, NULL) == LEY_OK &&
           b->fill(p->device, p->in, 0, 0, p->bytes, NULL, NULL) == LEY_OK &&
           b->fill(p->device, p->out, 0, 0, p->bytes, NULL, NULL) == LEY_OK;
}

static void end(probe *p)
{
    const dev_backend *b = p->device->backend;
    if (p->out != NULL)
        b->buffer_destroy(p->device, p->out);
    if (p->in != NULL)
        b->buffer_destroy(p->device, p->in);
    kernel_destroy(&p->kernel);
}

/* Which one is known from then on. */
static bool measure_anew(dev *device, double *seconds)
{
    enum { TRIES = 7 };
    probe p = {.device = device};
    const bool is_possible = (device->info->quirks & DEV_QUIRK_INTERPRETER) == 0 && begin(&p);
    double tried[COSTS_MOST];
    int tries = 0;
    for (; is_possible && tries < TRIES && measure(&p, tried); tries++)
        seconds[COST_DEVICE_BYTE] =
            tries == 0 ? tried[COST_DEVICE_BYTE] : fmin(seconds[COST_DEVICE_BYTE], tried[COST_DEVICE_BYTE]);
    end(&p);
    if (tries > 0)
        costs_keep(&bandwidth_costs, device->info, seconds);
    return tries > 0;
}

double bandwidth_measure(dev *device)
{
    double seconds[COSTS_MOST];
    return measure_anew(device, seconds) ? 1 / seconds[COST_DEVICE_BYTE] : 0;
}
