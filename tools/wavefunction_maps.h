/* What `leyden orbital`, `leyden density` and `leyden esp` share: a wavefunction's values on a
 * grid, and the files of their maps. */
#ifndef LEYDEN_WAVEFUNCTION_MAPS_H
#define LEYDEN_WAVEFUNCTION_MAPS_H

#include "job_frame.h"

typedef struct wavefunction_values {
    const char *output, *like, *orbitals, *less;
    option_reals occupations;
    ley_grid_options grid;
    ley_wavefunction_options sum;
    const char *points; /* a file of places, instead of a grid */
    bool together, is_spin, gradient, laplacian, reduced_gradient, any_norm, dry_run;
    bool is_potential, field; /* of leyden esp, as what follows */
    const char *units;
    double temperature_K;
} wavefunction_values;

/* What their methods are given. */
typedef struct wavefunction_problem {
    const wavefunction_values *values;
    ley_wavefunction *wavefunction;
    ley_wavefunction_request request;
    ley_map **maps;
    int64_t *orbitals;
    double *occupations; /* of these, or NULL */
    ley_points *points;  /* in place of maps; or NULL */
} wavefunction_problem;

/* Rows that all of them have; of the output its help, and which files several values have. */
#define WAVEFUNCTION_OUTPUT(help_, names_) \
    { \
        .name = "output", .letter = 'o', .kind = OPTION_TEXT, .required = true, .value = "MAP", \
        .offset = offsetof(wavefunction_values, output), .help = help_, .more = "%s; " names_, .names = map_formats \
    }
#define OPTION_OF_WAVEFUNCTION_GRID(name) OPTION_OF(ley_grid_options, name, wavefunction_values, grid)
#define WAVEFUNCTION_ROWS \
    {OPTION_OF_WAVEFUNCTION_GRID("spacing")}, {OPTION_OF_WAVEFUNCTION_GRID("dims")}, \
        {OPTION_OF_WAVEFUNCTION_GRID("glen")}, {OPTION_OF_WAVEFUNCTION_GRID("gcent")}, \
        {OPTION_OF_WAVEFUNCTION_GRID("origin")}, {OPTION_OF_WAVEFUNCTION_GRID("padding")}, \
        {.name = "like", \
         .kind = OPTION_TEXT, \
         .offset = offsetof(wavefunction_values, like), \
         .value = "MAP", \
         .unset = "a new grid", \
         .help = "use the grid of this map, in any readable format"}, \
        {.name = "points", \
         .kind = OPTION_TEXT, \
         .is_input = true, \
         .offset = offsetof(wavefunction_values, points), \
         .value = "FILE", \
         .unset = "those of the grid", \
         .help = "compute at the points of FILE, with x y z in A on each line, instead of on a grid", \
         .more = "- is standard input; FILE may also be a table with columns x, y and z, a NumPy array, or a " \
                 "molecule, whose atoms these " \
                 "are; the output " \
                 "is a table, .csv or .npy, with a column for each value"}, \
        {.name = "dry-run", \
         .kind = OPTION_FLAG, \
         .offset = offsetof(wavefunction_values, dry_run), \
         .help = "compute nothing; report the memory and time needed, and the plan", \
         .more = "devices are measured and kernels built as for a run"}, \
        {.name = "any-norm", \
         .kind = OPTION_FLAG, \
         .is_expert = true, \
         .offset = offsetof(wavefunction_values, any_norm), \
         .help = "go on where an orbital's norm is not 1 within 1e-4"}, \
    { \
        OPTION_OF(ley_wavefunction_options, "no_screening", wavefunction_values, sum) \
    }

/* Reads one whose orbitals have norm 1, as those of other conventions have not. `advice` is the end
 * of the message; NULL: any norm will do. */
ley_status wavefunction_read(const char *path, const char *advice, ley_wavefunction **wavefunction, ley_error *error);

/* 0.2 bohr from point to point, 6 bohr around the nuclei. */
void wavefunction_set_defaults(void *values);

/* Runs the command; exit code. And the blocks that both share with others. */
int wavefunction_run(const parsed_arguments *arguments);
extern const option_block *const wavefunction_shared[];

/* The method's job. */
ley_status wavefunction_create(const void *problem, ley_engine *engine, const ley_run_options *options, ley_job **job,
                               ley_error *error);

#endif
