/* The influence function of a whole mesh (influence.h), as devices multiply transforms by it:
 * made in double precision on all cores, kept in floats.
 *
 * It is real, and the same for a wave and its opposite. Along x it has waves 0 ... n/2, as real
 * transforms do. Along y and z it has all n where the cell is oblique there; where the axis is
 * normal to the others, wave n - m is worth the same as m, and it has 0 ... n/2 as well: an eighth
 * of all waves in all. */
#ifndef LEY_SPECTRUM_H
#define LEY_SPECTRUM_H

#include "leyden_status.h"
#include "numerics/hierarchy.h"

#include <stdatomic.h>

typedef struct spectrum {
    int64_t n[3], stored[3]; /* nodes of the transform; waves that are there */
    float *values;           /* [stored z][stored y][stored x], divided by the product of n: transforms there and back
                                multiply by it */
} spectrum;

/* Of a transform of n nodes, as influence_extent() has them or, along open axes, some more. Errors:
 * LEY_ERROR_USAGE for an odd number of nodes, LEY_ERROR_MEMORY, LEY_CANCELLED soon after *cancelled
 * (may be NULL) turns true. On failure there is nothing to clear. */
ley_status spectrum_make(const hierarchy *h, const int64_t n[3], const atomic_bool *cancelled, spectrum *made,
                         ley_error *error);
void spectrum_clear(spectrum *s);

/* The same in parts, by two steps: some planes along z, kernel[count][stored y][stored x]; and, once
 * these are put together and cut otherwise, some rows of all planes, [stored z][count][stored x].
 * Where parts begin with multiples of SPECTRUM_PART the values have the bytes of all of it
 * (cosines.c). */
enum { SPECTRUM_PART = 8 };
void spectrum_extent(const hierarchy *h, const int64_t n[3], int64_t stored[3]);
ley_status spectrum_planes(const hierarchy *h, const int64_t n[3], int64_t first, int64_t count,
                           const atomic_bool *cancelled, double *kernel, ley_error *error);
ley_status spectrum_rows(const hierarchy *h, const int64_t n[3], int64_t first, int64_t count,
                         const atomic_bool *cancelled, double *kernel, float *values, ley_error *error);

/* Bytes of the host's memory that it takes while it is made; a third of them stay. */
double spectrum_bytes(const hierarchy *h, const int64_t n[3]);

/* How many waves are there. */
int64_t spectrum_waves(const spectrum *s);

#endif
