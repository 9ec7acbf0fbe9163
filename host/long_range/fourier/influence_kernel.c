#include "long_range/fourier/influence_kernel.h"

#include "bandwidth.h"
#include "costs.h"
#include "error.h"
#include "long_range/mesh/step_costs.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- On a device ----------------------------------------------------------------------------- */

static const char step_name[] = "product";

/* Until a job has shown it: as the device's memory is known to be, or as usual. */
static double byte_seconds(const dev_info *info)
{
    return step_cost(info, step_name, "", bandwidth_byte_s(info, NULL));
}

static ley_status upload_mean(influence_waves *made, const zero_mode *mean, arena *memory, ley_error *error)
{
    static const float nothing[2];
    if (mean == NULL)
        return arena_upload(memory, nothing, sizeof nothing, &made->mean.buffer, error);
    const int64_t *w = mean->waves;
    for (int axis = 0; axis < 3; axis++)
        made->strides[axis] = w[axis] == 1 ? 0 : (int32_t)(axis == 0 ? 1 : axis == 1 ? w[0] : w[0] * w[1]);
    made->strides[3] = 1;
    return arena_upload(memory, mean->values, (size_t)(w[0] * w[1] * w[2]) * sizeof *mean->values, &made->mean.buffer,
                        error);
}

static ley_status make_room_for_long(influence_waves *made, const int64_t most[3], arena *memory, ley_error *error)
{
    static const float nothing[2];
    if (most == NULL) {
        made->longs[0] = -1;
        return arena_upload(memory, nothing, sizeof nothing, &made->long_wavelengths.buffer, error);
    }
    const long_wavelengths of = {.most = {most[0], most[1], most[2]}};
    const size_t bytes = (size_t)long_wavelengths_count(&of) * sizeof *of.values;
    for (int axis = 0; axis < 3; axis++)
        made->longs[axis] = (int32_t)most[axis];
    const ley_status status = arena_buffer(memory, bytes, DEV_READ_ONLY, &made->long_wavelengths.buffer, error);
    return status == LEY_OK ? arena_staging(memory, bytes, &made->long_staging, error) : status;
}

void influence_send_long(command_sequence *w, const influence_waves *waves, const long_wavelengths *longs)
{
    const size_t bytes = (size_t)long_wavelengths_count(longs) * sizeof *longs->values;
    memcpy(waves->long_staging->bytes, longs->values, bytes);
    sequence_send(w, waves->long_wavelengths.buffer, 0, waves->long_staging, 0, bytes);
}

double influence_send_s(const dev *device, uint64_t name, double bytes)
{
    double seconds[COSTS_MOST];
    if (device->info->device_class == DEV_CPU || kept_buffers_has(&device->kept, name))
        return 0;
    costs_known(&bus_costs, device->info, seconds);
    return bytes * seconds[COST_TO_DEVICE];
}

ley_status influence_waves_create(influence_waves *made, const spectrum *s, uint64_t name, const zero_mode *mean,
                                  const int64_t most_long[3], arena *memory, ley_error *error)
{
    const int64_t waves[3] = {s->n[0] / 2 + 1, s->n[1], s->n[2]};
    const size_t bytes = (size_t)spectrum_waves(s) * sizeof *s->values;
    *made = (influence_waves){.waves = {0}};
    for (int axis = 0; axis < 3; axis++) {
        made->waves[axis] = (int32_t)waves[axis];
        made->stored[axis] = (int32_t)s->stored[axis];
    }
    made->byte_s = byte_seconds(memory->device->info);
    ley_status status = upload_mean(made, mean, memory, error);
    if (status == LEY_OK)
        status = make_room_for_long(made, most_long, memory, error);
    return status == LEY_OK ? arena_upload_kept(memory, name, s->values, bytes, &made->values.buffer, error) : status;
}

/* Each wave is read and written. */
static double count_bytes(const int64_t waves[3])
{
    return 2 * sizeof(float[2]) * (double)waves[0] * (double)waves[1] * (double)waves[2];
}

double influence_seconds(const dev *device, const int64_t n[3])
{
    return byte_seconds(device->info) * count_bytes((const int64_t[3]){n[0] / 2 + 1, n[1], n[2]});
}

void influence_learn(const dev *device, const influence_waves *waves, double predicted_s, double took_s)
{
    step_cost_learn(device->info, step_name, "", waves->byte_s, predicted_s, took_s);
}

