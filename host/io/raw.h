/* Maps as plain numbers, with a header in a file of its own; leyden.h has what writes them. */
#ifndef LEY_IO_RAW_H
#define LEY_IO_RAW_H

#include "io/stream.h"
#include "leyden.h"

/* Errors: as ley_map_read_raw(). */
ley_status raw_read(ley_stream *stream, ley_map **map, ley_error *error);

#endif
