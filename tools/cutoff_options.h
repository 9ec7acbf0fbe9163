/* The option --cutoff, of all methods that have one. */
#ifndef LEYDEN_CUTOFF_OPTIONS_H
#define LEYDEN_CUTOFF_OPTIONS_H

#include "options.h"

extern const option_block cutoff_options;

double cutoff_value_A(const parsed_arguments *arguments);

#endif
