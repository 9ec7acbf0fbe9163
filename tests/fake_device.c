#include "fake_device.h"

#include "clock.h"
#include "error.h"
#include "tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static fake_plan *all_plans;
static size_t plan_count;

typedef struct fake_dev {
    dev base;
    fake_plan *plan;
} fake_dev;

struct dev_buffer {
    unsigned char *bytes;
    size_t size;
};

struct dev_event {
    dev_times times;
    bool is_read;
};

struct dev_program {
    char kernel[32];
    dcs_spec spec;
};

static fake_plan *plan_of(dev *device)
{
    return ((fake_dev *)device)->plan;
}

/* Counts a call and says whether it is to fail. */
static bool fails(int *count, int fail_at)
{
    return ++*count >= fail_at && fail_at > 0;
}

static ley_status fault(ley_error *error, const char *call)
{
    return ley_fail(error, LEY_ERROR_DEVICE, "%s: FAKE_FAULT (-1) at fake_device.c:1", call);
}

static ley_status fake_probe(dev_list *list, ley_error *error)
{
    for (size_t i = 0; i < plan_count; i++) {
        dev_info *info = dev_list_append(list);
        if (info == NULL)
            return ley_fail_memory(error, sizeof *info, "fake devices");
        const fake_plan *p = &all_plans[i];
        info->handle = &all_plans[i];
        info->device_class = p->device_class;
        info->compute_units = 1;
        info->vector_width = 1;
        info->max_work_group = 1024;
        for (int axis = 0; axis < 3; axis++)
            info->max_work_items[axis] = info->max_groups[axis] = 1024;
        info->global_bytes = p->global_bytes != 0 ? p->global_bytes : (uint64_t)1 << 32;
        info->max_allocation_bytes = p->max_allocation_bytes != 0 ? p->max_allocation_bytes : (uint64_t)1 << 30;
        info->local_bytes = 48 << 10;
        info->constant_bytes = p->constant_bytes != 0 ? p->constant_bytes : 64 << 10;
        info->has_double = p->has_double;
        snprintf(info->card, DEV_TEXT, "%s", p->card != NULL ? p->card : "");
        snprintf(info->platform, DEV_TEXT, "Fake platform");
        snprintf(info->name, DEV_TEXT, "%s", p->name);
        snprintf(info->driver, DEV_TEXT, "1.0 speed %g", p->speed); /* so that calibrations are not shared */
    }
    dev_list_note(list, "Empty platform: no device");
    return LEY_OK;
}

static ley_status fake_open(const dev_info *info, dev **device, ley_error *error)
{
    fake_plan *plan = info->handle;
    if (fails(&plan->opens, plan->fail_open))
        return fault(error, "fake_open()");
    fake_dev *d = calloc(1, sizeof *d);
    d->base = (dev){.backend = info->backend, .info = info, .has_timestamps = !plan->no_timestamps};
    d->plan = plan;
    *device = &d->base;
    return LEY_OK;
}

static void fake_close(dev *device)
{
    free(device);
}

static ley_status fake_buffer_create(dev *device, size_t bytes, dev_access access, dev_buffer **buffer, ley_error *error)
{
    (void)access;
    fake_plan *plan = plan_of(device);
    if (fails(&plan->buffers, plan->fail_buffer) || bytes > device->info->max_allocation_bytes)
        return fault(error, "fake_buffer_create()");
    dev_buffer *b = malloc(sizeof *b);
    *b = (dev_buffer){malloc(bytes), bytes};
    memset(b->bytes, 0xff, bytes);
    plan->live_objects++;
    *buffer = b;
    return LEY_OK;
}

static void fake_buffer_destroy(dev *device, dev_buffer *buffer)
{
    if (buffer == NULL)
        return;
    plan_of(device)->live_objects--;
    free(buffer->bytes);
    free(buffer);
}

static ley_status fake_staging_create(dev *device, size_t bytes, dev_staging **staging, ley_error *error)
{
    (void)error;
    dev_staging *s = malloc(sizeof *s);
    *s = (dev_staging){malloc(bytes), bytes};
    plan_of(device)->live_objects++;
    *staging = s;
    return LEY_OK;
}

static void fake_staging_destroy(dev *device, dev_staging *staging)
{
    if (staging == NULL)
        return;
    plan_of(device)->live_objects--;
    free(staging->bytes);
    free(staging);
}

static ley_status fake_write(dev *device, dev_buffer *buffer, size_t offset, const void *bytes, size_t size,
                             ley_error *error)
{
    (void)device;
    if (offset + size > buffer->size)
        return fault(error, "fake_write() out of bounds");
    memcpy(buffer->bytes + offset, bytes, size);
    return LEY_OK;
}

