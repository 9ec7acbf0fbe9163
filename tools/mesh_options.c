/* Which meshes a long-range sum takes, for all commands that can be told so. */
#include "mesh_options.h"

static void set_defaults(void *to)
{
    ley_long_range_default(to);
}

#define ROW(name) \
    { \
        .of = "ley_long_range", .parameter = (name) \
    }
static const option_row rows[] = {ROW("mesh_spacing"), ROW("splitting"), ROW("window"), ROW("solver")};

const option_block mesh_options = OPTION_BLOCK(rows, ley_long_range, set_defaults);
