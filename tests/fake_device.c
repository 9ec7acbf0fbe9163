#include "fake_device.h"

#include "calibrate.h"
#include "clock.h"
#include "costs.h"
#include "device_list.h"
#include "engine/driver_thread.h"
#include "error.h"
#include "methods/cutoff/kernel.h"
#include "methods/cutoff/step_costs.h"
#include "methods/dcs/kernel.h"
#include "plain_fft.h"
#include "verify/reference_kernel.h"
#include "watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static fake_plan *all_plans;
static size_t plan_count;

struct dev_buffer {
    unsigned char *bytes;
    size_t size;
};

/* Copies between staging and buffers happen as late as they may: those to the device before what
 * follows them in the launch lane, those from it when they are waited for. */
typedef struct late_copy {
    unsigned char *to;
    const unsigned char *from;
    size_t size;
    bool lies;
} late_copy;

typedef struct fake_dev {
    dev base;
    fake_plan *plan;
    late_copy sent;
} fake_dev;

struct dev_event {
    dev_times times;
    late_copy read; /* of a launch or a copy on the device, and of one to it: nothing */
    bool is_sum;
};

struct dev_program {
    const kernel_kind *kind;
    bool is_sum; /* not of the calibration */
    bool is_double;
    int fact; /* the bit of the calibration's fact that it measures; -1: none */
    dcs_spec spec;
    cutoff_spec cutoff;
};

/* Numbers of kernels' arguments: dcs_at_gm_atoms, ... */
#define AT_DCS(kind, type, name) dcs_at_##name,
#define AT_CUTOFF(kind, type, name) cutoff_at_##name,
#define AT_REFERENCE(kind, type, name) reference_at_##name,
#define AT_RATE(kind, type, name) rate_at_##name,
enum { LEY_DCS_ARGUMENTS(AT_DCS, AT_DCS) };
enum { LEY_CUTOFF_ARGUMENTS(AT_CUTOFF, AT_CUTOFF) };
enum { LEY_REFERENCE_ARGUMENTS(AT_REFERENCE, AT_REFERENCE) };
enum { LEY_RATE_ARGUMENTS(AT_RATE, AT_RATE) };

static fake_plan *plan_of(dev *device)
{
    return ((fake_dev *)device)->plan;
}

/* For what devices tell each other. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int hanging;
static int set;          /* the number of the plans that were begun last */
static int released_set; /* plans up to this number hang no more */

/* Counts a call and says whether it is to fail. */
static bool fails(fake_plan *plan, int *count, int fail_at)
{
    pthread_mutex_lock(&mutex);
    const bool is_due = ++*count >= fail_at && fail_at > 0;
    plan->failed += is_due;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return is_due;
}

