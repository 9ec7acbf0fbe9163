/* What all OpenDX files of this library have in common. docs/formats.md has the layout. */
#ifndef LEY_IO_DX_H
#define LEY_IO_DX_H

#include "io/output.h"
#include "leyden.h"

enum { LEY_DX_VALUES_A_LINE = 3 };

/* Everything in front of the values. `units` may be empty, `comment` NULL. Origin and spacing are
 * read back as the same doubles: with APBS's seven digits where these are enough, else with up to
 * 17. */
ley_status ley_dx_write_header(ley_output *output, const ley_lattice *lattice, const char *units, const char *comment,
                               ley_error *error);

/* Everything behind them; the last line of values must have been ended. */
ley_status ley_dx_write_footer(ley_output *output, ley_error *error);

/* As ley_map_write_dx(), on so many threads. The bytes are the same on any number of them. */
ley_status ley_dx_write_map(const ley_map *map, const char *path, const char *comment, int threads,
                            const volatile bool *cancel, ley_error *error);

#endif
