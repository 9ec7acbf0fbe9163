/* All there is of sub-commands and of methods, a row each. */
#ifndef LEYDEN_TOOLS_REGISTRY_H
#define LEYDEN_TOOLS_REGISTRY_H

#include "method_row.h"

/* In the order of the help; NULL behind the last. */
extern const subcommand *const command_table[];
extern const method_row *const method_table[];

#endif
