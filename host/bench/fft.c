/* The benchmark of Fourier transforms, which are no method: libraries in place of variants. */
#include "fft.h"
#include "bandwidth.h"
#include "bench/bench.h"
#include "error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a device that does not say how large its buffers may be. */
static const double most_bytes = 4e12;

/* ---- Variants -------------------------------------------------------------------------------- */

/* A library, with tables or without. */
typedef struct way {
    const char *name, *library;
    fft_tables tables;
} way;

static const way ways[] = {{"fftw", "fftw", FFT_TABLES_NO},
                           {"vkfft", "vkfft", FFT_TABLES_NO},
                           {"vkfft-tables", "vkfft", FFT_TABLES_YES},
                           {"clfft", "clfft", FFT_TABLES_NO},
                           {"cufft", "cufft", FFT_TABLES_NO}};

static const way *way_named(const char *name)
{
    size_t i = 0;
    while (i + 1 < sizeof ways / sizeof *ways && strcmp(ways[i].name, name) != 0)
        i++;
    return &ways[i];
}

/* Whether it is one of this device's back end. */
static bool is_there(const dev_info *info, const way *w)
{
    dev_fft_library library;
    for (size_t i = 0; fft_library(info, i, &library); i++)
        if (strcmp(library.name, w->library) == 0)
            return w->tables != FFT_TABLES_YES || library.has_tables;
    return false;
}

/* What is asked for stands there in any case. */
static const char *variant(const worker *w, const ley_bench_options *o, const void *problem, size_t i)
{
    (void)problem;
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        const bool is_wanted = (o->fft == NULL || strcmp(o->fft, ways[k].library) == 0) &&
                               (o->variant == NULL || strcmp(o->variant, ways[k].name) == 0),
                   is_asked = o->fft != NULL || o->variant != NULL;
        if (is_wanted && (is_asked || is_there(w->info, &ways[k])) && i-- == 0)
            return ways[k].name;
    }
    return NULL;
}

static const char *named(size_t i)
{
    return i < sizeof ways / sizeof *ways ? ways[i].name : NULL;
}

/* ---- The problem ----------------------------------------------------------------------------- */

/* What is left unsaid is 0, and chosen by the device's speed. A device that is too small for what
 * others can do says so in its row. */
static ley_status check(const ley_engine *engine, const ley_bench_options *o, ley_error *error)
{
    const double n[3] = {(double)(o->n[0] > 0 ? o->n[0] : 1), (double)(o->n[1] > 0 ? o->n[1] : 1),
                         (double)(o->n[2] > 0 ? o->n[2] : 1)},
                 bytes = 2 * sizeof(float) * (floor(n[0] / 2) + 1) * n[1] * n[2];
    double largest = 0;
    for (size_t i = 0; i < engine->worker_count; i++) {
        const uint64_t most = engine->workers[i].info->max_allocation_bytes;
        largest = fmax(largest, most > 0 ? (double)most : most_bytes);
    }
    return bytes <= largest
               ? LEY_OK
               : ley_fail(error, LEY_ERROR_USAGE,
                          "a transform of %.0f x %.0f x %.0f values takes %s, and the devices' largest buffer is %s: "
                          "cubes of up to %.0f values along each axis fit",
                          n[0], n[1], n[2], ley_size(bytes).s, ley_size(largest).s,
                          floor(cbrt(largest / sizeof(float))) - 2);
}

static void choose(const worker *w, const calibration *facts, const ley_bench_options *o, ley_bench_device *d)
{
    const bool slow = (w->info->quirks & DEV_QUIRK_INTERPRETER) != 0;
    const int64_t n = slow ? 8 : w->info->device_class == DEV_GPU ? 256 : 128;
    (void)facts;
    d->points = 1;
    for (int axis = 0; axis < 3; axis++) {
        d->n[axis] = o->n[axis] > 0 ? o->n[axis] : n;
        d->points *= d->n[axis];
    }
    d->memory_bytes_per_s = bandwidth_measure(w->device);
}

static ley_status make(const ley_bench_options *o, const ley_bench_device *d, void **problem, ley_error *error)
{
    (void)o, (void)d, (void)error;
    *problem = NULL;
    return LEY_OK;
}

