#include "bench_compare.h"
#include "bench_values.h"
#include "bench_view.h"
#include "console.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double least_noise = 0.03, spread_of_one = 0.5, most_share = 0.9;

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

/* What others do on processors is nothing to a card. */
static bench_sample sample_of(const json_t *device, const json_t *row)
{
    const json_t *load = json_object_get(device, "load");
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
    bool is_worse;
} comparison;

/* A device as a table of both reports has it. */
typedef struct pair {
    const json_t *table, *old, *now;
    bool is_same; /* their problems are */
} pair;

static void add(comparison *c, const pair *p, const json_t *row, const char *what)
{
    table_row(&c->table);
    table_set(&c->table, 0, "%s", bench_text_at(p->table, "name"));
    table_set(&c->table, 1, "%.40s", bench_text_at(json_object_get(p->now, "device"), "name"));
    table_set(&c->table, 2, "%s", bench_text_at(row, "variant"));
    table_set(&c->table, 5, "%s", what);
}

/* Seconds, or of problems of another size those of an evaluation. False: one of them has none. */
static bool figures_of(const pair *p, const json_t *old, const json_t *now, double *before, double *after)
{
    *before = p->is_same ? bench_view_seconds(old) : 1 / bench_number_at(old, "evaluations_per_s");
    *after = p->is_same ? bench_view_seconds(now) : 1 / bench_number_at(now, "evaluations_per_s");
    return *before > 0 && *after > 0;
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
    add(c, p, now, after > before ? "slower" : "faster");
    table_set(&c->table, 3, "%.3g", bench_view_seconds(old));
    table_set(&c->table, 4, "%.3g", bench_view_seconds(now));
    table_set(&c->table, 6, "%.2f", times);
    table_set(&c->table, 7, "%.0f %%", 100 * noise);
}

static void compare_row(comparison *c, const pair *p, const json_t *old, const json_t *now)
{
    const bool was_sound = bench_view_is_sound(old), is_sound = bench_view_is_sound(now);
    if (was_sound && !is_sound) {
        c->is_worse = true;
        add(c, p, now, "wrong, or failed");
    } else if (!was_sound && is_sound) {
        add(c, p, now, "right now");
    } else if (is_sound) {
        compare_times(c, p, old, now);
    }
}

static bool is_same_problem(const json_t *a, const json_t *b)
{
    return bench_number_at(a, "atoms") == bench_number_at(b, "atoms") &&
           bench_number_at(a, "points") == bench_number_at(b, "points");
}

static void compare_rows(comparison *c, const pair *of, const json_t *old_rows, const json_t *rows)
{
    const json_t *row;
    size_t i;
    JSON_EACH(rows, i, row)
    {
        const json_t *before = find(old_rows, row, "variant", "variant");
        if (before != NULL)
            compare_row(c, of, before, row);
        else
            add(c, of, row, "in the new report only");
    }
    JSON_EACH(old_rows, i, row)
    {
        if (find(rows, row, "variant", "variant") == NULL)
            add(c, of, row, "in the old report only");
    }
}

/* Boxes of so many atoms are the same in all reports. */
static void compare_device(comparison *c, const json_t *table, const json_t *old, const json_t *now)
{
    pair p = {table, old, now, is_same_problem(old, now)};
    compare_rows(c, &p, json_object_get(old, "rows"), json_object_get(now, "rows"));
    p.is_same = true;
    compare_rows(c, &p, json_object_get(old, "sizes"), json_object_get(now, "sizes"));
}

/* How many devices both have. */
static size_t compare_reports(comparison *c, const json_t *old, const json_t *now)
{
    const json_t *table, *device;
    size_t t, d, common = 0;
    JSON_EACH(json_object_get(now, "tables"), t, table)
    {
        const json_t *before = find(json_object_get(old, "tables"), table, "name", "math");
        const json_t *devices = json_object_get(table, "devices");
        JSON_EACH(devices, d, device)
        {
            const json_t *old_device = find_device(json_object_get(before, "devices"), devices, d);
            common += old_device != NULL;
            if (old_device != NULL)
                compare_device(c, table, old_device, device);
        }
    }
    return common;
}

static bool has_screen(const json_t *report)
{
    return json_array_size(json_object_get(report, "screens")) > 0;
}

int bench_compare(const char *old_path, const json_t *old, const json_t *report, bool fails)
{
    static const char *const headings[] = {"table", "device", "variant", "old s", "new s", "", "times", "noise"};
    comparison c = {.table = table_begin("lllrrlrr")};
    table_row(&c.table);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        table_set(&c.table, i, "%s", headings[i]);
    const size_t common = compare_reports(&c, old, report);
    if (common == 0) {
        table_release(&c.table);
        return has_screen(old) && has_screen(report)
                   ? 0
                   : fail(LEY_ERROR_FILE, "%s: no table of the same kernel and device to compare with", old_path);
    }
    printf("\ncompared with %s of %s:\n", old_path, bench_text_at(old, "date"));
    if (c.table.rows > 1)
        table_print(&c.table);
    else
        table_release(&c.table);
    printf("%zu row%s not moved by more than the noise: 3 %%, what both spreads make likely, or what others on the "
           "processors can have added\n",
           c.same, c.same == 1 ? " has" : "s have");
    if (c.other_problems > 0)
        printf("%zu row%s of problems of another size: rates were compared\n", c.other_problems,
               c.other_problems == 1 ? " is" : "s are");
    return c.is_worse && fails ? fail(LEY_ERROR_WRONG_RESULT, "slower or wrong where it was not, beyond the noise") : 0;
}
