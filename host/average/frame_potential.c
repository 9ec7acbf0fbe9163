#include "average/frame_potential.h"

#include "average/place.h"
#include "average/potential.h"
#include "average/sums.h"
#include "bandwidth.h"
#include "error.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const kernel_dialect plain = {.sum = LEY_SPEC_SUM_FLOAT, .width = 1, .root = LEY_ROOT_STANDARD};

/* ---- Launches -------------------------------------------------------------------------------- */

static void launch_row(command_sequence *w, const dev_kernel *kernel, size_t items, const void *arguments,
                       double predicted_s)
{
    sequence_launch(w, kernel, (const size_t[3]){(items + kernel->group_size[0] - 1) / kernel->group_size[0], 1, 1},
                    arguments, predicted_s);
}

static void launch_fold(command_sequence *w, const dev_kernel *kernel, density_fold_arguments *a, const int64_t mesh[3],
                        const int64_t points[3], double predicted_s)
{
    size_t groups[3];
    for (int axis = 0; axis < 3; axis++) {
        a->mesh[axis] = (int32_t)mesh[axis];
        a->points[axis] = (int32_t)points[axis];
        const size_t items = (size_t)(axis == 0 ? points[0] / 2 + 1 : points[axis]);
        groups[axis] = (items + kernel->group_size[axis] - 1) / kernel->group_size[axis];
    }
    sequence_launch(w, kernel, groups, a, predicted_s);
}

void frame_potential_launch(const frame_potential *f, command_sequence *w, buffer_of_float4 cells, int frame,
                            buffer_of_int2 charge)
{
    const average_problem *p = f->problem;
    launch_row(w, &f->floats, sums_nodes(p),
               KERNEL_ARGUMENTS(density_floats, .gm_frame = f->frame, .nodes = (int32_t)sums_nodes(p),
                                .scale = ldexp(1, -p->exponent), .gm_sum = charge, .gm_mesh = f->mesh),
               (2 * 8 + 2 * 8 + 4) * (double)sums_nodes(p) * f->byte_s);
    sequence_fft(w, &f->there, true, f->mesh.buffer, f->spectrum.buffer, f->scratch);
    density_fold_arguments a = {.kind = &density_fold_kind,
                                .gm_spectrum = f->spectrum,
                                .gm_splines = f->splines,
                                .gm_cells = cells,
                                .frame = frame,
                                .half_square = p->options.smooth_A * p->options.smooth_A / 2,
                                .gm_folded = f->folded};
    launch_fold(w, &f->fold, &a, p->mesh.n, p->n, 4 * ((double)sums_nodes(p) + (double)sums_points(p)) * f->byte_s);
    sequence_fft(w, &f->back, false, f->folded.buffer, f->phi.buffer, f->scratch);
    launch_row(w, &f->sums, sums_points(p),
               KERNEL_ARGUMENTS(potential_sums, .gm_phi = f->phi, .points = (int32_t)sums_points(p),
                                .most = p->most_phi, .scale = ldexp(1, p->phi_exponent),
                                .square_scale = p->options.deviation ? ldexp(1, p->square_exponent) : 0,
                                .gm_sum = f->phi_sum, .gm_square = f->square, .gm_beyond = f->beyond),
               (4 + 2 * 8 + 2 * 8) * (double)sums_points(p) * f->byte_s);
}

void frame_potential_read(const frame_potential *f, command_sequence *w)
{
    sequence_read(w, f->phi_sum.buffer, 0, f->phi_back, 8 * sums_points(f->problem));
    sequence_fill(w, f->phi_sum.buffer, 0, 0, 8 * sums_points(f->problem));
    if (f->square_back != NULL) {
        sequence_read(w, f->square.buffer, 0, f->square_back, 8 * sums_points(f->problem));
        sequence_fill(w, f->square.buffer, 0, 0, 8 * sums_points(f->problem));
    }
    sequence_read(w, f->beyond.buffer, 0, f->beyond_back, sizeof(int32_t));
}

