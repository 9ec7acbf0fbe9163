#include "bench_html.h"
#include "bench_chart.h"
#include "bench_json.h"
#include "bench_view.h"
#include "console.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1c1c1e;--faint:#6b6b70;--line:#d8d8dc;--doubt:#a03a00;"
    "--c0:#1f59b8;--c1:#cc4521;--c2:#298c42;--c3:#8040a6}\n"
    "@media (prefers-color-scheme:dark){:root{--paper:#16171a;--ink:#ececee;--faint:#a2a2a8;--line:#3a3b40;"
    "--doubt:#ffb27d;--c0:#7aa8f0;--c1:#ff8f6b;--c2:#6fce87;--c3:#c793ea}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
    "h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.25rem;margin:2.2rem 0 .5rem;border-top:1px solid var(--line);"
    "padding-top:1rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}\n"
    "p{margin:.3rem 0}.faint{color:var(--faint);font-size:.9rem}.doubt{color:var(--doubt);font-size:.9rem}\n"
    "code{overflow-wrap:anywhere}.wide{overflow-x:auto;margin:.6rem 0}\n"
    "table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.25rem .7rem .25rem 0;text-align:left;border-bottom:1px solid var(--line);vertical-align:bottom}\n"
    "th{font-weight:600}.r{text-align:right}td{white-space:nowrap}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1rem 2rem;"
    "align-items:start}\n"
    "figure{margin:.8rem 0;break-inside:avoid}figcaption{font-weight:600;font-size:.95rem;margin-bottom:.3rem}\n"
    "svg{display:block;width:100%;max-width:40rem;height:auto}svg text{fill:var(--ink);font-size:13px}"
    "svg .small{font-size:11.5px;fill:var(--faint)}\n"
    ".grid{stroke:var(--line);fill:none}.line{fill:none;stroke-width:2}.line.dashed{stroke-dasharray:6 4}\n"
    ".names{font-size:.85rem}.names span{margin-right:1rem;display:inline-block}"
    ".key{display:inline-block;width:1.2rem;border-top:3px solid;margin:0 .4rem .2rem 0}"
    ".key.dashed{border-top-style:dashed}\n"
    ".k0{color:var(--c0)}.k1{color:var(--c1)}.k2{color:var(--c2)}.k3{color:var(--c3)}\n"
    ".line.c0{stroke:var(--c0)}.line.c1{stroke:var(--c1)}.line.c2{stroke:var(--c2)}.line.c3{stroke:var(--c3)}\n"
    ".mark.c0,.bar.c0{fill:var(--c0)}.mark.c1,.bar.c1{fill:var(--c1)}.mark.c2,.bar.c2{fill:var(--c2)}"
    ".mark.c3,.bar.c3{fill:var(--c3)}\n"
    "@media screen{.wide{background:linear-gradient(270deg,var(--paper) 25%,transparent) right/3rem 100% local "
    "no-repeat,"
    "linear-gradient(270deg,var(--line),transparent) right/.8rem 100% scroll no-repeat}}\n"
    "@media (max-width:32rem){svg text{font-size:15px}svg .small{font-size:13px}table{font-size:.8rem}"
    "th,td{padding-right:.5rem}td{white-space:normal}td.r{white-space:nowrap}td:first-child:not(.r){min-width:8rem}}\n"
    "@media print{:root{--paper:#fff;--ink:#000;--faint:#444;--line:#bbb;--doubt:#a03a00;--c0:#1f59b8;--c1:#cc4521;"
    "--c2:#298c42;--c3:#8040a6}body{max-width:none;padding:0;font-size:11px}.wide{overflow:visible}"
    "table{font-size:9px}td{white-space:normal}h2{break-after:avoid}tr{break-inside:avoid}"
    "*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}\n";

/* ---- Tables ---------------------------------------------------------------------------------- */

static void put_paragraph(text_file *to, const char *kind, const char *text)
{
    text_file_print(to, "<p class=\"%s\">", kind);
    chart_put_text(to, text);
    text_file_print(to, "</p>\n");
}

