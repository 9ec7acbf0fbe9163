#include "registry.h"
#include "commands.h"

const subcommand *const command_table[] = {
    &devices_command,  &map_command,     &boundary_command, &apbs_command, &slice_command,
    &generate_command, &convert_command, &bench_command,    NULL,
};

/* X: X_row, of tools/method_X.c. A sub-command lists its methods in this order. */
#define METHODS(ROW) \
    ROW(dcs) \
    ROW(zero) \
    ROW(sdh) \
    ROW(mdh) \
    ROW(cutoff)

#define DECLARED(name) extern const method_row name##_row;
METHODS(DECLARED)

/* clang-format off */
#define LISTED(name) &name##_row,
/* clang-format on */
const method_row *const method_table[] = {METHODS(LISTED) NULL};