ley_status frame_potential_check(const frame_potential *f, ley_error *error)
{
    return *(const int32_t *)f->beyond_back->bytes == 0
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_WRONG_RESULT,
                          "a potential is no number, or beyond %g e / A, which there is no room for",
                          f->problem->most_phi);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static ley_status upload_splines(frame_potential *f, arena *memory, ley_error *error)
{
    const average_problem *p = f->problem;
    size_t count = 0;
    float *spline = malloc((size_t)(p->mesh.n[0] + p->mesh.n[1] + p->mesh.n[2] + 3) * sizeof *spline);
    if (spline == NULL)
        return ley_fail_memory(error, 4 * (size_t)p->mesh.n[0], "the splines' transform");
    for (int axis = 0; axis < 3; axis++)
        for (int64_t m = 0; m <= p->mesh.n[axis] / 2; m++)
            spline[count++] = (float)potential_spline(p, axis, m);
    const ley_status status = arena_upload(memory, spline, count * sizeof *spline, &f->splines.buffer, error);
    free(spline);
    return status;
}

static ley_status make_transform(dev *device, const int64_t n[3], dev_fft *fft, ley_error *error)
{
    const fft_wish wish = {
        .n = {(size_t)n[0], (size_t)n[1], (size_t)n[2]}, .most_error = FFT_FAST_ERROR, .is_steady = true};
    return fft_create(device, &wish, fft, error);
}

static ley_status make_kernels(frame_potential *f, dev *device, ley_error *error)
{
    ley_status status = kernel_create(device, &density_floats_kind, &plain, NULL, NULL, &f->floats, error);
    if (status == LEY_OK)
        status = kernel_create(device, &density_fold_kind, &plain, NULL, NULL, &f->fold, error);
    if (status == LEY_OK)
        status = kernel_create(device, &potential_sums_kind, &plain, NULL, NULL, &f->sums, error);
    if (status == LEY_OK)
        status = make_transform(device, f->problem->mesh.n, &f->there, error);
    return status == LEY_OK ? make_transform(device, f->problem->n, &f->back, error) : status;
}

static ley_status make_zeros(arena *memory, command_sequence *w, size_t bytes, dev_buffer **buffer, ley_error *error)
{
    const ley_status status = arena_buffer(memory, bytes, DEV_READ_WRITE, buffer, error);
    if (status == LEY_OK)
        sequence_fill(w, *buffer, 0, 0, bytes);
    return status;
}

static ley_status make_buffers(frame_potential *f, arena *memory, command_sequence *w, ley_error *error)
{
    const average_problem *p = f->problem;
    const size_t nodes = sums_nodes(p), points = sums_points(p), square = p->options.deviation ? points : 1,
                 scratch =
                     f->there.scratch_bytes > f->back.scratch_bytes ? f->there.scratch_bytes : f->back.scratch_bytes;
    /* Meshes before their spectra: some drivers hand functions of the host, such as FFTW's, their
     * buffers in the order in which these were made. */
    const struct {
        size_t bytes;
        dev_buffer **buffer;
    } all[] = {{8 * nodes, &f->frame.buffer},
               {fft_mesh_bytes(f->there.n, false), &f->mesh.buffer},
               {fft_spectrum_bytes(f->there.n), &f->spectrum.buffer},
               {fft_mesh_bytes(f->back.n, false), &f->phi.buffer},
               {fft_spectrum_bytes(f->back.n), &f->folded.buffer},
               {8 * points, &f->phi_sum.buffer},
               {8 * square, &f->square.buffer},
               {sizeof(int32_t), &f->beyond.buffer},
               {scratch, &f->scratch}};
    ley_status status = LEY_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == LEY_OK; i++)
        if (all[i].bytes > 0)
            status = make_zeros(memory, w, all[i].bytes, all[i].buffer, error);
    if (status == LEY_OK)
        status = arena_staging(memory, 8 * points, &f->phi_back, error);
    if (status == LEY_OK && p->options.deviation)
        status = arena_staging(memory, 8 * points, &f->square_back, error);
    if (status == LEY_OK)
        status = arena_staging(memory, sizeof(int32_t), &f->beyond_back, error);
    return status == LEY_OK ? arena_staging(memory, 4 * points, &f->values_back, error) : status;
}

