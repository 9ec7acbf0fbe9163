/* The sub-commands. */
#ifndef LEYDEN_COMMANDS_H
#define LEYDEN_COMMANDS_H

#include "options.h"

extern const subcommand devices_command, map_command, boundary_command, apbs_command, slice_command, generate_command,
    convert_command, bench_command;

#endif
