#include "methods/wavefunction/far_away.h"

#include <math.h>
#include <string.h>

enum { ORDER = FAR_POWERS - 1 };
static const double most_left_out = 1e-9, safety = 4;

far_away far_away_begin(const ley_wavefunction *w)
{
    far_away made = {.extent = 0};
    for (int64_t i = 0; i < w->arrays.nuclei; i++)
        for (int axis = 0; axis < 3; axis++)
            made.centre[axis] += w->arrays.positions_bohr[3 * i + axis] / (double)w->arrays.nuclei;
    return made;
}

static void add_nucleus(double charge, const double way[3], far_moments to)
{
    double x[3][FAR_POWERS];
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < FAR_POWERS; i++)
            x[axis][i] = i == 0 ? 1 : x[axis][i - 1] * way[axis];
    for (int i = 0; i <= ORDER; i++)
        for (int j = 0; i + j <= ORDER; j++)
            for (int k = 0; i + j + k <= ORDER; k++)
                to[i][j][k] += charge * x[0][i] * x[1][j] * x[2][k];
}

/* Derivatives of 1/R by x, y and z: McMurchie and Davidson's recurrence, from those by R^2. */
typedef double derivatives[ORDER + 2][ORDER + 2][ORDER + 2];

static void derive(const double way[3], double r2, derivatives d)
{
    enum { N = ORDER + 1 };
    double start[N + 1] = {1 / sqrt(r2)};
    for (int n = 1; n <= N; n++)
        start[n] = -start[n - 1] * (2 * n - 1) / r2;
    memset(d, 0, sizeof(derivatives));
    for (int n = N; n >= 0; n--) /* d holds those of n + 1, and then of n: higher powers first */
        for (int t = N - n; t >= 0; t--)
            for (int u = N - n - t; u >= 0; u--)
                for (int v = N - n - t - u; v >= 0; v--)
                    d[t][u][v] = t > 0   ? (t > 1 ? (t - 1) * d[t - 2][u][v] : 0) + way[0] * d[t - 1][u][v]
                                 : u > 0 ? (u > 1 ? (u - 1) * d[t][u - 2][v] : 0) + way[1] * d[t][u - 1][v]
                                 : v > 0 ? (v > 1 ? (v - 1) * d[t][u][v - 2] : 0) + way[2] * d[t][u][v - 1]
                                         : start[n];
}

/* What moments of an order add to the potential at a distance of 1, in any of many directions, at
 * most. */
static double most_of(far_moments m, int order)
{
    enum { DIRECTIONS = 200 };
    double most = 0;
    for (int n = 0; n < DIRECTIONS; n++) {
        const double z = 1 - (2 * n + 1.0) / DIRECTIONS, r = sqrt(1 - z * z), phi = 2.399963 * n,
                     way[3] = {r * cos(phi), r * sin(phi), z};
        derivatives d;
        double sum = 0;
        derive(way, 1, d);
        for (int i = 0; i <= order; i++)
            for (int j = 0; i + j <= order; j++) {
                const int k = order - i - j;
                sum += m[i][j][k] * d[i][j][k] / (factorial_of(i) * factorial_of(j) * factorial_of(k));
            }
        most = fmax(most, fabs(sum));
    }
    return most;
}

/* Each order is less than the one before by the extent over the distance. Those that are left out
 * are judged by three orders, as one of them may happen to be small, or nothing by symmetry. */
void far_away_finish(const ley_wavefunction *w, far_away *made)
{
    for (int64_t i = 0; i < w->arrays.nuclei; i++) {
        double way[3], r2 = 0;
        for (int axis = 0; axis < 3; axis++) {
            way[axis] = w->arrays.positions_bohr[3 * i + axis] - made->centre[axis];
            r2 += way[axis] * way[axis];
        }
        made->extent = fmax(made->extent, sqrt(r2));
        add_nucleus(w->arrays.charges[i], way, made->moments);
    }
    double next = 0;
    for (int order = ORDER - 2; order <= ORDER; order++)
        next = fmax(next, safety * most_of(made->moments, order) * pow(fmax(made->extent, 1), ORDER + 1 - order));
    made->reach = fmax(fmax(made->beyond, 2 * made->extent) + 1, pow(next / most_left_out, 1.0 / (ORDER + 2)));
}

bool far_away_values(const far_away *from, const double point[3], double values[4])
{
    double way[3], r2 = 0;
    derivatives d;
    for (int axis = 0; axis < 3; axis++) {
        way[axis] = point[axis] - from->centre[axis];
        r2 += way[axis] * way[axis];
    }
    if (!(r2 > from->reach * from->reach))
        return false;
    derive(way, r2, d);
    memset(values, 0, 4 * sizeof *values);
    for (int i = 0; i <= ORDER; i++)
        for (int j = 0; i + j <= ORDER; j++)
            for (int k = 0; i + j + k <= ORDER; k++) {
                const double factor = ((i + j + k) % 2 == 0 ? 1 : -1) * from->moments[i][j][k] /
                                      (factorial_of(i) * factorial_of(j) * factorial_of(k));
                values[0] += factor * d[i][j][k];
                values[1] -= factor * d[i + 1][j][k];
                values[2] -= factor * d[i][j + 1][k];
                values[3] -= factor * d[i][j][k + 1];
            }
    return true;
}
