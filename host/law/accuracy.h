/* The comparator: how far computed values are from double precision. */
#ifndef LEY_LAW_ACCURACY_H
#define LEY_LAW_ACCURACY_H

#include "law/reference.h"
#include "leyden.h"

#include <stdatomic.h>

/* What errors are judged by. */
typedef struct accuracy_limits {
    double tolerance; /* of |v - ref| / sum |terms| at every point */
    double nothing;   /* sums of absolute terms that are no larger are not compared: there anything as small is right */
    double left_out;  /* values that are no larger may be 0: the method leaves out what is beyond its reach */
    double noise;     /* any value may be off by so much more */
    double share;     /* noise is this share of the values' root mean square, over all of space: transforms round each
                         value by a share of the largest ones. 0: there is none */
    double rounding;  /* of the tolerance, what is not the method's own, but that of floats */
    double place;   /* above 0: between `lower` and `higher` lies what terms do whose distances are off by this share of
                       themselves: it passes, and is an error all the same */
    bool is_smooth; /* errors are a mesh's, which change over space as slowly as values do far from charges */
} accuracy_limits;

/* Of float values, and of double ones. */
#define ACCURACY_NOTHING 1e-30
#define ACCURACY_NOTHING_DOUBLE 1e-280

/* How far a value is beyond what may be right; and what it is taken to be off by. */
double accuracy_difference(double value, const reference_value *right);
double accuracy_error(double value, const reference_value *right, const accuracy_limits *limits);

/* Compares n values with their references; host_points is left 0. An n of 0 passes nothing.
 * `worst`: the index of the value that is most in error; may be NULL. */
ley_accuracy accuracy_compare(size_t n, const double *values, const reference_value *references, accuracy_limits limits,
                              size_t *worst);

/* Whether the values are another multiple of what is right, `*multiple` of it: 0 of a device that
 * returns zeros. Where terms nearly cancel, such values can be within the tolerance at every point;
 * but then they are off by the same share everywhere, which rounding is not, and smooth errors are
 * where values hardly change: there the share has to explain them far better than a constant does.
 * Only differences count that are well above rounding, at 16 points at least. */
bool accuracy_is_multiple(size_t n, const double *values, const reference_value *references, accuracy_limits limits,
                          double *multiple);

/* As accuracy_compare() of floats, with what counts as nothing there. */
ley_accuracy accuracy_compare_float(size_t n, const float *values, const reference_value *references, double tolerance,
                                    size_t *worst);

/* What a job promises of the error at each point, by its arithmetic. */
double accuracy_promise(ley_math math, ley_sum sum);

/* The next of a row of random numbers, the same everywhere, from a seed. */
uint64_t accuracy_random(uint64_t *state);

/* `wanted` numbers below `total`: random ones, or all in order when there are no more. Returns how
 * many. */
size_t accuracy_choose(uint64_t total, size_t wanted, uint64_t seed, int64_t *indices);

/* The right value at a point, in double precision. Called from several threads. */
typedef reference_value accuracy_reference(const void *context, const double point_A[3]);

/* Samples `points` grid points (all, in order, when there are no more) and recomputes them on
 * all host cores. `worst_A`: where the error is largest; may be NULL. LEY_CANCELLED when *cancelled
 * (may be NULL) turns true. */
ley_status accuracy_sample_map(const ley_map *map, accuracy_reference *reference, const void *context, size_t points,
                               uint64_t seed, double tolerance, const atomic_bool *cancelled, ley_accuracy *accuracy,
                               double worst_A[3], ley_error *error);

/* The same by direct Coulomb summation. */
ley_status accuracy_sample(const ley_atoms *atoms, const ley_map *map, double coulomb_constant, double r_min_A,
                           size_t points, uint64_t seed, double tolerance, const atomic_bool *cancelled,
                           ley_accuracy *accuracy, ley_error *error);

#endif
