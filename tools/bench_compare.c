#include "bench_compare.h"
#include "bench_screen.h"
#include "bench_values.h"
#include "bench_view.h"
#include "console.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double least_noise = 0.03, spread_of_one = 0.5, most_share = 0.9, most_error_times = 2;

/* How far medians of so many launches lie apart by chance, at most, in halves of both spreads: the
 * spread of more launches is larger, and their median nearer to what it would be of all. By these
 * weights one row in a thousand that has not moved is said to, of two launches one in two
 * hundred. */
static double weight_of(double launches)
{
    static const double of_few[] = {12, 12, 12, 5, 2.4}, of_many = 8, least = 0.5;
    enum { FEW = sizeof of_few / sizeof *of_few };
    return launches >= FEW ? fmax(of_many / launches, least) : of_few[launches >= 0 ? (int)launches : 0];
}

static double spread_of(const bench_sample *s)
{
    return isfinite(s->spread) ? weight_of(s->launches) * s->spread : spread_of_one;
}

double bench_noise(const bench_sample *a, const bench_sample *b)
{
    const double share = fmin(fmax(fmax(a->others_share, b->others_share), 0), most_share);
    return fmax(least_noise, fmax(0.5 * (spread_of(a) + spread_of(b)), 1 / (1 - share) - 1));
}

/* What others do on processors is nothing to a card. Screens have their load in themselves. */
static bench_sample sample_of(const json_t *device, const json_t *row)
{
    const json_t *of_table = json_object_get(device, "load"), *load = of_table != NULL ? of_table : device;
    const bool is_card = strcmp(bench_text_at(json_object_get(device, "device"), "class"), "gpu") == 0;
    return (bench_sample){bench_number_at(row, "spread"), bench_number_at(row, "timed"),
                          is_card ? 0 : bench_number_at(load, "others") / bench_number_at(load, "processors")};
}

/* The one of an array whose texts by these keys are the same. */
static const json_t *find(const json_t *array, const json_t *like, const char *a, const char *b)
{
    const json_t *object;
    size_t i;
    JSON_EACH(array, i, object)
    if (strcmp(bench_text_at(object, a), bench_text_at(like, a)) == 0 &&
        strcmp(bench_text_at(object, b), bench_text_at(like, b)) == 0)
        return object;
    return NULL;
}

static bool is_same_kind(const json_t *a, const json_t *b)
{
    const json_t *one = json_object_get(a, "device"), *other = json_object_get(b, "device");
    return strcmp(bench_text_at(one, "name"), bench_text_at(other, "name")) == 0 &&
           strcmp(bench_text_at(one, "path"), bench_text_at(other, "path")) == 0;
}

/* The same device as the one of `devices` that stands at this place: its name, the path to it, and
 * how many of that name and path stand in front of it, as machines have several cards of a kind. */
static const json_t *find_device(const json_t *in, const json_t *devices, size_t place)
{
    const json_t *device, *like = json_array_get(devices, place);
    size_t i, before = 0;
    for (i = 0; i < place; i++)
        before += is_same_kind(json_array_get(devices, i), like);
    JSON_EACH(in, i, device)
    {
        if (is_same_kind(device, like) && before-- == 0)
            return device;
    }
    return NULL;
}

typedef struct comparison {
    text_table table;
    size_t same, other_problems;
    bool is_same_request; /* what the old report has, the new one should have, too */
    bool is_worse;
} comparison;

/* A device as both reports have it: of a table, or its screen. */
typedef struct pair {
    const char *name, *key; /* the table's, "screen"; what names its rows */
    const json_t *old, *now;
    bool is_same, is_screen; /* their problems are; rows are those of a screen */
} pair;

static void add(comparison *c, const char *table, const json_t *device, const char *row, const char *what)
{
    table_row(&c->table);
    table_set(&c->table, 0, "%s", table);
    table_set(&c->table, 1, "%.40s", bench_text_at(json_object_get(device, "device"), "name"));
    table_set(&c->table, 2, "%s", row);
    table_set(&c->table, 5, "%s", what);
}

static void add_row(comparison *c, const pair *p, const json_t *row, const char *what)
{
    add(c, p->name, p->now, bench_text_at(row, p->key), what);
}