/* After the n-th call has been counted: does not return before fake_devices_release(). */
static void hang(fake_plan *plan, int count, int hang_at)
{
    if (hang_at == 0 || count < hang_at)
        return;
    pthread_mutex_lock(&mutex);
    if (plan->set > released_set) {
        plan->hung++;
        hanging++;
        pthread_cond_broadcast(&changed);
    }
    while (plan->set > released_set)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

int fake_devices_hung(const fake_plan *plan)
{
    pthread_mutex_lock(&mutex);
    const int hung = plan->hung;
    pthread_mutex_unlock(&mutex);
    return hung;
}

void fake_devices_release(void)
{
    pthread_mutex_lock(&mutex);
    released_set = set;
    hanging = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

void fake_devices_wait(const int *counted, int count)
{
    pthread_mutex_lock(&mutex);
    while (*counted < count)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

static void count_objects(fake_plan *plan, int change)
{
    pthread_mutex_lock(&mutex);
    plan->live_objects += (size_t)change;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

/* Programs are objects, too; the device may keep those that no job has any more. */
static void count_programs(fake_plan *plan, int change)
{
    pthread_mutex_lock(&mutex);
    plan->live_programs += (size_t)change;
    pthread_mutex_unlock(&mutex);
    count_objects(plan, change);
}

/* Whether a device is in the midst of its work, or has come to an end that it was made for. */
static bool has_come(const fake_plan *p)
{
    const bool shall_hang = p->hang_open + p->hang_build + p->hang_buffer + p->hang_write + p->hang_fill +
                                p->hang_copy + p->hang_launch + p->hang_wait + p->hang_read + p->hang_measurement >
                            0;
    const bool shall_fail = p->fail_open + p->fail_build + p->fail_buffer + p->fail_staging + p->fail_write +
                                p->fail_fill + p->fail_copy + p->fail_launch + p->fail_wait + p->fail_read +
                                p->lose_write >
                            0;
    const bool is_wrong = p->silent || p->wrong_by != 0;
    return shall_hang   ? p->hung > 0
           : shall_fail ? p->failed > 0
           : is_wrong   ? p->builds > 0 && p->live_objects == p->live_programs
                        : p->launches > 0;
}

/* Waits for another device; the watch sees that it is alive. */
static void wait_for(const fake_plan *other)
{
    pthread_mutex_lock(&mutex);
    while (other != NULL && !has_come(other)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 10000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&changed, &mutex, &until);
        watch_enter(NULL, WATCH_WORK, "launch");
    }
    pthread_mutex_unlock(&mutex);
}

static ley_status fault(ley_error *error, const char *call)
{
    return ley_fail(error, LEY_ERROR_DEVICE, "%s: FAKE_FAULT (-1) at fake_device.c:1", call);
}

static ley_status probe_path(bool is_vendors, dev_list *list, ley_error *error)
{
    for (size_t i = 0; i < plan_count; i++) {
        const fake_plan *p = &all_plans[i];
        if (p->is_vendors != is_vendors)
            continue;
        dev_info *info = dev_list_append(list);
        if (info == NULL)
            return ley_fail_memory(error, sizeof *info, "fake devices");
        info->handle = &all_plans[i];
        info->device_class = p->device_class;
        info->compute_units = p->compute_units > 0 ? p->compute_units : 1;
        info->clock_MHz = p->clock_MHz;
        info->vector_width = 1;
        info->max_work_group = 1024;
        for (int axis = 0; axis < 3; axis++)
            info->max_work_items[axis] = info->max_groups[axis] = 1024;
        info->global_bytes = p->global_bytes != 0 ? p->global_bytes : (uint64_t)1 << 32;
        info->max_allocation_bytes = p->max_allocation_bytes != 0 ? p->max_allocation_bytes : (uint64_t)1 << 30;
        info->local_bytes = 48 << 10;
        info->constant_bytes = p->constant_bytes != 0 ? p->constant_bytes : 64 << 10;
        info->has_double = p->has_double;
        info->quirks = p->quirks;
        snprintf(info->card, DEV_TEXT, "%s", p->card != NULL ? p->card : "");
        snprintf(info->platform, DEV_TEXT, "Fake platform");
        snprintf(info->name, DEV_TEXT, "%s", p->name);
        snprintf(info->driver, DEV_TEXT, "1.0 speed %g", p->speed); /* so that calibrations are not shared */
    }
    return LEY_OK;
}

static ley_status fake_probe(dev_list *list, ley_error *error)
{
    dev_list_note(list, "Empty platform: no device");
    return probe_path(false, list, error);
}

static ley_status fake_probe_vendors(dev_list *list, ley_error *error)
{
    return probe_path(true, list, error);
}

/* Faults are counted in jobs' own calls: nothing is measured unless that is wished for. */
static void plant_costs(const dev_info *info)
{
    static const costs_kind *const kinds[] = {&bus_costs, &device_binning_costs};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double usual[COSTS_MOST];
        if (!costs_known(kinds[i], info, usual))
            costs_plant(kinds[i], info, usual);
    }
}

static ley_status fake_open(const dev_info *info, dev **device, ley_error *error)
{
    fake_plan *plan = info->handle;
    if (fails(plan, &plan->opens, plan->fail_open))
        return fault(error, "fake_open()");
    hang(plan, plan->opens, __atomic_load_n(&plan->hang_open, __ATOMIC_RELAXED));
    fake_dev *d = calloc(1, sizeof *d);
    d->base = (dev){.backend = info->backend, .info = info, .has_timestamps = !plan->no_timestamps};
    d->plan = plan;
    if (!plan->measures_costs)
        plant_costs(info);
    *device = &d->base;
    return LEY_OK;
}

static void fake_buffer_destroy(dev *device, dev_buffer *buffer)
{
    if (buffer == NULL)
        return;
    count_objects(plan_of(device), -1);
    free(buffer->bytes);
    free(buffer);
}

static void fake_program_destroy(dev *device, dev_program *program)
{
    if (program == NULL)
        return;
    count_programs(plan_of(device), -1);
    free(program);
}

static void fake_close(dev *device)
{
    fake_plan *plan = plan_of(device);
    pthread_mutex_lock(&mutex); /* it may be closed in the background while it is open a second time */
    const int closes = ++plan->closes;
    pthread_mutex_unlock(&mutex);
    hang(plan, closes, plan->hang_close);
    for (kept_buffer one; (one = kept_buffers_drop(&device->kept)).buffer != NULL;)
        fake_buffer_destroy(device, one.buffer);
    for (kept_program one; (one = kept_programs_drop(&device->programs)).program != NULL;)
        fake_program_destroy(device, one.program);
    if (device->is_lost)
        dev_keep(device);
    else
        free(device);
}

static ley_status fake_buffer_create(dev *device, size_t bytes, dev_access access, dev_buffer **buffer,
                                     ley_error *error)
{
    fake_plan *plan = plan_of(device);
    if (fails(plan, &plan->buffers, plan->fail_buffer) || bytes > device->info->max_allocation_bytes)
        return fault(error, "fake_buffer_create()");
    hang(plan, plan->buffers, plan->hang_buffer);
    dev_buffer *b = malloc(sizeof *b);
    *b = (dev_buffer){malloc(bytes), bytes};
    memset(b->bytes, 0xff, bytes);
    count_objects(plan, 1);
    *buffer = b;
    return LEY_OK;
}

static ley_status fake_staging_create(dev *device, size_t bytes, dev_staging **staging, ley_error *error)
{
    fake_plan *plan = plan_of(device);
    if (fails(plan, &plan->stagings, plan->fail_staging))
        return fault(error, "fake_staging_create()");
    dev_staging *s = malloc(sizeof *s);
    *s = (dev_staging){malloc(bytes), bytes};
    count_objects(plan_of(device), 1);
    *staging = s;
    return LEY_OK;
}

static void fake_staging_destroy(dev *device, dev_staging *staging)
{
    if (staging == NULL)
        return;
    count_objects(plan_of(device), -1);
    free(staging->bytes);
    free(staging);
}

/* What comes next in the launch lane finds what was sent before. */
static void arrive(dev *device)
{
    late_copy *sent = &((fake_dev *)device)->sent;
    if (sent->size > 0)
        memcpy(sent->to, sent->from, sent->size);
    sent->size = 0;
}

static ley_status begin_write(dev *device, const dev_buffer *buffer, size_t offset, size_t size, ley_error *error)
{
    fake_plan *plan = plan_of(device);
    arrive(device);
    const bool is_lost = plan->lose_write > 0 && plan->writes + 1 >= plan->lose_write;
    if (fails(plan, &plan->writes, is_lost ? plan->lose_write : plan->fail_write)) {
        device->is_lost = is_lost;
        return fault(error, "fake_write()");
    }
    hang(plan, plan->writes, plan->hang_write);
    return offset + size > buffer->size ? fault(error, "fake_write() out of bounds") : LEY_OK;
}

static ley_status fake_write(dev *device, dev_buffer *buffer, size_t offset, const void *bytes, size_t size,
                             ley_error *error)
{
    ley_status status = begin_write(device, buffer, offset, size, error);
    if (status == LEY_OK)
        memcpy(buffer->bytes + offset, bytes, size);
    return status;
}

static dev_event *event_now(dev *device, double start_s)
{
    dev_event *event = malloc(sizeof *event);
    *event = (dev_event){.times = {start_s, ley_clock_s()}};
    count_objects(plan_of(device), 1);
    return event;
}

static ley_status fake_send(dev *device, dev_buffer *buffer, size_t offset, const dev_staging *staging, size_t from,
                            size_t size, dev_event **done, ley_error *error)
{
    ley_status status = begin_write(device, buffer, offset, size, error);
    if (status == LEY_OK && from + size > staging->size)
        status = fault(error, "fake_send() out of bounds");
    if (status != LEY_OK)
        return status;
    ((fake_dev *)device)->sent =
        (late_copy){.to = buffer->bytes + offset, .from = (const unsigned char *)staging->bytes + from, .size = size};
    *done = event_now(device, ley_clock_s());
    return LEY_OK;
}

static ley_status fake_fill(dev *device, dev_buffer *buffer, size_t offset, uint32_t pattern, size_t bytes,
                            dev_event **done, ley_error *error)
{
    fake_plan *plan = plan_of(device);
    arrive(device);
    if (fails(plan, &plan->fills, plan->fail_fill))
        return fault(error, "fake_fill()");
    hang(plan, plan->fills, plan->hang_fill);
    if (offset + bytes > buffer->size || offset % sizeof pattern != 0 || bytes % sizeof pattern != 0)
        return fault(error, "fake_fill() out of bounds");
    for (size_t at = offset; at < offset + bytes; at += sizeof pattern)
        memcpy(buffer->bytes + at, &pattern, sizeof pattern);
    if (done != NULL)
        *done = event_now(device, ley_clock_s());
    return LEY_OK;
}

static ley_status fake_copy(dev *device, dev_buffer *to, size_t to_offset, dev_buffer *from, size_t from_offset,
                            size_t bytes, dev_event **done, ley_error *error)
{
    fake_plan *plan = plan_of(device);
    arrive(device);
    if (fails(plan, &plan->copies, plan->fail_copy))
        return fault(error, "fake_copy()");
    hang(plan, plan->copies, plan->hang_copy);
    const bool overlaps = to == from && to_offset < from_offset + bytes && from_offset < to_offset + bytes;
    if (to_offset + bytes > to->size || from_offset + bytes > from->size || overlaps)
        return fault(error, "fake_copy() out of bounds");
    memcpy(to->bytes + to_offset, from->bytes + from_offset, bytes);
    if (done != NULL)
        *done = event_now(device, ley_clock_s());
    return LEY_OK;
}

static void lie(const fake_plan *plan, void *bytes, size_t size)
{
    float *values = bytes;
    const size_t count = size / sizeof *values, quarter = (size_t)plan->lie_quarter,
                 first = quarter > 0 ? count / 4 * (quarter - 1) : 0, last = quarter > 0 ? count / 4 * quarter : count;
    for (size_t i = first; plan->lie == FAKE_SCALES && i < last; i++)
        values[i] *= (float)plan->lie_factor;
    if (plan->lie == FAKE_NO_NUMBERS)
        memset(bytes, 0xff, size);
}

static ley_status fake_read(dev *device, dev_buffer *buffer, size_t offset, dev_staging *staging, size_t size,
                            dev_event *after, dev_event **done, ley_error *error)
{
    fake_plan *plan = plan_of(device);
    if (fails(plan, &plan->reads, plan->fail_read) || offset + size > buffer->size || size > staging->size)
        return fault(error, "fake_read()");
    hang(plan, plan->reads, plan->hang_read);
    arrive(device);
    const bool skips = plan->lie == FAKE_SKIPS_READ && plan->reads >= plan->lie_at;
    *done = event_now(device, ley_clock_s());
    (*done)->read = (late_copy){.to = staging->bytes,
                                .from = skips ? staging->bytes : buffer->bytes + offset,
                                .size = size,
                                .lies = plan->reads >= plan->lie_at};
    return LEY_OK;
}

/* The bit of the fact that a kernel of the calibration measures; -1: it is another kernel. */
static int fact_of(const dev_source *source)
{
    enum { AT_ROOT = 2, AT_EXP = 3 }; /* among their keys */
    uint64_t fact = source->kind == &roots_kind           ? CALIBRATE_ROOT(source->spec[AT_ROOT])
                    : source->kind == &exps_kind          ? CALIBRATE_EXP(source->spec[AT_EXP])
                    : source->kind == &multiply_adds_kind ? CALIBRATE_MULTIPLY_ADDS
                                                          : 0;
    int bit = -1;
    for (; fact != 0; fact >>= 1)
        bit++;
    return bit;
}

/* A compiler that takes its time. */
static void compile(fake_plan *plan)
{
    pthread_mutex_lock(&mutex);
    plan->compiling++;
    plan->most_compiling = plan->compiling > plan->most_compiling ? plan->compiling : plan->most_compiling;
    pthread_mutex_unlock(&mutex);
    if (plan->compile_us > 0)
        usleep((useconds_t)plan->compile_us);
    pthread_mutex_lock(&mutex);
    plan->compiling--;
    pthread_mutex_unlock(&mutex);
}

static ley_status fake_build(dev *device, const dev_source *source, const void *binary, size_t binary_size,
                             dev_program **program, ley_error *error)
{
    fake_plan *plan = plan_of(device);
    const bool is_note = strcmp(source->kind->name, "note") == 0;
    const bool is_sum =
        source->kind == &dcs_kind || source->kind == &cutoff_kind || is_note; /* calibration shall not count */
    const ley_status status = kernel_check_build(source, error);
    if (status != LEY_OK)
        return status;
    if (is_sum && fails(plan, &plan->builds, plan->fail_build)) {
        fault(error, "fake_build()");
        ley_error_take_compiler_log(error, strdup("line 1: the fake compiler's log\nline 2: its end"));
        return LEY_ERROR_DEVICE;
    }
    if (is_sum)
        hang(plan, plan->builds, __atomic_load_n(&plan->hang_build, __ATOMIC_RELAXED));
    const int fact = fact_of(source);
    if (fact >= 0)
        compile(plan);
    if (fact >= 0 && (plan->fail_facts >> fact & 1) != 0)
        return fault(error, "fake_build()");
    if (source->kind == &reference_kind)
        hang(plan, 1, plan->hang_judge);
    if (binary != NULL && (binary_size != 4 || memcmp(binary, "fake", 4) != 0))
        return fault(error, "fake_build() from a foreign binary");
    dev_program *p = calloc(1, sizeof *p);
    p->kind = source->kind;
    p->is_sum = is_sum;
    p->fact = fact;
    p->is_double = kernel_is_double(source->kind, source->spec);
    if (p->kind == &dcs_kind)
        memcpy(&p->spec, source->spec, sizeof p->spec);
    if (p->kind == &cutoff_kind)
        memcpy(&p->cutoff, source->spec, sizeof p->cutoff);
    count_programs(plan, 1);
    *program = p;
    return LEY_OK;
}

static ley_status fake_program_binary(dev *device, dev_program *program, void **binary, size_t *size, ley_error *error)
{
    fake_plan *plan = plan_of(device);
    if (fails(plan, &plan->binaries, plan->fail_binary))
        return fault(error, "fake_program_binary()");
    *binary = malloc(4);
    memcpy(*binary, "fake", 4);
    *size = 4;
    return LEY_OK;
}

/* Arithmetic, which is most of what tests with the thread sanitizer would take their time for: what
 * it reads is written by functions that are watched, on the same thread. */
#define UNWATCHED __attribute__((no_sanitize("thread")))

UNWATCHED static int32_t int_argument(const dev_launch *launch, size_t i)
{
    int32_t value;
    memcpy(&value, launch->arguments[i].value, sizeof value);
    return value;
}

UNWATCHED static double real_at(const void *bytes, bool is_double, size_t i)
{
    return is_double ? ((const double *)bytes)[i] : (double)((const float *)bytes)[i];
}

/* The j-th atom, {x, y, z, q} relative to the grid origin, whichever way it is packed. */
UNWATCHED static void unpack(const dev_launch *launch, size_t j, double atom[4])
{
    const unsigned char *bytes = launch->arguments[dcs_at_gm_atoms].buffer->bytes;
    const dcs_spec *spec = &launch->program->spec;
    const bool is_double = spec->sum == LEY_SPEC_SUM_DOUBLE, placed = LEY_ATOMS_ARE_PLACED(spec->atoms, spec->sum);
    const int32_t *node = (const int32_t *)(bytes + 32 * j + 16);
    for (size_t k = 0; k < 4; k++) {
        atom[k] = placed ? real_at(bytes + 32 * j, false, k) : real_at(bytes, is_double, 4 * j + k);
        if (placed && k < 3)
            atom[k] += node[k] * real_at(launch->arguments[dcs_at_step].value, is_double, k);
    }
}

/* The potential, and the field along x, y and z. */
UNWATCHED static void sum_at(double (*atoms)[4], size_t count, const double point_A[3], double r_min2_A2, double sum[4])
{
    memset(sum, 0, 4 * sizeof *sum);
    for (size_t j = 0; j < count; j++) {
        const double x_A = point_A[0] - atoms[j][0], y_A = point_A[1] - atoms[j][1], z_A = point_A[2] - atoms[j][2],
                     r2_A2 = x_A * x_A + y_A * y_A + z_A * z_A,
                     value = atoms[j][3] / sqrt(r2_A2 > r_min2_A2 ? r2_A2 : r_min2_A2),
                     slope = r2_A2 >= r_min2_A2 ? value / r2_A2 : 0;
        sum[0] += value;
        sum[1] += slope * x_A;
        sum[2] += slope * y_A;
        sum[3] += slope * z_A;
    }
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
        as_float[points * (spec->field ? 4 : 1) + at] = 0;
}

static void run_dcs(const fake_plan *plan, const dev_launch *launch)
{
    const dcs_spec *spec = &launch->program->spec;
    const bool is_double = spec->sum == LEY_SPEC_SUM_DOUBLE;
    const size_t n_x = launch->groups[0] * (size_t)tuning_dcs_tile_x(spec),
                 n_y = launch->groups[1] * (size_t)tuning_dcs_tile_y(spec), n_z = launch->groups[2];
    const void *step = launch->arguments[dcs_at_step].value;
    const size_t count = (size_t)int_argument(launch, dcs_at_n_atoms);
    double(*atoms)[4] = calloc(count + 1, sizeof *atoms);
    if (atoms == NULL)
        abort();
    for (size_t j = 0; j < count; j++)
        unpack(launch, (size_t)int_argument(launch, dcs_at_first_atom) + j, atoms[j]);
    for (size_t at = 0; at < n_x * n_y * n_z; at++) {
        if (at % 8 == 0) /* instruments make this slow; it is alive */
            watch_enter(NULL, WATCH_WORK, "launch");
        const size_t x = at % n_x, y = at / n_x % n_y, z = at / n_x / n_y;
        const double point_A[3] = {(double)x * real_at(step, is_double, 0), (double)y * real_at(step, is_double, 1),
                                   (double)((size_t)int_argument(launch, dcs_at_first_plane) + z) *
                                       real_at(step, is_double, 2)};
        double sum[4];
        sum_at(atoms, count, point_A, real_at(step, is_double, 3), sum);
        for (size_t k = 0; k < (spec->field ? 4 : 1); k++)
            store(spec, launch->arguments[dcs_at_gm_phi].buffer, at + k * n_x * n_y * n_z, n_x * n_y * n_z,
                  int_argument(launch, dcs_at_accumulate) != 0,
                  sum[k] * (1 + plan->wrong_by + (x > 0 && x == (size_t)plan->wrong_column ? 1 : 0)));
    }
    free(atoms);
}

/* ---- cutoff ---------------------------------------------------------------------------------- */

UNWATCHED static float float_at(const dev_launch *launch, size_t argument, size_t i)
{
    float value;
    memcpy(&value, launch->arguments[argument].value + i * sizeof value, sizeof value);
    return value;
}

/* Of 1/r and Taylor's C2 function, written so that it keeps its digits next to the cutoff: others
 * are not for this device. */
UNWATCHED static double cutoff_value(const dev_launch *launch, double r2)
{
    const double r = sqrt(r2), x = r / sqrt((double)float_at(launch, cutoff_at_limits, 0));
    return launch->program->cutoff.pair == LEY_PAIR_TAYLOR2 ? pow(1 - x, 3) * (1 + x * (1.125 + x * 0.375)) / r : 1 / r;
}

/* Adds what a bin's atoms do to a region; `corner`: of the bin, from the region's lowest point. */
UNWATCHED static void add_bin(const dev_launch *launch, size_t bin, const double corner[3], const int64_t region[3],
                              double *sum)
{
    const int depth = launch->program->cutoff.depth;
    const float *slot = (const float *)launch->arguments[cutoff_at_gm_slots].buffer->bytes + 4 * bin * (size_t)depth;
    const double unit = (double)float_at(launch, cutoff_at_step, 3),
                 cutoff2 = (double)float_at(launch, cutoff_at_limits, 0),
                 r_min2 = (double)float_at(launch, cutoff_at_limits, 1);
    for (int k = 0; k < depth; k++, slot += 4)
        for (int64_t at = 0; slot[3] != 0 && at < region[0] * region[1] * region[2]; at++) {
            const int64_t point[3] = {at % region[0], at / region[0] % region[1], at / region[0] / region[1]};
            double r2 = 0;
            for (size_t axis = 0; axis < 3; axis++)
                r2 += pow((double)point[axis] * (double)float_at(launch, cutoff_at_step, axis) - corner[axis] -
                              (double)slot[axis] * unit,
                          2);
            if (r2 < cutoff2)
                sum[at] += (double)slot[3] * cutoff_value(launch, fmax(r2, r_min2));
        }
}

/* All bins of the table, with those in which they go on. */
UNWATCHED static void sum_region(const dev_launch *launch, const size_t group[3], const int64_t region[3], double *sum)
{
    int32_t(*table)[4] = (void *)launch->arguments[cutoff_at_gm_table].buffer->bytes,
    (*homes)[2] = (void *)launch->arguments[cutoff_at_gm_homes].buffer->bytes;
    const float *begins = (const float *)launch->arguments[cutoff_at_gm_begins].buffer->bytes;
    const int32_t *extra = int_argument(launch, cutoff_at_has_extra) != 0
                               ? (const void *)launch->arguments[cutoff_at_gm_extra].buffer->bytes
                               : NULL;
    const size_t home[3] = {group[0], launch->groups[0] + group[1],
                            launch->groups[0] + launch->groups[1] +
                                (size_t)int_argument(launch, cutoff_at_first_region) + group[2]};
    for (int32_t e = 0; e < int_argument(launch, cutoff_at_n_table); e++) {
        int32_t bin = table[e][3];
        double corner[3];
        for (size_t axis = 0; axis < 3; axis++) {
            float from;
            memcpy(&from, &homes[home[axis]][1], sizeof from);
            corner[axis] = (double)from + table[e][axis] * (double)float_at(launch, cutoff_at_side, axis);
            if (launch->program->cutoff.total == LEY_SPEC_SUM_COMPENSATED)
                corner[axis] -= (double)begins[home[axis]];
            bin += homes[home[axis]][0];
        }
        add_bin(launch, (size_t)bin, corner, region, sum);
        for (int32_t more = extra != NULL ? extra[bin] : 0; extra != NULL && more < extra[bin + 1]; more++)
            add_bin(launch, (size_t)more, corner, region, sum);
    }
}

static void run_cutoff(const fake_plan *plan, const dev_launch *launch)
{
    const cutoff_spec *spec = &launch->program->cutoff;
    float *phi = (float *)launch->arguments[cutoff_at_gm_phi].buffer->bytes;
    int64_t region[3];
    tuning_cutoff_region(spec, region);
    const size_t n[3] = {(size_t)region[0], (size_t)region[1], (size_t)region[2]}, points = n[0] * n[1] * n[2];
    double *sum = calloc(points, sizeof *sum);
    for (size_t g = 0; g < launch->groups[0] * launch->groups[1] * launch->groups[2]; g++) {
        const size_t group[3] = {g % launch->groups[0], g / launch->groups[0] % launch->groups[1],
                                 g / launch->groups[0] / launch->groups[1]};
        memset(sum, 0, points * sizeof *sum);
        sum_region(launch, group, region, sum);
        for (size_t at = 0; at < points; at++) {
            const size_t x = at % n[0], y = at / n[0] % n[1], z = at / n[0] / n[1];
            const size_t row = launch->groups[0] * n[0], plane = launch->groups[1] * n[1] * row;
            const size_t in_rows = (group[2] * n[2] + z) * plane + (group[1] * n[1] + y) * row + group[0] * n[0] + x;
            phi[spec->store == LEY_STORE_ROWS ? in_rows : g * points + at] = (float)(sum[at] * (1 + plan->wrong_by));
        }
    }
    free(sum);
}

/* ---- Note ------------------------------------------------------------------------------------ */

/* For tests of what launches: words[at] = 10 words[at] + number, of the arguments words, at,
 * number. */
static void run_note(const fake_plan *plan, const dev_launch *launch)
{
    uint32_t *words = (uint32_t *)(void *)launch->arguments[0].buffer->bytes;
    words[int_argument(launch, 1)] = 10 * words[int_argument(launch, 1)] + (uint32_t)int_argument(launch, 2);
}

/* ---- Calibration and the device interface ---------------------------------------------------- */

static bool is_root(const dev_program *program)
{
    return program->fact >= 0 && program->fact < LEY_ROOT_COUNT;
}

/* f(f(...)) of the calibration: only its last step matters to the fake. */
UNWATCHED static void run_recipe(const fake_plan *plan, const dev_launch *launch)
{
    const dev_program *p = launch->program;
    const dev_buffer *in = launch->arguments[rate_at_gm_in].buffer;
    float *out = (float *)launch->arguments[rate_at_gm_out].buffer->bytes;
    const double factor = 1 + plan->wrong_root + (is_root(p) ? plan->root_wrong[p->fact] : 0);
    for (size_t i = 0; i < in->size / sizeof(float); i++) {
        const float x = ((const float *)in->bytes)[i];
        out[i] = (float)factor / (is_root(p) ? sqrtf(x) : exp2f(x));
    }
}

/* Time that is made up, from the number of steps. */
static double measured_s(const fake_plan *plan, const dev_launch *launch)
{
    const dev_program *p = launch->program;
    const double own = is_root(p) && plan->root_speed[p->fact] > 0 ? plan->root_speed[p->fact] : 1;
    return int_argument(launch, rate_at_times) * 1e-6 / (plan->speed > 0 ? plan->speed : 1) / own;
}

static void note_measurement(fake_plan *plan, const dev_launch *launch)
{
    const int fact = launch->program->fact;
    hang(plan, ++plan->measurements, __atomic_load_n(&plan->hang_measurement, __ATOMIC_RELAXED));
    if (fact < 0)
        return;
    plan->measured |= (uint64_t)1 << fact;
    plan->measured_times[fact]++;
    if (plan->measure_us > 0)
        usleep((useconds_t)plan->measure_us);
}

/* The judge's sums, of direct Coulomb summation. */
static void run_reference(fake_plan *plan, const dev_launch *launch)
{
    double(*atoms)[4] = (void *)launch->arguments[reference_at_gm_atoms].buffer->bytes,
    (*points)[4] = (void *)launch->arguments[reference_at_gm_points].buffer->bytes;
    double(*sums)[4] = (void *)launch->arguments[reference_at_gm_sums].buffer->bytes, r_min_A;
    memcpy(&r_min_A, launch->arguments[reference_at_numbers].value, sizeof r_min_A);
    plan->judged += (int)launch->groups[0];
    for (size_t i = 0; i < launch->groups[0]; i++) {
        const bool is_wrong = plan->wrong_judge > 0 && i >= (size_t)plan->wrong_judge &&
                              (plan->right_judge == 0 || i < (size_t)plan->right_judge);
        if (int_argument(launch, reference_at_accumulate) == 0)
            memset(sums[i], 0, sizeof sums[i]);
        for (size_t j = (size_t)int_argument(launch, reference_at_first_atom);
             j < (size_t)(int_argument(launch, reference_at_first_atom) + int_argument(launch, reference_at_n_atoms));
             j++) {
            const double x = points[i][0] - atoms[j][0], y = points[i][1] - atoms[j][1], z = points[i][2] - atoms[j][2];
            const double term = atoms[j][3] / fmax(sqrt(x * x + y * y + z * z), r_min_A) * (is_wrong ? 2 : 1);
            sums[i][0] += term;
            sums[i][1] += fabs(term);
        }
    }
}

static ley_status fake_launch(dev *device, const dev_launch *launch, dev_event **done, ley_error *error)
{
    fake_plan *plan = plan_of(device);
    const double start_s = ley_clock_s();
    const bool is_sum = launch->program->is_sum;
    const ley_status status = kernel_check_launch(launch->program->kind, launch->program->is_double, launch, error);
    arrive(device);
    if (status != LEY_OK)
        return status;
    if (is_sum && fails(plan, &plan->launches, plan->fail_launch))
        return fault(error, "fake_launch()");
    if (is_sum) {
        hang(plan, plan->launches, plan->hang_launch);
        wait_for(plan->after);
    } else
        note_measurement(plan, launch);
    const bool skips = plan->lie == FAKE_SKIPS_LAUNCH && plan->launches == plan->lie_at;
    if (is_sum && !plan->silent && !skips)
        (launch->program->kind == &dcs_kind      ? run_dcs
         : launch->program->kind == &cutoff_kind ? run_cutoff
                                                 : run_note)(plan, launch);
    const bool is_judge = launch->program->kind == &reference_kind;
    if (launch->program->kind == &roots_kind || launch->program->kind == &exps_kind)
        run_recipe(plan, launch);
    if (is_judge)
        run_reference(plan, launch);
    if (is_sum && plan->delay_us > 0)
        usleep((useconds_t)plan->delay_us);
    *done = event_now(device, start_s);
    (*done)->is_sum = is_sum;
    plan->in_flight += is_sum;
    plan->most_in_flight = plan->in_flight > plan->most_in_flight ? plan->in_flight : plan->most_in_flight;
    if (!is_sum && !is_judge) /* calibration: time made up from the number of steps */
        (*done)->times.end_s = start_s + measured_s(plan, launch);
    return LEY_OK;
}

static void event_end(fake_plan *plan, dev_event *event)
{
    plan->in_flight -= event->is_sum;
    count_objects(plan, -1);
    free(event);
}

static ley_status fake_wait(dev *device, dev_event *event, dev_times *times, ley_error *error)
{
    fake_plan *plan = plan_of(device);
    const late_copy *read = &event->read;
    const bool is_read = read->size > 0;
    arrive(device);
    if (is_read && read->to != read->from)
        memcpy(read->to, read->from, read->size);
    if (is_read && read->lies)
        lie(plan, read->to, read->size);
    if (is_read)
        event->times.end_s = ley_clock_s();
    if (times != NULL)
        *times = event->times;
    plan->all_waits++;
    const bool failed = is_read && fails(plan, &plan->waits, plan->fail_wait);
    if (is_read)
        hang(plan, plan->waits, plan->hang_wait);
    event_end(plan, event);
    return failed ? fault(error, "fake_wait()") : LEY_OK;
}

static void fake_forget(dev *device, dev_event *event)
{
    plan_of(device)->forgotten++;
    event_end(plan_of(device), event);
}

/* ---- Fourier transforms ---------------------------------------------------------------------- */

typedef struct fake_fft_plan {
    dev_fft_plan base;
    dev_fft_shape shape;
    struct fake_fft *fft;
} fake_fft_plan;

static const char kept_plan[] = "a plan";

static bool fake_fft_library(const dev_info *info, size_t i, dev_fft_library *library)
{
    const fake_plan *plan = info->handle;
    if (i >= plan->fft_libraries)
        return false;
    *library = (dev_fft_library){.name = i == 0 ? "alpha" : "beta", .version = "1", .has_tables = i == 1};
    library->most_values = plan->fft[i].most_values;
    if (plan->fft[i].unusable != NULL)
        snprintf(library->unusable, DEV_TEXT, "%s", plan->fft[i].unusable);
    return true;
}

static ley_status fake_fft_create(dev *device, size_t library, const dev_fft_shape *shape, const void *kept,
                                  size_t kept_size, dev_fft_plan **made, ley_error *error)
{
    fake_plan *plan = plan_of(device);
    struct fake_fft *fft = &plan->fft[library];
    if (fails(plan, &fft->plans, fft->fail_plan))
        return fault(error, "fake_fft_plan()");
    hang(plan, fft->plans, fft->hang_plan);
    if (kept != NULL && (kept_size != sizeof kept_plan || memcmp(kept, kept_plan, kept_size) != 0))
        return fault(error, "fake_fft_plan() of something else");
    if (kept != NULL && fft->fail_taking)
        return fault(error, "fake_fft_plan() of what is kept");
    fft->taken += kept != NULL;
    if (kept == NULL && fft->prepare_us > 0)
        usleep((useconds_t)fft->prepare_us);
    fake_fft_plan *p = malloc(sizeof *p);
    *p = (fake_fft_plan){.base = {library, fft->scratch_bytes}, .shape = *shape, .fft = fft};
    count_objects(plan, 1);
    *made = &p->base;
    return LEY_OK;
}

static ley_status fake_fft_keep(dev *device, dev_fft_plan *plan, void **bytes, size_t *size, ley_error *error)
{
    *bytes = plan->library == 0 ? memcpy(malloc(sizeof kept_plan), kept_plan, sizeof kept_plan) : NULL;
    *size = sizeof kept_plan;
    return LEY_OK;
}

static ley_status fake_fft_run(dev *device, dev_fft_plan *plan, bool forward, dev_buffer *from, dev_buffer *to,
                               dev_buffer *scratch, dev_event **done, ley_error *error)
{
    const fake_fft_plan *p = (const fake_fft_plan *)plan;
    const size_t *n = p->shape.n, half = n[0] / 2 + 1, pitch = p->shape.in_place ? 2 * half : n[0];
    const double start_s = ley_clock_s(), wrong_by = p->shape.tables ? p->fft->tables_by : p->fft->wrong_by;
    const size_t grid = pitch * n[1] * n[2] * sizeof(float), spectrum = 2 * half * n[1] * n[2] * sizeof(float);
    arrive(device);
    if (fails(plan_of(device), &p->fft->runs, p->fft->fail_run))
        return fault(error, "fake_fft_run()");
    if ((forward ? from : to)->size < grid || (forward ? to : from)->size < spectrum ||
        (plan->scratch_bytes > 0 && scratch->size < plan->scratch_bytes))
        return fault(error, "fake_fft_run() out of bounds");
    float *made = (float *)(void *)to->bytes;
    const float *given = (const float *)(const void *)from->bytes;
    (forward ? plain_fft_there : plain_fft_back)(n, pitch, given, made);
    for (size_t i = 0; i < (forward ? spectrum : grid) / sizeof *made; i++)
        made[i] *= (float)(1 + (i % 2 == 0 ? wrong_by : -wrong_by));
    const size_t made_values = (forward ? spectrum : grid) / sizeof *made;
    if (p->fft->spoil == (forward ? 1 : 2))
        made[p->fft->spoil_last ? made_values - 1 : 0] *= 1.01f;
    if (p->fft->spoil == 3 && forward)
        ((float *)(void *)from->bytes)[p->fft->spoil_last ? grid / sizeof *made - 1 : 0] *= 1.01f;
    *done = event_now(device, start_s);
    if (p->fft->run_us > 0)
        (*done)->times.end_s = start_s + 1e-6 * p->fft->run_us;
    return LEY_OK;
}

static void fake_fft_end(dev *device, dev_fft_plan *plan)
{
    count_objects(plan_of(device), -1);
    free(plan);
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
    .send = fake_send,
    .fill = fake_fill,
    .copy = fake_copy,
    .read = fake_read,
    .builds_at_once = true,
    .build = fake_build,
    .program_binary = fake_program_binary,
    .program_destroy = fake_program_destroy,
    .launch = fake_launch,
    .wait = fake_wait,
    .forget = fake_forget,
    .fft_library = fake_fft_library,
    .fft_plan = fake_fft_create,
    .fft_keep = fake_fft_keep,
    .fft_run = fake_fft_run,
    .fft_end = fake_fft_end,
};

void fake_devices_begin(fake_plan *plans, size_t count)
{
    static dev_backend vendors;
    static const dev_backend *const table[] = {&fake_backend, &vendors, NULL};
    vendors = fake_backend;
    vendors.name = "vendors";
    vendors.is_vendors = true;
    vendors.probe = fake_probe_vendors;
    pthread_mutex_lock(&mutex);
    set++;
    for (size_t i = 0; i < count; i++)
        plans[i].set = set;
    pthread_mutex_unlock(&mutex);
    all_plans = plans;
    plan_count = count;
    dev_backends_replace(table);
}

/* Devices that were late are done with what they were at. */
static void wait_for_late(void)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        const int hanging_now = hanging;
        pthread_mutex_unlock(&mutex);
        if (driver_thread_adrift() <= hanging_now)
            return;
        usleep(1000);
    }
}

void fake_devices_end(void)
{
    wait_for_late();
    dev_backends_replace(NULL);
}
