/* Charge densities on a mesh as integers of fixed point: sums of them do not depend on any order.
 * A device's part has 64 bits a node, and takes no more frames than fit; the whole has 128. */
#ifndef LEY_AVERAGE_DENSITY_H
#define LEY_AVERAGE_DENSITY_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct density {
    size_t nodes;
    uint64_t *low;
    int64_t *high; /* high 2^64 + low */
} density;

/* Of zeros. Errors: LEY_ERROR_MEMORY. */
ley_status density_create(size_t nodes, density *made, ley_error *error);
void density_destroy(density *d);

/* Adds to each node, or takes that away again; on all cores. */
void density_add(density *d, const int64_t *part);
void density_take(density *d, const int64_t *part);
void density_add_all(density *d, const density *other);

/* Adds floats times the factor, no further from 0 than `most`, or the squares of these, in units of
 * 2^-exponent and rounded to integers, of no more than 2^62 each. What is no number counts as
 * -most. */
typedef struct density_scale {
    double factor, most;
    int exponent;
    bool is_squared, is_less; /* they are taken away */
} density_scale;
void density_add_floats(density *d, const float *value, const density_scale *by);

/* value[nodes] = d factor. */
void density_values(const density *d, double factor, double *value);

/* Adds values times 2^exponent, rounded, of less than 2^126 each; and their squares. */
void density_add_values(density *d, const double *value, int exponent);
void density_add_squares(density *d, const double *value, int exponent);

#endif
