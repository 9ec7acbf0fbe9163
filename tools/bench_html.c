#include "bench_html.h"
#include "text_file.h"

#include <stdlib.h>
#include <string.h>

/* JSON in which no text is a mark of HTML or XML, so that nothing in it ends the script. These
 * characters stand in strings only. */
static void put_report(text_file *to, json_t *report)
{
    static const text_escape escapes[] = {{'<', "\\u003c"}, {'>', "\\u003e"}, {'&', "\\u0026"}};
    char *text = json_finish_text(json_incref(report));
    text_file_put(to, text, escapes, sizeof escapes / sizeof *escapes);
    text_file_print(to, "\n");
    free(text);
}

int bench_html_write(json_t *report, const char *path)
{
    text_file to;
    text_file_begin(&to, path, false);
    for (const char *const *line = bench_page; *line != NULL; line++)
        if (strcmp(*line, "@REPORT@\n") == 0)
            put_report(&to, report);
        else
            text_file_print(&to, "%s", *line);
    return text_file_end(&to);
}
