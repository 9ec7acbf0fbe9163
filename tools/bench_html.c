#include "bench_html.h"
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

int bench_html_write(json_t *report, const char *path)
{
    text_file to;
    json_t *views = json_array();
    const json_t *table;
    size_t t;
    JSON_EACH(json_object_get(report, "tables"), t, table) json_add(views, json_of_views(table));
    text_file_begin(&to, path, false);
    for (const char *const *line = bench_page; *line != NULL; line++)
        if (strcmp(*line, "@REPORT@\n") == 0)
            put_json(&to, json_incref(report));
        else if (strcmp(*line, "@VIEWS@\n") == 0)
            put_json(&to, views);
        else
            text_file_print(&to, "%s", *line);
    return text_file_end(&to);
}
