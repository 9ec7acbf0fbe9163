/* Fourier transforms by every library on every device of this machine, against transforms in double
 * precision; and their benchmark. */
#include "support.h"

#include "bandwidth.h"
#include "engine/engine.h"
#include "fft.h"
#include "memory/arena.h"
#include "plain_fft.h"

/* ---- Known answers on devices ---------------------------------------------------------------- */

/* A plan and its buffers. */
typedef struct bench {
    dev_fft fft;
    arena arena;
    dev_buffer *mesh, *spectrum, *scratch;
    dev_staging *staging;
    size_t mesh_bytes, spectrum_bytes;
} bench;

static void begin(bench *b, dev *device, const fft_wish *wish)
{
    ley_error error = {0};
    *b = (bench){.arena = {.device = device}};
    assert_ok(fft_create(device, wish, &b->fft, &error));
    b->mesh_bytes = fft_mesh_bytes(wish->n, wish->in_place);
    b->spectrum_bytes = fft_spectrum_bytes(wish->n);
    assert_ok(arena_buffer(&b->arena, b->mesh_bytes, DEV_READ_WRITE, &b->mesh, &error));
    b->spectrum = b->mesh;
    if (!wish->in_place)
        assert_ok(arena_buffer(&b->arena, b->spectrum_bytes, DEV_READ_WRITE, &b->spectrum, &error));
    if (b->fft.scratch_bytes > 0)
        assert_ok(arena_buffer(&b->arena, b->fft.scratch_bytes, DEV_READ_WRITE, &b->scratch, &error));
    assert_ok(arena_staging(&b->arena, b->spectrum_bytes > b->mesh_bytes ? b->spectrum_bytes : b->mesh_bytes,
                            &b->staging, &error));
}

static void end(bench *b)
{
    arena_clear(&b->arena);
    fft_destroy(&b->fft);
}

/* What the way there does not read is poisoned, and so are the ends of rows. */
static void write_mesh(bench *b, const double *values)
{
    const size_t *n = b->fft.n, *filled = b->fft.filled, pitch = fft_pitch(n, b->fft.in_place);
    float *padded = malloc(b->mesh_bytes);
    ley_error error = {0};
    for (size_t i = 0; i < b->mesh_bytes / sizeof *padded; i++) {
        const size_t x = i % pitch, y = i / pitch % n[1], z = i / pitch / n[1];
        const bool is_filled = x < filled[0] && y < filled[1] && z < filled[2];
        const bool is_zero = i < b->fft.zero_bytes / sizeof *padded && (x < n[0] || z >= filled[2]);
        padded[i] = is_filled ? (float)values[i / pitch * n[0] + x] : is_zero ? 0 : NAN;
    }
    assert_ok(b->arena.device->backend->write(b->arena.device, b->mesh, 0, padded, b->mesh_bytes, &error));
    free(padded);
}

static void run(bench *b, bool forward)
{
    dev *device = b->arena.device;
    dev_event *done = NULL;
    dev_times when;
    ley_error error = {0};
    assert_ok(fft_start(&b->fft, forward, forward ? b->mesh : b->spectrum, forward ? b->spectrum : b->mesh, b->scratch,
                        &done, &error));
    assert_ok(device->backend->wait(device, done, &when, &error));
    assert_true(when.end_s >= when.start_s);
}

static const float *read_back(bench *b, bool spectrum)
{
    dev *device = b->arena.device;
    dev_event *done = NULL;
    ley_error error = {0};
    assert_ok(device->backend->read(device, spectrum ? b->spectrum : b->mesh, 0, b->staging,
                                    spectrum ? b->spectrum_bytes : b->mesh_bytes, NULL, &done, &error));
    assert_ok(device->backend->wait(device, done, NULL, &error));
    return b->staging->bytes;
}

