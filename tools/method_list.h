/* The methods of the command, by sub-command and by what inputs call them. */
#ifndef LEYDEN_METHOD_LIST_H
#define LEYDEN_METHOD_LIST_H

#include "method_row.h"

/* The methods of a sub-command in their order; NULL behind the last. */
const method_row *method_row_at(const subcommand *command, size_t i);

/* The same, as the parser of options wants it. */
const option_method *method_option_at(const subcommand *command, size_t i);

/* Number of the one that is taken where none is named. */
int method_row_usual(const subcommand *command);

/* The method that an APBS input asks for; NULL where there is none. */
const method_row *method_row_of_bcfl(ley_boundary_kind kind);

#endif
