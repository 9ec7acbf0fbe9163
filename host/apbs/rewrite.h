/* An APBS input file, written again. */
#ifndef LEY_APBS_REWRITE_H
#define LEY_APBS_REWRITE_H

#include "apbs/input.h"

/* The rewritten text, from malloc. */
ley_status ley_apbs_compose(const ley_apbs_input *input, const char *const *maps, char **text, size_t *size,
                            ley_error *error);

#endif