/* Relative RMS error of rows of `n` values, `pitch` apart, from rows of `right_pitch`. */
static double difference(const float *values, size_t pitch, const double *right, size_t n, size_t rows, double scale)
{
    double errors = 0, squares = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < n; i++) {
            errors += pow((double)values[r * pitch + i] - scale * right[r * n + i], 2);
            squares += pow(scale * right[r * n + i], 2);
        }
    return sqrt(errors / squares);
}

/* The same of those that are filled, along each axis. */
static double filled_difference(const bench *b, const float *values, size_t pitch, const double *right, double scale)
{
    const size_t *n = b->fft.n, *filled = b->fft.filled;
    double worst = 0;
    for (size_t z = 0; z < filled[2]; z++) {
        const size_t first = z * n[1];
        for (size_t y = 0; y < filled[1]; y++)
            worst = fmax(worst, difference(values + (first + y) * pitch, pitch, right + (first + y) * n[0], filled[0],
                                           1, scale));
    }
    return worst;
}

/* There, as it should be, and back again. */
static void check_values(bench *b, const double *values)
{
    const size_t *n = b->fft.n, rows = n[1] * n[2], half = 2 * (n[0] / 2 + 1);
    double *right = malloc(half * rows * sizeof *right);
    plain_fft_exact(n, values, right);
    write_mesh(b, values);
    run(b, true);
    assert_true(difference(read_back(b, true), half, right, half, rows, 1) < 2e-6);
    if (!b->fft.in_place)
        assert_true(filled_difference(b, read_back(b, false), n[0], values, 1) < 1e-7);
    run(b, false);
    assert_true(
        filled_difference(b, read_back(b, false), fft_pitch(n, b->fft.in_place), values, (double)(n[0] * rows)) < 4e-6);
    free(right);
}

static void leave_out(double *values, const size_t n[3], const size_t filled[3])
{
    for (size_t i = 0; i < n[0] * n[1] * n[2]; i++)
        if (i % n[0] >= filled[0] || i / n[0] % n[1] >= filled[1] || i / n[0] / n[1] >= filled[2])
            values[i] = 0;
}

static void fill_random(double *values, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (double)(float)(rand_r(&seed) / (double)RAND_MAX - 0.5);
}

static void fill_wave(double *values, const size_t n[3], const size_t k[3], double phase)
{
    for (size_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        const double turns = (double)(k[0] * (i % n[0])) / (double)n[0] +
                             (double)(k[1] * (i / n[0] % n[1])) / (double)n[1] +
                             (double)(k[2] * (i / n[0] / n[1])) / (double)n[2];
        values[i] = (double)(float)cos(2 * M_PI * turns + phase);
    }
}

/* All of a plane wave is in its two places, or in the one that is there of both. */
static void check_wave(bench *b, const size_t k[3])
{
    const size_t *n = b->fft.n, all = n[0] * n[1] * n[2], half = n[0] / 2 + 1;
    double *values = malloc(all * sizeof *values);
    fill_wave(values, n, k, 0.3);
    write_mesh(b, values);
    run(b, true);
    const float *spectrum = read_back(b, true), *at = spectrum + 2 * ((k[2] * n[1] + k[1]) * half + k[0]);
    assert_float_equal(at[0], (double)all / 2 * cos(0.3), 1e-5 * (double)all);
    assert_float_equal(at[1], (double)all / 2 * sin(0.3), 1e-5 * (double)all);
    double rest = 0;
    for (size_t i = 0; i < 2 * half * n[1] * n[2]; i++)
        if (spectrum + i != at && spectrum + i != at + 1)
            rest = fmax(rest, fabs((double)spectrum[i]));
    assert_true(rest < 1e-5 * (double)all);
    free(values);
}

