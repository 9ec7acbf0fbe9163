#include "bench_screen.h"
#include "bench_reference.h"
#include "bench_values.h"

#include <math.h>
#include <string.h>

const double bench_screen_tolerance = 1e-4;

/* Rows as the report has them. */
static const struct {
    const char *name, *unit;
} kinds[SCREEN_ROWS] = {[SCREEN_DIRECT] = {"direct sum", "pairs/s"},
                        [SCREEN_CUTOFF] = {"within 12 A", "pairs/s"},
                        [SCREEN_MAP] = {"map to 1e-4", "atoms/s"},
                        [SCREEN_BOUNDARY] = {"Debye-Hueckel boundary", "pairs/s"},
                        [SCREEN_COMMAND] = {"whole command", "s"}};

const char *bench_screen_unit(size_t i)
{
    return kinds[i].unit;
}

const char *const bench_screen_parts[SCREEN_ROWS] = {
    [SCREEN_DIRECT] = "direct", [SCREEN_CUTOFF] = "short-range", [SCREEN_MAP] = "map", [SCREEN_BOUNDARY] = "boundary"};

/* ---- What was measured ----------------------------------------------------------------------- */

/* A row of the screen. */
typedef struct figures {
    double value, spread, share, joules, whole_s, relative_rms;
    size_t timed;
    const char *share_of, *verdict, *failure;
} figures;

static const ley_bench_device *device_of(const bench_results *results, bench_screen_row row, size_t d)
{
    for (size_t i = 0; i < results->count && row != SCREEN_COMMAND; i++)
        if (strcmp(results->parts[i].name, bench_screen_parts[row]) == 0)
            return ley_bench_get(results->parts[i].bench, d);
    return NULL;
}

static const char *verdict_of(const ley_bench_row *row)
{
    return bench_is_wrong(row)    ? "WRONG"
           : bench_is_absent(row) ? "absent"
           : bench_is_failed(row) ? "failed"
           : row->run_count == 0  ? "absent"
                                  : "right";
}

/* The limit that is nearest. */
static void put_share(figures *f, const char *of, double share)
{
    if (share > 0 && !(share <= f->share)) {
        f->share = share;
        f->share_of = of;
    }
}

static void put_shares(figures *f, const ley_bench_device *d, const ley_bench_row *row)
{
    put_share(f, d->exps_per_s > 0 ? "roots and 2^x" : "roots", row->root_share);
    put_share(f, "multiply-adds", row->fma_share);
    put_share(f, "local memory", ley_bench_row_figure(row, "local_share"));
}

static void put_error(figures *f, const ley_accuracy *accuracy)
{
    f->relative_rms = accuracy->points > 0 ? accuracy->relative_rms : NAN;
}

static void put_kernel(figures *f, const ley_bench_device *d)
{
    const ley_bench_row *row = &d->rows[0];
    f->verdict = verdict_of(row);
    f->failure = row->failure;
    f->value = row->evaluations_per_s;
    f->spread = row->spread;
    f->timed = row->run_count;
    f->joules = row->joules;
    put_error(f, &row->accuracy);
    put_shares(f, d, row);
}

/* Steps one behind the other: kernels count, and of the last row, which is the whole job, how often
 * it was timed. */
static void put_map(figures *f, const ley_bench_device *d)
{
    const ley_bench_row *whole = &d->rows[d->row_count - 1];
    double kernels_s = 0, arithmetic_s = 0, memory_s = 0;
    for (size_t i = 0; i + 1 < d->row_count; i++) {
        const ley_bench_row *step = &d->rows[i];
        if (!(ley_bench_row_figure(step, "launches") > 0))
            continue;
        kernels_s += step->kernel_s;
        arithmetic_s += step->fma_share * step->kernel_s;
        memory_s += ley_bench_row_figure(step, "memory_share") * step->kernel_s;
    }
    f->verdict = verdict_of(whole);
    f->failure = whole->failure;
    f->value = (double)d->atoms / kernels_s;
    f->spread = whole->spread;
    f->timed = whole->run_count;
    f->whole_s = whole->median_s;
    f->joules = whole->joules;
    put_error(f, &whole->accuracy);
    put_share(f, "arithmetic", arithmetic_s / kernels_s);
    put_share(f, "memory", memory_s / kernels_s);
}

static void put_command(figures *f, const bench_whole *c)
{
    f->verdict = c->status == LEY_ERROR_WRONG_RESULT ? "WRONG" : c->status != LEY_OK ? "failed" : "right";
    f->failure = c->status != LEY_OK ? c->failure : NULL;
    f->value = c->median_s;
    f->spread = c->spread;
    f->timed = (size_t)c->timed;
    f->relative_rms = c->relative_rms;
}

static figures figures_of(const bench_results *results, bench_screen_row row, size_t d)
{
    const ley_bench_device *device = device_of(results, row, d);
    figures f = {NAN, NAN, NAN, NAN, NAN, NAN, 0, NULL, "absent", NULL};
    if (row == SCREEN_COMMAND && d < results->command_count)
        put_command(&f, &results->commands[d]);
    else if (device != NULL && (device->status != LEY_OK || device->row_count == 0)) {
        f.verdict = "failed";
        f.failure = device->failure;
    } else if (device != NULL && row == SCREEN_MAP)
        put_map(&f, device);
    else if (device != NULL)
        put_kernel(&f, device);
    return f;
}

