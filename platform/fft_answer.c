#include "fft_answer.h"

#include "error.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

/* The mesh is a product of three rows of random numbers, one for each axis, and so is its
 * transform: of the rows' transforms, which are summed as they are defined. No value that is filled
 * is zero, and none is like another one, so that whatever is left out, misplaced or computed
 * wrongly shows. On the way back only what is filled counts. */

static const double most_single = 1e-4; /* of the root mean square */
enum { CHUNK_BYTES = 4 << 20 };

typedef struct complex_value {
    double re, im;
} complex_value;

/* Squares of errors: their sum and the largest one. */
typedef struct deviation {
    double sum, largest;
} deviation;

typedef struct answer {
    dev_fft *fft;
    double *row[3];             /* of the mesh; zeros where it is not filled */
    complex_value *spectrum[3]; /* of the rows */
    double rms;                 /* of what is filled */
    dev_buffer *mesh, *transform, *scratch;
    dev_staging *staging;
    float *chunk;
    size_t chunk_rows; /* along x */
    deviation *found;  /* of each of them */
} answer;

/* ---- Rows ------------------------------------------------------------------------------------ */

/* In [-1, 1], and not close to zero. */
static double random_value(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
    const double t = (double)(*state >> 11) / 4503599627370496.0 - 1;
    return t < 0 ? t * 0.75 - 0.25 : t * 0.75 + 0.25;
}

static ley_status make_row(answer *a, int axis, uint64_t *state, ley_error *error)
{
    const size_t n = a->fft->n[axis];
    complex_value *turn = malloc(n * sizeof *turn), *sum = calloc(n, sizeof *sum);
    double *row = malloc(n * sizeof *row);
    a->row[axis] = row;
    a->spectrum[axis] = sum;
    if (turn == NULL || sum == NULL || row == NULL) {
        free(turn);
        return ley_fail_memory(error, 5 * n * sizeof *row, "a known answer");
    }
    for (size_t i = 0; i < n; i++) {
        row[i] = i < a->fft->filled[axis] ? random_value(state) : 0;
        turn[i] = (complex_value){cos(2 * M_PI * (double)i / (double)n), -sin(2 * M_PI * (double)i / (double)n)};
    }
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0, at = 0; i < a->fft->filled[axis]; i++, at = at + k < n ? at + k : at + k - n) {
            sum[k].re += row[i] * turn[at].re;
            sum[k].im += row[i] * turn[at].im;
        }
    free(turn);
    return LEY_OK;
}

