/* The sections of an APBS input file. */
#ifndef LEY_APBS_SECTIONS_H
#define LEY_APBS_SECTIONS_H

#include "apbs/input.h"

/* Takes the text (from malloc, a NUL behind its `size` bytes) and reads its sections; no other file
 * is opened. */
ley_status ley_apbs_parse(const char *path, char *text, size_t size, ley_apbs_input **input, ley_error *error);

#endif
