/* What the commands that run jobs share after the work: the report as text and as JSON. */
#ifndef LEYDEN_JOB_REPORT_H
#define LEYDEN_JOB_REPORT_H

#include "console.h"
#include "json.h"

#include <stdio.h>

/* Seconds, by what they went into; waiting: for ranks that are not as far yet. */
typedef struct phase_times {
    double start_s, waiting_s, reading_s, preparing_s, computing_s, verifying_s, writing_s;
} phase_times;

/* Reads the clock and gives the time since its last reading. */
double lap_s(double *last_s);

/* ---- Comments in the files ------------------------------------------------------------------- */

/* A line break in the name of a file or a device would break the header. */
void put_name(FILE *to, const char *before, const char *name);

/* Lines "molecule: ..."; "device: ..." of all that took part; "accuracy: ...", if anything was
 * verified. */
void put_molecule(FILE *to, const char *path, const ley_atoms *atoms);
void put_devices(FILE *to, const ley_report *report);
void put_accuracy(FILE *to, const ley_report *report);

/* A stream whose text comment_end() hands out, without its last line break; the caller frees it. */
typedef struct comment_text {
    FILE *stream;
    char *text;
    size_t size;
} comment_text;
void comment_begin(comment_text *comment);
char *comment_end(comment_text *comment);

/* ---- Text on stdout -------------------------------------------------------------------------- */

void print_molecule(const char *path, const ley_atoms *atoms);
short_text relative_text(double relative_rms); /* "1e-06"; of what is 0 alone what that means */
short_text spacing_text(const ley_grid *grid); /* "0.5", or "(0.5, 0.5, 1)" */
short_text box_text(const ley_grid *grid);     /* "10 x 20 x 30 A" */
/* Devices and rate, of "pairs/s"; NULL: of evaluations. */
void print_work(const ley_report *report, const char *what, bool asks_host);
void print_times(const phase_times *phases, const ley_report *report);
void print_accuracy(const ley_report *report); /* when anything was verified; NULL: nothing */

/* "; relative RMS error 1e-07 at 1,000 points", the end of a line; of a tolerance, whether it was
 * held to more than these values. NULL: nothing. */
void print_error(const ley_report *report);

/* "time: 1.23 s on device 0 (H100, cuda)". */
void print_total(const phase_times *phases, const ley_report *report);
void print_written(const char *path, double seconds); /* that its writing took; 0: nobody knows */

/* Devices that left the job, on stderr: warnings when others finished it, an explanation of the
 * error otherwise. */
void print_failures(const ley_report *report, const ley_error *error);

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *json_of_molecule(const char *path, const ley_atoms *atoms);
json_t *json_of_phases(const phase_times *phases);
void json_put_work(json_t *object, const ley_report *report); /* devices, evaluations, accuracy, slabs; NULL: nulls */

json_t *json_of_notes(const ley_report *report); /* what the method says; null when it says nothing */

#endif