static ley_status make_rows(answer *a, ley_error *error)
{
    uint64_t state = 1;
    ley_status status = LEY_OK;
    a->rms = 1;
    for (int axis = 0; axis < 3 && status == LEY_OK; axis++) {
        double squares = 0;
        status = make_row(a, axis, &state, error);
        for (size_t i = 0; status == LEY_OK && i < a->fft->n[axis]; i++)
            squares += a->row[axis][i] * a->row[axis][i];
        a->rms *= sqrt(squares / (double)a->fft->filled[axis]);
    }
    return status;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static size_t row_pitch(const answer *a)
{
    return fft_pitch(a->fft->n, a->fft->in_place);
}

static size_t row_count(const answer *a)
{
    return a->fft->n[1] * a->fft->n[2];
}

static ley_status make_buffers(answer *a, ley_error *error)
{
    const dev_fft *f = a->fft;
    const dev_backend *b = f->device->backend;
    const size_t pitch = 2 * (f->n[0] / 2 + 1), row_bytes = pitch * sizeof(float);
    const size_t mesh = fft_mesh_bytes(f->n, f->in_place), transform = fft_spectrum_bytes(f->n);
    const double bytes = (double)mesh + (f->in_place ? 0 : (double)transform) + (double)f->scratch_bytes;
    const ley_status fits =
        memory_check_one("the known answer of a transform on the processor as a device",
                         f->device->info->device_class == DEV_CPU ? bytes : 0, "a wider mesh spacing", error);
    if (fits != LEY_OK)
        return fits;
    a->chunk_rows = CHUNK_BYTES / row_bytes > 0 ? CHUNK_BYTES / row_bytes : 1;
    a->chunk_rows = a->chunk_rows < row_count(a) ? a->chunk_rows : row_count(a);
    a->chunk = malloc(a->chunk_rows * row_bytes);
    a->found = malloc(a->chunk_rows * sizeof *a->found);
    if (a->chunk == NULL || a->found == NULL)
        return ley_fail_memory(error, a->chunk_rows * row_bytes, "a known answer");
    ley_status status = b->buffer_create(f->device, mesh, DEV_READ_WRITE, &a->mesh, error);
    a->transform = a->mesh;
    if (status == LEY_OK && !f->in_place) {
        a->transform = NULL;
        status = b->buffer_create(f->device, transform, DEV_READ_WRITE, &a->transform, error);
    }
    if (status == LEY_OK && f->scratch_bytes > 0)
        status = b->buffer_create(f->device, f->scratch_bytes, DEV_READ_WRITE, &a->scratch, error);
    if (status == LEY_OK)
        status = b->staging_create(f->device, a->chunk_rows * row_bytes, &a->staging, error);
    return status;
}

static void end(answer *a)
{
    dev *device = a->fft->device;
    const dev_backend *b = device->backend;
    if (a->staging != NULL)
        b->staging_destroy(device, a->staging);
    if (a->scratch != NULL)
        b->buffer_destroy(device, a->scratch);
    if (a->transform != NULL && a->transform != a->mesh)
        b->buffer_destroy(device, a->transform);
    if (a->mesh != NULL)
        b->buffer_destroy(device, a->mesh);
    for (int axis = 0; axis < 3; axis++) {
        free(a->row[axis]);
        free(a->spectrum[axis]);
    }
    free(a->found);
    if (device->is_lost) /* what was on its way to it may still be read */
        dev_keep(a->chunk);
    else
        free(a->chunk);
}

/* ---- There and back -------------------------------------------------------------------------- */

/* Some rows of what is on its way, in the order of the mesh. */
typedef struct rows {
    const answer *a;
    size_t first;
    const float *read; /* on their way back */
    bool is_spectrum;
    double scale; /* what a mesh has been multiplied by */
} rows;

/* Values of the mesh; what is not filled is zero where it may be read, and no number elsewhere,
 * as are ends of rows but for those of planes of zeros. */
static void fill_rows(void *context, size_t first, size_t last)
{
    const rows *w = context;
    const answer *a = w->a;
    const size_t *n = a->fft->n, *filled = a->fft->filled, pitch = row_pitch(a);
    for (size_t r = first; r < last; r++) {
        const size_t y = (w->first + r) % n[1], z = (w->first + r) / n[1];
        const bool is_row = y < filled[1] && z < filled[2];
        const float rest = z < a->fft->plan->zero_planes ? 0 : NAN;
        float *to = a->chunk + r * pitch;
        for (size_t x = 0; x < n[0]; x++)
            to[x] = is_row && x < filled[0] ? (float)(a->row[0][x] * (a->row[1][y] * a->row[2][z])) : rest;
        for (size_t x = n[0]; x < pitch; x++)
            to[x] = z < filled[2] ? NAN : rest;
    }
}

static ley_status write_mesh(const answer *a, ley_error *error)
{
    const dev_fft *f = a->fft;
    const size_t row_bytes = row_pitch(a) * sizeof(float);
    ley_status status = LEY_OK;
    for (size_t first = 0; first < row_count(a) && status == LEY_OK; first += a->chunk_rows) {
        const size_t left = row_count(a) - first, count = left < a->chunk_rows ? left : a->chunk_rows;
        rows w = {.a = a, .first = first};
        parallel_ranges(count, fill_rows, &w);
        status = f->device->backend->write(f->device, a->mesh, first * row_bytes, a->chunk, count * row_bytes, error);
    }
    return status;
}

/* Out of place, what a transform does not write shows. */
static ley_status poison(const answer *a, dev_buffer *buffer, size_t bytes, ley_error *error)
{
    if (a->fft->in_place)
        return LEY_OK;
    return a->fft->device->backend->fill(a->fft->device, buffer, 0, DEV_NO_NUMBERS, bytes, NULL, error);
}

static ley_status run(const answer *a, bool forward, double *seconds, ley_error *error)
{
    dev_event *done = NULL;
    dev_times when = {0, 0};
    ley_status status = fft_start(a->fft, forward, forward ? a->mesh : a->transform, forward ? a->transform : a->mesh,
                                  a->scratch, &done, error);
    if (status == LEY_OK)
        status = a->fft->device->backend->wait(a->fft->device, done, &when, error);
    if (status == LEY_OK && when.end_s > when.start_s && (*seconds == 0 || when.end_s - when.start_s < *seconds))
        *seconds = when.end_s - when.start_s;
    return status;
}

static void add_square(deviation *d, double square)
{
    d->sum += square;
    d->largest = square < d->largest ? d->largest : square;
}

static void compare_spectrum(const answer *a, const float *row, size_t number, deviation *d)
{
    const complex_value y = a->spectrum[1][number % a->fft->n[1]], z = a->spectrum[2][number / a->fft->n[1]];
    const complex_value factor = {y.re * z.re - y.im * z.im, y.re * z.im + y.im * z.re};
    for (size_t k = 0; k <= a->fft->n[0] / 2; k++) {
        const complex_value x = a->spectrum[0][k];
        const double re = (double)row[2 * k] - (x.re * factor.re - x.im * factor.im),
                     im = (double)row[2 * k + 1] - (x.re * factor.im + x.im * factor.re);
        add_square(d, re * re + im * im);
    }
}

static void compare_mesh(const answer *a, const float *row, size_t number, double scale, deviation *d)
{
    if (number % a->fft->n[1] >= a->fft->filled[1] || number / a->fft->n[1] >= a->fft->filled[2])
        return;
    const double factor = a->row[1][number % a->fft->n[1]] * a->row[2][number / a->fft->n[1]];
    for (size_t x = 0; x < a->fft->filled[0]; x++) {
        const double e = (double)row[x] - (double)(float)(a->row[0][x] * factor) * scale;
        add_square(d, e * e);
    }
}

static ley_status read_rows(const answer *a, dev_buffer *buffer, size_t offset, size_t bytes, ley_error *error)
{
    dev *device = a->fft->device;
    dev_event *done = NULL;
    ley_status status = device->backend->read(device, buffer, offset, a->staging, bytes, NULL, &done, error);
    return status == LEY_OK ? device->backend->wait(device, done, NULL, error) : status;
}

static void compare_rows(void *context, size_t first, size_t last)
{
    const rows *w = context;
    const answer *a = w->a;
    const size_t pitch = w->is_spectrum ? 2 * (a->fft->n[0] / 2 + 1) : row_pitch(a);
    for (size_t r = first; r < last; r++) {
        a->found[r] = (deviation){0, 0};
        if (w->is_spectrum)
            compare_spectrum(a, w->read + r * pitch, w->first + r, &a->found[r]);
        else
            compare_mesh(a, w->read + r * pitch, w->first + r, w->scale, &a->found[r]);
    }
}

static ley_status compare_all(const answer *a, bool is_spectrum, double scale, deviation *d, ley_error *error)
{
    const size_t row_bytes = (is_spectrum ? 2 * (a->fft->n[0] / 2 + 1) : row_pitch(a)) * sizeof(float);
    for (size_t first = 0; first < row_count(a); first += a->chunk_rows) {
        const size_t left = row_count(a) - first, count = left < a->chunk_rows ? left : a->chunk_rows;
        const ley_status status =
            read_rows(a, is_spectrum ? a->transform : a->mesh, first * row_bytes, count * row_bytes, error);
        if (status != LEY_OK)
            return status;
        rows w = {.a = a, .first = first, .read = a->staging->bytes, .is_spectrum = is_spectrum, .scale = scale};
        parallel_ranges(count, compare_rows, &w);
        for (size_t r = 0; r < count; r++) {
            d->sum += a->found[r].sum;
            d->largest = a->found[r].largest < d->largest ? d->largest : a->found[r].largest;
        }
    }
    return LEY_OK;
}

/* Compares all that a transform has made, or left; `scale` is what a mesh has been multiplied
 * by, 0 of a spectrum. */
static ley_status compare(const answer *a, const char *what, double scale, double most_error, ley_error *error)
{
    dev_fft *f = a->fft;
    const bool is_spectrum = scale == 0;
    const double filled = (double)f->filled[0] * (double)f->filled[1] * (double)f->filled[2],
                 waves = (double)(f->n[0] / 2 + 1) * (double)row_count(a);
    const double rms = a->rms * (is_spectrum ? sqrt(filled) : scale);
    deviation d = {0, 0};
    const ley_status status = compare_all(a, is_spectrum, scale, &d, error);
    if (status != LEY_OK)
        return status;
    const double relative = sqrt(d.sum / (is_spectrum ? waves : filled)) / rms;
    f->error = relative < f->error ? f->error : relative;
    if (isnan(relative))
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "of the known answer of %zu x %zu x %zu, the %s has no numbers",
                        f->n[0], f->n[1], f->n[2], what);
    if (!(d.largest <= most_single * most_single * rms * rms) || !(relative <= most_error))
        return ley_fail(error, LEY_ERROR_WRONG_RESULT, "of the known answer of %zu x %zu x %zu, the %s is off by %.2g",
                        f->n[0], f->n[1], f->n[2], what, relative);
    return LEY_OK;
}

