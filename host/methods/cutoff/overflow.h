/* The overflow of bins, summed by host threads while devices compute the rest: the way of the
 * papers, and, over all atoms, the benchmark's sequential loop: atoms outside, the points of each
 * one's sphere inside, x innermost. */
#ifndef LEY_OVERFLOW_H
#define LEY_OVERFLOW_H

#include "leyden.h"

#include <stdatomic.h>

/* What atoms do around them. Lengths in units (see cutoff_problem): the grid's steps, of which rows
 * are along x and planes perpendicular to z (GRID_FRAME_ROWS_ALONG_X), the cutoff, r_min; `series`
 * and `k` are those of ley_pair_value() in cl/pair.h, `pair` its number there. LEY_PAIR_EXPRESSION
 * is not for it. */
typedef struct overflow_terms {
    int pair;
    int64_t n[3];
    double step[3][3], cutoff, r_min;
    float series[4], k;
} overflow_terms;

/* An atom: its place from the grid's origin, in units; its numbers. */
typedef struct overflow_atom {
    double place[3];
    float numbers[3];
} overflow_atom;

/* Adds what these atoms do to planes [first, last) of float[n_z][n_y][n_x], which begin at `plane`.
 * Stops early when *cancelled (may be NULL) turns true. */
void overflow_add(const overflow_terms *terms, const overflow_atom *atoms, size_t n, int64_t first, int64_t last,
                  float *plane, const atomic_bool *cancelled);

#endif