static dev_event *event_now(dev *device, double start_s, bool is_read)
{
    dev_event *event = malloc(sizeof *event);
    *event = (dev_event){{start_s, ley_clock_s()}, is_read};
    plan_of(device)->live_objects++;
    return event;
}

static ley_status fake_read(dev *device, dev_buffer *buffer, size_t offset, dev_staging *staging, size_t size,
                            dev_event *after, dev_event **done, ley_error *error)
{
    (void)after;
    fake_plan *plan = plan_of(device);
    if (fails(&plan->reads, plan->fail_read) || offset + size > buffer->size || size > staging->size)
        return fault(error, "fake_read()");
    const double start_s = ley_clock_s();
    memcpy(staging->bytes, buffer->bytes + offset, size);
    *done = event_now(device, start_s, true);
    return LEY_OK;
}

/* The specification out of "-DLEY_UX=4 ...": the fake device's compiler. */
static dcs_spec parse_options(const char *options)
{
    dcs_spec spec = {0};
    const char *found;
#define PARSE(key, field) \
    if ((found = strstr(options, "-D" #key "=")) != NULL) \
        spec.field = atoi(found + sizeof("-D" #key "=") - 1);
    LEY_DCS_KEYS(PARSE)
#undef PARSE
    return spec;
}

static ley_status fake_build(dev *device, const dev_source *source, const void *binary, size_t binary_size,
                             dev_program **program, ley_error *error)
{
    fake_plan *plan = plan_of(device);
    const bool is_dcs = strcmp(source->kernel, "dcs") == 0; /* calibration shall not count */
    if (is_dcs && fails(&plan->builds, plan->fail_build)) {
        fault(error, "fake_build()");
        ley_error_take_log(error, strdup("line 1: the fake compiler's log\nline 2: its end"));
        return LEY_ERROR_DEVICE;
    }
    if (binary != NULL && (binary_size != 4 || memcmp(binary, "fake", 4) != 0))
        return fault(error, "fake_build() from a foreign binary");
    dev_program *p = calloc(1, sizeof *p);
    snprintf(p->kernel, sizeof p->kernel, "%s", source->kernel);
    p->spec = parse_options(source->options);
    plan->live_objects++;
    *program = p;
    return LEY_OK;
}

static ley_status fake_program_binary(dev *device, dev_program *program, void **binary, size_t *size, ley_error *error)
{
    (void)program;
    fake_plan *plan = plan_of(device);
    if (fails(&plan->binaries, plan->fail_binary))
        return fault(error, "fake_program_binary()");
    *binary = malloc(4);
    memcpy(*binary, "fake", 4);
    *size = 4;
    return LEY_OK;
}

static void fake_program_destroy(dev *device, dev_program *program)
{
    if (program == NULL)
        return;
    plan_of(device)->live_objects--;
    free(program);
}

static int32_t int_argument(const dev_launch *launch, size_t i)
{
    int32_t value;
    memcpy(&value, launch->arguments[i].value, sizeof value);
    return value;
}

static double real_at(const void *bytes, bool is_double, size_t i)
{
    return is_double ? ((const double *)bytes)[i] : (double)((const float *)bytes)[i];
}

/* The j-th atom, {x, y, z, q} relative to the lattice origin, whichever way it is packed. */
static void unpack(const dev_launch *launch, size_t j, double atom[4])
{
    const unsigned char *bytes = launch->arguments[0].buffer->bytes;
    const dcs_spec *spec = &launch->program->spec;
    const bool is_double = spec->sum == LEY_SPEC_SUM_DOUBLE, placed = LEY_ATOMS_ARE_PLACED(spec->atoms, spec->sum);
    const int32_t *cell = (const int32_t *)(bytes + 32 * j + 16);
    for (size_t k = 0; k < 4; k++) {
        atom[k] = placed ? real_at(bytes + 32 * j, false, k) : real_at(bytes, is_double, 4 * j + k);
        if (placed && k < 3)
            atom[k] += cell[k] * real_at(launch->arguments[4].value, is_double, k);
    }
}

static double sum_at(const dev_launch *launch, const double point_A[3], double r_min2_A2)
{
    const size_t first = (size_t)int_argument(launch, 1), count = (size_t)int_argument(launch, 2);
    double sum = 0;
    for (size_t j = first; j < first + count; j++) {
        double atom[4], r2_A2 = 0;
        unpack(launch, j, atom);
        for (size_t axis = 0; axis < 3; axis++)
            r2_A2 += pow(point_A[axis] - atom[axis], 2);
        sum += atom[3] / sqrt(fmax(r2_A2, r_min2_A2));
    }
    return sum;
}

static void store(const dcs_spec *spec, dev_buffer *phi, size_t at, size_t points, bool accumulate, double value)
{
    float *as_float = (float *)phi->bytes;
    double *as_double = (double *)phi->bytes;
    if (spec->sum == LEY_SPEC_SUM_DOUBLE) {
        as_double[at] = value + (accumulate ? as_double[at] : 0);
        return;
    }
    as_float[at] = (float)(value + (accumulate ? (double)as_float[at] : 0));
    if (spec->sum == LEY_SPEC_SUM_COMPENSATED)
        as_float[points + at] = 0;
}

static void run_dcs(const fake_plan *plan, const dev_launch *launch)
{
    const dcs_spec *spec = &launch->program->spec;
    const bool is_double = spec->sum == LEY_SPEC_SUM_DOUBLE;
    const size_t n_x = launch->groups[0] * (size_t)tuning_dcs_tile_x(spec),
                 n_y = launch->groups[1] * (size_t)tuning_dcs_tile_y(spec), n_z = launch->groups[2];
    const void *step = launch->arguments[4].value;
    for (size_t at = 0; at < n_x * n_y * n_z; at++) {
        const size_t x = at % n_x, y = at / n_x % n_y, z = at / n_x / n_y;
        const double point_A[3] = {(double)x * real_at(step, is_double, 0), (double)y * real_at(step, is_double, 1),
                                   (double)((size_t)int_argument(launch, 3) + z) * real_at(step, is_double, 2)};
        const double value = sum_at(launch, point_A, real_at(step, is_double, 3));
        store(spec, launch->arguments[6].buffer, at, n_x * n_y * n_z, int_argument(launch, 5) != 0,
              value * (1 + plan->wrong_by));
    }
}

/* f(f(...)) of the calibration: only its last step matters to the fake. */
static void run_roots(const dev_launch *launch)
{
    const dev_buffer *in = launch->arguments[0].buffer;
    float *out = (float *)launch->arguments[2].buffer->bytes;
    for (size_t i = 0; i < in->size / sizeof(float); i++)
        out[i] = 1 / sqrtf(((const float *)in->bytes)[i]);
}

static ley_status fake_launch(dev *device, const dev_launch *launch, dev_event **done, ley_error *error)
{
    fake_plan *plan = plan_of(device);
    const double start_s = ley_clock_s();
    const bool is_dcs = strcmp(launch->program->kernel, "dcs") == 0;
    if (is_dcs && fails(&plan->launches, plan->fail_launch))
        return fault(error, "fake_launch()");
    if (is_dcs && !plan->silent)
        run_dcs(plan, launch);
    if (strcmp(launch->program->kernel, "roots") == 0)
        run_roots(launch);
    if (is_dcs && plan->delay_us > 0)
        usleep((useconds_t)plan->delay_us);
    *done = event_now(device, start_s, false);
    if (!is_dcs) /* calibration: time made up from the number of steps */
        (*done)->times.end_s = start_s + int_argument(launch, 1) * 1e-6 / (plan->speed > 0 ? plan->speed : 1);
    return LEY_OK;
}

static ley_status fake_wait(dev *device, dev_event *event, dev_times *times, ley_error *error)
{
    fake_plan *plan = plan_of(device);
    if (times != NULL)
        *times = event->times;
    const bool failed = event->is_read && fails(&plan->waits, plan->fail_wait);
    plan->live_objects--;
    free(event);
    return failed ? fault(error, "fake_wait()") : LEY_OK;
}

static const dev_backend fake_backend = {
    .name = "fake",
    .source_suffix = "cl",
    .common_options = "",
    .probe = fake_probe,
    .open = fake_open,
    .close = fake_close,
    .buffer_create = fake_buffer_create,
    .buffer_destroy = fake_buffer_destroy,
    .staging_create = fake_staging_create,
    .staging_destroy = fake_staging_destroy,
    .write = fake_write,
    .read = fake_read,
    .build = fake_build,
    .program_binary = fake_program_binary,
    .program_destroy = fake_program_destroy,
    .launch = fake_launch,
    .wait = fake_wait,
};

void fake_devices_begin(fake_plan *plans, size_t count)
{
    static const dev_backend *const table[] = {&fake_backend, NULL};
    all_plans = plans;
    plan_count = count;
    dev_backends_replace(table);
}

void fake_devices_end(void)
{
    dev_backends_replace(NULL);
}
