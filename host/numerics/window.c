#include "numerics/window.h"

#include "numerics/tables.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)TABLES_POINTS == (int)WINDOW_MOST_POINTS, "one width of tables");
_Static_assert(sizeof tables_windows / sizeof tables_windows[0] == WINDOW_COUNT,
               "a table for each window: derive_tables.py writes them");

/* Nodal bases reproduce what both interpolants do. What B-splines quasi-interpolate is their
 * degree. */
#define NODAL(p, i) \
    { \
        "nodal" #p, p + 1, true, p - 1, tables_windows[i], tables_two_scale[i], NULL \
    }
#define BSPLINE(p, i) \
    { \
        "bspline" #p, p, false, p - 1, tables_windows[4 + i], NULL, tables_overlap[i] \
    }

static const window windows[WINDOW_COUNT] = {
    [WINDOW_NODAL3] = NODAL(3, 0),     [WINDOW_NODAL5] = NODAL(5, 1),     [WINDOW_NODAL7] = NODAL(7, 2),
    [WINDOW_NODAL9] = NODAL(9, 3),     [WINDOW_BSPLINE4] = BSPLINE(4, 0), [WINDOW_BSPLINE6] = BSPLINE(6, 1),
    [WINDOW_BSPLINE8] = BSPLINE(8, 2),
};

const window *window_get(window_kind kind)
{
    return (int)kind >= 0 && kind < WINDOW_COUNT ? &windows[kind] : NULL;
}

bool window_find(const char *name, window_kind *kind)
{
    for (int i = 0; i < WINDOW_COUNT; i++)
        if (strcmp(windows[i].name, name) == 0) {
            *kind = (window_kind)i;
            return true;
        }
    return false;
}

void window_weights(const window *w, double t, double weight[])
{
    const double x = t - 0.5;
    for (int i = 0; i < w->points; i++) {
        weight[i] = w->c[i][w->points - 1];
        for (int k = w->points - 2; k >= 0; k--)
            weight[i] = weight[i] * x + w->c[i][k];
    }
}

void window_slopes(const window *w, double t, double slope[])
{
    for (int i = 0; i < w->points; i++) {
        slope[i] = 0;
        for (int k = w->points - 1; k > 0; k--)
            slope[i] = slope[i] * (t - 0.5) + k * w->c[i][k];
    }
}

double window_at(const window *w, double x)
{
    double weight[WINDOW_MOST_POINTS];
    const double cell = floor(x);
    /* The node at 0 is number i of the cell's nodes, which begin at floor(x) - P/2 + 1. */
    const double i = w->points / 2 - 1 - cell;
    if (!(i >= 0 && i < w->points))
        return 0;
    window_weights(w, x - cell, weight);
    return weight[(int)i];
}

double window_two_scale(const window *w, int j)
{
    return abs(j) < w->points ? w->two_scale[abs(j)] : 0;
}

double window_transform(const window *w, double theta)
{
    const double x = theta / 2;
    return pow(fabs(x) < 1e-8 ? 1 : sin(x) / x, w->points);
}

double window_aliases(const window *w, double theta)
{
    double sum = w->overlap[0];
    for (int j = 1; j < w->points; j++)
        sum += 2 * w->overlap[j] * cos(j * theta);
    return sum;
}
