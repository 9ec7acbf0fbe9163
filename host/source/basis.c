/* Contracted Gaussians: norms and solid harmonics, as T. Helgaker, P. Jorgensen and J. Olsen have
 * them, Molecular Electronic-Structure Theory (2000), 6.4 and 9.1. */
#include "source/basis.h"

#include <math.h>
#include <string.h>

/* (2 n - 1)!!, 1 for n = 0. */
static double odd_factorial(int n)
{
    double product = 1;
    for (int k = 1; k <= n; k++)
        product *= 2 * k - 1;
    return product;
}

static double factorial(int n)
{
    double product = 1;
    for (int k = 2; k <= n; k++)
        product *= k;
    return product;
}

static double binomial(int n, int k)
{
    return k < 0 || k > n ? 0 : factorial(n) / (factorial(k) * factorial(n - k));
}

double basis_radial_norm(double exponent, int l)
{
    return pow(2 * exponent / M_PI, 0.75) * sqrt(pow(4 * exponent, l) / odd_factorial(l));
}

/* x^i y^j z^k: its norm differs from that of x^l. */
static void cartesian(int l, int function, double factors[BASIS_MOST_MONOMIALS])
{
    for (int i = l; i >= 0; i--)
        for (int j = l - i; j >= 0; j--)
            if (basis_monomial(l, i, j) == function)
                factors[function] =
                    sqrt(odd_factorial(l) / (odd_factorial(i) * odd_factorial(j) * odd_factorial(l - i - j)));
}

/* S_lm = N sum over t, u, v of (-1)^(t + v) 4^-t C(l,t) C(l-t,|m|+t) C(t,u) C(|m|,2v)
 * x^(2t+|m|-2(u+v)) y^(2(u+v)) z^(l-2t-|m|), where v is whole for m >= 0 and half-odd, less 1/2 in
 * the sign, for m < 0. */
static void pure(int l, int m, double factors[BASIS_MOST_MONOMIALS])
{
    const int size = m < 0 ? -m : m, odd = m < 0;
    const double norm =
        sqrt((m == 0 ? 1 : 2) * factorial(l + size) * factorial(l - size)) / (pow(2, size) * factorial(l));
    for (int t = 0; 2 * t + size <= l; t++)
        for (int u = 0; u <= t; u++)
            for (int twice_v = odd; twice_v <= size; twice_v += 2) {
                const int y = 2 * u + twice_v, x = 2 * t + size - y;
                const double sign = (t + twice_v / 2) % 2 == 0 ? 1 : -1;
                factors[basis_monomial(l, x, y)] += norm * sign * pow(0.25, t) * binomial(l, t) *
                                                    binomial(l - t, size + t) * binomial(t, u) *
                                                    binomial(size, twice_v);
            }
}

void basis_polynomial(int l, bool is_pure, int function, double factors[BASIS_MOST_MONOMIALS])
{
    memset(factors, 0, BASIS_MOST_MONOMIALS * sizeof *factors);
    if (is_pure)
        pure(l, basis_order(function), factors);
    else
        cartesian(l, function, factors);
}
