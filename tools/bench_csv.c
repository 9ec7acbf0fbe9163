#include "bench_csv.h"
#include "bench_values.h"
#include "text_file.h"

#include <math.h>

static const text_escape escapes[] = {{'"', "\"\""}};

/* Numbers of a row, by their keys in the report. */
static const char *const keys[] = {"timed",      "median_s",    "spread",       "evaluations_per_s", "root_share",
                                   "fma_share",  "hit_rate",    "local_share",  "memory_share",      "whole_s",
                                   "kernel_s",   "launches",    "joules",       "papers_s",          "core_s",
                                   "file_bytes", "plain_share", "frames_per_s", "processor_ms"};
enum { KEYS = sizeof keys / sizeof *keys };

static void put_text(text_file *to, const char *text)
{
    text_file_print(to, "\"");
    text_file_put(to, text, escapes, sizeof escapes / sizeof *escapes);
    text_file_print(to, "\",");
}

static void put_number(text_file *to, double value)
{
    if (isfinite(value))
        text_file_print(to, "%.9g", value);
}

/* Of ever larger boxes each row has its own. */
static double problem_of(const json_t *device, const json_t *row, const char *key)
{
    const double own = bench_number_at(row, key);
    return isfinite(own) ? own : bench_number_at(device, key);
}

static void put_row(text_file *to, const json_t *table, const json_t *device, const json_t *row)
{
    const json_t *info = json_object_get(device, "device");
    put_text(to, bench_text_at(table, "name"));
    put_text(to, bench_text_at(table, "kernel"));
    put_text(to, bench_text_at(table, "math"));
    put_number(to, bench_number_at(info, "index"));
    text_file_print(to, ",");
    put_text(to, bench_text_at(info, "path"));
    put_text(to, bench_text_at(info, "name"));
    put_text(to, bench_text_at(info, "driver"));
    put_number(to, problem_of(device, row, "atoms"));
    text_file_print(to, ",");
    put_number(to, problem_of(device, row, "points"));
    text_file_print(to, ",");
    put_text(to, bench_text_at(row, "variant"));
    text_file_print(to, "%d,", json_is_true(json_object_get(row, "default")));
    put_text(to, bench_text_at(row, "status"));
    for (size_t i = 0; i < KEYS; i++) {
        put_number(to, bench_number_at(row, keys[i]));
        text_file_print(to, ",");
    }
    put_number(to, bench_number_at(json_object_get(row, "accuracy"), "relative_rms"));
    text_file_print(to, "\n");
}

int bench_csv_write(const json_t *reports, const char *path)
{
    text_file to;
    const json_t *report, *table, *device, *row;
    size_t i, t, d, r;
    text_file_begin(&to, path, false);
    text_file_print(&to, "table,kernel,math,device,path,name,driver,atoms,points,variant,default,status,");
    for (i = 0; i < KEYS; i++)
        text_file_print(&to, "%s,", keys[i]);
    text_file_print(&to, "relative_rms\n");
    JSON_EACH(reports, i, report)
    JSON_EACH(json_object_get(report, "tables"), t, table)
    JSON_EACH(json_object_get(table, "devices"), d, device)
    {
        JSON_EACH(json_object_get(device, "rows"), r, row) put_row(&to, table, device, row);
        JSON_EACH(json_object_get(device, "sizes"), r, row) put_row(&to, table, device, row);
    }
    return text_file_end(&to);
}