ley_status frame_potential_create(frame_potential *made, arena *memory, const average_problem *p, command_sequence *w,
                                  ley_error *error)
{
    *made = (frame_potential){.problem = p, .byte_s = bandwidth_byte_s(memory->device->info, NULL)};
    ley_status status = make_kernels(made, memory->device, error);
    if (status == LEY_OK)
        status = upload_splines(made, memory, error);
    return status == LEY_OK ? make_buffers(made, memory, w, error) : status;
}

void frame_potential_destroy(frame_potential *f)
{
    kernel_destroy(&f->floats);
    kernel_destroy(&f->fold);
    kernel_destroy(&f->sums);
    fft_destroy(&f->there);
    fft_destroy(&f->back);
}

/* ---- Known answers --------------------------------------------------------------------------- */

enum { TRIAL_VALUES = 5003, BEYOND_AT = 4001 };

typedef struct trial {
    arena arena;
    flight flight;
    command_sequence sequence;
    dev_staging *back[3];
    dev_buffer *buffer[3];
    size_t bytes[3];
    uint32_t state;
    int64_t first[TRIAL_VALUES], second[TRIAL_VALUES]; /* what goes there */
    float phi[TRIAL_VALUES];
} trial;

static trial *trial_begin(const dev_kernel *built, ley_error *error)
{
    trial *t = calloc(1, sizeof *t);
    if (t == NULL) {
        ley_fail_memory(error, sizeof *t, "the self-test");
        return NULL;
    }
    t->arena = (arena){.device = built->device};
    t->flight = (flight){.device = built->device};
    t->state = 1687;
    sequence_begin(&t->sequence, &t->flight, NULL);
    return t;
}

static ley_status trial_end(trial *t, ley_status status)
{
    sequence_end(&t->sequence);
    arena_clear(&t->arena);
    free(t);
    return status;
}

/* Buffer i of these bytes, which come back at the end. */
static ley_status put(trial *t, int i, const void *bytes, size_t size, ley_error *error)
{
    ley_status status = arena_buffer(&t->arena, size, DEV_READ_WRITE, &t->buffer[i], error);
    t->bytes[i] = size;
    if (status == LEY_OK)
        status = arena_staging(&t->arena, size, &t->back[i], error);
    if (status == LEY_OK)
        sequence_write(&t->sequence, t->buffer[i], 0, bytes, size);
    return status;
}

static ley_status get(trial *t, ley_error *error)
{
    for (int i = 0; i < 3; i++)
        if (t->back[i] != NULL)
            sequence_read(&t->sequence, t->buffer[i], 0, t->back[i], t->bytes[i]);
    return sequence_finish(&t->sequence, error);
}

static int64_t some_integer(trial *t)
{
    return (int64_t)(0x1p40 * (self_test_fraction(&t->state) - 0.5)) +
           (int64_t)(0x1p20 * self_test_fraction(&t->state));
}

static ley_status judge_floats(const trial *t, const int64_t *frame, const int64_t *sum, ley_error *error)
{
    const int64_t *left = t->back[0]->bytes, *found = t->back[1]->bytes;
    const float *mesh = t->back[2]->bytes;
    for (int i = 0; i < TRIAL_VALUES; i++) {
        const bool is_in = i + 1 < TRIAL_VALUES; /* the last one is behind the last node */
        const double right = is_in ? ldexp((double)frame[i], -30) : 0;
        if (left[i] != (is_in ? 0 : frame[i]) || found[i] != sum[i] + (is_in ? frame[i] : 0) ||
            !(fabs((double)mesh[i] - right) <= SELF_TEST_FLOAT * fabs(right)))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "node %d of %d: %g, not %g; %lld are left, the sum is %lld",
                            i, TRIAL_VALUES - 1, (double)mesh[i], right, (long long)left[i], (long long)found[i]);
    }
    return LEY_OK;
}

