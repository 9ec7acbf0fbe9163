/* A basis as kernels take it: Gaussians, one for each centre and exponent, and an orbital as a
 * polynomial around each:
 *
 *     psi(r) = sum over g of e^(-a_g R_g^2) sum over i + j + k <= L_g of C_gijk x^i y^j z^k
 *
 * or contracted, one for each shell, with its sum of Gaussians in the place of one, and monomials
 * of its own degree alone, i + j + k = L, i descending, then j: fewer coefficients, more
 * exponentials. */
#ifndef LEY_WAVEFUNCTION_EXPANSION_H
#define LEY_WAVEFUNCTION_EXPANSION_H

#include "source/wavefunction.h"

typedef struct expansion_gaussian {
    double centre[3], exponent; /* bohr; contracted: the smallest of the shell's */
    int l;                      /* of the polynomial */
    int64_t shell;              /* contracted: which it is */
    int32_t first_row;          /* rows i = 0 to l of tables along an axis: (x - centre)^i e^(-a (x - centre)^2) */
    int32_t first_coefficient;  /* i slowest, k fastest */
} expansion_gaussian;

typedef struct expansion {
    const ley_wavefunction *wavefunction;
    bool is_contracted;
    int32_t count, rows, coefficients;
    int most_l;
    expansion_gaussian *gaussians;
    int32_t *gaussian_of; /* [primitives]; contracted: NULL */
    int32_t centres;      /* nuclei that have Gaussians */
    int32_t *first_of;    /* [centres + 1]: each one's first Gaussian; of a centre the steepest one comes first */
} expansion;

/* Errors: LEY_ERROR_MEMORY; LEY_ERROR_USAGE where the basis is too large for ints. */
ley_status expansion_create(const ley_wavefunction *wavefunction, expansion *made, ley_error *error);
ley_status expansion_create_contracted(const ley_wavefunction *wavefunction, expansion *made, ley_error *error);
void expansion_destroy(expansion *e);

/* The coefficients of polynomials of degree up to l. */
static inline int expansion_polynomial(int l)
{
    return (l + 1) * (l + 2) * (l + 3) / 6;
}

/* Those of one of its Gaussians or shells. */
static inline int expansion_each(const expansion *e, const expansion_gaussian *g)
{
    return e->is_contracted ? (g->l + 1) * (g->l + 2) / 2 : expansion_polynomial(g->l);
}

/* Where the one of x^i begins, of which y^0 z^0 is the first. */
int expansion_place(int l, int i);

/* C of an orbital, [coefficients], in floats and, where that is not NULL, in doubles; not-a-numbers
 * where there is no memory. */
void expansion_fill(const expansion *e, int64_t orbital, float *coefficients, double *exact);
void expansion_fill_exact(const expansion *e, int64_t orbital, double *exact);

/* Contracted: the factor of one of a shell's Gaussians. */
double expansion_factor(const expansion *e, const expansion_gaussian *g, int64_t number);

/* The square of how far a Gaussian reaches: beyond that no orbital has a term of it above its
 * threshold, nor of its derivatives, up to the second ones, where these are asked for. */
double expansion_reach2(const expansion *e, const expansion_gaussian *g, const float *coefficients,
                        const double *thresholds, int32_t orbitals, int derivatives);

/* About the largest magnitude of an orbital, no more: at its largest functions' nuclei and around
 * them. */
double expansion_largest(const ley_wavefunction *w, int64_t orbital);

#endif
