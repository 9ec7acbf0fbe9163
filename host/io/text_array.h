/* The values of a map as text: z fastest, then y, then x. */
#ifndef LEY_IO_TEXT_ARRAY_H
#define LEY_IO_TEXT_ARRAY_H

#include "io/output.h"
#include "io/text.h"
#include "leyden.h"
#include "target/map.h"

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct text_layout {
    int values_a_line;
    bool ends_rows; /* each row along z begins a line */
    double factor;  /* what values are multiplied by on their way to the file */
} text_layout;

/* All values of a map in memory, as printf("%12.6e ") writes them, made by so many threads; the
 * bytes are the same on any number of them. The last line is ended. Errors: LEY_ERROR_MEMORY and
 * those of ley_output_write(). */
ley_status text_array_write(ley_output *output, const ley_map *map, const text_layout *layout, int threads,
                            ley_error *error);

/* ---- Reading --------------------------------------------------------------------------------- */

/* Where the words of a file come from that are its values. */
typedef struct text_values {
    ley_text *text;
    const char *path;
    void *context;
    ley_status (*next)(void *context, const char **word, size_t *length, ley_error *error); /* NULL behind the last */
    double factor; /* what words are multiplied by */
} text_values;

/* The values of a grid in the file's order, from malloc; the caller frees them, also on failure.
 * The array grows with what the file really holds: a header alone is no reason to take memory.
 * Errors: LEY_ERROR_MEMORY, also at once where the file is long enough for values that memory is
 * too small for; LEY_ERROR_INPUT with "file:line: what"; those of `next`. */
ley_status text_array_read(const text_values *from, const ley_grid *grid, float **values, ley_error *error);

/* The map of such values. */
ley_status text_array_make_map(const float *values, const ley_grid *grid, const map_origin *origin, ley_map **map,
                               ley_error *error);

#endif