void influence_launch(command_sequence *w, const dev_kernel *kernel, const influence_waves *f,
                      buffer_of_float2 transform)
{
    const int64_t waves[3] = {f->waves[0], f->waves[1], f->waves[2]};
    size_t groups[3];
    for (int axis = 0; axis < 3; axis++)
        groups[axis] = ((size_t)f->waves[axis] + kernel->group_size[axis] - 1) / kernel->group_size[axis];
    influence_arguments arguments = {.kind = &influence_kind,
                                     .gm_influence = f->values,
                                     .gm_mean = f->mean,
                                     .gm_long = f->long_wavelengths,
                                     .gm_spectrum = transform};
    for (int axis = 0; axis < 3; axis++) {
        arguments.waves[axis] = f->waves[axis];
        arguments.stored[axis] = f->stored[axis];
    }
    for (int i = 0; i < 4; i++)
        arguments.mean[i] = f->strides[i];
    for (int i = 0; i < 4; i++)
        arguments.longs[i] = f->longs[i];
    sequence_launch(w, kernel, groups, &arguments, f->byte_s * count_bytes(waves));
}

/* ---- Known answer ---------------------------------------------------------------------------- */

/* Some numbers that must stay as they are stand behind the transform. */
enum { BEHIND = 5, MOST_WAVES = 40 * 10 * 7 };

typedef struct trial {
    arena arena;
    flight flight;
    command_sequence command_sequence;
    influence_waves waves;
    buffer_of_float2 transform;
    dev_staging *back;
    float influence[MOST_WAVES], values[2 * (MOST_WAVES + BEHIND)], mean[MOST_WAVES][2];
    zero_mode means; /* without values: there are none */
    float longs[MOST_WAVES][2];
    long_wavelengths long_wavelengths; /* the same */
    int count;
} trial;

static ley_status prepare(trial *t, const spectrum *s, ley_error *error)
{
    uint32_t state = 1981;
    const size_t bytes = 2 * (size_t)(t->count + BEHIND) * sizeof(float);
    for (int64_t i = 0; i < spectrum_waves(s); i++)
        s->values[i] = (float)(self_test_fraction(&state) - 0.3);
    for (int i = 0; i < 2 * (t->count + BEHIND); i++)
        t->values[i] = (float)(self_test_fraction(&state) - 0.5);
    for (int i = 0; i < MOST_WAVES; i++)
        t->mean[i][i % 2] = (float)(self_test_fraction(&state) + 2);
    for (int i = 0; i < MOST_WAVES; i++)
        for (int part = 0; part < 2; part++)
            t->longs[i][part] = (float)(self_test_fraction(&state) + 5);
    ley_status status =
        influence_waves_create(&t->waves, s, 0, t->means.values != NULL ? &t->means : NULL,
                               t->long_wavelengths.values != NULL ? t->long_wavelengths.most : NULL, &t->arena, error);
    if (status == LEY_OK)
        status = arena_buffer(&t->arena, bytes, DEV_READ_WRITE, &t->transform.buffer, error);
    if (status == LEY_OK)
        status = arena_staging(&t->arena, bytes, &t->back, error);
    return status;
}

/* Of a wave that is 0 along each axis along which there is one mean alone; else NULL. */
static const float *mean_at(const trial *t, const int64_t m[3])
{
    const int64_t *w = t->means.waves;
    int64_t at = 0;
    for (int axis = 2; axis >= 0; axis--) {
        if (w[axis] == 1 && m[axis] != 0)
            return NULL;
        at = at * w[axis] + (w[axis] > 1 ? m[axis] : 0);
    }
    return t->means.values != NULL ? t->means.values[at] : NULL;
}

/* What stands in place of the transform; NULL: nothing. */
static const float *long_at(const trial *t, const spectrum *s, const int64_t m[3])
{
    const int64_t *most = t->long_wavelengths.most;
    int64_t at = 0;
    for (int axis = 2; axis >= 0; axis--) {
        const int64_t wave = 2 * m[axis] > s->n[axis] ? m[axis] - s->n[axis] : m[axis],
                      count = axis == 0 ? most[0] + 1 : 2 * most[axis] + 1;
        if (llabs(wave) > most[axis])
            return NULL;
        at = at * count + (wave < 0 ? wave + count : wave);
    }
    return t->long_wavelengths.values != NULL ? t->long_wavelengths.values[at] : NULL;
}

static ley_status judge(const trial *t, const spectrum *s, ley_error *error)
{
    const int64_t n_x = s->n[0] / 2 + 1;
    const float *back = t->back->bytes;
    for (int i = 0; i < t->count + BEHIND; i++) {
        const int64_t m[3] = {i % n_x, i / n_x % s->n[1], i / n_x / s->n[1]},
                      y = m[1] < s->stored[1] ? m[1] : s->n[1] - m[1], z = m[2] < s->stored[2] ? m[2] : s->n[2] - m[2];
        const double g = i < t->count ? (double)s->values[(z * s->stored[1] + y) * s->stored[0] + m[0]] : 1;
        const float *mean = i < t->count ? mean_at(t, m) : NULL, *in_place = i < t->count ? long_at(t, s, m) : NULL;
        const float *charges = in_place != NULL ? in_place : t->values + 2 * i;
        for (int part = 0; part < 2; part++) {
            const double right = mean != NULL ? (double)mean[part] : g * (double)charges[part],
                         found = (double)back[2 * i + part];
            if (!(fabs(found - right) <= SELF_TEST_FLOAT * fabs(right)))
                return ley_fail(error, LEY_ERROR_WRONG_RESULT, "wave %d of %d is %g, not %g", i, t->count, found,
                                right);
        }
    }
    return LEY_OK;
}