/* One without rows is left out. */
static void put_table(text_file *to, text_table *table)
{
    if (table->rows > 1)
        text_file_print(to, "<div class=\"wide\"><table>\n");
    for (size_t row = 0; row < table->rows && table->rows > 1; row++) {
        text_file_print(to, "%s<tr>", row == 0 ? "<thead>" : "");
        for (size_t c = 0; c < table->columns; c++) {
            text_file_print(to, "<t%c%s>", row == 0 ? 'h' : 'd', table->alignment[c] == 'r' ? " class=\"r\"" : "");
            chart_put_text(to, bench_view_cell(table, row, c));
            text_file_print(to, "</t%c>", row == 0 ? 'h' : 'd');
        }
        text_file_print(to, "</tr>%s\n", row == 0 ? "</thead><tbody>" : "");
    }
    if (table->rows > 1)
        text_file_print(to, "</tbody></table></div>\n");
    table_release(table);
}

static void put_device(text_file *to, const json_t *table, const json_t *device)
{
    text_table rows = bench_view_rows(device), sizes = bench_view_sizes(device),
               papers = bench_view_papers(table, device);
    const char *doubt = bench_text_at(json_object_get(device, "limits"), "doubt");
    short_text fact;
    text_file_print(to, "<h3>");
    chart_put_text(to, bench_device_text(device).s);
    text_file_print(to, "</h3>\n");
    for (size_t i = 0; (fact = bench_view_fact(device, i)).s[0] != '\0'; i++)
        put_paragraph(to, strncmp(fact.s, doubt, strlen(fact.s)) == 0 ? "doubt" : "faint", fact.s);
    put_table(to, &rows);
    put_table(to, &sizes);
    put_table(to, &papers);
}

/* ---- Charts ---------------------------------------------------------------------------------- */

/* A bar for each row of each device: its rate, or its seconds, where rows are steps of a job. */
static void put_bars(text_file *to, const json_t *table)
{
    size_t n = 0, d, i, all = 0;
    const json_t *device, *row, *devices = json_object_get(table, "devices");
    JSON_EACH(devices, d, device) all += json_array_size(json_object_get(device, "rows"));
    chart_bar *bars = allocate(all + 1, sizeof *bars);
    const bool are_files = strcmp(bench_text_at(table, "kernel"), "io") == 0;
    const bool are_steps =
        isfinite(bench_number_at(json_array_get(json_object_get(json_array_get(devices, 0), "rows"), 0), "step_s"));
    JSON_EACH(devices, d, device)
    JSON_EACH(json_object_get(device, "rows"), i, row)
    {
        const double value = are_steps ? bench_number_at(row, "step_s") : bench_number_at(row, "evaluations_per_s");
        if (!bench_view_is_sound(row) || !(value > 0))
            continue;
        chart_bar *bar = &bars[n++];
        *bar = (chart_bar){.value = value, .colour = d};
        snprintf(bar->name, sizeof bar->name, "%s", bench_text_at(row, "variant"));
        if (are_steps)
            snprintf(bar->figure, sizeof bar->figure, "%.3g s", value);
        else
            snprintf(bar->figure, sizeof bar->figure, "%s", bench_view_significant(value / 1e9).s);
    }
    if (n > 0)
        chart_put_bars(to,
                       are_steps   ? "Seconds of each step"
                       : are_files ? "Billion bytes per second"
                                   : "Billion evaluations per second",
                       bars, n);
    free(bars);
    JSON_EACH(devices, d, device)
    {
        if (n > 0 && json_array_size(devices) > 1)
            chart_put_name(to, d, bench_device_text(device).s);
    }
    if (n > 0)
        text_file_print(to, "</figure>\n");
}

