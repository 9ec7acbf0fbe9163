/* Maps as APBS writes them by `write pot dxbin`: OpenDX with values that are doubles.
 * docs/formats.md has the layout. */
#ifndef LEY_IO_DXBIN_H
#define LEY_IO_DXBIN_H

#include "leyden.h"

/* As ley_map_write(). There is no place for facts. */
ley_status dxbin_write(const ley_map *map, const char *path, const char *comment, const char *facts,
                       const volatile bool *cancel, ley_error *error);

#endif