/* ---- The report ------------------------------------------------------------------------------ */

static json_t *positive(double value)
{
    return json_number(value > 0 ? value : NAN);
}

/* Only of what is right there are figures. */
static json_t *json_of_row(bench_screen_row kind, const figures *f)
{
    json_t *object = json_object();
    const bool is_right = strcmp(f->verdict, "right") == 0;
    json_put(object, "name", json_text(kinds[kind].name));
    json_put(object, "unit", json_text(kinds[kind].unit));
    json_put(object, "value", positive(is_right ? f->value : NAN));
    json_put(object, "timed", json_count((int64_t)f->timed));
    json_put(object, "spread", json_number(is_right ? f->spread : NAN));
    json_put(object, "share", positive(is_right ? f->share : NAN));
    json_put(object, "share_of", json_text(f->share_of));
    json_put(object, "whole_s", positive(is_right ? f->whole_s : NAN));
    json_put(object, "joules", positive(is_right ? f->joules : NAN));
    json_put(object, "relative_rms", json_number(f->relative_rms));
    json_put(object, "verdict", json_text(f->verdict));
    json_put(object, "failure", json_text(f->failure));
    return object;
}

static json_t *json_of_problem(const bench_results *results, size_t d)
{
    const ley_bench_device *direct = device_of(results, SCREEN_DIRECT, d), *map = device_of(results, SCREEN_MAP, d),
                           *boundary = device_of(results, SCREEN_BOUNDARY, d);
    json_t *object = json_object();
    json_put(object, "usual", json_boolean(results->is_usual_problem));
    json_put(object, "direct_points", json_count(direct != NULL ? direct->points : 0));
    json_put(object, "direct_atoms", json_count(direct != NULL ? direct->atoms : 0));
    json_put(object, "map_points", json_count(map != NULL ? map->points : 0));
    json_put(object, "map_atoms", json_count(map != NULL ? map->atoms : 0));
    json_put(object, "boundary_points", json_count(boundary != NULL ? boundary->points : 0));
    json_put(object, "boundary_atoms", json_count(boundary != NULL ? boundary->atoms : 0));
    return object;
}

static json_t *json_of_screen(const bench_results *results, size_t d)
{
    const ley_bench_device *direct = device_of(results, SCREEN_DIRECT, d), *map = device_of(results, SCREEN_MAP, d);
    const ley_bench_device *last = map != NULL ? map : direct;
    json_t *object = json_object(), *rows = json_array();
    double others = -1;
    for (int row = 0; row < SCREEN_COMMAND; row++) {
        const ley_bench_device *of = device_of(results, (bench_screen_row)row, d);
        others = of != NULL ? fmax(others, of->load.others) : others;
    }
    json_put(object, "device", json_of_device(direct->device));
    json_put(object, "clock_MHz", positive(last->clock_MHz));
    json_put(object, "memory_clock_MHz", positive(last->memory_clock_MHz));
    json_put(object, "power_limit_W", positive(last->power_limit_W));
    json_put(object, "energy_counter", json_text(last->energy_counter));
    json_put(object, "roots_per_s", positive(direct->roots_per_s));
    json_put(object, "fma_per_s", positive(direct->fma_per_s));
    json_put(object, "memory_bytes_per_s", positive(last->memory_bytes_per_s));
    json_put(object, "doubt", json_text(direct->limit_doubt));
    json_put(object, "others", json_number(others >= 0 ? others : NAN));
    json_put(object, "processors", json_count(last->load.processors));
    json_put(object, "problem", json_of_problem(results, d));
    for (int row = 0; row < SCREEN_ROWS; row++) {
        const figures f = figures_of(results, (bench_screen_row)row, d);
        json_add(rows, json_of_row((bench_screen_row)row, &f));
    }
    json_put(object, "rows", rows);
    return object;
}

json_t *bench_screen_make(const bench_results *results)
{
    json_t *screens = json_array();
    const bool is_there = results->level != NULL && results->count > 0;
    for (size_t d = 0; is_there && d < ley_bench_device_count(results->parts[0].bench); d++)
        json_add(screens, json_of_screen(results, d));
    return screens;
}

/* ---- The score ------------------------------------------------------------------------------- */

static void judge(json_t *screen, const json_t *references)
{
    const json_t *rows = json_object_get(screen, "rows");
    const bool is_usual = json_is_true(json_object_get(json_object_get(screen, "problem"), "usual"));
    double times[SCREEN_ROWS];
    for (size_t i = 0; i < SCREEN_ROWS; i++) {
        json_t *row = json_array_get(rows, i);
        const bool is_right = strcmp(bench_text_at(row, "verdict"), "right") == 0;
        times[i] = is_usual && is_right
                       ? bench_reference_times(references, (bench_screen_row)i, bench_number_at(row, "value"))
                       : NAN;
        if (row != NULL)
            json_put(row, "times", positive(times[i]));
    }
    json_put(screen, "score", positive(bench_reference_score(times)));
}

void bench_screen_judge(json_t *report)
{
    json_t *screen, *screens = json_object_get(report, "screens"), *references;
    size_t i;
    if (screens == NULL) /* an old report */
        return;
    references = bench_reference_all();
    JSON_EACH(screens, i, screen) judge(screen, references);
    json_put(report, "references", references);
}
