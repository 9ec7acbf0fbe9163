/* tools/registry.c with a row more in each table: that of the sub-command, and that of the
 * method. */
#include "../../tools/registry.h"

#include "../../tools/commands.h"

extern const subcommand squares_command;
extern const method_row dcs_row, zero_row, sdh_row, mdh_row, cutoff_row, squares_row;

const subcommand *const command_table[] = {
    &devices_command,  &map_command,     &boundary_command, &apbs_command,    &slice_command,
    &generate_command, &convert_command, &bench_command,    &squares_command, NULL,
};

const method_row *const method_table[] = {&dcs_row, &zero_row, &sdh_row, &mdh_row, &cutoff_row, &squares_row, NULL};
