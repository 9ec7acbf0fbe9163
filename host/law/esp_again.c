/* The potential of a molecule at a point once more, in extended precision, by Hermite Gaussians and
 * Boys' function (L. E. McMurchie, E. R. Davidson, J. Comput. Phys. 26, 218, 1978), where
 * law/esp.c has a quadrature. A product of two Gaussians around A and B is a sum over t, u, v of
 * E_t E_u E_v times derivatives, by P = (a A + b B)/p, of exp(-p |r - P|^2), and its potential at C
 *
 *     2 pi/p exp(-ab/p |A - B|^2) sum over t, u, v of E_t E_u E_v R_tuv,  R_000 = F_0(p |P - C|^2)
 *
 * with the same derivatives R_tuv. */
#include "law/esp_again.h"

#include "core/units.h"
#include "law/quantity.h"
#include "source/wavefunction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE = 2 * LEY_MOST_MOMENTUM + 2, POWERS = LEY_MOST_MOMENTUM + 1 };

static const double largest_decay = 44;

/* F_n(t) = int_0^1 s^2n exp(-t s^2) ds for n up to `most`: the last by its series, or by its limit
 * where what that lacks is less than rounding, the others from it. */
static void boys(int most, long double t, long double f[EDGE])
{
    static const long double far_t = 110;
    if (t < far_t) {
        long double term = 1 / (2 * most + 1.0L), sum = term;
        for (int k = 1; term > 1e-21L * sum; k++) {
            term *= 2 * t / (2 * most + 2 * k + 1);
            sum += term;
        }
        f[most] = expl(-t) * sum;
    } else {
        f[most] = 0.5L * sqrtl(acosl(-1) / t);
        for (int n = 0; n < most; n++)
            f[most] *= (2 * n + 1) / (2 * t);
    }
    for (int n = most; n > 0; n--)
        f[n - 1] = (2 * t * f[n] + expl(-t)) / (2 * n - 1);
}

/* E_t of (x - A)^i (x - B)^j, for all of them. */
typedef long double hermites[POWERS][POWERS][EDGE];

static void fill_hermites(long double to_a, long double to_b, long double p, int l_a, int l_b, hermites e)
{
    for (int i = 0; i <= l_a; i++)
        for (int j = 0; j <= l_b; j++) {
            const bool is_first = i == 0 && j == 0;
            const long double *lower = is_first ? NULL : j > 0 ? e[i][j - 1] : e[i - 1][j];
            for (int t = 0; t < EDGE; t++)
                e[i][j][t] = is_first    ? t == 0
                             : t > i + j ? 0
                                         : (t > 0 ? lower[t - 1] / (2 * p) : 0) + (j > 0 ? to_b : to_a) * lower[t] +
                                               (t + 1) * lower[t + 1];
        }
}

/* R_tuv for t + u + v <= most, of a way from C to P. */
typedef long double derivatives[EDGE][EDGE][EDGE];

static void fill_derivatives(int most, long double p, const long double way[3], derivatives r)
{
    long double f[EDGE], scale = 1;
    boys(most, p * (way[0] * way[0] + way[1] * way[1] + way[2] * way[2]), f);
    for (int n = 0; n <= most; n++, scale *= -2 * p)
        f[n] *= scale;
    /* From n = most on: R of n from those of n + 1, in place, the highest first. */
    for (int n = most; n >= 0; n--) {
        for (int sum = most - n; sum > 0; sum--)
            for (int t = sum; t >= 0; t--)
                for (int u = sum - t; u >= 0; u--) {
                    const int v = sum - t - u;
                    r[t][u][v] = t > 0   ? way[0] * r[t - 1][u][v] + (t > 1 ? (t - 1) * r[t - 2][u][v] : 0)
                                 : u > 0 ? way[1] * r[t][u - 1][v] + (u > 1 ? (u - 1) * r[t][u - 2][v] : 0)
                                         : way[2] * r[t][u][v - 1] + (v > 1 ? (v - 1) * r[t][u][v - 2] : 0);
                }
        r[0][0][0] = f[n];
    }
}

/* Two shells. */
typedef struct pair {
    const ley_wavefunction *w;
    const basis_shell *a, *b;
    long double density[BASIS_MOST_MONOMIALS][BASIS_MOST_MONOMIALS]; /* of their monomials */
} pair;

/* D_fg = sum over i of n_i c_if c_ig, and its monomials'. */
static void fill_density(const wavefunction_quantity *q, pair *s)
{
    const ley_wavefunction *w = s->w;
    const int n_a = basis_shell_functions(s->a->l, s->a->is_pure), n_b = basis_shell_functions(s->b->l, s->b->is_pure);
    double of_a[BASIS_MOST_MONOMIALS], of_b[BASIS_MOST_MONOMIALS];
    memset(s->density, 0, sizeof s->density);
    for (int f = 0; f < n_a; f++)
        for (int g = 0; g < n_b; g++) {
            long double sum = 0;
            for (int64_t i = 0; i < w->arrays.orbitals; i++) {
                const double *c = w->arrays.orbital_coefficients + i * w->functions;
                sum += (long double)q->weights[i] * c[s->a->first_function + f] * c[s->b->first_function + g];
            }
            basis_polynomial(s->a->l, s->a->is_pure, f, of_a);
            basis_polynomial(s->b->l, s->b->is_pure, g, of_b);
            for (int m = 0; m < basis_shell_functions(s->a->l, false); m++)
                for (int n = 0; n < basis_shell_functions(s->b->l, false); n++)
                    s->density[m][n] += sum * of_a[m] * of_b[n];
        }
}