static ley_status test_floats(const dev_kernel *built, void *context, ley_error *error)
{
    static const float mesh[TRIAL_VALUES];
    trial *t = trial_begin(built, error);
    (void)context;
    if (t == NULL)
        return LEY_ERROR_MEMORY;
    int64_t *frame = t->first, *sum = t->second;
    for (int i = 0; i < TRIAL_VALUES; i++) {
        frame[i] = some_integer(t);
        sum[i] = some_integer(t) * 1001;
    }
    ley_status status = put(t, 0, frame, sizeof t->first, error);
    if (status == LEY_OK)
        status = put(t, 1, sum, sizeof t->second, error);
    if (status == LEY_OK)
        status = put(t, 2, mesh, sizeof mesh, error);
    if (status == LEY_OK) {
        launch_row(&t->sequence, built, TRIAL_VALUES - 1,
                   KERNEL_ARGUMENTS(density_floats, .gm_frame = {t->buffer[0]}, .nodes = TRIAL_VALUES - 1,
                                    .scale = 0x1p-30, .gm_sum = {t->buffer[1]}, .gm_mesh = {t->buffer[2]}),
                   0);
        status = get(t, error);
    }
    if (status == LEY_OK)
        status = judge_floats(t, frame, sum, error);
    return trial_end(t, status);
}

/* What is there already counts even among large values. */
static int64_t sum_before(int i)
{
    return (int64_t)i << 44;
}

static ley_status judge_sums(const trial *t, const float *phi, bool has_beyond, ley_error *error)
{
    const int64_t *sum = t->back[0]->bytes, *square = t->back[1]->bytes;
    if ((*(const int32_t *)t->back[2]->bytes == 1) != has_beyond)
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "a value is %sbeyond what there is room for",
                        has_beyond ? "" : "not ");
    for (int i = 0; i < TRIAL_VALUES; i++) {
        const bool is_in = i + 1 < TRIAL_VALUES && !(has_beyond && i == BEYOND_AT);
        const double value = is_in ? ldexp((double)phi[i], 40) : 0,
                     squared = is_in ? ldexp((double)phi[i] * (double)phi[i], 38) : 0;
        if (!(fabs((double)(sum[i] - sum_before(i)) - value) <= SELF_TEST_FLOAT * fabs(value) + 1) ||
            !(fabs((double)(square[i] - 2 * sum_before(i)) - squared) <= 2)) /* no digit of a square is lost */
            return ley_fail(error, LEY_ERROR_WRONG_RESULT, "point %d of %d: the sums are %lld and %lld, not %g and %g",
                            i, TRIAL_VALUES - 1, (long long)(sum[i] - sum_before(i)),
                            (long long)(square[i] - 2 * sum_before(i)), value, squared);
    }
    return LEY_OK;
}

/* `odd`: a value that is beyond, or not. */
static ley_status test_sums_with(const dev_kernel *built, float odd, ley_error *error)
{
    const int32_t beyond = 0;
    const bool has_beyond = !(fabsf(odd) <= 11);
    dev_buffer *values = NULL;
    trial *t = trial_begin(built, error);
    if (t == NULL)
        return LEY_ERROR_MEMORY;
    int64_t *sum = t->first, *square = t->second;
    float *phi = t->phi;
    for (int i = 0; i < TRIAL_VALUES; i++) {
        sum[i] = sum_before(i);
        square[i] = 2 * sum_before(i);
        phi[i] = i == BEYOND_AT ? odd : (float)(20 * self_test_fraction(&t->state) - 10);
    }
    ley_status status = put(t, 0, sum, sizeof t->first, error);
    if (status == LEY_OK)
        status = put(t, 1, square, sizeof t->second, error);
    if (status == LEY_OK)
        status = put(t, 2, &beyond, sizeof beyond, error);
    if (status == LEY_OK)
        status = arena_upload(&t->arena, phi, sizeof t->phi, &values, error);
    if (status == LEY_OK) {
        launch_row(&t->sequence, built, TRIAL_VALUES - 1,
                   KERNEL_ARGUMENTS(potential_sums, .gm_phi = {values}, .points = TRIAL_VALUES - 1, .most = 11,
                                    .scale = 0x1p40, .square_scale = 0x1p38, .gm_sum = {t->buffer[0]},
                                    .gm_square = {t->buffer[1]}, .gm_beyond = {t->buffer[2]}),
                   0);
        status = get(t, error);
    }
    if (status == LEY_OK)
        status = judge_sums(t, phi, has_beyond, error);
    return trial_end(t, status);
}

