/* Orbitals and densities once more, in extended precision: each function as monomials, each
 * monomial times a Gaussian as a product over the axes, and its derivatives as those of the
 * factors. law/wavefunction.c has solid harmonics, and sums of Gaussians before angular parts. */
#include "law/wavefunction_again.h"

#include "core/units.h"
#include "law/quantity.h"
#include "source/wavefunction.h"

#include <math.h>
#include <stdlib.h>

enum { VALUE, LAPLACIAN = 4, PARTS }; /* between them the gradient */

static long double power(long double x, int n)
{
    return n < 0 ? 0 : n == 0 ? 1 : x * power(x, n - 1);
}

/* A derivative of x^n exp(-a x^2), without the exponential. */
static long double factor(int n, long double a, long double x, int derivative)
{
    return derivative == 0 ? power(x, n)
           : derivative == 1
               ? n * power(x, n - 1) - 2 * a * power(x, n + 1)
               : n * (n - 1) * power(x, n - 2) - 2 * a * (2 * n + 1) * power(x, n) + 4 * a * a * power(x, n + 2);
}

/* Adds g x^i y^j z^k, where g has an exponential exp(-a r^2), and its derivatives. */
static void add_monomial(long double g, const int n[3], long double a, const long double r[3], long double to[PARTS])
{
    long double at[3][3];
    for (int axis = 0; axis < 3; axis++)
        for (int d = 0; d < 3; d++)
            at[axis][d] = factor(n[axis], a, r[axis], d);
    to[VALUE] += g * at[0][0] * at[1][0] * at[2][0];
    for (int axis = 0; axis < 3; axis++) {
        const long double others = g * at[(axis + 1) % 3][0] * at[(axis + 2) % 3][0];
        to[1 + axis] += others * at[axis][1];
        to[LAPLACIAN] += others * at[axis][2];
    }
}

/* The functions of a shell, and their derivatives. */
static void value_shell(const ley_wavefunction *w, const basis_shell *s, const double point[3],
                        long double (*functions)[PARTS])
{
    long double monomials[BASIS_MOST_MONOMIALS][PARTS] = {{0}}, r[3], r2 = 0;
    double polynomial[BASIS_MOST_MONOMIALS];
    for (int axis = 0; axis < 3; axis++) {
        r[axis] = (long double)point[axis] - w->arrays.positions_bohr[3 * s->atom + axis];
        r2 += r[axis] * r[axis];
    }
    for (int64_t p = s->first_primitive; p < s->first_primitive + s->primitives; p++) {
        const double a = w->arrays.exponents[p];
        const long double g = w->arrays.coefficients[p] * basis_radial_norm(a, s->l) * expl(-a * r2);
        for (int i = s->l; i >= 0 && g != 0; i--)
            for (int j = s->l - i; j >= 0; j--)
                add_monomial(g, (const int[]){i, j, s->l - i - j}, a, r, monomials[basis_monomial(s->l, i, j)]);
    }
    for (int f = 0; f < basis_shell_functions(s->l, s->is_pure); f++) {
        basis_polynomial(s->l, s->is_pure, f, polynomial);
        for (int d = 0; d < PARTS; d++)
            for (int m = 0; m < basis_shell_functions(s->l, false); m++)
                functions[f][d] += polynomial[m] * monomials[m][d];
    }
}

static void value_orbital(const ley_wavefunction *w, int64_t orbital, long double (*functions)[PARTS],
                          long double psi[PARTS])
{
    const double *c = w->arrays.orbital_coefficients + orbital * w->functions;
    for (int d = 0; d < PARTS; d++) {
        psi[d] = 0;
        for (int64_t f = 0; f < w->functions; f++)
            psi[d] += c[f] * functions[f][d];
    }
}

static void add_density(long double weight, const long double psi[PARTS], long double to[PARTS])
{
    to[VALUE] += weight * psi[VALUE] * psi[VALUE];
    to[LAPLACIAN] += 2 * weight * psi[VALUE] * psi[LAPLACIAN];
    for (int d = 1; d < LAPLACIAN; d++) {
        to[d] += 2 * weight * psi[VALUE] * psi[d];
        to[LAPLACIAN] += 2 * weight * psi[d] * psi[d];
    }
}

static long double reduced_gradient(const long double rho[PARTS])
{
    const long double size = fabsl(rho[VALUE]), slope = sqrtl(rho[1] * rho[1] + rho[2] * rho[2] + rho[3] * rho[3]),
                      s = slope / (2 * cbrtl(3 * acosl(-1) * acosl(-1)) * size * cbrtl(size));
    return s < LEY_MOST_REDUCED_GRADIENT ? s : LEY_MOST_REDUCED_GRADIENT;
}

long double wavefunction_again(const reference_terms *terms, const double point_A[3])
{
    const wavefunction_quantity *q = terms->quantity;
    const ley_wavefunction *w = q->wavefunction;
    const double point[3] = {point_A[0] / units_bohr_A, point_A[1] / units_bohr_A, point_A[2] / units_bohr_A};
    long double sums[PARTS] = {0}, psi[PARTS], (*functions)[PARTS] = calloc((size_t)w->functions, sizeof *functions);
    if (functions == NULL)
        return NAN;
    for (int64_t s = 0; s < w->arrays.shells; s++)
        value_shell(w, &w->shells[s], point, functions + w->shells[s].first_function);
    if (q->weights == NULL)
        value_orbital(w, q->orbital, functions, sums);
    for (int64_t i = 0; i < w->arrays.orbitals && q->weights != NULL; i++)
        if (q->weights[i] != 0) {
            value_orbital(w, i, functions, psi);
            add_density(q->weights[i], psi, sums);
        }
    free(functions);
    return q->derivative == WAVEFUNCTION_REDUCED ? reduced_gradient(sums) : sums[q->derivative];
}
