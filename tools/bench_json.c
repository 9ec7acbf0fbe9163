#include "bench_json.h"
#include "bench_papers.h"
#include "bench_schema.h"
#include "bench_screen.h"
#include "bench_values.h"
#include "console.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- What was measured ----------------------------------------------------------------------- */

/* 0 is nothing that was measured. */
static json_t *measured(double value)
{
    return json_number(value > 0 ? value : NAN);
}

static json_t *json_of_row(const ley_bench_row *row)
{
    json_t *object = json_object();
    const bool is_timed = row->run_count > 0;
    json_put(object, "variant", json_text(row->variant));
    json_put(object, "root", json_text(row->root));
    json_put(object, "exp", json_text(row->exp));
    json_put(object, "specification", json_text(row->specification));
    json_put(object, "evaluations_per_s", measured(row->evaluations_per_s));
    json_put(object, "timed", json_count((int64_t)row->run_count));
    json_put(object, "wanted", json_count((int64_t)row->runs_wanted));
    json_put(object, "median_s", is_timed ? measured(row->median_s) : json_null());
    json_put(object, "spread", is_timed ? json_number(row->spread) : json_null());
    json_put(object, "runs_s", json_numbers(row->runs_s, row->run_count));
    json_put(object, "joules", is_timed ? measured(row->joules) : json_null());
    json_put(object, "root_share", measured(row->root_share));
    json_put(object, "other_roots", json_boolean(row->has_other_roots));
    json_put(object, "fma_share", measured(row->fma_share));
    json_put(object, "accuracy", json_of_accuracy(&row->accuracy));
    json_put(object, "default", json_boolean(row->is_default));
    json_put_status(object, row->status, row->failure);
    for (size_t i = 0; i < row->figure_count; i++) {
        const ley_bench_figure *figure = &row->figures[i];
        json_put(object, figure->name,
                 figure->is_count                                  ? json_count((int64_t)row->figure[i])
                 : figure->may_be_unknown && !(row->figure[i] > 0) ? json_null()
                                                                   : json_number(row->figure[i]));
    }
    return object;
}

static json_t *json_of_limits(const ley_bench_device *d)
{
    json_t *object = json_object();
    json_put(object, "rounds", json_count(d->limit_rounds));
    json_put(object, "spread", json_number(d->limit_spread));
    json_put(object, "peak_fma_per_s", measured(d->peak_fma_per_s));
    json_put(object, "peak", json_text(d->peak_text));
    json_put(object, "doubt", json_text(d->limit_doubt));
    json_put(object, "exps_per_s", measured(d->exps_per_s));
    json_put(object, "memory_bytes_per_s", measured(d->memory_bytes_per_s));
    json_put(object, "local_bytes_per_s", measured(d->local_bytes_per_s));
    return object;
}

/* Negative: unknown. */
static json_t *known(double value)
{
    return json_number(value >= 0 ? value : NAN);
}

static json_t *json_of_load(const ley_bench_load *load)
{
    json_t *object = json_object();
    json_put(object, "before", known(load->before));
    json_put(object, "after", known(load->after));
    json_put(object, "others", known(load->others));
    json_put(object, "processors", json_count(load->processors));
    return object;
}

/* Of ever larger boxes, each like a row. */
static json_t *json_of_size(const ley_bench_size *size)
{
    json_t *object = json_object();
    const bool is_whole = size->whole_s > 0;
    json_put(object, "variant", json_text(text_of("%s atoms", count_text(size->atoms).s).s));
    json_put(object, "dims", json_counts(size->n, 3));
    json_put(object, "points", json_count(size->n[0] * size->n[1] * size->n[2]));
    json_put(object, "atoms", json_count(size->atoms));
    json_put(object, "pairs", measured(size->pairs));
    json_put(object, "timed", json_count((int64_t)size->run_count));
    json_put(object, "median_s", measured(is_whole ? size->whole_s : size->kernel_s));
    json_put(object, "spread", json_number(size->spread));
    json_put(object, "runs_s", json_numbers(size->runs_s, size->run_count));
    json_put(object, "kernel_s", measured(size->kernel_s));
    json_put(object, "whole_s", measured(size->whole_s));
    json_put(object, "core_s", measured(size->core_s));
    json_put(object, "core_mesh_s", measured(size->core_mesh_s));
    json_put(object, "core_scaled", json_boolean(size->is_core_scaled));
    json_put(object, "accuracy", json_of_accuracy(&size->accuracy));
    json_put_status(object, LEY_OK, NULL);
    return object;
}

static json_t *json_of_sizes(const ley_bench_device *d)
{
    json_t *sizes = json_array();
    for (size_t i = 0; i < d->size_count; i++)
        json_add(sizes, json_of_size(&d->sizes[i]));
    return sizes;
}

static json_t *json_of_bench_device(const bench_part *part, const ley_bench_device *d)
{
    json_t *object = json_object(), *rows = json_array();
    json_put(object, "device", json_of_device(d->device));
    json_put(object, "interpreter", json_boolean(d->is_interpreter));
    json_put(object, "roots_per_s", measured(d->roots_per_s));
    json_put(object, "root", json_text(d->root));
    json_put(object, "fma_per_s", measured(d->fma_per_s));
    json_put(object, "limits", json_of_limits(d));
    json_put(object, "load", json_of_load(&d->load));
    json_put(object, "energy_counter", json_text(d->energy_counter));
    json_put(object, "clock_MHz", measured(d->clock_MHz));
    json_put(object, "memory_clock_MHz", measured(d->memory_clock_MHz));
    json_put(object, "power_limit_W", measured(d->power_limit_W));
    json_put(object, "dims", json_counts(d->n, 3));
    json_put(object, "points", json_count(d->points));
    json_put(object, "atoms", json_count(d->atoms));
    for (size_t i = 0; i < d->row_count; i++)
        json_add(rows, json_of_row(&d->rows[i]));
    json_put(object, "rows", rows);
    json_put(object, "sizes", json_of_sizes(d));
    json_put(object, "host_loop", json_text(d->host_loop));
    json_put(object, "host_loop_evaluations_per_s", measured(d->host_loop_evaluations_per_s));
    json_put(object, "host_threads", json_count(d->host_threads));
    json_put(object, "host_timed", json_count((int64_t)d->host_runs));
    json_put(object, "host_spread", json_number(d->host_runs > 0 ? d->host_spread : NAN));
    json_put_status(object, d->status, d->failure);
    if (part->method->put_json != NULL)
        part->method->put_json(object, d);
    bench_papers_put_device(object, part->name, d);
    return object;
}