static ley_status test_sums(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    static const float odd[] = {10.5f, NAN, 11.5f, -11.5f};
    ley_status status = LEY_OK;
    for (int i = 0; i < 4 && status == LEY_OK; i++)
        status = test_sums_with(built, odd[i], error);
    return status;
}

/* A skewed cell; points are fewer than nodes along x, more along y, as many along z; and one whose
 * vectors are left-handed, with points the other way round. */
enum { FOLD_MOST = 14 * 24 * 20, FOLDS = 2 };
static const int64_t fold_mesh[3] = {22, 12, 10}, all_fold_points[FOLDS][3] = {{7, 26, 10}, {25, 5, 4}};
static const double fold_cells_A[FOLDS][9] = {{14, 1, 0, -2, 19, 3, 1, -4, 12}, {14, 1, 0, 1, -4, 12, -2, 19, 3}};
static const double fold_half_square = 0.02; /* of waves as long as two nodes something is left */

/* From the formula: each wave of the mesh, half of which is there, is added to the points' one. */
static void fold_in_doubles(const float (*spectrum)[2], const int64_t *p, const double rows[3][3], double volume,
                            const float *const spline[3], double half_square, double (*folded)[2])
{
    const int64_t *n = fold_mesh;
    int64_t m[3];
    for (m[2] = -n[2] / 2; m[2] <= n[2] / 2; m[2]++)
        for (m[1] = -n[1] / 2; m[1] <= n[1] / 2; m[1]++)
            for (m[0] = -n[0] / 2; m[0] <= n[0] / 2; m[0]++) {
                int64_t at[3], to[3];
                double k2 = 0, g = 4 * M_PI / volume;
                const int64_t sign = m[0] < 0 ? -1 : 1;
                for (int i = 0; i < 3; i++) {
                    at[i] = (sign * m[i] + n[i]) % n[i];
                    to[i] = ((m[i] % p[i]) + p[i]) % p[i];
                    g *= (double)spline[i][llabs(m[i])] * (2 * llabs(m[i]) == n[i] ? 0.5 : 1);
                }
                for (int d = 0; d < 3; d++) {
                    double k = 0;
                    for (int i = 0; i < 3; i++)
                        k += 2 * M_PI * (double)m[i] * rows[i][d] / (double)n[i];
                    k2 += k * k;
                }
                if (k2 == 0 || to[0] > p[0] / 2)
                    continue;
                g *= exp(-half_square * k2) / k2;
                const float *s = spectrum[(at[2] * n[1] + at[1]) * (n[0] / 2 + 1) + sign * m[0]];
                double *sum = folded[(to[2] * p[1] + to[1]) * (p[0] / 2 + 1) + to[0]];
                sum[0] += g * (double)s[0];
                sum[1] += (double)sign * g * (double)s[1];
            }
}

typedef struct fold_trial {
    float spectrum[FOLD_MOST][2], spline[3 * 32], cells[2 * PLACE_FLOATS], found[FOLD_MOST][2];
    double right[FOLD_MOST][2];
} fold_trial;

