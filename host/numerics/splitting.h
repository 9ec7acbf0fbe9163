/* Splittings of 1/r into a part that ends at the cutoff a, and a smooth one:
 *
 *     1/r = [1/r - gamma(r/a)/a] + gamma(r/a)/a,
 *     gamma(rho) = 1/rho beyond 1, and sum_k c[k] u^k, u = rho^2 - 1, below.
 *
 * The same polynomial is summed over pairs and on meshes, so that the two parts sum to 1/r
 * whatever its coefficients are: they decide how smooth the second part is, and so how accurate the
 * mesh, but not whether the parts are consistent. c[0] is 1: there is no step at the cutoff.
 *
 *   taylorN  the Taylor polynomial of s^(-1/2) about s = rho^2 = 1, of degree N: N derivatives are
 *            continuous. Of exp(-kappa r)/r as well, with coefficients of its own.
 *   pswf     F(rho) / (rho F(1)), F the integral from 0 of the prolate spheroidal wave function
 *            psi_0 of band parameter c: what is smooth is band-limited to c/a as well as anything
 *            can be that ends at a (Liang, Lu, Barnett, Greengard, Jiang 2025).
 *   ewald    the same with a Gaussian, exp(-beta^2 rho^2), in place of psi_0: erf(beta rho) / (rho
 *            erf(beta)). Particle-mesh programs have no erf(beta) here and drop what is beyond the
 *            cutoff, erfc(beta); with it the parts sum to 1/r, and a kernel needs no erfc.
 *   optimal  the polynomial itself, of those with c[0] = 1, whose charge has the least energy in
 *            waves beyond a band, k > c/a, that the mesh cannot hold: the least integral of
 *            (sigma(k)/k)^2. With a multiply-add or three less it is as good as pswf, or better.
 *
 * pswf and ewald are polynomials of a chosen degree, too: the best ones, in the mean square, of
 * those with c[1] = -1/2, so that the field has no step at the cutoff. That of optimal has one, as
 * small as waves beyond the band: c[1] is about -1/2. One formula serves kernels, meshes and the
 * judge; and it takes multiply-adds only, one for each degree. */
#ifndef LEY_SPLITTING_H
#define LEY_SPLITTING_H

#include "leyden_status.h"

#include <stdbool.h>

typedef enum splitting_kind {
    SPLITTING_TAYLOR2,
    SPLITTING_TAYLOR3,
    SPLITTING_TAYLOR4,
    SPLITTING_TAYLOR5,
    SPLITTING_TAYLOR6,
    SPLITTING_TAYLOR7,
    SPLITTING_TAYLOR8,
    SPLITTING_PSWF,
    SPLITTING_EWALD,
    SPLITTING_OPTIMAL,
    SPLITTING_COUNT
} splitting_kind;

enum { SPLITTING_MOST_DEGREE = 20 };

typedef struct splitting {
    splitting_kind kind;
    int degree;
    double band;    /* pswf, optimal: c; ewald: beta; else 0 */
    double kappa_a; /* screening: exp(-kappa r)/r in place of 1/r; 0: none */
    double c[SPLITTING_MOST_DEGREE + 1];
} splitting;

/* "taylor2", ..., "pswf", "ewald"; NULL behind the last. */
const char *splitting_name(splitting_kind kind);

/* The most that kappa a may be: beyond, exp(-kappa a) has no double. */
enum { SPLITTING_MOST_KAPPA_A = 700 };

/* Degree and band matter to pswf, ewald and optimal alone. A degree of 0 is the lowest one after
 * which there is little to gain: of optimal 3 + c/3, of the others one whose polynomial is so near
 * to the function that the error of a mesh does not show it. Errors: LEY_ERROR_USAGE when the
 * degree is not 0 or 3 to SPLITTING_MOST_DEGREE, the band not within 1 and 40 (pswf, optimal) or
 * 0.5 and 6 (ewald), and for these three with screening. */
ley_status splitting_make(splitting_kind kind, int degree, double band, double kappa_a, splitting *made,
                          ley_error *error);

/* Whether there is anything beyond the cutoff: screening may leave so little of it, less than 1e-7
 * of what a charge is worth at the cutoff's distance without it, that the short-range part is the
 * whole. */
bool splitting_has_far(const splitting *s);

/* The band that does best with this cutoff in units of the spacing and this many points of a
 * B-spline: 0 of Taylor's. Of optimal it is 3 a/h whatever the window is; the others were measured
 * on water (docs/long-range.md). */
double splitting_band(splitting_kind kind, double cutoff_by_spacing, int points);

/* The degree that goes with it: Taylor's own; of optimal the lowest one after which the next has an
 * expected_error() that is less by a fifth at most; of the others 0, see splitting_make(). */
int splitting_degree(splitting_kind kind, double cutoff_by_spacing, int points);

/* exp(-kappa_a rho)/rho, or 1/rho: what is split. */
double splitting_whole(const splitting *s, double rho);

/* gamma, for any rho >= 0. */
double splitting_gamma(const splitting *s, double rho);

/* Its derivative; at 1 that from beyond. */
double splitting_gamma_slope(const splitting *s, double rho);

/* What pswf and ewald approximate by their polynomials, rho <= 1; of the others gamma itself. */
double splitting_exact(const splitting *s, double rho);

/* The transform of gamma(r/a)/a is 4 pi sigma(k a) / (k^2 + kappa^2): sigma, the transform of the
 * charge that makes gamma. It is 1 at 0 without screening. */
double splitting_sigma(const splitting *s, double ka);

/* The integral of [whole - gamma] over space, with a = 1: the mean that the short-range part of a
 * unit charge has in a cell, times its volume. */
double splitting_short_integral(const splitting *s);

#endif
