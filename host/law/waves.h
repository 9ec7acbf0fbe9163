/* Sums over the waves of a cell, periodic along three axes, in plain double precision:
 *
 *   sum over k of weight(k) / volume Re(conj(S(k)) exp(i k x)), S(k) = sum_j q_j exp(i k x_j)
 *
 * One of each pair of opposite waves is looked at. Structure factors S are made once, on all cores;
 * how many there are changes none of their digits. */
#ifndef LEY_LAW_WAVES_H
#define LEY_LAW_WAVES_H

#include "law/neighbours.h"

#include <stdatomic.h>
#include <stdint.h>

typedef struct waves waves;

/* What a wave and its opposite count: k^2 in 1/A^2. */
typedef double waves_weight(const void *context, double k2_per_A2);

typedef struct waves_options {
    cell cell; /* of three dimensions, as structure.h wants it beside the charges' own */
    double longest_per_A;
    int least_axis; /* waves that do not change along this vector of the cell are left out; negative: none is */
    waves_weight *weight;
    const void *context;
    const neighbours *charges;    /* not kept */
    const atomic_bool *cancelled; /* may be NULL */
} waves_options;

/* The largest numbers of waves along each of the cell's vectors. */
void waves_most(const cell *c, double longest_per_A, int64_t most[3]);

/* Errors: LEY_ERROR_INPUT for a cell so oblique that there are too many, LEY_ERROR_MEMORY,
 * LEY_CANCELLED. */
ley_status waves_create(const waves_options *options, waves **made, ley_error *error);
void waves_destroy(waves *w); /* may be NULL */

/* The sum at a point; not a number where memory lacks. */
double waves_at(const waves *w, const double point_A[3]);

/* Adds less its gradient. */
void waves_add_field(const waves *w, const double point_A[3], double field[3]);

#endif
