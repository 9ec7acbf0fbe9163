#include "methods/msm/influence_kernel.h"

#include "bandwidth.h"
#include "error.h"
#include "run/self_test.h"

#include <math.h>
#include <stdlib.h>

/* ---- On a device ----------------------------------------------------------------------------- */

ley_status influence_waves_create(influence_waves *made, const spectrum *s, room *memory, ley_error *error)
{
    const int64_t waves[3] = {s->n[0] / 2 + 1, s->n[1], s->n[2]};
    const size_t bytes = (size_t)spectrum_waves(s) * sizeof *s->values;
    *made = (influence_waves){.waves = {0}};
    if ((double)waves[0] * (double)waves[1] * (double)waves[2] > INT32_MAX)
        return ley_fail(error, LEY_ERROR_NO_DEVICE,
                        "a transform of %lld x %lld x %lld nodes is more than a kernel can number", (long long)s->n[0],
                        (long long)s->n[1], (long long)s->n[2]);
    for (int axis = 0; axis < 3; axis++) {
        made->waves[axis] = (int32_t)waves[axis];
        made->stored[axis] = (int32_t)s->stored[axis];
    }
    return room_upload(memory, s->values, bytes, &made->values.buffer, error);
}

void influence_launch(work *w, const dev_kernel *kernel, const influence_waves *f, buffer_of_float2 transform)
{
    double seconds[COSTS_MOST], bytes = 2 * sizeof(float[2]);
    size_t groups[3];
    for (int axis = 0; axis < 3; axis++) {
        groups[axis] = ((size_t)f->waves[axis] + kernel->group_size[axis] - 1) / kernel->group_size[axis];
        bytes *= (double)f->waves[axis];
    }
    const bool is_known = costs_known(&bandwidth_costs, kernel->device->info, seconds);
    influence_arguments arguments = {.kind = &influence_kind, .gm_influence = f->values, .gm_spectrum = transform};
    for (int axis = 0; axis < 3; axis++) {
        arguments.waves[axis] = f->waves[axis];
        arguments.stored[axis] = f->stored[axis];
    }
    work_launch(w, kernel, groups, &arguments, is_known ? bytes * seconds[COST_DEVICE_BYTE] : 0);
}

/* ---- Known answer ---------------------------------------------------------------------------- */

/* Some numbers that must stay as they are stand behind the transform. */
enum { BEHIND = 5, MOST_WAVES = 40 * 10 * 7 };

typedef struct trial {
    room room;
    flight flight;
    work work;
    influence_waves waves;
    buffer_of_float2 transform;
    dev_staging *back;
    float influence[MOST_WAVES], values[2 * (MOST_WAVES + BEHIND)];
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
    ley_status status = influence_waves_create(&t->waves, s, &t->room, error);
    if (status == LEY_OK)
        status = room_buffer(&t->room, bytes, DEV_READ_WRITE, &t->transform.buffer, error);
    if (status == LEY_OK)
        status = room_staging(&t->room, bytes, &t->back, error);
    return status;
}

static ley_status judge(const trial *t, const spectrum *s, ley_error *error)
{
    const int64_t n_x = s->n[0] / 2 + 1;
    const float *back = t->back->bytes;
    for (int i = 0; i < t->count + BEHIND; i++) {
        const int64_t m[3] = {i % n_x, i / n_x % s->n[1], i / n_x / s->n[1]},
                      y = m[1] < s->stored[1] ? m[1] : s->n[1] - m[1], z = m[2] < s->stored[2] ? m[2] : s->n[2] - m[2];
        const double g = i < t->count ? (double)s->values[(z * s->stored[1] + y) * s->stored[0] + m[0]] : 1;
        for (int part = 0; part < 2; part++) {
            const double right = g * (double)t->values[2 * i + part], found = (double)back[2 * i + part];
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
    work_begin(&t->work, &t->flight, NULL);
    work_write(&t->work, t->transform.buffer, 0, t->values, bytes);
    influence_launch(&t->work, built, &t->waves, t->transform);
    work_read(&t->work, t->transform.buffer, 0, t->back, bytes);
    const ley_status done = work_finish(&t->work, error);
    return done == LEY_OK ? judge(t, s, error) : done;
}

/* Several work-groups and a partial one along each axis; axes normal to each other, one of them
 * oblique, all of them. */
static ley_status test_built(const dev_kernel *built, void *context, ley_error *error)
{
    static const int64_t n[3] = {78, 10, 7};
    ley_status status = LEY_OK;
    (void)context;
    for (int oblique = 0; oblique < 4 && status == LEY_OK; oblique++) {
        trial *t = calloc(1, sizeof *t);
        if (t == NULL)
            return ley_fail_memory(error, sizeof *t, "the self-test");
        const spectrum s = {.n = {n[0], n[1], n[2]},
                            .stored = {n[0] / 2 + 1, (oblique & 1) != 0 ? n[1] : n[1] / 2 + 1,
                                       (oblique & 2) != 0 ? n[2] : n[2] / 2 + 1},
                            .values = t->influence};
        t->room = (room){.device = built->device};
        t->flight = (flight){.device = built->device};
        t->count = (int)((n[0] / 2 + 1) * n[1] * n[2]);
        status = run(t, built, &s, error);
        work_end(&t->work);
        room_clear(&t->room);
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

KERNEL_DESCRIBE_ARGUMENTS(influence, LEY_INFLUENCE_ARGUMENTS)
const kernel_kind influence_kind = {KERNEL_DESCRIPTION(influence, LEY_DIALECT_KEYS, influence), .group = group_of,
                                    .test = test_built};

ley_status influence_kernel_create(dev *device, dev_kernel *kernel, ley_error *error)
{
    static const kernel_dialect spec = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD};
    return kernel_create(device, &influence_kind, &spec, NULL, NULL, kernel, error);
}
