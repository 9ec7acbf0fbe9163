#include "cutoff_options.h"

typedef struct cutoff_values {
    double cutoff_A;
} cutoff_values;

static void set_defaults(void *values)
{
    ley_short_range range;
    ley_short_range_default(&range);
    ((cutoff_values *)values)->cutoff_A = range.cutoff_A;
}

static const option_row rows[] = {
    {.name = "cutoff",
     .kind = OPTION_REAL,
     .offset = offsetof(cutoff_values, cutoff_A),
     .value = "A",
     .low = 0,
     .above_low = true,
     .high = 1e4,
     .help = "pairs at this distance, in Angstrom, and beyond add nothing, or are left to lattices"},
};

const option_block cutoff_options = OPTION_BLOCK(rows, cutoff_values, set_defaults);

double cutoff_value_A(const parsed_arguments *arguments)
{
    return ((const cutoff_values *)option_values(arguments, &cutoff_options))->cutoff_A;
}
