/* Which meshes a long-range sum takes, for all commands that can be told so: --mesh-spacing,
 * --splitting, --window, --solver. */
#ifndef LEYDEN_MESH_OPTIONS_H
#define LEYDEN_MESH_OPTIONS_H

#include "options.h"

extern const option_block mesh_options;
extern const char *const splitting_names[], *const window_names[], *const solver_names[]; /* NULL behind the last */

/* Puts what is given into the range. Which of them that were, as LEY_FIX_... */
unsigned mesh_options_take(const parsed_arguments *arguments, ley_long_range *range);

#endif