static json_t *json_of_gain(const ley_bench *bench, const ley_bench_gain *g)
{
    json_t *object = json_object();
    const bool is_alone = g->fastest_runs > 0, is_timed = g->run_count > 0;
    json_put(object, "name", json_text(g->name));
    json_put(object, "devices", json_count((int64_t)g->device_count));
    json_put(object, "devices_used", json_count((int64_t)g->devices_used));
    json_put(object, "fastest", is_alone ? json_text(ley_bench_get(bench, g->fastest)->device->name) : json_null());
    json_put(object, "fastest_s", json_number(is_alone ? g->fastest_s : NAN));
    json_put(object, "fastest_spread", json_number(is_alone ? g->fastest_spread : NAN));
    json_put(object, "fastest_timed", json_count((int64_t)g->fastest_runs));
    json_put(object, "timed", json_count((int64_t)g->run_count));
    json_put(object, "wanted", json_count((int64_t)g->runs_wanted));
    json_put(object, "median_s", json_number(is_timed ? g->median_s : NAN));
    json_put(object, "spread", json_number(is_timed ? g->spread : NAN));
    json_put(object, "runs_s", json_numbers(g->runs_s, g->run_count));
    json_put(object, "gain", json_number(g->gain));
    json_put(object, "accuracy", json_of_accuracy(&g->accuracy));
    json_put_status(object, g->status, g->failure);
    return object;
}

static json_t *json_of_part(const bench_part *part)
{
    json_t *object = json_object(), *devices = json_array(), *gains = json_array();
    json_put(object, "name", json_text(part->name));
    json_put(object, "title", json_text(part->title));
    json_put(object, "kernel", json_text(part->method->option.name));
    json_put(object, "math", json_text(part->math));
    for (size_t d = 0; d < ley_bench_device_count(part->bench); d++)
        json_add(devices, json_of_bench_device(part, ley_bench_get(part->bench, d)));
    json_put(object, "devices", devices);
    for (size_t i = 0; i < ley_bench_gain_count(part->bench); i++)
        json_add(gains, json_of_gain(part->bench, ley_bench_gain_get(part->bench, i)));
    json_put(object, "gains", gains);
    json_put(object, "papers", bench_papers_of(part->name));
    return object;
}

/* ---- Where and when -------------------------------------------------------------------------- */

static json_t *json_of_host(void)
{
    ley_host_info host;
    json_t *object = json_object();
    ley_host_describe(&host);
    json_put(object, "processor", json_text(host.processor));
    json_put(object, "processors", json_count(host.processors));
    json_put(object, "system", json_text(host.system));
    return object;
}

/* Words with blanks between them: what the command was called with. */
static json_t *json_of_command(void)
{
    char line[4096] = "";
    FILE *file = fopen("/proc/self/cmdline", "re");
    const size_t size = file != NULL ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    for (size_t i = 0; i + 1 < size; i++)
        line[i] = line[i] == '\0' ? ' ' : line[i];
    return json_text(line);
}

static json_t *json_of_now(void)
{
    char text[32];
    struct tm when;
    const time_t now = time(NULL);
    return gmtime_r(&now, &when) != NULL && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &when) > 0
               ? json_text(text)
               : json_null();
}

json_t *bench_json_make(const parsed_arguments *arguments, const bench_results *results, ley_status outcome)
{
    json_t *report = json_begin(arguments), *tables = json_array();
    ley_error error = {.status = outcome};
    snprintf(error.message, sizeof error.message, "%s", ley_status_text(outcome));
    json_put_outcome(report, &error, ley_status_exit_code(outcome));
    json_put(report, "date", json_of_now());
    json_put(report, "command_line", json_of_command());
    json_put(report, "host", json_of_host());
    json_put(report, "level", json_text(results->level));
    json_put(report, "took_s", json_number(results->took_s));
    json_put(report, "left_out", json_text(results->left_out[0] != '\0' ? results->left_out : NULL));
    for (size_t i = 0; i < results->count; i++)
        json_add(tables, json_of_part(&results->parts[i]));
    json_put(report, "tables", tables);
    json_put(report, "screens", bench_screen_make(results));
    bench_screen_judge(report);
    return report;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Of `leyden bench --json`, by what it says of itself. */
static bool is_report(const json_t *report)
{
    return strcmp(bench_text_at(report, "command"), "bench") == 0 && json_object_get(report, "tables") != NULL;
}

json_t *bench_json_read(const char *path, int *code)
{
    ley_error error = {0};
    json_t *report = json_read(path, "no report of `leyden bench --json`", &error);
    if (report != NULL && !is_report(report))
        fail_into(&error, LEY_ERROR_FILE, "%s: no report of `leyden bench --json`", path);
    else if (report != NULL)
        bench_schema_check(path, report, &error);
    if (error.status == LEY_OK) {
        bench_screen_judge(report);
        return report;
    }
    json_decref(report);
    *code = fail_with(&error);
    return NULL;
}
