/* Which meshes a long-range sum takes, for all commands that can be told so: --mesh-spacing,
 * --splitting, --window, --solver. */
#ifndef LEYDEN_MESH_OPTIONS_H
#define LEYDEN_MESH_OPTIONS_H

#include "options.h"

extern const option_block mesh_options;

/* The name of a choice of "splitting", "window", "solver". */
#define MESH_NAME(name, value) ley_parameter_choice("ley_long_range", (name), (int)(value))

#endif
