/* Influence functions: what the transform of a mesh of charges is multiplied by to get the
 * transform of a mesh of potentials, whose interpolation is the long-range part of the sum.
 *
 * It is the product of a kernel's transform and of a factor per axis. The factor of B-splines is
 * that of P3M, W^2 / (sum of W^2 over all aliases)^2: the one with which charges that are spread,
 * and values that are interpolated, by the window are off least in the mean (Hockney, Eastwood
 * 1981). Nodal windows have none: the kernel at the nodes is what they interpolate.
 *
 * Along periodic axes the kernel's transform is taken at the reciprocal vectors, 4 pi sigma(k a) /
 * (k^2 + kappa^2), without aliases. Along open axes the mesh is padded to twice its nodes and a
 * few, so that images do not reach it, and the kernel is transformed as it is at the nodes. Its
 * wrapped distance would have a kink half-way round, which the factor of the windows, being large
 * for short waves, would spread over the mesh; so from the last distance that counts on, the
 * distance goes smoothly over into a constant.
 *
 * With one or two periodic axes, each wave along them has a kernel of its own across them:
 *   two   2 pi / (A q) exp(-q |z|), and -2 pi |z| / A for k = 0 without screening
 *   one   2 / L K_0(q rho), and -2 / L ln rho for k = 0 without screening
 * with q^2 = k^2 + kappa^2, less what the short-range part has of it. */
#ifndef LEY_INFLUENCE_H
#define LEY_INFLUENCE_H

#include "leyden_status.h"
#include "numerics/hierarchy.h"

#include <stdint.h>

/* The factor of wave m of n along an axis; 1 of nodal windows. */
double influence_factor(const window *w, int64_t m, int64_t n);

/* How many nodes an open axis of n nodes is padded to beside so many periodic ones: an even number
 * without primes above 7. A larger even number does as well. */
int64_t influence_padded(int64_t n, int dimensions);

/* The distance that counts, in nodes, of node i of an axis that is padded from n to `padded`
 * nodes. */
double influence_distance(int64_t i, int64_t n, int64_t padded);

/* 4 pi sigma(k a) / (k^2 + kappa^2) of a wave in three dimensions; of k = 0 without screening what
 * is finite of it. */
double influence_wave(const splitting *s, double cutoff_A, double k_per_A);

/* influence_wave() for many waves: sigma at even steps from 0 on, and what lies between them by the
 * polynomial through six. It is off by less than 1e-11 of sigma(0). */
enum { INFLUENCE_STEPS = 4096, INFLUENCE_BESIDE = 3 };
typedef struct influence_table {
    double cutoff_A, kappa_a, step, mean;
    double sigma[INFLUENCE_STEPS + 2 * INFLUENCE_BESIDE];
} influence_table;

/* For waves of up to most_per_A. */
void influence_table_make(const splitting *s, double cutoff_A, double most_per_A, influence_table *table);
double influence_table_wave(const influence_table *table, double k_per_A);

/* The kernel of a wave along two periodic axes, at a distance from their plane, times the area. */
double influence_plane(const splitting *s, double cutoff_A, double k_per_A, double z_A);

/* The kernel of a wave along one periodic axis, at a distance from it, times the length. */
double influence_line(const splitting *s, double cutoff_A, double k_per_A, double rho_A);

/* The nodes of the transform: those of the finest level, padded along open axes. */
void influence_extent(const hierarchy *h, int64_t n[3]);

/* The wave vector of numbers m[], along periodic axes alone: 2 pi sum of m dual vectors, each m
 * counted from the nearest of 0 and n. */
void influence_wave_vector(const hierarchy *h, const int64_t n[3], const int64_t m[3], double k_per_A[3]);

/* The kernel before its open axes are transformed: at wave m along periodic axes, at node m along
 * open ones. */
double influence_kernel(const hierarchy *h, const int64_t n[3], const int64_t m[3]);

/* The same, along three periodic axes from a table of waves that has been made for it. */
double influence_kernel_from(const influence_table *waves, const hierarchy *h, const int64_t n[3], const int64_t m[3]);

#endif
