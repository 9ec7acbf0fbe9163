/* Reading lists of points. */
#ifndef LEY_IO_POINTS_H
#define LEY_IO_POINTS_H

#include "leyden.h"

/* ley_points_read() by so many threads, of text that is cut into pieces of so many bytes. */
ley_status points_read_pieces(const char *path, int threads, int64_t piece_bytes, int64_t *n, double **point_A,
                              ley_error *error);

#endif