static ley_status run(trial *t, const dev_kernel *built, const spectrum *s, ley_error *error)
{
    const size_t bytes = 2 * (size_t)(t->count + BEHIND) * sizeof(float);
    const ley_status status = prepare(t, s, error);
    if (status != LEY_OK)
        return status;
    sequence_begin(&t->command_sequence, &t->flight, NULL);
    sequence_write(&t->command_sequence, t->transform.buffer, 0, t->values, bytes);
    if (t->long_wavelengths.values != NULL)
        influence_send_long(&t->command_sequence, &t->waves, &t->long_wavelengths);
    influence_launch(&t->command_sequence, built, &t->waves, t->transform);
    sequence_read(&t->command_sequence, t->transform.buffer, 0, t->back, bytes);
    const ley_status done = sequence_finish(&t->command_sequence, error);
    return done == LEY_OK ? judge(t, s, error) : done;
}

/* As LEY_INFLUENCE_KEYS. */
typedef struct influence_spec {
    LEY_INFLUENCE_KEYS(KERNEL_KEY_FIELD)
} influence_spec;

static influence_spec spec_of(bool has_mean, bool has_long)
{
    return (influence_spec){
        .sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD, .mean = has_mean, .longs = has_long};
}

/* Several work-groups and a partial one along each axis; axes normal to each other, one of them
 * oblique, all of them; and then, where the kernel knows them, means over each set of axes. Long
 * waves, where it knows these, but once. */
static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    static const int64_t n[3] = {78, 10, 7};
    const void *spec = built->spec;
    const influence_spec *own = spec;
    ley_status status = LEY_OK;
    (void)context;
    for (int k = 0; k < (own->mean != 0 ? 11 : 4) && status == LEY_OK; k++) {
        const int oblique = k & 3, periodic = k > 3 ? k - 3 : 0; /* of the latter, bits of axes */
        trial *t = calloc(1, sizeof *t);
        if (t == NULL)
            return ley_fail_memory(error, sizeof *t, "the self-test");
        const spectrum s = {.n = {n[0], n[1], n[2]},
                            .stored = {n[0] / 2 + 1, (oblique & 1) != 0 ? n[1] : n[1] / 2 + 1,
                                       (oblique & 2) != 0 ? n[2] : n[2] / 2 + 1},
                            .values = t->influence};
        for (int axis = 0; axis < 3; axis++)
            t->means.waves[axis] = periodic >> axis & 1 ? 1 : axis == 0 ? n[0] / 2 + 1 : n[axis];
        t->means.values = periodic != 0 ? t->mean : NULL;
        t->long_wavelengths =
            (long_wavelengths){.most = {5, 3, 2}, .values = own->longs != 0 && k != 1 ? t->longs : NULL};
        t->arena = (arena){.device = built->device};
        t->flight = (flight){.device = built->device};
        t->count = (int)((n[0] / 2 + 1) * n[1] * n[2]);
        status = run(t, built, &s, error);
        sequence_end(&t->command_sequence);
        arena_clear(&t->arena);
        free(t);
    }
    return status;
}

/* ---- The kind -------------------------------------------------------------------------------- */

static void group_of(const dev_info *info, const void *spec, size_t size[3])
{
    const bool is_small = info->max_work_group < 128;
    (void)spec;
    size[0] = 32;
    size[1] = is_small ? 1 : 4;
    size[2] = 1;
}

static void all_specs(const dev_info *info, kernel_depth depth, kernel_visit *visit, void *context)
{
    (void)info, (void)depth;
    static const char *const names[] = {"influence", "influence-mean", "influence-long", "influence-mean-long"};
    for (int which = 0; which < 4; which++) {
        const influence_spec spec = spec_of((which & 1) != 0, (which & 2) != 0);
        visit(context, names[which], &spec);
    }
}

KERNEL_DESCRIBE_ARGUMENTS(influence, LEY_INFLUENCE_ARGUMENTS)
const kernel_kind influence_kind = {KERNEL_DESCRIPTION(influence, LEY_INFLUENCE_KEYS, influence), .group = group_of,
                                    .specs = all_specs, .test = test_built};

ley_status influence_kernel_create(dev *device, bool has_mean, bool has_long, dev_kernel *kernel, ley_error *error)
{
    const influence_spec spec = spec_of(has_mean, has_long);
    return kernel_create(device, &influence_kind, &spec, NULL, NULL, kernel, error);
}