/* In one report only; row "": all of them. */
static void add_missing(comparison *c, const char *table, const json_t *device, const char *row, bool is_new)
{
    c->is_worse = c->is_worse || (!is_new && c->is_same_request);
    add(c, table, device, row, is_new ? "in the new report only" : "in the old report only");
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool is_right(const pair *p, const json_t *row)
{
    return p->is_screen ? strcmp(bench_text_at(row, "verdict"), "right") == 0 : bench_view_is_sound(row);
}

/* Seconds of the whole command, or of so many pairs or atoms. */
static double screen_seconds(const json_t *row)
{
    const double value = bench_number_at(row, "value");
    return strcmp(bench_text_at(row, "unit"), "s") == 0 ? value : 1 / value;
}

/* Seconds, or of problems of another size those of an evaluation. False: one of them has none. */
static bool figures_of(const pair *p, const json_t *old, const json_t *now, double *before, double *after)
{
    *before = p->is_screen ? screen_seconds(old)
              : p->is_same ? bench_view_seconds(old)
                           : 1 / bench_number_at(old, "evaluations_per_s");
    *after = p->is_screen ? screen_seconds(now)
             : p->is_same ? bench_view_seconds(now)
                          : 1 / bench_number_at(now, "evaluations_per_s");
    return *before > 0 && *after > 0 && isfinite(*before) && isfinite(*after);
}

static void set_figure(comparison *c, size_t column, const pair *p, const json_t *row)
{
    if (p->is_screen)
        table_set(&c->table, column, "%.4g %s", bench_number_at(row, "value"), bench_text_at(row, "unit"));
    else
        table_set(&c->table, column, "%.3g", bench_view_seconds(row));
}

static void compare_times(comparison *c, const pair *p, const json_t *old, const json_t *now)
{
    const bench_sample old_sample = sample_of(p->old, old), sample = sample_of(p->now, now);
    double before, after;
    if (!figures_of(p, old, now, &before, &after))
        return;
    const double noise = bench_noise(&old_sample, &sample), times = fmax(before, after) / fmin(before, after);
    c->other_problems += !p->is_same;
    if (times - 1 <= noise) {
        c->same++;
        return;
    }
    c->is_worse = c->is_worse || after > before;
    add_row(c, p, now, after > before ? "slower" : "faster");
    set_figure(c, 3, p, old);
    set_figure(c, 4, p, now);
    table_set(&c->table, 6, "%.2f", times);
    table_set(&c->table, 7, "%.0f %%", 100 * noise);
}

/* Of a screen's row. Its map and command aim at half of their tolerance: what is below has no
 * meaning. The other rows have the errors of floats alone. */
static void compare_errors(comparison *c, const pair *p, const json_t *old, const json_t *now)
{
    const double before = bench_number_at(old, "relative_rms"), after = bench_number_at(now, "relative_rms");
    const bool is_sum = strcmp(bench_text_at(now, "unit"), "pairs/s") == 0;
    const double most = fmax(most_error_times * before, is_sum ? 0 : 0.5 * bench_screen_tolerance);
    if (!(before > 0 && after > most))
        return;
    c->is_worse = true;
    add_row(c, p, now, "less accurate");
    table_set(&c->table, 3, "%.2g", before);
    table_set(&c->table, 4, "%.2g", after);
    table_set(&c->table, 6, "%.2f", after / before);
}

static void compare_row(comparison *c, const pair *p, const json_t *old, const json_t *now)
{
    const bool was_right = is_right(p, old), is_now = is_right(p, now);
    if (was_right && !is_now) {
        c->is_worse = true;
        add_row(c, p, now, p->is_screen ? bench_text_at(now, "verdict") : "wrong, or failed");
    } else if (!was_right && is_now) {
        add_row(c, p, now, "right now");
    } else if (is_now) {
        compare_times(c, p, old, now);
        if (p->is_screen)
            compare_errors(c, p, old, now);
    }
}

static void compare_rows(comparison *c, const pair *p, const json_t *old_rows, const json_t *rows)
{
    const json_t *row;
    size_t i;
    JSON_EACH(rows, i, row)
    {
        const json_t *before = find(old_rows, row, p->key, p->key);
        if (before != NULL)
            compare_row(c, p, before, row);
        else
            add_missing(c, p->name, p->now, bench_text_at(row, p->key), true);
    }
    JSON_EACH(old_rows, i, row)
    {
        if (find(rows, row, p->key, p->key) == NULL)
            add_missing(c, p->name, p->now, bench_text_at(row, p->key), false);
    }
}

/* ---- Devices --------------------------------------------------------------------------------- */

static bool is_same_problem(const json_t *a, const json_t *b)
{
    return bench_number_at(a, "atoms") == bench_number_at(b, "atoms") &&
           bench_number_at(a, "points") == bench_number_at(b, "points");
}

static bool has_failed(const json_t *object)
{
    const char *status = bench_text_at(object, "status");
    return status[0] != '\0' && strcmp(status, ley_status_name(LEY_OK)) != 0;
}

/* Boxes of so many atoms are the same in all reports. */
static void compare_device(comparison *c, const char *table, const json_t *old, const json_t *now)
{
    pair p = {table, "variant", old, now, is_same_problem(old, now), false};
    if (has_failed(now) && !has_failed(old)) {
        c->is_worse = true;
        add(c, table, now, "", "failed");
        return;
    }
    compare_rows(c, &p, json_object_get(old, "rows"), json_object_get(now, "rows"));
    p.is_same = true;
    compare_rows(c, &p, json_object_get(old, "sizes"), json_object_get(now, "sizes"));
}

/* Seconds of the command are of its box alone. */
static void compare_screen(comparison *c, const char *name, const json_t *old, const json_t *now)
{
    const json_t *problem = json_object_get(now, "problem");
    const pair p = {name, "name", old, now, json_equal(json_object_get(old, "problem"), problem) != 0, true};
    if (p.is_same)
        compare_rows(c, &p, json_object_get(old, "rows"), json_object_get(now, "rows"));
    else
        add(c, name, now, "", "another box");
}

typedef void compare_two(comparison *c, const char *name, const json_t *old, const json_t *now);

/* How many of them both reports have. */
static size_t compare_devices(comparison *c, const char *name, const json_t *old, const json_t *now, compare_two *two)
{
    const json_t *device;
    size_t i, common = 0;
    JSON_EACH(now, i, device)
    {
        const json_t *before = find_device(old, now, i);
        common += before != NULL;
        if (before != NULL)
            two(c, name, before, device);
        else
            add_missing(c, name, device, "", true);
    }
    JSON_EACH(old, i, device)
    {
        if (find_device(now, old, i) == NULL)
            add_missing(c, name, device, "", false);
    }
    return common;
}

static size_t compare_tables(comparison *c, const json_t *old, const json_t *now)
{
    const json_t *table;
    size_t i, common = 0;
    JSON_EACH(now, i, table)
    {
        const json_t *before = find(old, table, "name", "math");
        common += compare_devices(c, bench_text_at(table, "name"), json_object_get(before, "devices"),
                                  json_object_get(table, "devices"), compare_device);
    }
    JSON_EACH(old, i, table)
    {
        if (find(now, table, "name", "math") == NULL)
            compare_devices(c, bench_text_at(table, "name"), json_object_get(table, "devices"), NULL, compare_device);
    }
    return common;
}

/* ---- Reports --------------------------------------------------------------------------------- */

/* Whether both were asked for the same measurements: then neither lacks any by intent. */
static bool is_same_request(const json_t *old, const json_t *now)
{
    static const char *const asked[] = {"kernel", "full", "device", "variant", "curve"};
    bool is_same = strcmp(bench_text_at(old, "level"), bench_text_at(now, "level")) == 0;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const json_t *a = json_object_get(json_object_get(old, "options"), asked[i]),
                     *b = json_object_get(json_object_get(now, "options"), asked[i]);
        is_same = is_same && (a == b || json_equal(a, b));
    }
    return is_same;
}

