/* The comparator: how far computed values are from double precision. */
#ifndef LEY_ACCURACY_H
#define LEY_ACCURACY_H

#include "leyden.h"

#include <stdatomic.h>

/* Compares n values with their references. passed: relative_rms <= tolerance, and every value finite.
 * An n of 0 passes nothing. Where every reference is zero, every value must be. */
ley_accuracy accuracy_compare(size_t n, const float *values, const double *references, double tolerance);

/* What a job promises of relative_rms, by its arithmetic: 1e-5; 1e-6 for the double sum (float map); 1e-3 for native maths. */
double accuracy_promise(ley_math math, ley_sum sum);

/* The same of values in double. */
ley_accuracy accuracy_compare_double(size_t n, const double *values, const double *references, double tolerance);

/* `wanted` numbers below `total`: random ones, or all in order when there are no more. Returns how many. */
size_t accuracy_choose(uint64_t total, size_t wanted, uint64_t seed, int64_t *indices);

/* The right value at a point, in double precision; where several are right, those from slack[0] <= 0 below it to slack[1] >= 0 above it
 * (0 and 0 beforehand). Called from several threads. */
typedef double accuracy_reference(const void *context, const double point_A[3], double slack[2]);

/* Samples `points` lattice points (all, in order, when there are no more) and recomputes them on all host cores. The reference is the
 * nearest of the right values. LEY_CANCELLED when *cancelled (may be NULL) turns true. */
ley_status accuracy_sample_map(const ley_map *map, accuracy_reference *reference, const void *context, size_t points, uint64_t seed,
                               double tolerance, const atomic_bool *cancelled, ley_accuracy *accuracy, ley_error *error);

/* The same by direct Coulomb summation. */
ley_status accuracy_sample(const ley_atoms *atoms, const ley_map *map, double coulomb_constant, double r_min_A,
                           size_t points, uint64_t seed, double tolerance, const atomic_bool *cancelled,
                           ley_accuracy *accuracy, ley_error *error);

#endif
