/* Windows: how a charge is spread over the nodes of a mesh, and how a point takes its value from
 * them. The same window does both.
 *
 * A window of P points gives the nodes floor(x) - P/2 + 1 + i, i in [0, P), of a mesh with
 * spacing 1 the weights w_i(t) = sum_k c[i][k] (t - 1/2)^k, t = x - floor(x). About t = 1/2 because
 * |t - 1/2| <= 1/2 there: floats keep their digits. */
#ifndef LEY_WINDOW_H
#define LEY_WINDOW_H

#include <stdbool.h>

/* NODALp: interpolants of degree p - 1 on both sides of a cell, blended linearly: continuous with
 * their first derivative, p + 1 points (Hardy, Stone, Schulten 2009, equation 7). BSPLINEp: p
 * points, degree p - 1, continuous with p - 2 derivatives. */
typedef enum window_kind {
    WINDOW_NODAL3,
    WINDOW_NODAL5,
    WINDOW_NODAL7,
    WINDOW_NODAL9,
    WINDOW_BSPLINE4,
    WINDOW_BSPLINE6,
    WINDOW_BSPLINE8,
    WINDOW_COUNT
} window_kind;

enum { WINDOW_MOST_POINTS = 10 };

typedef struct window {
    const char *name; /* as "nodal3", "bspline4" */
    int points;       /* P, even; as many coefficients has each weight */
    bool is_nodal;    /* 1 at its own node and 0 at others: values at nodes are kept */
    int reproduces;   /* polynomials up to this degree are interpolated, or quasi-interpolated, without an error */
    const double (*c)[WINDOW_MOST_POINTS]; /* [P][P of WINDOW_MOST_POINTS] */
    const double *two_scale;               /* [P], nodal: phi(j/2) for j >= 0; NULL */
    const double *overlap;                 /* [P], B-splines: with itself, j nodes away; NULL */
} window;

/* NULL behind the last. */
const window *window_get(window_kind kind);

/* False for a name that no window has. */
bool window_find(const char *name, window_kind *kind);

/* weight[P] for the fraction t in [0, 1]. */
void window_weights(const window *w, double t, double weight[]);

/* Their derivatives by t. */
void window_slopes(const window *w, double t, double slope[]);

/* phi(x): the weight of the node at 0 for a charge at x. */
double window_at(const window *w, double x);

/* phi(j/2), the share that node m of the next coarser mesh has in node 2 m + j: of nodal
 * windows. 0 where |j| >= P. */
double window_two_scale(const window *w, int j);

/* The window's transform at theta radians per node, the integral of phi(x) cos(theta x); and the
 * sum of its squares over all aliases theta + 2 pi m. Of B-splines. */
double window_transform(const window *w, double theta);
double window_aliases(const window *w, double theta);

#endif
