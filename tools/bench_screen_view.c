/* What the screen of `leyden bench` says, made of the report. */
#include "bench_reference.h"
#include "bench_screen.h"
#include "bench_values.h"
#include "console.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double most_spread = 0.2, most_others = 0.1;

__attribute__((format(printf, 1, 2))) static bench_sentence say(const char *format, ...)
{
    bench_sentence sentence;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence.s, sizeof sentence.s, format, arguments);
    va_end(arguments);
    return sentence;
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* Three digits, of thousands all. */
static short_text three_digits(double value)
{
    return value >= 999.5 ? count_text(llround(value)) : text_of(value >= 99.95 ? "%.0f" : "%#.3g", value);
}

static short_text times_text(double times)
{
    return times > 0 ? three_digits(times) : text_of("-");
}

/* In billions of pairs, millions of atoms, or seconds. */
static short_text plain_rate(double value, const char *unit)
{
    return three_digits(value / (unit[0] == 'p' ? 1e9 : unit[0] == 'a' ? 1e6 : 1));
}

static short_text rate_of(const json_t *row)
{
    const char *unit = bench_text_at(row, "unit"), *verdict = bench_text_at(row, "verdict");
    const double value = bench_number_at(row, "value");
    if (!(value > 0))
        return text_of("%s", strcmp(verdict, "absent") == 0 ? "-" : verdict);
    return text_of("%s %s%s", plain_rate(value, unit).s,
                   unit[0] == 'p'   ? "billion "
                   : unit[0] == 'a' ? "million "
                                    : "",
                   unit);
}

