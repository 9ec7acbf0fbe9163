#include "progress.h"
#include "console.h"
#include "leyden.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { narrowest_bar = 10, widest_bar = 50, widest_line = 255 };

/* Columns that can be used: the last one stays free, since writing there makes some terminals
 * wrap. */
static int line_width(void)
{
    struct winsize size;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    return columns - 1 < widest_line ? columns - 1 : widest_line;
}

static void draw(progress_line *line, const char *content)
{
    int width = line_width();
    int length = (int)strlen(content) < width ? (int)strlen(content) : width;
    fprintf(stderr, "\r%.*s%*s", length, content, width - length, "");
    fflush(stderr);
    line->dirty = true;
    line->drawn_s = now_s();
}

void progress_start(progress_line *line, bool quiet)
{
    *line = (progress_line){.active = !quiet && ley_ranks_own() == 0 && isatty(STDERR_FILENO)};
}

void progress_say(progress_line *line, const char *what)
{
    if (line->active)
        draw(line, what);
}

void progress_show(void *context, const ley_progress *progress)
{
    progress_line *line = context;
    bool finished = progress->points_done >= progress->points_total;
    bool first_finished = finished && !line->finished;
    if (!line->active || (!first_finished && now_s() - line->drawn_s < 0.1))
        return;
    line->finished = finished;
    if (finished && line->last != NULL) {
        draw(line, line->last);
        return;
    }
    double share = progress->points_total > 0 ? (double)progress->points_done / (double)progress->points_total : 0;
    share = fmin(fmax(share, 0), 1);
    char facts[128], bar[widest_bar + 4] = "", content[sizeof facts + sizeof bar];
    int facts_length = snprintf(facts, sizeof facts, "%3d %%  %s/s  %s left", (int)floor(100 * share),
                                billions_text(progress->evaluations_per_s).s, clock_text(progress->left_s).s);
    int cells = line_width() - facts_length - 4;
    cells = cells < widest_bar ? cells : widest_bar;
    if (cells >= narrowest_bar) {
        int full = (int)(share * cells);
        memset(bar + 1, '=', (size_t)full);
        memset(bar + 1 + full, ' ', (size_t)(cells - full));
        bar[0] = '[';
        bar[cells + 1] = ']';
        bar[cells + 2] = ' ';
    }
    snprintf(content, sizeof content, "%s%s", bar, facts);
    draw(line, content);
}

static void log_line(void *context, ley_log_level level, const char *message)
{
    const double *start_s = context;
    char line[2560], who[32] = "";
    if (ley_ranks_count() > 1)
        snprintf(who, sizeof who, "rank %d: ", ley_ranks_own());
    const int length = snprintf(line, sizeof line, "leyden: %s[%8.3f s] %s: %s", who, now_s() - *start_s,
                                ley_log_level_name(level), message);
    if (isatty(STDERR_FILENO)) /* what stands on the line is drawn again soon */
        fprintf(stderr, "\r%s%*s\n", line, length < line_width() ? line_width() - length : 0, "");
    else
        fprintf(stderr, "%s\n", line);
}

void progress_log_begin(void)
{
    static double start_s;
    start_s = now_s();
    ley_log_set(log_line, &start_s, LEY_LOG_DETAIL);
}

void progress_clear(progress_line *line)
{
    if (line->dirty)
        fprintf(stderr, "\r%*s\r", line_width(), "");
    line->dirty = false;
}
