/* What other programs call options and their values, and what to type here. Each text stands behind
 * a message, "; type: leyden map a.pqr --dims 65,65,65"; it is empty where nothing is known. */
#ifndef LEYDEN_FOREIGN_OPTIONS_H
#define LEYDEN_FOREIGN_OPTIONS_H

#include "typed.h"

/* The names of a command's options, without dashes, i from 0; NULL behind the last. */
typedef const char *option_names(const void *context, size_t i);

/* Of an option, "--dime=65", that the command lacks; and of a long one with one dash, "-dims". Both
 * are words of the command line. */
typed_text foreign_option(const char *word, option_names *name, const void *context);
typed_text foreign_dashes(const char *word, option_names *name, const void *context);

/* Of a value that an option of this name does not take, or that is missing, NULL. */
typed_text foreign_value(const char *name, const char *value);

#endif
