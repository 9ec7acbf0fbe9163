/* One line on the terminal that says how far the work is. Silent when stderr is no terminal. */
#ifndef LEYDEN_PROGRESS_H
#define LEYDEN_PROGRESS_H

#include "leyden.h"

#include <stdbool.h>

typedef struct progress_line {
    bool active;      /* stderr is a terminal, and the user wants to see it */
    bool dirty;       /* something stands on the line */
    bool finished;    /* all points were shown as done */
    double drawn_s;   /* when it was drawn last */
    const char *last; /* what to say when all points are done but the job is not, or NULL */
} progress_line;

void progress_start(progress_line *line, bool quiet);

/* Shows a text at once. */
void progress_say(progress_line *line, const char *what);

/* Shows the bar, at most ten times per second. `context` is the progress_line: fits
 * ley_run_options.progress. */
void progress_show(void *context, const ley_progress *progress);

void progress_clear(progress_line *line);

/* From now on prints on stderr what the library logs, with seconds since now. A progress line
 * moves on below it. */
void progress_log_begin(void);

#endif
