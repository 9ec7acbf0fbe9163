/* The molecules that an APBS input file reads. */
#ifndef LEY_APBS_MOLECULES_H
#define LEY_APBS_MOLECULES_H

#include "apbs/input.h"

/* Reads the molecules, and compares what APBS reads in the same files. */
ley_status ley_apbs_read_molecules(ley_apbs_input *input, ley_error *error);

#endif