/* Out of place the mesh must have stayed on the way there. */
static ley_status compare_both(const answer *a, double most_error, ley_error *error)
{
    ley_status status = compare(a, "spectrum", 0, most_error, error);
    if (status == LEY_OK && !a->fft->in_place)
        status = compare(a, "mesh left there", 1, most_error, error);
    return status;
}

/* One way and the other, and, the first time, whether they are right. */
static ley_status go_round(answer *a, bool is_first, double most_error, ley_error *error)
{
    dev_fft *f = a->fft;
    ley_status status = poison(a, a->transform, fft_spectrum_bytes(f->n), error);
    if (status == LEY_OK)
        status = run(a, true, &f->forward_s, error);
    if (status == LEY_OK && is_first)
        status = compare_both(a, most_error, error);
    if (status == LEY_OK)
        status = poison(a, a->mesh, fft_mesh_bytes(f->n, f->in_place), error);
    if (status == LEY_OK)
        status = run(a, false, &f->back_s, error);
    return status == LEY_OK && is_first
               ? compare(a, "way back", (double)f->n[0] * (double)row_count(a), most_error, error)
               : status;
}

/* The first time there may be something to compile, and, beside the host, the second time memory is
 * still on its way: then others are for the clock alone, of what the former have left. */
static ley_status there_and_back(answer *a, double most_error, ley_error *error)
{
    const dev_fft *f = a->fft;
    const int rounds = f->plan->is_compiled ? 1 : f->device->info->device_class == DEV_CPU ? 2 : 4;
    ley_status status = write_mesh(a, error);
    for (int i = 0; i < rounds && status == LEY_OK; i++)
        status = go_round(a, i == 0, most_error, error);
    return status;
}

ley_status fft_answer(dev_fft *fft, double most_error, ley_error *error)
{
    answer a = {.fft = fft};
    fft->error = fft->forward_s = fft->back_s = 0;
    ley_status status = make_rows(&a, error);
    if (status == LEY_OK)
        status = make_buffers(&a, error);
    if (status == LEY_OK)
        status = there_and_back(&a, most_error, error);
    end(&a);
    return status;
}
