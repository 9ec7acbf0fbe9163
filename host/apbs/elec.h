/* One ELEC section of an APBS input file. */
#ifndef LEY_APBS_ELEC_H
#define LEY_APBS_ELEC_H

#include "apbs/input.h"

/* One ELEC section: `at` is the word behind its type, and afterwards the one behind its END. */
ley_status ley_apbs_parse_elec(ley_apbs_input *input, size_t *at, ley_apbs_facts *facts, ley_error *error);

#endif