static ley_status run_fold(trial *t, const dev_kernel *built, int which, fold_trial *f, ley_error *error)
{
    const double *cell_A = fold_cells_A[which];
    const int64_t *fold_points = all_fold_points[which];
    const size_t waves = (size_t)((fold_mesh[0] / 2 + 1) * fold_mesh[1] * fold_mesh[2]),
                 folded = (size_t)((fold_points[0] / 2 + 1) * fold_points[1] * fold_points[2]);
    const float *spline[3] = {f->spline, f->spline + fold_mesh[0] / 2 + 1,
                              f->spline + fold_mesh[0] / 2 + fold_mesh[1] / 2 + 2};
    frame_place place;
    double reciprocal[3][3];
    place_make(cell_A, fold_mesh, (const double[3]){0}, &place);
    place_floats(&place, f->cells + PLACE_FLOATS);
    for (size_t i = 0; i < 2 * waves; i++)
        f->spectrum[i / 2][i % 2] = (float)(self_test_fraction(&t->state) - 0.5);
    for (int i = 0; i < 3 * 32; i++)
        f->spline[i] = (float)(1 + self_test_fraction(&t->state));
    fold_in_doubles((const float(*)[2])f->spectrum, fold_points, (const double(*)[3])place.along,
                    place_reciprocal(cell_A, reciprocal), spline, fold_half_square, f->right);
    density_fold_arguments a = {.kind = &density_fold_kind, .frame = 1, .half_square = fold_half_square};
    ley_status status = put(t, 0, f->found, folded * sizeof *f->found, error);
    if (status == LEY_OK)
        status = arena_upload(&t->arena, f->spectrum, waves * sizeof *f->spectrum, &a.gm_spectrum.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(&t->arena, f->spline, sizeof f->spline, &a.gm_splines.buffer, error);
    if (status == LEY_OK)
        status = arena_upload(&t->arena, f->cells, sizeof f->cells, &a.gm_cells.buffer, error);
    if (status != LEY_OK)
        return status;
    a.gm_folded.buffer = t->buffer[0];
    launch_fold(&t->sequence, built, &a, fold_mesh, fold_points, 0);
    status = get(t, error);
    const float *found = status == LEY_OK ? t->back[0]->bytes : NULL;
    double largest = 0;
    for (size_t i = 0; i < 2 * folded; i++)
        largest = fmax(largest, fabs(f->right[i / 2][i % 2]));
    for (size_t i = 0; i < 2 * folded && status == LEY_OK; i++)
        if (!(fabs((double)found[i] - f->right[i / 2][i % 2]) <= SELF_TEST_FLOAT * largest))
            status = ley_fail(error, LEY_ERROR_WRONG_RESULT, "wave %zu of %zu is %g, not %g", i / 2, folded,
                              (double)found[i], f->right[i / 2][i % 2]);
    return status;
}

static ley_status test_fold_with(const dev_kernel *built, int which, ley_error *error)
{
    fold_trial *f = calloc(1, sizeof *f);
    trial *t = f != NULL ? trial_begin(built, error) : NULL;
    const ley_status status = t != NULL ? trial_end(t, run_fold(t, built, which, f, error))
                                        : ley_fail_memory(error, sizeof *f, "the self-test");
    free(f);
    return status;
}

static ley_status test_fold(const dev_kernel *built, void *context, ley_error *error)
{
    (void)context;
    ley_status status = LEY_OK;
    for (int i = 0; i < FOLDS && status == LEY_OK; i++)
        status = test_fold_with(built, i, error);
    return status;
}

/* ---- The kinds ------------------------------------------------------------------------------- */

static void group_of_row(const dev_info *info, const void *spec, size_t size[3])
{
    (void)spec;
    size[0] = info->max_work_group < 128 ? 16 : 128;
    size[1] = size[2] = 1;
}

static void group_of_waves(const dev_info *info, const void *spec, size_t size[3])
{
    (void)spec;
    size[0] = 32;
    size[1] = info->max_work_group < 128 ? 1 : 4;
    size[2] = 1;
}

KERNEL_DESCRIBE_ARGUMENTS(density_floats, LEY_DENSITY_FLOATS_ARGUMENTS)
const kernel_kind density_floats_kind = {KERNEL_DESCRIPTION(density_floats, LEY_DENSITY_FLOATS_KEYS, density_floats),
                                         .group = group_of_row, .test = test_floats};

KERNEL_DESCRIBE_ARGUMENTS(density_fold, LEY_DENSITY_FOLD_ARGUMENTS)
const kernel_kind density_fold_kind = {KERNEL_DESCRIPTION(density_fold, LEY_DENSITY_FOLD_KEYS, density_fold),
                                       .group = group_of_waves, .test = test_fold};

KERNEL_DESCRIBE_ARGUMENTS(potential_sums, LEY_POTENTIAL_SUMS_ARGUMENTS)
const kernel_kind potential_sums_kind = {KERNEL_DESCRIPTION(potential_sums, LEY_POTENTIAL_SUMS_KEYS, potential_sums),
                                         .group = group_of_row, .test = test_sums};
