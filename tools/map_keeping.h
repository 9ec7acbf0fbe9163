/* --resume: planes of a map that outlive the command. */
#ifndef LEYDEN_MAP_KEEPING_H
#define LEYDEN_MAP_KEEPING_H

#include "options.h"
#include "plan_file.h"

#include <stdint.h>

/* Lines that say what a map is of, as far as its bytes depend on it; to be freed. */
char *map_keeping_text(const parsed_arguments *arguments, const ley_atoms *atoms, const ley_grid *grid,
                       const plan_file *plan);

/* A hash of the options on which values depend, but for devices; the same on all ranks. */
uint64_t map_keeping_options(const parsed_arguments *arguments, const plan_file *plan);

/* The map's planes go to `path`.checkpoint, and stay there when the command ends early. Errors:
 * those of ley_map_keep(). */
ley_status map_keep(ley_map *map, const char *path, const char *text, ley_error *error);

#endif
