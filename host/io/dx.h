/* What all OpenDX files of this library have in common. docs/formats.md has the layout. */
#ifndef LEY_IO_DX_H
#define LEY_IO_DX_H

#include "io/output.h"
#include "io/stream.h"
#include "leyden.h"

enum { LEY_DX_VALUES_A_LINE = 3 };

/* Everything in front of the values, which are text or doubles. `units` may be empty, `comment`
 * NULL. Origin and spacing are read back as the same doubles: with APBS's seven digits where these
 * are enough, else with up to 17. */
ley_status ley_dx_write_header(ley_output *output, const ley_grid *grid, const char *title, const char *comment,
                               bool is_binary, ley_error *error);

/* Everything behind them; the last line of values must have been ended. */
ley_status ley_dx_write_footer(ley_output *output, ley_error *error);

/* A map whose values are text, or doubles as in a binary map. Errors: LEY_ERROR_FILE, or
 * LEY_ERROR_INPUT with "file:line: what". */
ley_status dx_read(ley_stream *stream, ley_map **map, ley_error *error);

/* Whether a file that begins like this is one; behind the bytes is a NUL. */
bool dx_is(const unsigned char *bytes, size_t size);

/* As ley_map_write_dx(), on so many threads. The bytes are the same on any number of them. */
ley_status ley_dx_write_map(const ley_map *map, const char *path, const char *comment, int threads,
                            const volatile bool *cancel, ley_error *error);

#endif
