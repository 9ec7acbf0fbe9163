/* Options of short-range sums, and what the library is given for them. */
#ifndef LEYDEN_SHORT_RANGE_OPTIONS_H
#define LEYDEN_SHORT_RANGE_OPTIONS_H

#include "cutoff_options.h"

typedef struct short_range_values {
    ley_short_range range; /* but for what follows, and what all methods have */
    const char *pair, *constants, *well_depths;
} short_range_values;

extern const option_block short_range_options;

/* What the library is given. */
typedef struct short_range_input {
    const short_range_values *values;
    cutoff_input common;
    ley_short_range range;     /* its texts, numbers and depths are those below, or the command line's */
    ley_named_number *numbers; /* names in `names` */
    char *names;
    double *depth_kcal_mol;
} short_range_input;

/* Checks that the options given make sense with each other, and converts them into a
 * short_range_input, zeroed at first, which is to be released in any case. What an expression says
 * is left to the library. Prints errors; exit code. */
int short_range_begin(const parsed_arguments *arguments, void *input);
void short_range_release(void *input);

/* Reads --well-depths, if it is given and the pair function takes it. Errors: LEY_ERROR_FILE;
 * LEY_ERROR_INPUT with "file:line: what", or when there are not as many as atoms, which are those
 * of the file `atoms_path`. */
ley_status short_range_read_depths(void *input, const ley_atoms *atoms, const char *atoms_path, ley_error *error);

/* Where the library found an unknown name in what was meant as a function's name: adds the names
 * that there are to its message. */
void short_range_explain(const ley_short_range *range, ley_error *error);

/* "taylor2"; of an expression its text. */
const char *short_range_pair_text(const ley_short_range *range);

#endif
