#include "numerics/kaiser.h"

#include <math.h>
#include <string.h>

/* The modified Bessel function I_0(sqrt(z2)), by its series. */
static double bessel_i0(double z2)
{
    double sum = 1, term = 1;
    for (int k = 1; term > 1e-17 * sum; k++) {
        term *= z2 / (4.0 * k * k);
        sum += term;
    }
    return sum;
}

static double weight_at(double beta, double x)
{
    const double of_reach = 2 * x / KAISER_POINTS;
    return bessel_i0(beta * beta * fmax(1 - of_reach * of_reach, 0)) * beta / (KAISER_POINTS * sinh(beta));
}

/* Chebyshev's interpolant of node i's weight as a polynomial in u = t - 1/2. */
static void fit(kaiser_window *w, int i)
{
    enum { N = KAISER_COEFFICIENTS };
    double before[N] = {0}, now[N] = {1}, value[N];
    for (int k = 0; k < N; k++)
        value[k] = weight_at(w->beta, 0.5 * cos(M_PI * (k + 0.5) / N) + 0.5 + KAISER_POINTS / 2 - 1 - i);
    for (int k = 0; k < N; k++)
        w->c[k][i] = 0;
    for (int j = 0; j < N; j++) {
        double share = 0, next[N];
        for (int k = 0; k < N; k++)
            share += (j == 0 ? 1.0 : 2.0) / N * value[k] * cos(M_PI * j * (k + 0.5) / N);
        for (int k = 0; k < N; k++) /* T_j+1 = 2 (2 u) T_j - T_j-1; T_1 = 2 u */
            next[k] = (k > 0 ? (j == 0 ? 2 : 4) * now[k - 1] : 0) - before[k];
        for (int k = 0; k < N; k++)
            w->c[k][i] += share * now[k];
        memcpy(before, now, sizeof before);
        memcpy(now, next, sizeof now);
    }
}

void kaiser_window_make(double waves_per_node, kaiser_window *made)
{
    made->beta = M_PI * KAISER_POINTS * (1 - waves_per_node);
    for (int i = 0; i < KAISER_POINTS; i++)
        fit(made, i);
}

double kaiser_window_transform(const kaiser_window *w, double theta)
{
    const double of_edge = theta * KAISER_POINTS / 2, square = w->beta * w->beta - of_edge * of_edge,
                 root = sqrt(fabs(square)), scale = w->beta / sinh(w->beta);
    return scale * (root < 1e-8 ? 1 : square > 0 ? sinh(root) / root : sin(root) / root);
}
