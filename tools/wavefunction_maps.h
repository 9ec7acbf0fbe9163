/* What `leyden orbital`, `leyden density` and `leyden esp` share: a wavefunction's values on a
 * grid, and the files of their maps. */
#ifndef LEYDEN_WAVEFUNCTION_MAPS_H
#define LEYDEN_WAVEFUNCTION_MAPS_H

#include "job_frame.h"

typedef struct wavefunction_values {
    const char *output, *like, *orbitals;
    ley_grid_options grid;
    ley_wavefunction_options sum;
    bool together, is_spin, gradient, laplacian, any_norm;
    bool is_potential, field; /* of leyden esp, as what follows */
    const char *points, *units;
    double temperature_K;
} wavefunction_values;

/* What their methods are given. */
typedef struct wavefunction_problem {
    const wavefunction_values *values;
    ley_wavefunction *wavefunction;
    ley_wavefunction_request request;
    ley_map **maps;
    int64_t *orbitals;
    ley_points *points; /* in place of maps; or NULL */
} wavefunction_problem;

/* Rows that all of them have. */
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
        {.name = "any-norm", \
         .kind = OPTION_FLAG, \
         .is_expert = true, \
         .offset = offsetof(wavefunction_values, any_norm), \
         .help = "go on where an orbital's norm is not 1 within 1e-4"}, \
    { \
        OPTION_OF(ley_wavefunction_options, "no_screening", wavefunction_values, sum) \
    }

/* 0.2 bohr from point to point, 6 bohr around the nuclei. */
void wavefunction_set_defaults(void *values);

/* Runs the command; exit code. */
int wavefunction_run(const parsed_arguments *arguments, const method_row *method);

/* The method's job. */
ley_status wavefunction_create(const void *problem, ley_engine *engine, const ley_run_options *options, ley_job **job,
                               ley_error *error);

#endif