static void say_what_failed(const char *which, const json_t *report)
{
    const char *left_out = bench_text_at(report, "left_out");
    if (has_failed(report))
        printf("the %s report is of a run that failed: %s\n", which, bench_text_at(report, "error"));
    if (left_out[0] != '\0')
        printf("the %s report lacks what its run had no time for: %s\n", which, left_out);
}

static void say_reports(const char *old_path, const json_t *old, const json_t *now)
{
    const char *was = bench_text_at(old, "version"), *is = bench_text_at(now, "version");
    printf("\ncompared with %s of %s:\n", old_path, bench_text_at(old, "date"));
    if (strcmp(was, is) != 0)
        printf("the old report is of version %s, the new one of version %s\n", was[0] != '\0' ? was : "unknown",
               is[0] != '\0' ? is : "unknown");
    say_what_failed("old", old);
    say_what_failed("new", now);
}

static void say_rows(comparison *c)
{
    if (c->table.rows > 1)
        table_print(&c->table);
    else
        table_release(&c->table);
    printf("%zu row%s not moved by more than the noise: 3 %%, what both spreads make likely, or what others on the "
           "processors can have added\n",
           c->same, c->same == 1 ? " has" : "s have");
    if (c->other_problems > 0)
        printf("%zu row%s of problems of another size: rates were compared\n", c->other_problems,
               c->other_problems == 1 ? " is" : "s are");
}

static bool has_screen(const json_t *report)
{
    return json_array_size(json_object_get(report, "screens")) > 0;
}

int bench_compare(const char *old_path, const json_t *old, const json_t *report, bool fails)
{
    static const char *const headings[] = {"table", "device", "row", "old", "new", "", "times", "noise"};
    comparison c = {.table = table_begin("lllrrlrr"), .is_same_request = is_same_request(old, report)};
    table_row(&c.table);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        table_set(&c.table, i, "%s", headings[i]);
    const size_t common = compare_devices(&c, "screen", json_object_get(old, "screens"),
                                          json_object_get(report, "screens"), compare_screen) +
                          compare_tables(&c, json_object_get(old, "tables"), json_object_get(report, "tables"));
    if (common == 0) {
        table_release(&c.table);
        return !fails && has_screen(old) && has_screen(report)
                   ? 0
                   : fail(LEY_ERROR_FILE, "%s: no table of the same kernel and device to compare with", old_path);
    }
    c.is_worse = c.is_worse || (has_failed(report) && !has_failed(old));
    say_reports(old_path, old, report);
    say_rows(&c);
    return c.is_worse && fails
               ? fail(LEY_ERROR_WRONG_RESULT, "slower, less accurate, wrong, failed or missing where it was not")
               : 0;
}