/* One product of monomials: the derivative along an axis by C is that by P with the other sign. */
static long double contract(const long double *x, const long double *y, const long double *z, const int most[3],
                            const int more[3], derivatives r)
{
    long double sum = 0;
    for (int t = 0; t <= most[0]; t++)
        for (int u = 0; u <= most[1]; u++)
            for (int v = 0; v <= most[2]; v++)
                sum += x[t] * y[u] * z[v] * r[t + more[0]][u + more[1]][v + more[2]];
    return sum;
}

/* The potential of a pair of primitives at C, or less its derivative along an axis. */
static long double primitives(const pair *s, double a, double b, int derivative, const double at[3])
{
    const long double p = (long double)a + b;
    const int l_a = s->a->l, l_b = s->b->l;
    const int more[3] = {derivative == 1, derivative == 2, derivative == 3};
    long double way[3], sum = 0;
    hermites e[3];
    derivatives r;
    for (int k = 0; k < 3; k++) {
        const long double x_a = s->w->arrays.positions_bohr[3 * s->a->atom + k],
                          x_b = s->w->arrays.positions_bohr[3 * s->b->atom + k], centre = (a * x_a + b * x_b) / p;
        way[k] = centre - at[k];
        fill_hermites(centre - x_a, centre - x_b, p, l_a, l_b, e[k]);
    }
    fill_derivatives(l_a + l_b + (derivative > 0), p, way, r);
    for (int i = l_a; i >= 0; i--)
        for (int j = l_a - i; j >= 0; j--)
            for (int k = l_b; k >= 0; k--)
                for (int h = l_b - k; h >= 0; h--) {
                    const int from[3] = {i, j, l_a - i - j}, to[3] = {k, h, l_b - k - h},
                              most[3] = {i + k, j + h, from[2] + to[2]};
                    sum += s->density[basis_monomial(l_a, i, j)][basis_monomial(l_b, k, h)] *
                           contract(e[0][i][k], e[1][j][h], e[2][from[2]][to[2]], most, more, r);
                }
    return sum;
}

static long double shells(const wavefunction_quantity *q, pair *s, const double at[3])
{
    const ley_wavefunction_arrays *from = &s->w->arrays;
    double distance2 = 0;
    long double sum = 0;
    bool is_made = false;
    for (int k = 0; k < 3; k++)
        distance2 += pow(from->positions_bohr[3 * s->a->atom + k] - from->positions_bohr[3 * s->b->atom + k], 2);
    for (int64_t i = s->a->first_primitive; i < s->a->first_primitive + s->a->primitives; i++)
        for (int64_t j = s->b->first_primitive; j < s->b->first_primitive + s->b->primitives; j++) {
            const double a = from->exponents[i], b = from->exponents[j], decay = a * b / (a + b) * distance2;
            if (decay > largest_decay)
                continue;
            if (!is_made)
                fill_density(q, s);
            is_made = true;
            sum += 2 * acosl(-1) / (a + b) * expl(-decay) * from->coefficients[i] * from->coefficients[j] *
                   basis_radial_norm(a, s->a->l) * basis_radial_norm(b, s->b->l) *
                   primitives(s, a, b, q->derivative, at);
        }
    return sum;
}

static long double nuclei(const ley_wavefunction_arrays *a, int derivative, const double at[3])
{
    long double sum = 0;
    for (int64_t i = 0; i < a->nuclei; i++) {
        long double way[3], r2 = 0;
        for (int k = 0; k < 3; k++) {
            way[k] = (long double)at[k] - a->positions_bohr[3 * i + k];
            r2 += way[k] * way[k];
        }
        const long double r = fmaxl(sqrtl(r2), ESP_R_MIN_BOHR);
        if (derivative == 0)
            sum += a->charges[i] / r;
        else if (r > ESP_R_MIN_BOHR)
            sum += a->charges[i] / (r * r2) * way[derivative - 1];
    }
    return sum;
}

long double esp_again(const reference_terms *terms, const double point_A[3])
{
    const wavefunction_quantity *q = terms->quantity;
    const ley_wavefunction *w = q->wavefunction;
    const double at[3] = {point_A[0] / units_bohr_A, point_A[1] / units_bohr_A, point_A[2] / units_bohr_A};
    pair *s = malloc(sizeof *s);
    if (s == NULL)
        return NAN;
    long double electrons = 0;
    s->w = w;
    for (int64_t i = 0; i < w->arrays.shells; i++)
        for (int64_t j = 0; j <= i; j++) {
            s->a = &w->shells[i];
            s->b = &w->shells[j];
            electrons += (i == j ? 1 : 2) * shells(q, s, at);
        }
    free(s);
    return nuclei(&w->arrays, q->derivative, at) - electrons;
}
