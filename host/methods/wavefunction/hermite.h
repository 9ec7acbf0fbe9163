/* The electrons of a molecule as charges that a kernel sums: one for each pair of Gaussians of an
 * expansion, around P = (a A + b B)/p with p = a + b. A pair's density is a sum of derivatives of
 * exp(-p |r - P|^2), Hermite Gaussians (McMurchie and Davidson, J. Comput. Phys. 26, 218, 1978),
 * and so its potential a sum of derivatives of Boys' function F_0(t), t = p |r - P|^2. With
 * (x, y, z) = sqrt(p) (r - P) that is
 *
 *     V(r) = sum over n <= L of F_n(t) sum over i + j + k <= n of C_nijk x^i y^j z^k
 *
 * where L is the sum of the Gaussians' degrees, and F_n is 2/sqrt(pi) times Boys' function, so that
 * far away F_0 is 1/sqrt(t) without a factor that floats round, the same one for all electrons. The
 * density matrix is contracted once, into C. */
#ifndef LEY_WAVEFUNCTION_HERMITE_H
#define LEY_WAVEFUNCTION_HERMITE_H

#include "methods/wavefunction/expansion.h"
#include "methods/wavefunction/far_away.h"

#include <stdatomic.h>

enum { HERMITE_CLASSES = 2 * LEY_MOST_MOMENTUM + 1, HERMITE_PLACE = 8 /* floats of where a pair is */ };

/* Coefficients of a pair: polynomials of degrees 0 to l. */
static inline int hermite_size(int l)
{
    return (l + 1) * (l + 2) * (l + 3) * (l + 4) / 24;
}

/* Pairs of one L: {P, sqrt(p), what is to be added to P, 0} and coefficients, hartree/e. */
typedef struct hermite_class {
    int64_t count;
    float *places, *coefficients;
} hermite_class;

typedef struct hermite_charges {
    hermite_class classes[HERMITE_CLASSES]; /* by L */
    double left_out;   /* what pairs that are left out add up to at most, anywhere, in hartree/e; of fields in
                          hartree/(e bohr) */
    far_away far_away; /* of all pairs, and the nuclei */
} hermite_charges;

static inline int64_t hermite_count(const hermite_charges *charges)
{
    int64_t sum = 0;
    for (int l = 0; l < HERMITE_CLASSES; l++)
        sum += charges->classes[l].count;
    return sum;
}

/* How they are made. */
typedef struct hermite_wish {
    const double *weights; /* [orbitals]: of the electrons */
    bool has_field;        /* and the field is wanted beside the potential */
    double most_left_out;  /* pairs are left out whose potentials, and fields, are at most so much, all together */
    const atomic_bool *cancelled; /* may be NULL */
} hermite_wish;

/* Errors: LEY_ERROR_MEMORY, LEY_CANCELLED. */
ley_status hermite_create(const expansion *e, const hermite_wish *wish, hermite_charges *made, ley_error *error);
void hermite_destroy(hermite_charges *charges);

#endif
