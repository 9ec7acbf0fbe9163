/* The texts of a pair function's tree. */
#ifndef LEY_EXPRESSION_SOURCE_H
#define LEY_EXPRESSION_SOURCE_H

#include "expression/tree.h"

/* Fills in `text`. */
ley_status tree_write_text(expression *e, ley_error *error);

/* Fills in `source` and `use`. */
ley_status tree_write_source(expression *e, ley_error *error);

#endif
