#include "cutoff_options.h"

#include <math.h>
#include <string.h>

typedef struct cutoff_values {
    double cutoff_A, kappa_per_A, screening_length_A;
    const char *cell;
    int periodic; /* index into the choices of --periodic */
} cutoff_values;

static const char *const periodic_names[] = {"x", "y", "z", "xy", "xz", "yz", "xyz", NULL};

static void set_defaults(void *to)
{
    ley_short_range range;
    ley_short_range_default(&range);
    *(cutoff_values *)to = (cutoff_values){.cutoff_A = range.cutoff_A, .kappa_per_A = range.kappa_per_A};
}

static const option_row rows[] = {
    {.name = "cutoff",
     .kind = OPTION_REAL,
     .offset = offsetof(cutoff_values, cutoff_A),
     .value = "A",
     .low = 0,
     .above_low = true,
     .high = 1e4,
     .help = "pairs at this distance, in Angstrom, and beyond add nothing, or are left to meshes"},
    {.name = "periodic",
     .kind = OPTION_CHOICE,
     .offset = offsetof(cutoff_values, periodic),
     .value = "AXES",
     .choices = periodic_names,
     .unset = "none",
     .help = "atoms have images along these axes of the cell, x meaning a, y b and z c; with --cell"},
    {.name = "cell",
     .kind = OPTION_TEXT,
     .offset = offsetof(cutoff_values, cell),
     .value = "NUMBERS",
     .unset = "none",
     .help = "the periodic cell: lengths a,b,c in Angstrom of a rectangular one; a,b,c,alpha,beta,gamma with the "
             "angles in degrees, a along x and b in the xy plane; or the nine coordinates of its vectors"},
    {.name = "kappa",
     .kind = OPTION_REAL,
     .offset = offsetof(cutoff_values, kappa_per_A),
     .value = "1/A",
     .low = 0,
     .high = 100,
     .help = "inverse screening length: of --pair yukawa, 'kappa' in expressions, and of all charges with meshes"},
    {.name = "screening-length",
     .kind = OPTION_REAL,
     .offset = offsetof(cutoff_values, screening_length_A),
     .value = "A",
     .low = 0.01,
     .high = INFINITY,
     .unset = "by --kappa",
     .help = "1/kappa, in place of --kappa"},
};

const option_block cutoff_options = OPTION_BLOCK(rows, cutoff_values, set_defaults);

static int check_together(const parsed_arguments *arguments)
{
    const subcommand *command = arguments->command;
    const bool is_periodic = option_named_given(arguments, "periodic"),
               has_cell = option_named_given(arguments, "cell");
    if (option_named_given(arguments, "kappa") && option_named_given(arguments, "screening-length"))
        return fail_usage(command, "--kappa and --screening-length exclude each other: one is 1 over the other");
    if (is_periodic && !has_cell)
        return fail_usage(command, "--periodic needs --cell, in whose distances the images are");
    if (has_cell && !is_periodic)
        return fail_usage(command, "--cell needs --periodic: along which of its axes are there images?");
    return 0;
}

int cutoff_begin(const parsed_arguments *arguments, cutoff_input *input)
{
    const cutoff_values *values = option_values(arguments, &cutoff_options);
    int code = check_together(arguments);
    *input =
        (cutoff_input){.cutoff_A = values->cutoff_A,
                       .kappa_per_A = option_named_given(arguments, "screening-length") ? 1 / values->screening_length_A
                                                                                        : values->kappa_per_A};
    if (code != 0 || values->cell == NULL)
        return code;
    code = cell_parse(arguments->command, values->cell, input->cell.vector_A);
    input->periodic = periodic_names[values->periodic];
    for (int i = 0; i < 3; i++)
        input->cell.periodic[i] = strchr(input->periodic, "xyz"[i]) != NULL;
    return code;
}