static void end(void *problem)
{
    (void)problem;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef struct resident {
    dev *device;
    dev_fft fft;
    dev_buffer *mesh, *scratch;
    size_t bytes;
    size_t runs;
    double there_s[BENCH_MOST_REPEATS + 1], back_s[BENCH_MOST_REPEATS + 1]; /* the first one warms up */
} resident;

static ley_status one_way(resident *r, bool forward, double *seconds, ley_error *error)
{
    dev_event *done = NULL;
    dev_times when = {0, 0};
    ley_status status = fft_start(&r->fft, forward, r->mesh, r->mesh, r->scratch, &done, error);
    if (status == LEY_OK)
        status = r->device->backend->wait(r->device, done, &when, error);
    *seconds = when.end_s - when.start_s;
    return status;
}

/* Always of the same numbers: there and back multiplies them. */
static ley_status run_once(void *context, double *seconds, ley_error *error)
{
    static const uint32_t half = 0x3f000000;
    resident *r = context;
    double there_s = 0, back_s = 0;
    ley_status status = r->device->backend->fill(r->device, r->mesh, 0, half, r->bytes, NULL, error);
    if (status == LEY_OK)
        status = one_way(r, true, &there_s, error);
    if (status == LEY_OK)
        status = one_way(r, false, &back_s, error);
    r->there_s[r->runs] = there_s;
    r->back_s[r->runs] = back_s;
    r->runs += r->runs < BENCH_MOST_REPEATS;
    *seconds = there_s + back_s;
    return status;
}

static ley_status make_buffers(resident *r, ley_error *error)
{
    const dev_backend *b = r->device->backend;
    r->bytes = fft_mesh_bytes(r->fft.n, true);
    ley_status status = b->buffer_create(r->device, r->bytes, DEV_READ_WRITE, &r->mesh, error);
    if (status == LEY_OK && r->fft.scratch_bytes > 0)
        status = b->buffer_create(r->device, r->fft.scratch_bytes, DEV_READ_WRITE, &r->scratch, error);
    return status;
}

static void clear(resident *r)
{
    const dev_backend *b = r->device->backend;
    if (r->scratch != NULL)
        b->buffer_destroy(r->device, r->scratch);
    if (r->mesh != NULL)
        b->buffer_destroy(r->device, r->mesh);
    fft_destroy(&r->fft);
}

/* A job takes another library for one that is wrong; a row is of one library. */
static ley_status create(resident *r, const fft_wish *wish, ley_error *error)
{
    ley_status status = fft_create(r->device, wish, &r->fft, error);
    if (status != LEY_OK && r->fft.is_wrong)
        status = error->status = LEY_ERROR_WRONG_RESULT;
    return status;
}

/* Once without what is kept of it, and once with that. */
static ley_status prepare(resident *r, fft_wish *wish, bench_row *row, ley_error *error)
{
    wish->is_fresh = true;
    ley_status status = create(r, wish, error);
    if (status != LEY_OK)
        return status;
    bench_put_figure(&row->row, "cold_s", r->fft.prepared_s);
    row->row.accuracy = (ley_accuracy){.points = 1,
                                       .relative_rms = r->fft.error,
                                       .max_error = r->fft.error,
                                       .tolerance = FFT_USUAL_ERROR,
                                       .passed = true};
    fft_destroy(&r->fft);
    wish->is_fresh = false;
    status = create(r, wish, error);
    bench_put_figure(&row->row, "warm_s", r->fft.prepared_s);
    return status;
}

static ley_status measure(worker *w, const ley_bench_options *o, const char *name, const void *problem,
                          const ley_bench_device *limits, bench_row *r)
{
    const way *chosen = way_named(name);
    resident res = {.device = w->device};
    fft_wish wish = {.in_place = true, .library = chosen->library, .tables = chosen->tables};
    ley_error *error = &r->failure;
    (void)problem;
    for (int axis = 0; axis < 3; axis++)
        wish.n[axis] = (size_t)limits->n[axis];
    ley_status status = prepare(&res, &wish, r, error);
    if (status == LEY_OK)
        status = make_buffers(&res, error);
    if (status == LEY_OK)
        status = bench_time(o, (double)limits->points, run_once, &res, r, error);
    if (status == LEY_OK) {
        const double both_s = r->row.median_s;
        bench_put_figure(&r->row, "there_s", bench_statistics_of(res.there_s + 1, r->row.run_count).median_s);
        bench_put_figure(&r->row, "back_s", bench_statistics_of(res.back_s + 1, r->row.run_count).median_s);
        bench_put_figure(&r->row, "memory_share",
                         bench_memory_share(2 * fft_least_bytes(wish.n, NULL), both_s, limits));
        snprintf(r->specification, sizeof r->specification, "%s %s", res.fft.library, res.fft.version);
    }
    clear(&res);
    return status;
}

static const char *usual(const worker *w, const ley_bench_options *o, const ley_bench_device *d)
{
    fft_wish wish = {.in_place = true, .library = o->fft};
    fft_prediction prediction;
    for (int axis = 0; axis < 3; axis++)
        wish.n[axis] = (size_t)d->n[axis];
    if (!fft_predict(w->info, &wish, &prediction))
        return NULL;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].library, prediction.library) == 0 && (ways[i].tables == FFT_TABLES_YES) == prediction.tables)
            return ways[i].name;
    return NULL;
}

/* clang-format off */
static const ley_bench_figure figures[] = {
    {.name = "there_s", .unit = "s", .sentence = "a transform there, median", .hangs_on_time = true},
    {.name = "back_s", .unit = "s", .sentence = "and back, median", .hangs_on_time = true},
    BENCH_MEMORY_SHARE,
    {.name = "cold_s", .unit = "s", .sentence = "preparing it where nothing is kept of it", .hangs_on_time = true},
    {.name = "warm_s", .unit = "s", .sentence = "and from what the build cache keeps", .hangs_on_time = true},
    {.name = NULL}};
/* clang-format on */

const bench_subject bench_fft = {
    .figures = figures,
    .name = "fft",
    .variant = variant,
    .usual = usual,
    .named = named,
    .needs_no_facts = true,
    .check = check,
    .choose = choose,
    .make = make,
    .end = end,
    .measure = measure,
};
