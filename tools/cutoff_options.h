/* The options of all methods that have a cutoff: it, periodic cells, screening. */
#ifndef LEYDEN_CUTOFF_OPTIONS_H
#define LEYDEN_CUTOFF_OPTIONS_H

#include "cell.h"

extern const option_block cutoff_options;

typedef struct cutoff_input {
    double cutoff_A, kappa_per_A;
    periodic_cell cell;
    const char *periodic; /* as --periodic has it; NULL: along no axis */
} cutoff_input;

/* What --cell was given; NULL: it was not. */
const char *cutoff_cell_text(const parsed_arguments *arguments);

/* Checks that the options given make sense with each other, and converts them. Prints errors; exit
 * code. */
int cutoff_begin(const parsed_arguments *arguments, cutoff_input *input);

#endif
