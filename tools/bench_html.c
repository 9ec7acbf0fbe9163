#include "bench_html.h"
#include "bench_screen.h"
#include "bench_view.h"
#include "text_file.h"

#include <stdlib.h>
#include <string.h>

/* JSON in which no text is a mark of HTML or XML, so that nothing in it ends the script. These
 * characters stand in strings only. */
static void put_json(text_file *to, json_t *value)
{
    static const text_escape escapes[] = {{'<', "\\u003c"}, {'>', "\\u003e"}, {'&', "\\u0026"}};
    char *text = json_finish_text(value);
    text_file_put(to, text, escapes, sizeof escapes / sizeof *escapes);
    text_file_print(to, "\n");
    free(text);
}

static json_t *json_of_table(text_table table)
{
    json_t *view = json_object(), *rows = json_array();
    json_put(view, "alignment", json_text(table.alignment));
    for (size_t row = 0; row < table.rows; row++) {
        json_t *cells = json_array();
        for (size_t column = 0; column < table.columns; column++)
            json_add(cells, json_text(bench_view_cell(&table, row, column)));
        json_add(rows, cells);
    }
    json_put(view, "rows", rows);
    table_release(&table);
    return view;
}

static json_t *json_of_views(const json_t *table)
{
    json_t *view = json_object(), *devices = json_array();
    const json_t *device;
    size_t d;
    JSON_EACH(json_object_get(table, "devices"), d, device)
    {
        json_t *one = json_object(), *facts = json_array();
        short_text fact;
        for (size_t i = 0; (fact = bench_view_fact(device, i)).s[0] != '\0'; i++)
            json_add(facts, json_text(fact.s));
        json_put(one, "facts", facts);
        json_put(one, "rows", json_of_table(bench_view_rows(device)));
        json_put(one, "sizes", json_of_table(bench_view_sizes(device)));
        json_put(one, "papers", json_of_table(bench_view_papers(table, device)));
        json_add(devices, one);
    }
    json_put(view, "devices", devices);
    json_put(view, "gains", json_of_table(bench_view_gains(table)));
    return view;
}

/* What is said of a screen, as `say` has it from i = 0. */
static json_t *json_of_sentences(const json_t *screen, bench_sentence (*say)(const json_t *, size_t))
{
    json_t *all = json_array();
    bench_sentence sentence;
    for (size_t i = 0; (sentence = say(screen, i)).s[0] != '\0'; i++)
        json_add(all, json_text(sentence.s));
    return all;
}

static json_t *json_of_report(const json_t *report)
{
    json_t *view = json_object(), *screens = json_array(), *tables = json_array();
    const json_t *screen, *table;
    size_t i;
    JSON_EACH(json_object_get(report, "screens"), i, screen)
    {
        json_t *one = json_object();
        json_put(one, "facts", json_of_sentences(screen, bench_screen_fact));
        json_put(one, "rows", json_of_table(bench_screen_table(screen)));
        json_put(one, "remarks", json_of_sentences(screen, bench_screen_remark));
        json_put(one, "score", json_text(bench_screen_score(report, screen).s));
        json_put(one, "line", json_text(bench_screen_line(report, screen).s));
        json_add(screens, one);
    }
    JSON_EACH(json_object_get(report, "tables"), i, table) json_add(tables, json_of_views(table));
    json_put(view, "screens", screens);
    json_put(view, "tables", tables);
    return view;
}

int bench_html_write(const json_t *reports, const char *path)
{
    text_file to;
    json_t *views = json_object(), *of_reports = json_array();
    const json_t *report;
    size_t i;
    JSON_EACH(reports, i, report) json_add(of_reports, json_of_report(report));
    json_put(views, "sides", json_of_table(bench_screen_sides(reports)));
    json_put(views, "sides_remark", json_text(bench_screen_sides_remark));
    json_put(views, "reports", of_reports);
    text_file_begin(&to, path, false);
    for (const char *const *line = bench_page; *line != NULL; line++)
        if (strcmp(*line, "@REPORTS@\n") == 0)
            put_json(&to, json_deep_copy(reports));
        else if (strcmp(*line, "@VIEWS@\n") == 0)
            put_json(&to, views);
        else
            text_file_print(&to, "%s", *line);
    return text_file_end(&to);
}