/* Steps by what they compute for each byte, below what memory and arithmetic allow. */
static void put_roofline(text_file *to, const json_t *table)
{
    const json_t *device, *row;
    size_t d, i;
    chart c = chart_begin("Roofline: steps below the device's limits", "multiply-adds for each byte",
                          "multiply-adds per second");
    JSON_EACH(json_object_get(table, "devices"), d, device)
    {
        const double memory = bench_number_at(json_object_get(device, "limits"), "memory_bytes_per_s"),
                     fma = bench_number_at(device, "fma_per_s");
        chart_series *steps = chart_add(&c, d, bench_device_text(device).s);
        double low = INFINITY, high = 0;
        if (steps == NULL)
            break;
        steps->has_line = false;
        JSON_EACH(json_object_get(device, "rows"), i, row)
        {
            const double adds = bench_number_at(row, "multiply_adds"), bytes = bench_number_at(row, "bytes"),
                         seconds = bench_number_at(row, "step_s");
            const char *colon = strchr(bench_text_at(row, "variant"), ':');
            if (!bench_view_is_sound(row) || !(adds > 0 && bytes > 0 && seconds > 0))
                continue;
            chart_point(steps, adds / bytes, adds / seconds, d == 0 && colon != NULL ? colon + 2 : NULL);
            low = fmin(low, adds / bytes);
            high = fmax(high, adds / bytes);
        }
        chart_series *roof = steps->n > 0 ? chart_add(&c, d, "") : NULL;
        if (roof == NULL || !(memory > 0 && fma > 0))
            continue;
        roof->has_marks = false;
        low = fmin(low, 0.3 * fma / memory);
        chart_point(roof, low, low * memory, NULL);
        chart_point(roof, fma / memory, fma, NULL);
        chart_point(roof, fmax(high, 3 * fma / memory), fma, NULL);
    }
    chart_put(to, &c);
    chart_end(&c);
}

static void put_frontier(text_file *to, const json_t *table)
{
    const json_t *device, *row;
    size_t d, i;
    chart c =
        chart_begin("Each tolerance a point, and direct summation", "seconds from atoms to map", "relative RMS error");
    JSON_EACH(json_object_get(table, "devices"), d, device)
    {
        chart_series *line = chart_add(&c, d, bench_device_text(device).s), *direct = chart_add(&c, d, "");
        JSON_EACH(json_object_get(device, "rows"), i, row)
        {
            const double error = bench_number_at(json_object_get(row, "accuracy"), "relative_rms");
            const bool is_direct = !(bench_number_at(row, "tolerance") > 0);
            if (bench_view_is_sound(row) && bench_number_at(row, "whole_s") > 0)
                chart_point(is_direct ? direct : line, bench_number_at(row, "whole_s"), error,
                            is_direct ? "direct summation" : NULL);
        }
    }
    chart_put(to, &c);
    chart_end(&c);
}

/* The best rate of direct summation that the report has for this device; not a number: none. */
static double direct_rate(const json_t *report, const json_t *like)
{
    const json_t *table, *device, *row;
    const char *name = bench_text_at(json_object_get(like, "device"), "name");
    double best = NAN;
    size_t t, d, i;
    JSON_EACH(json_object_get(report, "tables"), t, table)
    {
        if (strcmp(bench_text_at(table, "kernel"), "dcs") != 0)
            continue;
        JSON_EACH(json_object_get(table, "devices"), d, device)
        {
            if (strcmp(bench_text_at(json_object_get(device, "device"), "name"), name) != 0)
                continue;
            JSON_EACH(json_object_get(device, "rows"), i, row)
            if (bench_view_is_sound(row))
                best = fmax(best, bench_number_at(row, "evaluations_per_s"));
        }
    }
    return best;
}

/* Where the second line falls below the first one, between two points of both, on logarithmic axes;
 * marks it. */
static void mark_crossings(chart *c, const chart_series *a, const chart_series *b, const char *what)
{
    chart_series *marks = NULL;
    for (size_t i = 1; i < a->n && i < b->n; i++) {
        const double before = log(a->y[i - 1] / b->y[i - 1]), after = log(a->y[i] / b->y[i]);
        if (before * after >= 0)
            continue;
        const double t = before / (before - after), x = exp(log(a->x[i - 1]) + t * log(a->x[i] / a->x[i - 1])),
                     y = exp(log(a->y[i - 1]) + t * log(a->y[i] / a->y[i - 1]));
        marks = marks != NULL ? marks : chart_add(c, 3, "");
        chart_point(marks, x, y, text_of("%s: %s atoms", what, count_text((int64_t)x).s).s);
    }
}

