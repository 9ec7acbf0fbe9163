#include "bench_markdown.h"
#include "bench_screen.h"
#include "bench_values.h"
#include "bench_view.h"
#include "text_file.h"

static const text_escape escapes[] = {{'|', "\\|"}, {'*', "\\*"}, {'<', "&lt;"}, {'~', "\\~"}};

static void put(text_file *to, const char *text)
{
    text_file_put(to, text, escapes, sizeof escapes / sizeof *escapes);
}

/* One without rows is left out. */
static void put_table(text_file *to, text_table *table)
{
    for (size_t row = 0; row < table->rows && table->rows > 1; row++) {
        for (size_t c = 0; c < table->columns; c++) {
            text_file_print(to, "| ");
            put(to, bench_view_cell(table, row, c));
            text_file_print(to, " ");
        }
        text_file_print(to, "|\n");
        for (size_t c = 0; c < table->columns && row == 0; c++)
            text_file_print(to, table->alignment[c] == 'r' ? "|--:" : "|---");
        if (row == 0)
            text_file_print(to, "|\n");
    }
    if (table->rows > 1)
        text_file_print(to, "\n");
    table_release(table);
}

static void put_device(text_file *to, const json_t *table, const json_t *device)
{
    text_table rows = bench_view_rows(device), sizes = bench_view_sizes(device),
               papers = bench_view_papers(table, device);
    short_text fact;
    text_file_print(to, "### ");
    put(to, bench_device_text(device).s);
    text_file_print(to, "\n\n");
    for (size_t i = 0; (fact = bench_view_fact(device, i)).s[0] != '\0'; i++) {
        put(to, fact.s);
        text_file_print(to, "\n");
    }
    text_file_print(to, "\n");
    put_table(to, &rows);
    put_table(to, &sizes);
    put_table(to, &papers);
}

static void put_screen(text_file *to, const json_t *report, const json_t *screen)
{
    text_table table = bench_screen_table(screen);
    bench_sentence sentence;
    text_file_print(to, "## ");
    put(to, bench_device_text(screen).s);
    text_file_print(to, "\n\n");
    for (size_t i = 0; (sentence = bench_screen_fact(screen, i)).s[0] != '\0'; i++) {
        put(to, sentence.s);
        text_file_print(to, "\n");
    }
    text_file_print(to, "\n");
    put_table(to, &table);
    for (size_t i = 0; (sentence = bench_screen_remark(screen, i)).s[0] != '\0'; i++) {
        put(to, sentence.s);
        text_file_print(to, "\n");
    }
    put(to, bench_screen_score(report, screen).s);
    text_file_print(to, "\n\n    %s\n\n", bench_screen_line(report, screen).s);
}

static void put_screens(text_file *to, const json_t *reports)
{
    const json_t *report, *screen;
    size_t i, k;
    JSON_EACH(reports, i, report)
    JSON_EACH(json_object_get(report, "screens"), k, screen) put_screen(to, report, screen);
}

static void put_sides(text_file *to, const json_t *reports)
{
    text_table sides = bench_screen_sides(reports);
    text_file_print(to, "## Devices side by side\n\n");
    put_table(to, &sides);
    put(to, bench_screen_sides_remark);
    text_file_print(to, "\n\n");
}

static void put_tables(text_file *to, const json_t *report)
{
    const json_t *table, *device;
    const char *source;
    size_t t, d;
    text_file_print(to,
                    "Figures are medians; spread is (slowest - fastest) / median of the launches that were timed.\n\n");
    JSON_EACH(json_object_get(report, "tables"), t, table)
    {
        text_file_print(to, "## ");
        put(to, bench_text_at(table, "title"));
        text_file_print(to, "\n\n");
        JSON_EACH(json_object_get(table, "devices"), d, device) put_device(to, table, device);
        text_table gains = bench_view_gains(table);
        put_table(to, &gains);
    }
    if (bench_text_at(report, "left_out")[0] != '\0')
        text_file_print(to, "Left out, as the time was over: %s.\n\n", bench_text_at(report, "left_out"));
    for (size_t i = 0; (source = bench_view_source(report, i)) != NULL; i++)
        text_file_print(to, "%s%s%s", i == 0 ? "Papers: " : "; ", source,
                        bench_view_source(report, i + 1) == NULL ? ".\n" : "");
}

int bench_markdown_write(const json_t *reports, const char *path)
{
    text_file to;
    const bool is_one = json_array_size(reports) == 1;
    const json_t *report = json_array_get(reports, 0), *host = json_object_get(report, "host");
    size_t i;
    text_file_begin(&to, path, true);
    if (is_one)
        text_file_print(&to, "# leyden %s, `%s`\n\n%s, %s, %s\n\n", bench_text_at(report, "version"),
                        bench_text_at(report, "command_line"), bench_text_at(report, "date"),
                        bench_text_at(host, "processor"), bench_text_at(host, "system"));
    else
        text_file_print(&to, "# leyden bench\n\n");
    if (is_one)
        put_screens(&to, reports);
    if (bench_screen_is_there(reports))
        put_sides(&to, reports);
    if (!is_one)
        put_screens(&to, reports);
    JSON_EACH(reports, i, report)
    {
        if (is_one || !bench_screen_is_there(reports))
            put_tables(&to, report);
    }
    return text_file_end(&to);
}
