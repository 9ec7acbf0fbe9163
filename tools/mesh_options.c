/* Which meshes a long-range sum takes, for all commands that can be told so. */
#include "mesh_options.h"

#include <stddef.h>

const char *const splitting_names[] = {LEY_SPLITTING_TABLE(LEY_NAME) NULL};
const char *const window_names[] = {LEY_WINDOW_TABLE(LEY_NAME) NULL};
const char *const solver_names[] = {LEY_SOLVER_TABLE(LEY_NAME) NULL};
CHOICES_ARE(splitting_names, LEY_SPLITTING_COUNT);
CHOICES_ARE(window_names, LEY_WINDOW_COUNT);
CHOICES_ARE(solver_names, LEY_SOLVER_COUNT);

static const former_word former_solvers[] = {{"direct", "multilevel"}, {"fft", "fourier"}, {NULL, NULL}};

typedef struct mesh_values {
    double spacing_A;
    int splitting, window, solver;
} mesh_values;

static void set_defaults(void *to)
{
    ley_long_range range;
    ley_long_range_default(&range);
    *(mesh_values *)to = (mesh_values){.spacing_A = range.spacing_A,
                                       .splitting = (int)range.splitting,
                                       .window = (int)range.window,
                                       .solver = (int)range.solver};
}

static const option_row rows[] = {
    {.name = "mesh-spacing",
     .former = "lattice-spacing",
     .kind = OPTION_REAL,
     .offset = offsetof(mesh_values, spacing_A),
     .value = "A",
     .low = 0,
     .above_low = true,
     .high = 1e4,
     .help = "distance of neighbouring nodes of the finest mesh, in Angstrom"},
    {.name = "splitting",
     .kind = OPTION_CHOICE,
     .offset = offsetof(mesh_values, splitting),
     .value = "NAME",
     .choices = splitting_names,
     .help = "how 1/r is split into what pairs and what meshes sum"},
    {.name = "window",
     .kind = OPTION_CHOICE,
     .offset = offsetof(mesh_values, window),
     .value = "NAME",
     .choices = window_names,
     .help = "how charges are spread over nodes, and points take their values from them"},
    {.name = "solver",
     .kind = OPTION_CHOICE,
     .offset = offsetof(mesh_values, solver),
     .value = "NAME",
     .choices = solver_names,
     .former_choices = former_solvers,
     .help = "what finds the nodes' potentials: multilevel is multilevel summation, fourier one mesh and its Fourier "
             "transform, which B-splines need, mixed the first of so many levels that its transform fits into the "
             "device's memory and the finer ones by lattice cutoff; auto is what the window asks for, mixed with a "
             "nodal window where no device has room for the whole mesh's transform, and multilevel where none has "
             "transforms"},
};

const option_block mesh_options = OPTION_BLOCK(rows, mesh_values, set_defaults);

unsigned mesh_options_take(const parsed_arguments *arguments, ley_long_range *range)
{
    const mesh_values *values = option_values(arguments, &mesh_options);
    unsigned given = 0;
    if (option_named_given(arguments, "mesh-spacing")) {
        range->spacing_A = values->spacing_A;
        given |= LEY_FIX_SPACING;
    }
    if (option_named_given(arguments, "splitting")) {
        range->splitting = (ley_splitting)values->splitting;
        given |= LEY_FIX_SPLITTING;
    }
    if (option_named_given(arguments, "window")) {
        range->window = (ley_window)values->window;
        given |= LEY_FIX_WINDOW;
    }
    if (option_named_given(arguments, "solver")) {
        range->solver = (ley_solver)values->solver;
        given |= LEY_FIX_SOLVER;
    }
    return given;
}
