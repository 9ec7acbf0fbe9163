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
 * density matrix is contracted once, into C.
 *
 * Each pair belongs to a cluster: of the nucleus of the steeper Gaussian and a band of p, the
 * nucleus itself to the one of the largest p. Where all pairs of a cluster are multipoles they are
 * one charge together: so the cost of a point of a large molecule does not grow with all of it, and
 * nuclei and electrons do not have to cancel in floats. Charges and dipoles of these are summed by
 * the host, in double precision, as atoms cancel, too. */
#ifndef LEY_WAVEFUNCTION_HERMITE_H
#define LEY_WAVEFUNCTION_HERMITE_H

#include "methods/wavefunction/expansion.h"
#include "methods/wavefunction/far_away.h"

#include <math.h>
#include <stdatomic.h>

/* One class for each L, and that of clusters as multipoles. */
enum {
    HERMITE_MULTIPOLES = 2 * LEY_MOST_MOMENTUM + 1,
    HERMITE_CLASSES,
    HERMITE_BANDS = 3,
    HERMITE_PLACE = 8 /* floats of where a pair is */
};

/* Coefficients of a charge: polynomials of degrees 0 to l; those of multipoles are homogeneous. */
static inline int hermite_size(int l)
{
    return l == HERMITE_MULTIPOLES ? (int)FAR_COEFFICIENTS : (l + 1) * (l + 2) * (l + 3) * (l + 4) / 24;
}

static inline int hermite_momentum(int class_number)
{
    return class_number == HERMITE_MULTIPOLES ? (int)FAR_ORDER : class_number;
}

/* Charges of one class, those of a cluster one behind the other: {P, sqrt(p), what is to be added
 * to P, 0} and coefficients, hartree/e. */
typedef struct hermite_class {
    int64_t count;
    int32_t *first; /* [clusters + 1]: of each one's */
    float *places, *coefficients;
} hermite_class;

typedef struct hermite_charges {
    hermite_class classes[HERMITE_CLASSES]; /* by L */
    int32_t clusters;
    float *reaches;    /* [clusters][8]: {R_A, a, what is to be added to R_A, a sqrt(3)}; hermite_is_near() */
    double *poles;     /* [clusters][4]: the charge of each one, and its dipole: kernels sum higher
 multipoles only */
    double left_out;   /* what pairs that are left out add up to at most, anywhere, in hartree/e; of fields in
                          hartree/(e bohr) */
    far_away far_away; /* of all pairs, and the nuclei */
} hermite_charges;

/* Whether at a point so far from a cluster, as floats have it, its pairs are to be summed one by
 * one: without a product, whose rounding would differ between the host and kernels. */
static inline bool hermite_is_near(const float *reach, const float way[3])
{
    const float x = fabsf(way[0]), y = fabsf(way[1]), z = fabsf(way[2]);
    return fmaxf(fmaxf(x, y), z) < reach[3] && x + y + z < reach[7];
}

/* The same of a cluster and a point that is no kernel's yet. */
static inline bool hermite_cluster_is_near(const hermite_charges *charges, int32_t cluster, const double place[3])
{
    const float *reach = charges->reaches + HERMITE_PLACE * cluster;
    float way[3];
    for (int axis = 0; axis < 3; axis++)
        way[axis] = (float)(place[axis] - (double)reach[axis] - (double)reach[4 + axis]);
    return hermite_is_near(reach, way);
}

/* All pairs. */
static inline int64_t hermite_count(const hermite_charges *charges)
{
    int64_t sum = 0;
    for (int l = 0; l < HERMITE_MULTIPOLES; l++)
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
