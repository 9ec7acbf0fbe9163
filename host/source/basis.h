/* Functions of shells: their norms, and what polynomials they are. */
#ifndef LEY_SOURCE_BASIS_H
#define LEY_SOURCE_BASIS_H

#include "leyden.h"

enum {
    BASIS_MOST_FUNCTIONS = (LEY_MOST_MOMENTUM + 1) * (LEY_MOST_MOMENTUM + 2) / 2, /* of a shell */
    BASIS_MOST_MONOMIALS = BASIS_MOST_FUNCTIONS
};

/* Functions of a shell. */
static inline int basis_shell_functions(int l, bool is_pure)
{
    return is_pure ? 2 * l + 1 : (l + 1) * (l + 2) / 2;
}

/* The number of x^i y^j z^k among those with i + j + k = l: i descending, then j. */
static inline int basis_monomial(int l, int i, int j)
{
    return (l - i) * (l - i + 1) / 2 + (l - i - j);
}

/* The factor that makes r^l Y exp(-a r^2) of norm 1, where Y is a spherical harmonic so scaled that
 * x^l is of the same norm: (2a/pi)^(3/4) sqrt((4a)^l / (2l - 1)!!). */
double basis_radial_norm(double exponent, int l);

/* A function of a shell as a polynomial, a factor for each monomial of degree l, so that it is
 * sum over p of d_p basis_radial_norm(a_p, l) exp(-a_p R^2) times the polynomial. */
void basis_polynomial(int l, bool is_pure, int function, double factors[BASIS_MOST_MONOMIALS]);

/* The m of a pure function. */
static inline int basis_order(int function)
{
    return function % 2 == 1 ? (function + 1) / 2 : -function / 2;
}

#endif