static void put_curve_of(chart *c, const json_t *report, const json_t *device, size_t d)
{
    const double rate = direct_rate(report, device);
    const json_t *size;
    size_t i;
    chart_series *whole = chart_add(c, d, bench_device_text(device).s),
                 *core = chart_add(c, 1, "one core, plain loops in C"),
                 *direct = chart_add(c, 2, "direct summation, by its rate");
    if (whole == NULL || core == NULL || direct == NULL)
        return;
    core->is_dashed = direct->is_dashed = true;
    core->has_marks = direct->has_marks = false;
    JSON_EACH(json_object_get(device, "sizes"), i, size)
    {
        const json_t *dims = json_object_get(size, "dims");
        if (!bench_view_is_sound(size))
            continue;
        const double atoms = bench_number_at(size, "atoms");
        double points = 1;
        for (size_t axis = 0; axis < 3; axis++)
            points *= json_number_value(json_array_get(dims, axis));
        chart_point(whole, atoms, bench_number_at(size, "whole_s"), NULL);
        chart_point(core, atoms, bench_number_at(size, "core_s"), NULL);
        chart_point(direct, atoms, atoms * points / rate, NULL);
    }
    mark_crossings(c, direct, whole, "direct as fast");
    mark_crossings(c, core, whole, "one core as fast");
}

static void put_curve(text_file *to, const json_t *report, const json_t *table)
{
    const json_t *device;
    size_t d;
    chart c = chart_begin("Seconds by the number of atoms", "atoms", "seconds from atoms to map");
    JSON_EACH(json_object_get(table, "devices"), d, device)
    {
        if (isfinite(bench_number_at(json_array_get(json_object_get(device, "sizes"), 0), "whole_s")))
            put_curve_of(&c, report, device, d);
    }
    chart_put(to, &c);
    chart_end(&c);
}

/* ---- The page -------------------------------------------------------------------------------- */

static void put_part(text_file *to, const json_t *report, const json_t *table)
{
    const json_t *device;
    size_t d;
    text_file_print(to, "<section>\n<h2>");
    chart_put_text(to, bench_text_at(table, "title"));
    text_file_print(to, "</h2>\n<div class=\"charts\">\n");
    if (strcmp(bench_text_at(table, "kernel"), "frontier") == 0)
        put_frontier(to, table);
    else
        put_bars(to, table);
    put_roofline(to, table);
    put_curve(to, report, table);
    text_file_print(to, "</div>\n");
    JSON_EACH(json_object_get(table, "devices"), d, device) put_device(to, table, device);
    text_table gains = bench_view_gains(table);
    put_table(to, &gains);
    text_file_print(to, "</section>\n");
}

static void put_head(text_file *to, const json_t *report)
{
    const json_t *host = json_object_get(report, "host");
    text_file_print(to,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                    "<title>leyden bench</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>leyden bench</h1>\n",
                    style);
    text_file_print(to, "<p><code>");
    chart_put_text(to, bench_text_at(report, "command_line"));
    text_file_print(to, "</code></p>\n");
    put_paragraph(to, "faint",
                  text_of("%s, leyden %s, %.0f s", bench_text_at(report, "date"), bench_text_at(report, "version"),
                          bench_number_at(report, "took_s"))
                      .s);
    put_paragraph(to, "faint", bench_text_at(host, "processor"));
    put_paragraph(to, "faint", bench_text_at(host, "system"));
    put_paragraph(
        to, "faint",
        "Figures are medians of launches that were timed one by one; spread is (slowest - fastest) / median, and "
        "a dash where there was one. An asterisk is what a job takes. ~ is scaled to the papers' problem.");
}

int bench_html_write(const json_t *report, const char *path)
{
    text_file to;
    const json_t *table;
    const char *source;
    size_t t;
    text_file_begin(&to, path, false);
    put_head(&to, report);
    JSON_EACH(json_object_get(report, "tables"), t, table) put_part(&to, report, table);
    if (bench_text_at(report, "left_out")[0] != '\0') {
        text_file_print(&to, "<p>Left out, as the time was over: ");
        chart_put_text(&to, bench_text_at(report, "left_out"));
        text_file_print(&to, ".</p>\n");
    }
    for (size_t i = 0; (source = bench_view_source(report, i)) != NULL; i++) {
        text_file_print(&to, "%s<li class=\"faint\">", i == 0 ? "<h2>Papers</h2>\n<ul>\n" : "");
        chart_put_text(&to, source);
        text_file_print(&to, "</li>\n%s", bench_view_source(report, i + 1) == NULL ? "</ul>\n" : "");
    }
    text_file_print(&to, "</body>\n</html>\n");
    return text_file_end(&to);
}