static void check_plan(dev *device, const fft_wish *wish)
{
    bench b;
    const size_t *n = wish->n;
    const size_t waves[][3] = {{1, 0, 0}, {n[0] / 2 - 1, n[1] / 2 - 1, 1}, {2, n[1] - 1, n[2] / 2 - 1}};
    double *values = malloc(n[0] * n[1] * n[2] * sizeof *values);
    begin(&b, device, wish);
    assert_true(b.fft.error > 0 && b.fft.error < FFT_USUAL_ERROR);
    for (unsigned seed = 1; seed <= 2; seed++) {
        fill_random(values, n[0] * n[1] * n[2], seed);
        leave_out(values, n, b.fft.filled);
        check_values(&b, values);
    }
    for (size_t i = 0; wish->filled[0] == 0 && i < sizeof waves / sizeof *waves; i++)
        check_wave(&b, waves[i]);
    end(&b);
    free(values);
}

/* Small ones, cubes and boxes, odd sizes and such as have several factors, and a prime. */
static const struct {
    size_t n[3];
    bool in_place;
    size_t filled[3];
} shapes[] = {{{8, 6, 4}, true, {0}},
              {{15, 9, 14}, false, {0}},
              {{16, 12, 10}, true, {7, 5, 3}},
              {{8, 8, 8}, false, {0}},
              {{7, 21, 25}, true, {0}},
              {{32, 27, 8}, false, {0}},
              {{32, 27, 8}, false, {13, 27, 4}},
              {{22, 13, 11}, true, {0}},
              {{17, 30, 12}, false, {0}},
              {{64, 64, 64}, true, {0}},
              {{140, 54, 18}, true, {62, 0, 1}},
              {{64, 64, 64}, true, {25, 30, 31}}};

/* At level quick the first shape, the first one of which rows are left out, and on the first device
 * the second one with tables, too, of what has any. */
static bool is_wanted(const dev_info *info, const dev_fft_library *library, size_t shape, bool tables)
{
    const bool is_second = library->has_tables && info->index == 0 && shape == 1;
    return !support_is_quick() || (tables ? is_second : shape == 0 || (shape == 2 && library->leaves_out));
}

static void check_library(dev *device, const dev_fft_library *library)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int tables = 0; tables < (library->has_tables ? 2 : 1); tables++) {
            fft_wish wish = {.in_place = shapes[i].in_place,
                             .library = library->name,
                             .tables = tables ? FFT_TABLES_YES : FFT_TABLES_NO};
            memcpy(wish.n, shapes[i].n, sizeof wish.n);
            memcpy(wish.filled, shapes[i].filled, sizeof wish.filled);
            const bool has_prime = wish.n[0] == 22 || wish.n[0] == 17; /* not every library has these */
            if (has_prime && strcmp(library->name, "clfft") == 0)
                continue;
            if (is_wanted(device->info, library, i, tables))
                check_plan(device, &wish);
        }
}

static int check_device(const char *selector, const ley_device_info *info)
{
    ley_engine *engine = NULL;
    dev_fft_library library;
    ley_error error = {0};
    int used = 0;
    if (!support_open(selector, info->name, &engine))
        return 0;
    dev *device = engine->workers[0].device; /* its worker thread sleeps meanwhile */
    assert_true(bandwidth_measure(device) > 1e7);
    for (size_t i = 0; fft_library(device->info, i, &library); i++)
        if (library.unusable[0] == '\0' && (used == 0 || !support_is_quick() || device->info->index == 0)) {
            check_library(device, &library);
            used++;
        } else
            print_message("%s: %s: %s\n", info->name, library.name, library.unusable);
    assert_int_equal(fft_is_there(device->info, NULL, 0), used > 0);
    ley_error_clear(&error);
    ley_engine_destroy(engine);
    return 0;
}

static void test_every_library_on_every_device(void **state)
{
    assert_int_equal(support_on_each_device(check_device), 0);
}

