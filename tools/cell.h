/* Periodic cells, as options say them and as headers and reports do. */
#ifndef LEYDEN_CELL_H
#define LEYDEN_CELL_H

#include "json.h"
#include "options.h"

#include <stdio.h>

typedef struct periodic_cell {
    bool periodic[3];
    double vector_A[3][3];
} periodic_cell;

/* The vectors that the text of --cell says. Prints errors; exit code. */
int cell_parse(const subcommand *command, const char *text, double vector_A[3][3]);

bool cell_is_periodic(const periodic_cell *cell); /* along any of its vectors */

/* Of a cell that is periodic along all of its vectors; else infinite. */
double cell_volume_A3(const periodic_cell *cell);

/* The text of --cell whose lengths are 10 times those of another one: in A, of one in nm. To be
 * freed. */
char *cell_from_nm(const char *text);

/* The line of a header, where it is periodic; its vectors. */
void cell_put(FILE *to, const periodic_cell *cell);
json_t *cell_json(const periodic_cell *cell);

#endif
