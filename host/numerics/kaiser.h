/* The window of Kaiser and Bessel: of all that reach as far it is next to the one whose transform
 * is nearest to nothing beyond a band, so that few nodes per wave are enough.
 *
 *     phi(x) = I_0(beta sqrt(1 - (2 x / P)^2)) beta / (P sinh beta),    |x| <= P/2, x in nodes
 *
 * whose integral is 1. As windows of window.h have it, P = 8 nodes, floor(x) - P/2 + 1 + i, get the
 * weights w_i(t) = sum_k c[k][i] (t - 1/2)^k, t = x - floor(x): polynomials of degree 9, which are
 * off by 1e-9 of the largest weight. */
#ifndef LEY_KAISER_H
#define LEY_KAISER_H

enum { KAISER_POINTS = 8, KAISER_COEFFICIENTS = 10 };

typedef struct kaiser_window {
    double beta;
    double c[KAISER_COEFFICIENTS][KAISER_POINTS];
} kaiser_window;

/* For transforms of waves that are at least 1 / waves_per_node nodes long, 0 < waves_per_node <
 * 1/2. Aliases, relative to the window's transform, are 1.4e-7 for the shortest of 0.2 waves per
 * node, and below 1e-8 for those that are twice as long. */
void kaiser_window_make(double waves_per_node, kaiser_window *made);

/* The integral of phi(x) cos(theta x), theta in radians per node. */
double kaiser_window_transform(const kaiser_window *w, double theta);

#endif
