/* The frame of sub-commands that run a job: what comes first and last, what is said meanwhile, and
 * how it ends. A sub-command is a row of what is its own in that: its input, where values are
 * wanted, its file. */
#ifndef LEYDEN_JOB_FRAME_H
#define LEYDEN_JOB_FRAME_H

#include "job_options.h"
#include "job_report.h"
#include "method_row.h"
#include "plan_file.h"

typedef struct job_run job_run;

enum { JOB_MOST_OTHERS = 8 };

/* Each function may be NULL. */
typedef struct job_kind {
    const char *operand; /* what the operand holds: "atoms" */
    const char *product; /* what is computed, and written if there is an output: "map" */

    /* Whether the options make sense: its own, and then these with the method's input. Errors are
     * printed; exit code. */
    int (*check)(job_run *run);
    int (*check_input)(job_run *run);
    named_file (*file)(const job_run *run); /* that it is going to read beside the operand */
    named_file (*second_file)(const job_run *run);
    void (*warn)(const job_run *run); /* of what is odd about them; not asked to where it shall be quiet */

    ley_status (*read)(job_run *run, ley_error *error);  /* the operand, and what the method reads */
    ley_status (*place)(job_run *run, ley_error *error); /* checks it, and makes what is to be filled */
    ley_status (*write)(job_run *run, ley_error *error);
    void (*end)(job_run *run);

    /* The first lines of the text, and the first members of the report. */
    void (*print)(const job_run *run);
    void (*put_json)(const job_run *run, json_t *report);
} job_kind;

/* A sub-command's struct begins with a job_run, of which it fills in the first members. */
struct job_run {
    const job_kind *kind;
    const parsed_arguments *arguments;
    const method_row *method;
    const char *output;  /* the file, or NULL */
    const char *header;  /* a second one that is written with it, or NULL */
    bool is_streamed;    /* the file is float32 values, which never are in memory all at once, and: */
    int64_t front_bytes; /* that stand in front of them */
    char *const *others; /* and more files like it, at most JOB_MOST_OTHERS, of which each may be NULL */
    size_t other_count;
    bool keeps_atoms;       /* the file lists all atoms */
    bool keeps_planes;      /* what is done outlives the command, and the next one goes on from it */
    void *problem;          /* what the method is given */
    ley_target_kind target; /* whose variants can be named: at points, or elsewhere */
    bool is_dry;            /* nothing is computed: what it would take is said, */
    ley_link link;          /* and on so many ranks; 0 or 1: on this one alone */

    const job_values *values; /* and these the frame */
    job_values planned;       /* the same, with what the plan says of the options that were not given */
    bool is_for_host;         /* --device or the plan says so */
    bool lacks_devices;       /* there is none, or rank 0 has none */
    bool is_by_parts;         /* of several ranks each reads its part of the atoms, where the method can do with it */
    plan_file plan;
    void *input; /* the method's, or NULL */
    ley_engine *engine;
    ley_engine **lent; /* the engine is the caller's, where it opens as soon as somebody wants it; or NULL */
    bool is_told;      /* what failed names the operand: it could not be read */
    ley_job *job;
    const ley_report *report;     /* of a job, once it ended */
    const ley_forecast *forecast; /* of a dry run; or NULL */
    double tolerance;             /* relative root mean square error that the method may have; 0: any */
    bool computed, is_written;
    phase_times phases;
    progress_line progress;
};

/* All of it; exit code. */
int job_frame_run(job_run *run);

/* The same in steps, for runs beside others (job_batch.h), which say nothing but what is wrong with
 * options. The engine is lent, and opened by who wants it first. Whether all can begin, exit code;
 * what is read; what devices do, or the host; the file, and whether the tolerance was kept.
 * release() comes in any case. */
int job_frame_check(job_run *run);
bool job_frame_wants_devices(const job_run *run);
ley_status job_frame_read(job_run *run, ley_error *error);
ley_status job_frame_compute(job_run *run, ley_error *error);
ley_status job_frame_write(job_run *run, ley_error *error);
void job_frame_put_json(const job_run *run, const ley_error *outcome, json_t *report);
void job_frame_release(job_run *run);

/* Lines "math: ...", "device: ...", "accuracy: ..." of a header; NULL: none. */
void put_work(FILE *to, const job_values *values, const ley_report *report);

#endif
