#include "bench_whole.h"
#include "bench_values.h"
#include "console.h"
#include "interrupt.h"
#include "program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Files of one run, whose names private_folder_remove() knows. */
typedef struct files {
    char atoms[512], map[512], report[512];
} files;

static files files_in(const char *folder)
{
    files f;
    snprintf(f.atoms, sizeof f.atoms, "%.480s/.leyden-box.pqr", folder);
    snprintf(f.map, sizeof f.map, "%.480s/.leyden-box.mrc", folder);
    snprintf(f.report, sizeof f.report, "%.480s/.leyden-box.json", folder);
    interrupt_removes(f.atoms);
    interrupt_removes(f.map);
    interrupt_removes(f.report);
    return f;
}

/* What the command says of itself. */
static ley_status read_report(const char *path, bench_whole *c)
{
    ley_error error = {0};
    json_t *report = json_read(path, "no report", &error);
    const json_t *accuracy = json_object_get(report, "accuracy");
    ley_status status = report != NULL ? LEY_OK : error.status;
    snprintf(c->failure, sizeof c->failure, "%s", error.message);
    ley_error_clear(&error);
    c->relative_rms = bench_number_at(accuracy, "relative_rms");
    if (status == LEY_OK && !json_is_true(json_object_get(accuracy, "passed"))) {
        status = LEY_ERROR_WRONG_RESULT;
        if (isfinite(c->relative_rms))
            snprintf(c->failure, sizeof c->failure, "its map is off by %.2g", c->relative_rms);
        else
            snprintf(c->failure, sizeof c->failure, "its map was not verified, or has values that are no numbers");
    }
    json_decref(report);
    return status;
}

static ley_status run_once(char *const *words, const char *report, bench_whole *c, double *seconds)
{
    ley_error error = {0};
    program_result result = {.code = 0};
    ley_status status = program_run("/proc/self/exe", words, &result, &error);
    snprintf(c->failure, sizeof c->failure, "%s", error.message);
    ley_error_clear(&error);
    *seconds = result.elapsed_s;
    if (status != LEY_OK)
        return status;
    if (interrupt_came())
        return LEY_CANCELLED;
    if (result.code == 0)
        return read_report(report, c);
    snprintf(c->failure, sizeof c->failure, "`leyden map` has ended with exit code %d", result.code);
    return result.code == ley_status_exit_code(LEY_ERROR_WRONG_RESULT) ? LEY_ERROR_WRONG_RESULT : LEY_ERROR_DEVICE;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void put_statistics(bench_whole *c)
{
    double sorted[BENCH_WHOLE_MOST_RUNS];
    const int n = c->timed;
    memcpy(sorted, c->runs_s, sizeof sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    c->median_s = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    c->spread = n > 1 ? (sorted[n - 1] - sorted[0]) / c->median_s : NAN;
}

static void time_all(char *const *words, const char *report, int repeats, double most_s, bench_whole *c)
{
    double seconds, spent_s = 0;
    c->status = run_once(words, report, c, &spent_s); /* to warm up: kernels come into the cache */
    while (c->status == LEY_OK && c->timed < repeats && (c->timed == 0 || spent_s < most_s)) {
        c->status = run_once(words, report, c, &seconds);
        spent_s += seconds;
        c->runs_s[c->timed] = seconds;
        c->timed += c->status == LEY_OK;
    }
    if (c->timed > 0)
        put_statistics(c);
}

void bench_whole_measure(const ley_device_info *device, const char *folder, int64_t atoms, double tolerance,
                         int repeats, double most_s, bench_whole *c)
{
    *c = (bench_whole){.median_s = NAN, .spread = NAN, .relative_rms = NAN};
    if (folder == NULL) {
        c->status = LEY_ERROR_FILE;
        snprintf(c->failure, sizeof c->failure, "there is no folder for its files");
        return;
    }
    ley_error error = {0};
    files f = files_in(folder);
    short_text on = text_of("%s:%d", device->path, device->index), tol = text_of("%g", tolerance);
    char name[] = "leyden", map[] = "map", output[] = "--output", to_tol[] = "--tol", spacing[] = "--spacing",
         half[] = "0.5", padding[] = "--padding", quarter[] = "0.25", of_device[] = "--device", json[] = "--json",
         quiet[] = "--quiet";
    char *const words[] = {name,    map,     f.atoms,   output, f.map, to_tol,   tol.s, spacing, half,
                           padding, quarter, of_device, on.s,   json,  f.report, quiet, NULL};
    c->status = ley_waterbox_write(atoms, 1, 0.25, f.atoms, interrupt_flag(), &error);
    snprintf(c->failure, sizeof c->failure, "%s", error.message);
    ley_error_clear(&error);
    if (c->status == LEY_OK)
        time_all(words, f.report, repeats < BENCH_WHOLE_MOST_RUNS ? repeats : BENCH_WHOLE_MOST_RUNS, most_s, c);
}
