#include "methods/wavefunction/far_away.h"

#include <math.h>
#include <string.h>

static double factorial(int n)
{
    return tgamma(n + 1.0);
}

/* An order l of what is delta from the centre, from a derivative of order k: no more than
 * |a| l! delta^(l - k)/(l - k)! / R^(l + 1), as derivatives of 1/r along any k directions are no
 * more than k!/r^(k + 1). With a ratio q of delta and R, all orders from l on are (1 - q)^-(k + 1)
 * times that at most. */
static double bound_of(int k, double delta, double beyond)
{
    const double part = k <= FAR_ORDER
                            ? factorial(FAR_ORDER + 1) / factorial(FAR_ORDER + 1 - k) * pow(delta, FAR_ORDER + 1 - k)
                            : factorial(k) / pow(beyond, k - FAR_ORDER - 1);
    return part * pow(1 - delta / (delta + beyond), -(k + 1));
}

void far_away_add(far_away *to, const double centre[3], const double *part, int edge, int order, double beyond)
{
    double powers[3][FAR_POWERS], r2 = 0; /* x^n/n! */
    for (int axis = 0; axis < 3; axis++) {
        const double way = centre[axis] - to->centre[axis];
        r2 += way * way;
        for (int n = 0; n < FAR_POWERS; n++)
            powers[axis][n] = n == 0 ? 1 : powers[axis][n - 1] * way / n;
    }
    const double delta = sqrt(r2);
    to->beyond = fmax(to->beyond, delta + beyond);
    for (int t = 0; t <= order; t++)
        for (int u = 0; t + u <= order; u++)
            for (int v = 0; t + u + v <= order; v++) {
                const double a = part[(t * edge + u) * edge + v];
                if (a == 0)
                    continue;
                to->left_out += fabs(a) * bound_of(t + u + v, delta, beyond);
                for (int i = t; i < FAR_POWERS; i++)
                    for (int j = u; i + j < FAR_POWERS; j++)
                        for (int k = v; i + j + k < FAR_POWERS; k++)
                            to->moments[i][j][k] += a * powers[0][i - t] * powers[1][j - u] * powers[2][k - v];
            }
}

/* So far away that a bound of many orders is no larger than need be. */
void far_away_join(far_away *to, const far_away *part)
{
    double r2 = 0;
    for (int axis = 0; axis < 3; axis++)
        r2 += pow(part->centre[axis] - to->centre[axis], 2);
    const double beyond = fmax(part->beyond, 3 * sqrt(r2));
    far_away_add(to, part->centre, &part->moments[0][0][0], FAR_POWERS, FAR_ORDER, beyond);
    to->left_out += part->left_out * pow(1 + sqrt(r2) / beyond, FAR_ORDER + 2);
}

void far_away_finish(far_away *made, double most)
{
    const double least = fmax(made->beyond, 1), left_out = made->left_out * fmax(1, (FAR_ORDER + 2) / least);
    made->reach = fmax(least, pow(left_out / most, 1.0 / (FAR_ORDER + 2)));
}

/* Derivatives of 1/R by x, y and z: McMurchie and Davidson's recurrence, from those by R^2. */
enum { MOST = FAR_ORDER + 1 };
typedef double derivatives[MOST + 1][MOST + 1][MOST + 1];

static void derive(const double way[3], double r2, derivatives d)
{
    double start[MOST + 1] = {1 / sqrt(r2)};
    for (int n = 1; n <= MOST; n++)
        start[n] = -start[n - 1] * (2 * n - 1) / r2;
    memset(d, 0, sizeof(derivatives));
    for (int n = MOST; n >= 0; n--) /* d holds those of n + 1, and then of n: higher powers first */
        for (int t = MOST - n; t >= 0; t--)
            for (int u = MOST - n - t; u >= 0; u--)
                for (int v = MOST - n - t - u; v >= 0; v--)
                    d[t][u][v] = t > 0   ? (t > 1 ? (t - 1) * d[t - 2][u][v] : 0) + way[0] * d[t - 1][u][v]
                                 : u > 0 ? (u > 1 ? (u - 1) * d[t][u - 2][v] : 0) + way[1] * d[t][u - 1][v]
                                 : v > 0 ? (v > 1 ? (v - 1) * d[t][u][v - 2] : 0) + way[2] * d[t][u][v - 1]
                                         : start[n];
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
    for (int i = 0; i <= FAR_ORDER; i++)
        for (int j = 0; i + j <= FAR_ORDER; j++)
            for (int k = 0; i + j + k <= FAR_ORDER; k++) {
                const double factor = ((i + j + k) % 2 == 0 ? 1 : -1) * from->moments[i][j][k];
                values[0] += factor * d[i][j][k];
                values[1] -= factor * d[i + 1][j][k];
                values[2] -= factor * d[i][j + 1][k];
                values[3] -= factor * d[i][j][k + 1];
            }
    return true;
}

/* ---- Polynomials ----------------------------------------------------------------------------- */

/* Of x^i y^j z^(n - i - j). */
typedef double solid[FAR_POWERS][FAR_POWERS];

/* d/dx, d/dy or d/dz of h R^-(2n + 1), of degree n: (R^2 h' - (2n + 1) x h) R^-(2n + 3). */
static void derive_solid(int n, int axis, solid h, solid made)
{
    memset(made, 0, sizeof(solid));
    for (int i = 0; i <= n; i++)
        for (int j = 0; i + j <= n; j++) {
            const int power[3] = {i, j, n - i - j}, x = axis == 0, y = axis == 1;
            const double slope = power[axis] * h[i][j];
            made[i + x][j + y] -= (2 * n + 1) * h[i][j];
            for (int square = 0; square < 3 && slope != 0; square++)
                made[i - x + 2 * (square == 0)][j - y + 2 * (square == 1)] += slope;
        }
}

/* All orders of z after one of y after one of x. */
static void add_orders(const far_away *from, solid of[3], int t, int u, int v, double sums[])
{
    const int n = t + u + v;
    double factor = from->moments[t][u][v] / from->reach;
    for (int k = 1; k <= n; k++)
        factor *= -1 / (from->reach * (k - 0.5));
    double *to = sums + n * (n + 1) * (n + 2) / 6;
    for (int i = 0; i <= n; i++)
        for (int j = 0; i + j <= n; j++)
            *to++ += factor * of[2][i][j];
}

void far_away_coefficients(const far_away *from, float coefficients[FAR_COEFFICIENTS])
{
    double sums[FAR_COEFFICIENTS] = {0};
    solid of[3] = {{{1}}}, next; /* t times along x, then u times along y, then v times along z */
    for (int t = 0; t <= FAR_ORDER; t++) {
        memcpy(of[1], of[0], sizeof next);
        for (int u = 0; t + u <= FAR_ORDER; u++) {
            memcpy(of[2], of[1], sizeof next);
            for (int v = 0; t + u + v <= FAR_ORDER; v++) {
                add_orders(from, of, t, u, v, sums);
                if (t + u + v < FAR_ORDER) {
                    derive_solid(t + u + v, 2, of[2], next);
                    memcpy(of[2], next, sizeof next);
                }
            }
            if (t + u < FAR_ORDER) {
                derive_solid(t + u, 1, of[1], next);
                memcpy(of[1], next, sizeof next);
            }
        }
        if (t < FAR_ORDER) {
            derive_solid(t, 0, of[0], next);
            memcpy(of[0], next, sizeof next);
        }
    }
    for (int k = 0; k < FAR_COEFFICIENTS; k++)
        coefficients[k] = (float)sums[k];
}
