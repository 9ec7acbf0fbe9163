/* A method in the command: a row. What it is called and takes for options, what of its input it
 * makes, how its job is created, what files, text and report say of it. A method is a file,
 * tools/method_X.c, and its row in tools/registry.h; no other file of tools/ knows its name. */
#ifndef LEYDEN_METHOD_ROW_H
#define LEYDEN_METHOD_ROW_H

#include "cell.h"
#include "file.h"
#include "json.h"
#include "options.h"

#include <stdio.h>

typedef struct bench_row bench_row;

/* `problem` is what the sub-command hands its methods: a map_problem, a boundary_problem. `input`
 * is the method's own, which is part of that. */
typedef struct method_row {
    option_method option;      /* its name, and what the sub-command's help says of it */
    const char *title;         /* "direct Coulomb summation" */
    const subcommand *command; /* that has it */
    bool is_usual;             /* what the sub-command takes where none is named */
    const char *kernels;       /* the library's method whose variants can be named */
    ley_boundary_kind bcfl;    /* what APBS's inputs ask for it by; LEY_BOUNDARY_OTHER: nothing */

    /* Its input, of input_size bytes, zeroed at first. begin() checks and converts the options; it
     * prints errors and returns the exit code. file() is what read() is going to read. end() comes
     * in any case. Each may be NULL. */
    size_t input_size;
    int (*begin)(const parsed_arguments *arguments, void *input);
    named_file (*file)(const void *input);
    ley_status (*read)(void *input, const ley_atoms *atoms, const char *atoms_path, ley_error *error);
    void (*end)(void *input);

    /* Of maps. Whether it makes fields, and values at the points of a list. The cell in which atoms
     * may have images; NULL: they have none. Whether there is memory for the map and the job. */
    bool takes_points;
    const periodic_cell *(*cell)(const void *input);
    ley_status (*check_memory)(const void *problem, const ley_grid *grid, ley_error *error);

    /* Whether ranks of a job may each read a share of the atoms of a map. How far beyond some
     * planes of a grid the atoms are that the values there need; infinite: all atoms. NULL: the job
     * finds that itself. */
    bool takes_shares;
    double (*halo_A)(const void *problem, const ley_grid *grid);

    /* The relative root mean square error that the values may have; 0: any. NULL: any. And where it
     * was missed, what may bring them nearer, as the end of a sentence. */
    double (*tolerance)(const void *input);
    const char *(*advice)(const void *input);

    /* Its jobs are other methods', as the library chooses: they go on with the problem, and with
     * the input if they have one, whose type is then the same. */
    bool is_choice;

    const char *title_by_host; /* what it is where the host does it; NULL: the same */

    /* Its job, without an engine by the host; or, of what needs no device, its values. */
    ley_status (*create)(const void *problem, ley_engine *engine, const ley_run_options *options, ley_job **job,
                         ley_error *error);
    ley_status (*compute)(const void *problem, ley_error *error);

    /* How the job was done in the end is taken into the input. NULL: as it was created. */
    void (*done)(const void *problem, const ley_job *job);

    /* The end of the text's line of the method: the dielectric, and what else decides the values.
     * May be NULL. */
    void (*put_medium)(const void *problem, FILE *to);

    /* Lines of the file's header, lines of the verbose text, and a section of the report, which is
     * null with the sub-command's other methods. Each may be NULL. */
    void (*put_header)(const void *problem, const ley_report *report, FILE *to);
    void (*print)(const void *problem, const ley_report *report);
    const char *rate; /* what is counted by the second, "pairs/s"; NULL: evaluations */
    const char *section;
    json_t *(*json)(const void *problem, const ley_report *report);

    const bench_row *bench; /* its part in `leyden bench`, or NULL */
} method_row;

/* Whether its jobs are the library's method of this name. */
bool method_row_makes(const method_row *row, const char *name);

/* What it is, by the host or not. */
const char *method_row_title(const method_row *method, const ley_report *report);

/* Runs the job, or computes on the host where there is none. Signals are deferred from here on, or
 * from when the host is done. */
ley_status method_row_run(const method_row *method, const void *problem, ley_job *job, ley_error *error);

#endif
