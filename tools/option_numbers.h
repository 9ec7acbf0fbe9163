/* Options whose values are numbers. */
#ifndef LEYDEN_OPTION_NUMBERS_H
#define LEYDEN_OPTION_NUMBERS_H

#include "option_row.h"

/* How many numbers an option has; of OPTION_REALS, whose number is open, 1. */
int option_numbers(const option_row *option);

typedef struct option_fault {
    char s[512];
} option_fault;

/* Takes them from the text of its value. False: what is wrong, with what to type instead where that
 * can be told. */
bool option_parse_numbers(const option_row *option, const char *value, void *to, option_fault *why);

/* Whether the word is a decimal number and nothing else: "nan", blanks and hexadecimals are none.
 * 1e999 is, and becomes infinite. */
bool read_real(const char *word, double *value);

#endif
