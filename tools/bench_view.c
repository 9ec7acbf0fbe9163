#include "bench_view.h"
#include "bench_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *bench_view_cell(const text_table *table, size_t row, size_t column)
{
    const char *text = table->cells[row * table->columns + column];
    return text != NULL ? text : "";
}

bool bench_view_is_sound(const json_t *row)
{
    const json_t *accuracy = json_object_get(row, "accuracy");
    return strcmp(bench_text_at(row, "status"), ley_status_name(LEY_OK)) == 0 &&
           (!json_is_object(accuracy) || json_is_true(json_object_get(accuracy, "passed")));
}

double bench_view_seconds(const json_t *row)
{
    return bench_number_at(row, "median_s");
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Three digits, of thousands all; "-" of what is not positive. */
static short_text significant(double value)
{
    if (value >= 999.5)
        return count_text(llround(value));
    return value > 0 ? text_of("%.3g", value) : text_of("-");
}

static short_text per_cent(double share)
{
    return share > 0 ? text_of("%.1f", 100 * share) : text_of("-");
}

static short_text counted(double count)
{
    return count > 0 ? text_of("%.0f", count) : text_of("-");
}

static short_text billions(double per_s)
{
    short_text text = per_s > 0 ? billions_text(per_s) : text_of("-");
    char *unit = strstr(text.s, " billion");
    if (unit != NULL)
        *unit = '\0';
    return text;
}

static short_text millions(double bytes)
{
    return significant(bytes / 1e6);
}

/* Columns of rows, in their order; one without any figure is left out. */
static const struct {
    const char *heading, *key;
    short_text (*text)(double value);
} columns[] = {{"seconds", "median_s", significant},
               {"timed", "timed", counted},
               {"spread %", "spread", per_cent},
               {"frames/s", "frames_per_s", significant},
               {"processors, ms a frame", "processor_ms", significant},
               {"billion/s", "evaluations_per_s", billions},
               {"from atoms to map, s", "whole_s", significant},
               {"hits %", "hit_rate", per_cent},
               {"% of functions' limit", "root_share", per_cent},
               {"% of FMA limit", "fma_share", per_cent},
               {"% of local memory", "local_share", per_cent},
               {"% of memory", "memory_share", per_cent},
               {"MB", "file_bytes", millions},
               {"% of plain", "plain_share", per_cent},
               {"joules", "joules", significant},
               {"papers' problem, s", "papers_s", significant}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static bool has_figures(const json_t *rows, const char *key)
{
    const json_t *row;
    size_t i;
    bool has = false;
    JSON_EACH(rows, i, row) has = has || bench_number_at(row, key) > 0;
    return has;
}

/* The device cannot do it, or it is measured on request only. */
static bool is_absent(const json_t *row)
{
    return strcmp(bench_text_at(row, "status"), ley_status_name(LEY_ERROR_NO_DEVICE)) == 0;
}

static void put_row(text_table *table, const json_t *rows, const json_t *row)
{
    size_t at = 0;
    const json_t *accuracy = json_object_get(row, "accuracy");
    const double error = bench_number_at(accuracy, "relative_rms");
    table_row(table);
    table_set(table, at++, "%s%s", bench_text_at(row, "variant"),
              json_is_true(json_object_get(row, "default")) ? " *" : "");
    for (size_t c = 0; c < COLUMNS; c++)
        if (has_figures(rows, columns[c].key))
            table_set(table, at++, "%s",
                      bench_view_is_sound(row) ? columns[c].text(bench_number_at(row, columns[c].key)).s : "-");
    if (bench_view_is_sound(row))
        table_set(table, at, "%s", bench_error_text(error).s);
    else
        table_set(table, at, "%s", is_absent(row) ? "absent" : json_is_object(accuracy) ? "WRONG" : "failed");
}

text_table bench_view_rows(const json_t *device)
{
    static const char alignment[] = "lrrrrrrrrrrrrrrrrrr";
    const json_t *rows = json_object_get(device, "rows"), *row;
    size_t count = 2, at = 1, i;
    for (size_t c = 0; c < COLUMNS; c++)
        count += has_figures(rows, columns[c].key);
    text_table table = table_begin(alignment);
    table.columns = count;
    table_row(&table);
    table_set(&table, 0, "variant");
    for (size_t c = 0; c < COLUMNS; c++)
        if (has_figures(rows, columns[c].key))
            table_set(&table, at++, "%s", columns[c].heading);
    table_set(&table, at, "relative RMS error");
    JSON_EACH(rows, i, row) put_row(&table, rows, row);
    return table;
}

/* By how much a whole job is faster than one core; 0: it is wrong, or was not held against it. */
static double speed_up(const json_t *size)
{
    const double faster = bench_number_at(size, "core_s") / bench_number_at(size, "whole_s");
    return bench_view_is_sound(size) && faster > 0 ? faster : 0;
}

static double peak_of(const json_t *sizes)
{
    const json_t *size;
    size_t i;
    double peak = 0;
    JSON_EACH(sizes, i, size) peak = fmax(peak, speed_up(size));
    return peak;
}

static void put_size(text_table *table, const json_t *size, double peak)
{
    const bool is_scaled = json_is_true(json_object_get(size, "core_scaled"));
    size_t at = 0;
    table_row(table);
    table_set(table, at++, "%s", significant(bench_number_at(size, "atoms")).s);
    table_set(table, at++, "%s", significant(bench_number_at(size, "kernel_s")).s);
    if (peak > 0)
        table_set(table, at++, "%s", significant(bench_number_at(size, "whole_s")).s);
    table_set(table, at++, "%s", counted(bench_number_at(size, "timed")).s);
    table_set(table, at++, "%s", per_cent(bench_number_at(size, "spread")).s);
    if (peak > 0) {
        table_set(table, at++, "%s%s", is_scaled ? "~" : "", significant(bench_number_at(size, "core_s")).s);
        table_set(table, at++, "%s", significant(speed_up(size)).s);
        table_set(table, at++, "%.0f", 100 * speed_up(size) / peak);
    }
    table_set(table, at, "%s",
              bench_view_is_sound(size)
                  ? bench_error_text(bench_number_at(json_object_get(size, "accuracy"), "relative_rms")).s
                  : "WRONG");
}

/* What is of whole jobs and of one core has columns where that was measured. */
text_table bench_view_sizes(const json_t *device)
{
    static const struct {
        const char *heading;
        bool of_jobs;
    } headings[] = {{"atoms", false},        {"kernels, s", false}, {"whole, s", true},
                    {"timed", false},        {"spread %", false},   {"one core, s", true},
                    {"times as fast", true}, {"% of peak", true},   {"relative RMS error", false}};
    const json_t *size, *sizes = json_object_get(device, "sizes");
    const double peak = peak_of(sizes);
    text_table table = table_begin("rrrrrrrrr");
    size_t i, at = 0;
    table.columns = 0;
    for (size_t c = 0; c < sizeof headings / sizeof *headings; c++)
        table.columns += peak > 0 || !headings[c].of_jobs;
    table_row(&table);
    for (size_t c = 0; c < sizeof headings / sizeof *headings; c++)
        if (peak > 0 || !headings[c].of_jobs)
            table_set(&table, at++, "%s", headings[c].heading);
    JSON_EACH(sizes, i, size) put_size(&table, size, peak);
    return table;
}

/* ---- Papers ---------------------------------------------------------------------------------- */

static bool is_row(const json_t *row, const char *name)
{
    const char *variant = bench_text_at(row, "variant");
    const size_t all = strlen(variant), tail = strlen(name);
    return tail > 0 ? all >= tail && strcmp(variant + all - tail, name) == 0
                    : json_is_true(json_object_get(row, "default"));
}

/* The row that a paper's figure belongs to; of the whole table what a job takes. */
static const json_t *row_of(const json_t *device, const char *name)
{
    json_t *rows = json_object_get(device, "rows"), *row;
    size_t i;
    JSON_EACH(rows, i, row) if (is_row(row, name) && bench_view_is_sound(row)) return row;
    return NULL;
}

enum { PAPER_COLUMNS = 5 };

/* What a device has beside a paper's figure. */
typedef struct own_figure {
    double value, times; /* not a number: nothing; and by how much it is faster than the paper's */
    bool is_scaled;
} own_figure;

/* The box of so many atoms; NULL: none, or it is wrong. */
static const json_t *size_of(const json_t *device, double atoms)
{
    const json_t *size;
    size_t i;
    JSON_EACH(json_object_get(device, "sizes"), i, size)
    {
        if (bench_number_at(size, "atoms") == atoms && bench_view_is_sound(size))
            return size;
    }
    return NULL;
}

/* Part of a peak means something only where larger boxes have been measured. */
static own_figure own_of_size(const json_t *device, double atoms, bool is_share)
{
    const json_t *sizes = json_object_get(device, "sizes"), *size = size_of(device, atoms);
    const json_t *last = json_array_get(sizes, json_array_size(sizes) - 1);
    if (size == NULL || (is_share && !(bench_number_at(last, "atoms") > atoms)))
        return (own_figure){NAN, NAN, false};
    return (own_figure){is_share ? 100 * speed_up(size) / peak_of(sizes) : speed_up(size), NAN,
                        json_is_true(json_object_get(size, "core_scaled"))};
}

static own_figure own_of(const json_t *device, const json_t *figure)
{
    const char *unit = bench_text_at(figure, "unit");
    const json_t *row = row_of(device, bench_text_at(figure, "row"));
    const double value = bench_number_at(figure, "value"), scale = bench_number_at(device, "papers_scale"),
                 atoms = bench_number_at(figure, "atoms");
    if (atoms > 0)
        return own_of_size(device, atoms, unit[0] == '%');
    if (strcmp(unit, "s") == 0 && row != NULL) {
        const double own = bench_number_at(row, "papers_s");
        return (own_figure){own, value / own, !(fabs(scale - 1) < 0.01)};
    }
    if (strcmp(unit, "billion/s") == 0 && row != NULL) {
        const double own = bench_number_at(row, "evaluations_per_s") / 1e9;
        return (own_figure){own, own / value, false};
    }
    return (own_figure){NAN, NAN, false};
}

static void put_figure(text_table *table, const json_t *device, const json_t *figure)
{
    const char *unit = bench_text_at(figure, "unit");
    const own_figure own = own_of(device, figure);
    const double value = bench_number_at(figure, "value");
    size_t at = 0;
    table_row(table);
    table_set(table, at++, "%s", bench_text_at(figure, "hardware"));
    if (table->columns == PAPER_COLUMNS)
        table_set(table, at++, "%s", bench_text_at(figure, "row"));
    table_set(table, at++, value > 0 ? "%.5g %s" : "-", value, unit);
    table_set(table, at++, "%s%s", own.is_scaled && own.value > 0 ? "~" : "",
              own.value > 0 ? text_of("%s %s", significant(own.value).s, unit).s : "-");
    table_set(table, at, "%s", significant(own.times).s);
}

/* Steps have a column where there are any. */
text_table bench_view_papers(const json_t *of, const json_t *device)
{
    static const char *const headings[PAPER_COLUMNS] = {"hardware of the paper", "step", "paper", "this device",
                                                        "times as fast"};
    const json_t *figure, *figures = json_object_get(of, "papers");
    const bool has_steps = bench_text_at(json_array_get(figures, 0), "row")[0] != '\0';
    text_table table = table_begin(has_steps ? "llrrr" : "lrrr");
    size_t i, at = 0;
    table_row(&table);
    for (size_t c = 0; c < PAPER_COLUMNS; c++)
        if (c != 1 || has_steps)
            table_set(&table, at++, "%s", headings[c]);
    JSON_EACH(figures, i, figure) put_figure(&table, device, figure);
    return table;
}

/* ---- Several devices ------------------------------------------------------------------------- */

static void put_gain(text_table *table, const json_t *g)
{
    const double devices = bench_number_at(g, "devices"), used = bench_number_at(g, "devices_used"),
                 spread = bench_number_at(g, "spread"), timed = bench_number_at(g, "timed");
    const bool is_timed = timed > 0, is_wrong = strcmp(bench_text_at(g, "status"), "LEY_ERROR_WRONG_RESULT") == 0,
               is_failed = bench_text_at(g, "failure")[0] != '\0';
    table_row(table);
    table_set(table, 0, "%s", bench_text_at(g, "name"));
    if (is_timed && used < devices)
        table_set(table, 1, "%.0f, of which %.0f had a part", devices, used);
    else
        table_set(table, 1, "%s", counted(devices).s);
    table_set(table, 2, "%s", significant(bench_number_at(g, "fastest_s")).s);
    table_set(table, 3, "%s", significant(bench_number_at(g, "median_s")).s);
    table_set(table, 4, is_timed ? "%.0f" : "-", timed);
    table_set(table, 5, isfinite(spread) ? "%.1f" : "-", 100 * spread);
    table_set(table, 6, "%s", is_wrong ? "WRONG" : is_failed ? "failed" : significant(bench_number_at(g, "gain")).s);
}

text_table bench_view_gains(const json_t *of)
{
    static const char *const headings[] = {
        "all devices together", "devices", "fastest alone, s", "together, s", "timed", "spread %", "gain"};
    const json_t *gain, *figure, *gains = json_object_get(of, "gains");
    text_table table = table_begin("llrrrrr");
    size_t i;
    table_row(&table);
    for (size_t c = 0; c < sizeof headings / sizeof *headings; c++)
        table_set(&table, c, "%s", headings[c]);
    JSON_EACH(gains, i, gain) put_gain(&table, gain);
    if (json_array_size(gains) == 0)
        return table;
    JSON_EACH(json_object_get(of, "papers"), i, figure)
    {
        if (strcmp(bench_text_at(figure, "unit"), "times") != 0)
            continue;
        table_row(&table);
        table_set(&table, 0, "paper, %s", bench_text_at(figure, "row"));
        table_set(&table, 1, "%s", bench_text_at(figure, "hardware"));
        for (size_t c = 2; c < 6; c++)
            table_set(&table, c, "-");
        table_set(&table, 6, "%s", significant(bench_number_at(figure, "value")).s);
    }
    return table;
}

/* Whether an earlier figure has the same source. */
static bool is_repeated(const json_t *tables, size_t t, size_t f, const char *paper)
{
    const json_t *table, *figure;
    size_t i, k;
    JSON_EACH(tables, i, table)
    JSON_EACH(json_object_get(table, "papers"), k, figure)
    {
        if (i == t && k == f)
            return false;
        if (strcmp(bench_text_at(figure, "paper"), paper) == 0)
            return true;
    }
    return false;
}

const char *bench_view_source(const json_t *report, size_t wanted)
{
    const json_t *tables = json_object_get(report, "tables"), *table, *figure;
    size_t i, k;
    JSON_EACH(tables, i, table)
    JSON_EACH(json_object_get(table, "papers"), k, figure)
    {
        const char *paper = bench_text_at(figure, "paper");
        if (!is_repeated(tables, i, k, paper) && wanted-- == 0)
            return paper;
    }
    return NULL;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static short_text problem_of(const json_t *d)
{
    const double points = bench_number_at(d, "points"), atoms = bench_number_at(d, "atoms"),
                 cutoff_A = bench_number_at(d, "cutoff_A");
    if (!(points > 0) || json_array_size(json_object_get(d, "rows")) == 0)
        return text_of("%s", "");
    short_text text = text_of("Problem: %s points", count_text((int64_t)points).s);
    if (atoms > 0)
        text = text_of("%s, %s atoms", text.s, count_text((int64_t)atoms).s);
    return cutoff_A > 0 ? text_of("%s, cutoff %g A.", text.s, cutoff_A) : text_of("%s.", text.s);
}

short_text bench_view_scale(const json_t *d)
{
    const double scale = bench_number_at(d, "papers_scale");
    if (!isfinite(scale) || fabs(scale - 1) < 0.01)
        return text_of("%s", "");
    return scale > 1
               ? text_of("The papers' problem is %.3g times as large: their seconds stand beside ~ scaled ones.", scale)
               : text_of("The papers' problem is %.3g times smaller.", 1 / scale);
}

static short_text limits_of(const json_t *d)
{
    const json_t *limits = json_object_get(d, "limits");
    const double fma_per_s = bench_number_at(d, "fma_per_s"), roots_per_s = bench_number_at(d, "roots_per_s"),
                 memory = bench_number_at(limits, "memory_bytes_per_s");
    short_text text = text_of("%s", "");
    if (fma_per_s > 0)
        text = text_of("Limits: %s FMA/s", billions_text(fma_per_s).s);
    if (roots_per_s > 0)
        text = text_of("%s, %s 1/sqrt/s", text.s, billions_text(roots_per_s).s);
    if (memory > 0)
        text = text_of("%s%s bytes/s of memory",
                       text.s[0] != '\0' ? text_of("%s, ", text.s).s : "Limits: ", billions_text(memory).s);
    return text.s[0] != '\0' ? text_of("%s.", text.s) : text;
}

static short_text doubt_of(const json_t *d)
{
    return text_of("%s", bench_text_at(json_object_get(d, "limits"), "doubt"));
}

static short_text load_of(const json_t *d)
{
    const json_t *load = json_object_get(d, "load");
    const double others = bench_number_at(load, "others"), processors = bench_number_at(load, "processors");
    return others >= 0 ? text_of("Others kept %.2f of %.0f processors busy meanwhile.", others, processors)
                       : text_of("%s", "");
}

static short_text failure_of(const json_t *d)
{
    return text_of("%s", bench_text_at(d, "failure"));
}

static short_text interpreter_of(const json_t *d)
{
    return text_of("%s", json_is_true(json_object_get(d, "interpreter")) ? "An interpreter: it has no rates." : "");
}

short_text bench_view_fact(const json_t *device, size_t wanted)
{
    static short_text (*const facts[])(const json_t *) = {failure_of, interpreter_of, problem_of, bench_view_scale,
                                                          limits_of,  doubt_of,       load_of};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const short_text text = facts[i](device);
        if (text.s[0] != '\0' && wanted-- == 0)
            return text;
    }
    return text_of("%s", "");
}
