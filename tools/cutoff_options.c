#include "cutoff_options.h"

#include <math.h>
#include <string.h>

typedef struct cutoff_values {
    ley_long_range range; /* cutoff and screening */
    double screening_length_A;
    const char *cell;
    int periodic; /* index into the choices of --periodic */
} cutoff_values;

static const char *const periodic_names[] = {"x", "y", "z", "xy", "xz", "yz", "xyz", NULL};

static void set_defaults(void *to)
{
    ley_long_range_default(&((cutoff_values *)to)->range);
}

/* A row whose value is kept beside the library's struct. */
#define OPTION_BESIDE(name_, member) \
    .of = "ley_long_range", .parameter = (name_), .offset = offsetof(cutoff_values, member)

static const option_row rows[] = {
    {OPTION_OF(ley_long_range, "cutoff", cutoff_values, range)},
    {OPTION_BESIDE("periodic", periodic), .kind = OPTION_CHOICE, .choices = periodic_names},
    {OPTION_BESIDE("cell", cell), .kind = OPTION_TEXT},
    {OPTION_OF(ley_long_range, "kappa", cutoff_values, range)},
    {.name = "screening-length",
     .kind = OPTION_REAL,
     .is_expert = true,
     .offset = offsetof(cutoff_values, screening_length_A),
     .value = "A",
     .low = 0.01,
     .high = INFINITY,
     .unset = "1/kappa",
     .help = "screening length 1/kappa, instead of --kappa"},
};

const option_block cutoff_options = OPTION_BLOCK(rows, cutoff_values, set_defaults);

const char *cutoff_cell_text(const parsed_arguments *arguments)
{
    const cutoff_values *values = option_values(arguments, &cutoff_options);
    return values != NULL ? values->cell : NULL;
}

static int check_together(const parsed_arguments *arguments)
{
    const subcommand *command = arguments->command;
    const bool is_periodic = option_named_given(arguments, "periodic"),
               has_cell = option_named_given(arguments, "cell");
    if (option_named_given(arguments, "kappa") && option_named_given(arguments, "screening-length"))
        return fail_usage(command, "--kappa and --screening-length exclude each other: one is 1 over the other");
    if (is_periodic && !has_cell)
        return fail_usage(command, "--periodic needs --cell, the periods in A, as in: --periodic %s --cell 90,90,90",
                          periodic_names[((const cutoff_values *)option_values(arguments, &cutoff_options))->periodic]);
    if (has_cell && !is_periodic)
        return fail_usage(
            command,
            "--cell needs --periodic, the axes along which there are images, as in: --periodic xyz --cell %.200s",
            cutoff_cell_text(arguments));
    return 0;
}

int cutoff_begin(const parsed_arguments *arguments, cutoff_input *input)
{
    const cutoff_values *values = option_values(arguments, &cutoff_options);
    int code = check_together(arguments);
    *input =
        (cutoff_input){.cutoff_A = values->range.cutoff_A,
                       .kappa_per_A = option_named_given(arguments, "screening-length") ? 1 / values->screening_length_A
                                                                                        : values->range.kappa_per_A};
    if (code != 0 || values->cell == NULL)
        return code;
    code = cell_parse(arguments->command, values->cell, input->cell.vector_A);
    input->periodic = periodic_names[values->periodic];
    for (int i = 0; i < 3; i++)
        input->cell.periodic[i] = strchr(input->periodic, "xyz"[i]) != NULL;
    return code;
}