static bool is_spread_out(const json_t *row)
{
    return bench_number_at(row, "spread") > most_spread;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static bench_sentence device_of(const json_t *screen)
{
    const json_t *device = json_object_get(screen, "device");
    const double units = bench_number_at(device, "compute_units");
    return say("Device: %.100s, through %.10s, driver %.60s%s.", bench_text_at(device, "name"),
               bench_text_at(device, "path"), bench_text_at(device, "driver"),
               units > 0 ? text_of(", %.0f units", units).s : "");
}

/* Watts while pairs are summed directly; not a number: unknown. */
static double power_at_work(const json_t *screen)
{
    const json_t *row = json_array_get(json_object_get(screen, "rows"), SCREEN_DIRECT),
                 *problem = json_object_get(screen, "problem");
    const double pairs = bench_number_at(problem, "direct_points") * bench_number_at(problem, "direct_atoms");
    return bench_number_at(row, "joules") * bench_number_at(row, "value") / pairs;
}

static short_text clock_named(const char *name, double MHz)
{
    return MHz > 0 ? text_of("%s%.0f MHz", name, MHz) : text_of("%s", "");
}

static short_text power_named(const char *before, double power_W, const char *behind)
{
    return power_W > 0 ? text_of("%s%.0f W%s", before, power_W, behind) : text_of("%s", "");
}

static bench_sentence power_of(const json_t *screen)
{
    const double map_J = bench_number_at(json_array_get(json_object_get(screen, "rows"), SCREEN_MAP), "joules");
    const short_text clock = clock_named("Clock: ", bench_number_at(screen, "clock_MHz")),
                     memory = clock_named(", of its memory ", bench_number_at(screen, "memory_clock_MHz")),
                     limit = power_named(", power limit ", bench_number_at(screen, "power_limit_W"), ""),
                     work = power_named(", ", power_at_work(screen), " in direct sums");
    const char *counter = bench_text_at(screen, "energy_counter");
    const short_text energy = map_J > 0 ? text_of("%#.3g J a map (%.60s)", map_J, counter)
                                        : text_of("%s", counter[0] != '\0' ? counter : "no counter that can be read");
    return say("%s%s%s%s; energy: %s.", clock.s[0] != '\0' ? clock.s : "Clock: unknown", memory.s, limit.s, work.s,
               energy.s);
}

static bench_sentence limits_of(const json_t *screen)
{
    const double roots = bench_number_at(screen, "roots_per_s"), fma = bench_number_at(screen, "fma_per_s"),
                 memory = bench_number_at(screen, "memory_bytes_per_s");
    if (!(roots > 0 && fma > 0))
        return say("%s", "");
    return say("Limits, measured: %s 1/sqrt/s, %s multiply-adds/s%s%s.", billions_text(roots).s, billions_text(fma).s,
               memory > 0 ? text_of(", %s bytes/s", billions_text(memory).s).s : "", memory > 0 ? " of memory" : "");
}

static short_text size_of(const json_t *problem, const char *atoms, const char *points, const char *what)
{
    const double of_atoms = bench_number_at(problem, atoms), of_points = bench_number_at(problem, points);
    return of_atoms > 0 && of_points > 0 ? text_of("%s at %s", counted_text((int64_t)of_atoms, "atom").s,
                                                   counted_text((int64_t)of_points, what).s)
                                         : text_of("-");
}

static bench_sentence problem_of(const json_t *screen)
{
    const json_t *problem = json_object_get(screen, "problem");
    return say("Input: direct sum %s; sums within 12 A, map and command %s, 0.5 A apart; boundary %s.",
               size_of(problem, "direct_atoms", "direct_points", "point").s,
               size_of(problem, "map_atoms", "map_points", "point").s,
               size_of(problem, "boundary_atoms", "boundary_points", "node").s);
}

bench_sentence bench_screen_fact(const json_t *screen, size_t wanted)
{
    static bench_sentence (*const facts[])(const json_t *) = {device_of, power_of, limits_of, problem_of};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const bench_sentence fact = facts[i](screen);
        if (fact.s[0] != '\0' && wanted-- == 0)
            return fact;
    }
    return say("%s", "");
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void put_row(text_table *table, const json_t *row)
{
    const double share = bench_number_at(row, "share"), spread = bench_number_at(row, "spread"),
                 error = bench_number_at(row, "relative_rms");
    table_row(table);
    table_set(table, 0, "%s", bench_text_at(row, "name"));
    table_set(table, 1, "%s", rate_of(row).s);
    table_set(table, 2, "%s", times_text(bench_number_at(row, "times")).s);
    table_set(table, 3, "%s",
              share > 0 ? text_of("%.0f %% of %s", 100 * share, bench_text_at(row, "share_of")).s : "-");
    table_set(table, 4, "%s", bench_error_text(error).s);
    table_set(table, 5, "%s%s", isfinite(spread) ? text_of("%.1f", 100 * spread).s : "-",
              is_spread_out(row) ? " !" : "");
}

text_table bench_screen_table(const json_t *screen)
{
    static const char *const headings[] = {"", "rate", "times reference", "of its own limit", "RMS error", "spread %"};
    text_table table = table_begin("lrrlrr");
    const json_t *row;
    size_t i;
    table_row(&table);
    for (size_t c = 0; c < sizeof headings / sizeof *headings; c++)
        table_set(&table, c, "%s", headings[c]);
    JSON_EACH(json_object_get(screen, "rows"), i, row) put_row(&table, row);
    return table;
}

/* ---- Remarks --------------------------------------------------------------------------------- */

static bench_sentence failure_of(const json_t *screen, size_t i)
{
    const json_t *row = json_array_get(json_object_get(screen, "rows"), i);
    const char *failure = bench_text_at(row, "failure");
    return failure[0] != '\0' ? say("%s: %.300s.", bench_text_at(row, "name"), failure) : say("%s", "");
}

static bench_sentence spread_of(const json_t *screen)
{
    const json_t *row;
    size_t i;
    JSON_EACH(json_object_get(screen, "rows"), i, row)
    if (is_spread_out(row))
        return say("! The slowest launch took over %.0f %% longer than the fastest: something else used the device, or "
                   "its clock changed. Medians count; the same again may differ by as much.",
                   100 * most_spread);
    return say("%s", "");
}

static bool is_disturbed(const json_t *screen)
{
    return bench_number_at(screen, "others") > most_others * bench_number_at(screen, "processors");
}

static bench_sentence load_of(const json_t *screen)
{
    const double others = bench_number_at(screen, "others"), processors = bench_number_at(screen, "processors");
    return is_disturbed(screen) ? say("Other programs kept %.1f of %.0f processors busy meanwhile: figures "
                                      "are lower than on a quiet machine.",
                                      others, processors)
                                : say("%s", "");
}

static bench_sentence doubt_of(const json_t *screen)
{
    const char *doubt = bench_text_at(screen, "doubt");
    return doubt[0] != '\0' ? say("%.400s.", doubt) : say("%s", "");
}

bench_sentence bench_screen_remark(const json_t *screen, size_t wanted)
{
    static bench_sentence (*const all[])(const json_t *) = {spread_of, load_of, doubt_of};
    enum { ALL = sizeof all / sizeof *all };
    for (size_t i = 0; i < SCREEN_ROWS + ALL; i++) {
        const bench_sentence remark = i < SCREEN_ROWS ? failure_of(screen, i) : all[i - SCREEN_ROWS](screen);
        if (remark.s[0] != '\0' && wanted-- == 0)
            return remark;
    }
    return say("%s", "");
}

/* ---- The score ------------------------------------------------------------------------------- */

/* Why there is none. */
static bench_sentence why_none(const json_t *screen)
{
    const json_t *row;
    size_t i;
    JSON_EACH(json_object_get(screen, "rows"), i, row)
    {
        const char *verdict = bench_text_at(row, "verdict");
        if (strcmp(verdict, "right") != 0)
            return say("No score: %s %s.", bench_text_at(row, "name"),
                       strcmp(verdict, "absent") == 0   ? "was not timed"
                       : strcmp(verdict, "failed") == 0 ? "has failed"
                                                        : "is WRONG");
    }
    return say("No score: scores are for the usual problem only, without --atoms.");
}

static const json_t *first_reference(const json_t *report)
{
    return json_array_get(json_object_get(report, "references"), 0);
}

bench_sentence bench_screen_score(const json_t *report, const json_t *screen)
{
    const json_t *reference = first_reference(report);
    const double score = bench_number_at(screen, "score");
    if (!(score > 0))
        return why_none(screen);
    return say("Score %s: the geometric mean of the five rows' times as fast as %s (%s).", three_digits(score).s,
               bench_text_at(reference, "name"), bench_text_at(reference, "says"));
}

bench_sentence bench_screen_line(const json_t *report, const json_t *screen)
{
    const json_t *device = json_object_get(screen, "device");
    const double score = bench_number_at(screen, "score");
    const short_text times = score > 0 ? text_of("score %s (times %s)", three_digits(score).s,
                                                 bench_text_at(first_reference(report), "name"))
                                       : text_of("no score");
    return say("leyden %.20s %s%s, %.100s, %.10s %.60s, %.10s", bench_text_at(report, "version"), times.s,
               is_disturbed(screen) ? " on a busy machine" : "", bench_text_at(device, "name"),
               bench_text_at(device, "path"), bench_text_at(device, "driver"), bench_text_at(report, "date"));
}

/* ---- Beside each other ----------------------------------------------------------------------- */

const char bench_screen_sides_remark[] = "Rates: billion pairs, million atoms per second; the command: seconds.";

static void put_reference(text_table *table, const json_t *reference)
{
    const json_t *value;
    size_t i;
    table_row(table);
    table_set(table, 0, "reference: %s", bench_text_at(reference, "name"));
    table_set(table, 1, "%s", times_text(bench_number_at(reference, "score")).s);
    JSON_EACH(json_object_get(reference, "values"), i, value)
    {
        if (i < SCREEN_ROWS)
            table_set(table, 2 + i, "%s", plain_rate(json_number_value(value), bench_screen_unit(i)).s);
    }
    table_set(table, 2 + SCREEN_ROWS, "-");
}

/* Of a processor, by which it differs from others of its name. */
static short_text cores_of(const json_t *report, const json_t *device)
{
    const double cores = bench_number_at(json_object_get(report, "host"), "processors");
    const bool is_cpu = strcmp(bench_text_at(device, "class"), "cpu") == 0;
    return text_of(is_cpu && cores > 0 ? ", %.0f cores" : "", cores);
}

/* What a screen is called: its device and its day, or, where that is not enough, the minute. */
static short_text screen_name(const json_t *report, const json_t *screen, bool has_minute)
{
    const json_t *device = json_object_get(screen, "device");
    const char *date = bench_text_at(report, "date");
    return text_of("%.70s%s, %.10s, %.10s%s%.5s", bench_text_at(device, "name"), cores_of(report, device).s,
                   bench_text_at(device, "path"), date, has_minute && strlen(date) > 11 ? " " : "",
                   has_minute && strlen(date) > 11 ? date + 11 : "");
}

/* Whether another screen has the name without a minute. */
static bool has_namesake(const json_t *reports, const json_t *report, const json_t *screen)
{
    const short_text name = screen_name(report, screen, false);
    const json_t *other, *theirs;
    size_t i, k;
    JSON_EACH(reports, i, other)
    JSON_EACH(json_object_get(other, "screens"), k, theirs)
    {
        if (theirs != screen && strcmp(screen_name(other, theirs, false).s, name.s) == 0)
            return true;
    }
    return false;
}

static void put_screen(text_table *table, const json_t *reports, const json_t *report, const json_t *screen)
{
    const json_t *rows = json_object_get(screen, "rows"), *row;
    size_t i;
    table_row(table);
    table_set(table, 0, "%s", screen_name(report, screen, has_namesake(reports, report, screen)).s);
    table_set(table, 1, "%s%s", times_text(bench_number_at(screen, "score")).s, is_disturbed(screen) ? " busy" : "");
    JSON_EACH(rows, i, row)
    {
        const double value = bench_number_at(row, "value");
        if (i < SCREEN_ROWS)
            table_set(table, 2 + i, "%s%s",
                      value > 0 ? plain_rate(value, bench_text_at(row, "unit")).s : rate_of(row).s,
                      is_spread_out(row) ? " !" : "");
    }
    table_set(table, 2 + SCREEN_ROWS, "%s",
              bench_error_text(bench_number_at(json_array_get(rows, SCREEN_MAP), "relative_rms")).s);
}

/* The first report that has any. */
static const json_t *with_screens(const json_t *reports)
{
    const json_t *report;
    size_t i;
    JSON_EACH(reports, i, report)
    {
        if (json_array_size(json_object_get(report, "screens")) > 0)
            return report;
    }
    return NULL;
}

bool bench_screen_is_there(const json_t *reports)
{
    return with_screens(reports) != NULL;
}

text_table bench_screen_sides(const json_t *reports)
{
    static const char *const headings[] = {"device",      "score",    "direct sum", "within 12 A",
                                           "map to 1e-4", "boundary", "command",    "map's error"};
    text_table table = table_begin("lrrrrrrr");
    const json_t *report, *screen, *reference;
    size_t i, k;
    table_row(&table);
    for (size_t c = 0; c < sizeof headings / sizeof *headings; c++)
        table_set(&table, c, "%s", headings[c]);
    JSON_EACH(reports, i, report)
    JSON_EACH(json_object_get(report, "screens"), k, screen)
    put_screen(&table, reports, report, screen);
    JSON_EACH(json_object_get(with_screens(reports), "references"), i, reference) put_reference(&table, reference);
    return table;
}

/* ---- On a terminal --------------------------------------------------------------------------- */

static void print_one(const json_t *report, const json_t *screen)
{
    bench_sentence sentence;
    text_table table = bench_screen_table(screen);
    for (size_t i = 0; (sentence = bench_screen_fact(screen, i)).s[0] != '\0'; i++)
        print_wrapped(sentence.s, 0, 0);
    putchar('\n');
    table_print(&table);
    putchar('\n');
    for (size_t i = 0; (sentence = bench_screen_remark(screen, i)).s[0] != '\0'; i++)
        print_wrapped(sentence.s, 0, 0);
    print_wrapped(bench_screen_score(report, screen).s, 0, 0);
    printf("\n%s\n", bench_screen_line(report, screen).s);
}

void bench_screen_print(const json_t *report)
{
    const json_t *screen;
    size_t i;
    JSON_EACH(json_object_get(report, "screens"), i, screen)
    {
        if (i > 0)
            puts("\n----\n");
        print_one(report, screen);
    }
}

void bench_screen_print_sides(const json_t *reports)
{
    if (!bench_screen_is_there(reports))
        return;
    text_table table = bench_screen_sides(reports);
    table_print(&table);
    puts(bench_screen_sides_remark);
}