/* Two plans side by side. */
static int check_two_plans(const char *selector, const ley_device_info *info)
{
    const fft_wish first = {.n = {8, 6, 4}, .in_place = true, .tables = FFT_TABLES_NO};
    const fft_wish second = {.n = {15, 9, 14}, .library = "vkfft", .tables = FFT_TABLES_YES};
    ley_engine *engine = NULL;
    double values[15 * 9 * 14];
    bench a, b;
    if (!support_open(selector, info->name, &engine))
        return 0;
    const dev_info *own = engine->workers[0].info;
    if (strcmp(own->backend->name, "opencl") != 0 /* there it is the only one */ ||
        (support_is_quick() && own->index != 0)) {
        ley_engine_destroy(engine);
        return 0;
    }
    begin(&a, engine->workers[0].device, &first);
    begin(&b, engine->workers[0].device, &second);
    for (unsigned seed = 5; seed < 8; seed++) {
        fill_random(values, sizeof values / sizeof *values, seed);
        check_values(&a, values);
        check_values(&b, values);
    }
    end(&a);
    fill_random(values, sizeof values / sizeof *values, 9);
    check_values(&b, values);
    end(&b);
    ley_engine_destroy(engine);
    return 0;
}

static void test_two_plans(void **state)
{
    assert_int_equal(support_on_each_device(check_two_plans), 0);
}

/* ---- The benchmark --------------------------------------------------------------------------- */

static void test_benchmark(void **state)
{
    ley_engine *engine = NULL;
    ley_bench *bench_of = NULL;
    ley_error error = {0};
    if (!support_open(NULL, "any device", &engine))
        return;
    ley_bench_options options = support_default_bench_options();
    options.method = "fft";
    options.n[0] = 8;
    options.n[1] = 6;
    options.n[2] = 4;
    options.fft = "vkfft";
    assert_ok(ley_bench_run(engine, &options, &bench_of, &error));
    const ley_bench_device *d = ley_bench_get(bench_of, 0);
    int usual = 0;
    assert_int_equal(d->status, LEY_OK);
    assert_true(d->memory_bytes_per_s > 0);
    assert_int_equal(d->points, 192);
    assert_int_equal(d->row_count, 2);
    for (size_t i = 0; i < d->row_count; i++) {
        const ley_bench_row *r = &d->rows[i];
        assert_int_equal(r->status, LEY_OK);
        assert_true(ley_bench_row_figure(r, "there_s") > 0 && ley_bench_row_figure(r, "back_s") > 0 &&
                    r->evaluations_per_s > 0);
        /* Medians do not add up; but neither way takes longer than both. */
        assert_true(ley_bench_row_figure(r, "there_s") <= r->median_s &&
                    ley_bench_row_figure(r, "back_s") <= r->median_s);
        assert_true(fabs(r->evaluations_per_s * r->median_s / 192 - 1) < 1e-6);
        assert_true(ley_bench_row_figure(r, "memory_share") > 0 && ley_bench_row_figure(r, "memory_share") < 1);
        assert_true(ley_bench_row_figure(r, "cold_s") > ley_bench_row_figure(r, "warm_s") &&
                    ley_bench_row_figure(r, "warm_s") > 0);
        assert_true(r->accuracy.passed && r->accuracy.relative_rms < FFT_USUAL_ERROR);
        usual += r->is_default;
    }
    assert_int_equal(usual, 1);
    ley_bench_destroy(bench_of);
    options.variant = "vkfft-tables";
    assert_ok(ley_bench_run(engine, &options, &bench_of, &error));
    assert_int_equal(ley_bench_get(bench_of, 0)->row_count, 1);
    assert_string_equal(ley_bench_get(bench_of, 0)->rows[0].variant, "vkfft-tables");
    ley_bench_destroy(bench_of);
    options.variant = "fftz";
    assert_int_equal(ley_bench_run(engine, &options, &bench_of, &error), LEY_ERROR_USAGE);
    ley_error_clear(&error);
    ley_engine_destroy(engine);
}

int main(void)
{
    return RUN_TESTS(test_every_library_on_every_device, test_two_plans, test_benchmark);
}
