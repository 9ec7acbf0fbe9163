/* Orbitals and densities at points anywhere, term by term:
 *
 *     psi(r) = sum_g e^(-a_g R_g^2) sum over i + j + k <= L_g of C_gijk x^i y^j z^k
 *
 * with R_g = (x, y, z) the vector from the Gaussian's centre. Places come as sums of two floats, so
 * that vectors are rounded by their lengths, not by how far both ends are from the origin.
 *
 * gm_basis         centres, one behind the other, each with its Gaussians and their coefficients of
 *                  LEY_ORBITALS orbitals, in vectors of four numbers:
 *                  {x, y, z, vectors of the centre}, {what is to be added to x, y, z, -}; then of
 *                  each Gaussian, the one that reaches farthest first, {-a log2 e, the square of
 *                  its reach, L, vectors of the Gaussian} and C_gijk, k fastest, of all orbitals
 *                  each. Beyond its reach a Gaussian is left out, and so are those behind it.
 *                  LEY_CONTRACTED: of each shell {its Gaussians, the square of its reach, L, its
 *                  vectors}, {-a log2 e, factor} of each, and C_ijk with i + j + k = L, i
 *                  descending, then j
 *                  LEY_COMPILED: kinds of centres in the order of the code, each {centres of this
 *                  kind, -, -, -} and these: {x, y, z, -}, {to be added, -}, and of each Gaussian,
 *                  without gaps, the square of its reach and its coefficients
 * gm_tiles         {first vector, vectors} of each part of the basis that fits into LEY_TILE
 *                  vectors of local memory; elsewhere one, of all
 * n_tiles          of them
 * first            number of the vector where the basis of these orbitals begins
 * gm_points        [6][pitch]: x, y, z, and what is to be added to them
 * pitch            points, whole work-groups of them
 * gm_weights       of each of these orbitals in the density; from number `first_weight` on
 * n_orbitals       how many of them there are, LEY_ORBITALS or fewer
 * places           components of gm_values: {where orbitals are stored, one behind the other, or
 *                  -1; where the density is added, or -1; the first of its gradient, or -1; its
 *                  Laplacian, or -1}. LEY_DERIVATIVES: of the latter two, with LEY_ORBITALS = 1
 * gm_values        [components][pitch]
 *
 * Global size {pitch / LEY_WIDTH}, work-group LEY_WG. */
#if !defined(LEY_ORBITALS) || !defined(LEY_DERIVATIVES) || !defined(LEY_EXP) || !defined(LEY_TILE) || \
    !defined(LEY_COMPILED) || !defined(LEY_CONTRACTED)
#error "the specification is incomplete: see LEY_GAUSSIANS_KEYS in spec.h"
#endif
#include "dialect.h"
#include "add.h"

#if LEY_ATOMS == LEY_ATOMS_CONSTANT
#define CONSTANT_SPACE LEY_CONSTANT
#define BASIS LEY_CONSTANT const
LEY_CONSTANT_SYMBOL(atom)
#define WHERE_IT_IS(gm_basis) LEY_IN_CONSTANT(gm_basis)
#else
#define CONSTANT_SPACE LEY_GLOBAL
#define WHERE_IT_IS(gm_basis) gm_basis
#if LEY_ATOMS == LEY_ATOMS_LOCAL
#define BASIS LEY_LOCAL const
#else
#define BASIS LEY_GLOBAL const
#endif
#endif

#if LEY_WIDTH == 1
#define IS_NEAR(r2, reach2) ((r2) < (reach2))
#define WITHIN(value, r2, reach2) (value)
#define STORE(value, at) (*(at) = (value))
#define COORDINATE(at) (*(at))
#else
#include "gaussians_vectors.h"
#endif
#define ADD_TO(at, value) STORE(LEY_LOAD(at) + (value), at)

/* The polynomial recipe for 2^x ends there, and so do floats. */
#if LEY_EXP == LEY_EXP_POLYNOMIAL
#define EXPONENT(x) LEY_MAX(x, (real)-126.0f)
#else
#define EXPONENT(x) (x)
#endif
#if LEY_SUM == LEY_SPEC_SUM_DOUBLE
#define LN_2 0.693147180559945309
#else
#define LN_2 0.693147180559945309f
#endif

/* A point, its sums, and, where these are compensated, what they have lost. */
#define VALUES (LEY_DERIVATIVES ? 5 : LEY_ORBITALS)
typedef struct {
    real x, y, z, x_low, y_low, z_low;
    real sum[VALUES], carry[CARRIES ? VALUES : 1];
} point;
#define ADD_VALUE(p, k, term) ADD((p)->sum[k], (p)->carry[(k) * CARRIES], term)

/* Of a vector of points: coordinates are floats, whatever is summed. */
LEY_FN real coordinate(LEY_GLOBAL const float *gm_points, int pitch, int number, int vector)
{
    return COORDINATE(gm_points + number * (size_t)pitch + (size_t)vector * LEY_WIDTH);
}

#if LEY_DERIVATIVES
/* A polynomial: its value, its derivatives, and the second ones along the axes. */
typedef struct {
    real p, x, y, z, xx, yy, zz;
} polynomial;

LEY_FN polynomial polynomial_of(BASIS scalar *c, int l, real x, real y, real z)
{
    polynomial p;
    p.p = p.x = p.y = p.z = p.xx = p.yy = p.zz = 0;
    c += (l + 1) * (l + 2) * (l + 3) / 6;
    for (int i = l; i >= 0; i--) {
        real q = 0, q_y = 0, q_yy = 0, q_z = 0, q_zz = 0;
        for (int j = l - i; j >= 0; j--) {
            real t = 0, t_z = 0, t_zz = 0;
            for (int k = l - i - j; k >= 0; k--) {
                t_zz = t_zz * z + 2 * t_z;
                t_z = t_z * z + t;
                t = t * z + *--c;
            }
            q_yy = q_yy * y + 2 * q_y;
            q_y = q_y * y + q;
            q = q * y + t;
            q_z = q_z * y + t_z;
            q_zz = q_zz * y + t_zz;
        }
        p.xx = p.xx * x + 2 * p.x;
        p.x = p.x * x + p.p;
        p.p = p.p * x + q;
        p.y = p.y * x + q_y;
        p.yy = p.yy * x + q_yy;
        p.z = p.z * x + q_z;
        p.zz = p.zz * x + q_zz;
    }
    return p;
}
#endif

/* Adds a Gaussian's terms; `rate` is -a log2 e. Where l is known when this is compiled, nothing is
 * left of the other cases. */
#if LEY_DERIVATIVES
/* sum: psi, its derivatives, its Laplacian. */
LEY_FN void add_gaussian(point *at, BASIS scalar *c, int l, scalar rate, scalar reach2, real x, real y, real z,
                         real r2)
{
    const real e = WITHIN(ley_exp2(EXPONENT(r2 * rate)), r2, reach2);
    const polynomial p = polynomial_of(c, l, x, y, z);
    const scalar twice_a = -2 * LN_2 * rate;
    ADD_VALUE(at, 0, e * p.p);
    ADD_VALUE(at, 1, e * (p.x - twice_a * x * p.p));
    ADD_VALUE(at, 2, e * (p.y - twice_a * y * p.p));
    ADD_VALUE(at, 3, e * (p.z - twice_a * z * p.p));
    ADD_VALUE(at, 4,
              e * (p.xx + p.yy + p.zz - 2 * twice_a * (x * p.x + y * p.y + z * p.z) +
                   (twice_a * twice_a * r2 - 3 * twice_a) * p.p));
}
#elif !LEY_CONTRACTED
/* The k-th coefficient of orbital o. */
#define C(k) c[(k) * LEY_ORBITALS + o]
#define PLANE(k) (C(k) + C((k) + 1) * z)

LEY_FN void add_gaussian(point *at, BASIS scalar *c, int l, scalar rate, scalar reach2, real x, real y, real z,
                         real r2)
{
    const real e = WITHIN(ley_exp2(EXPONENT(r2 * rate)), r2, reach2);
    if (l == 0) {
        UNROLL for (int o = 0; o < LEY_ORBITALS; o++) ADD_VALUE(at, o, e * C(0));
    } else if (l == 1) {
        UNROLL for (int o = 0; o < LEY_ORBITALS; o++) ADD_VALUE(at, o, e * (PLANE(0) + C(2) * y + C(3) * x));
    } else if (l == 2) {
        UNROLL for (int o = 0; o < LEY_ORBITALS; o++)
            ADD_VALUE(at, o,
                      e * (C(0) + (C(1) + C(2) * z) * z + (PLANE(3) + C(5) * y) * y +
                           (PLANE(6) + C(8) * y + C(9) * x) * x));
    } else {
        real p[LEY_ORBITALS];
        c += (l + 1) * (l + 2) * (l + 3) / 6 * LEY_ORBITALS;
        UNROLL for (int o = 0; o < LEY_ORBITALS; o++) p[o] = 0;
        for (int i = l; i >= 0; i--) {
            real q[LEY_ORBITALS];
            UNROLL for (int o = 0; o < LEY_ORBITALS; o++) q[o] = 0;
            for (int j = l - i; j >= 0; j--) {
                real t[LEY_ORBITALS];
                UNROLL for (int o = 0; o < LEY_ORBITALS; o++) t[o] = 0;
                for (int k = l - i - j; k >= 0; k--) {
                    c -= LEY_ORBITALS;
                    UNROLL for (int o = 0; o < LEY_ORBITALS; o++) t[o] = t[o] * z + c[o];
                }
                UNROLL for (int o = 0; o < LEY_ORBITALS; o++) q[o] = q[o] * y + t[o];
            }
            UNROLL for (int o = 0; o < LEY_ORBITALS; o++) p[o] = p[o] * x + q[o];
        }
        UNROLL for (int o = 0; o < LEY_ORBITALS; o++) ADD_VALUE(at, o, e * p[o]);
    }
}
#endif

#if LEY_CONTRACTED
/* x^i y^j z^k. */
LEY_FN real monomial(int i, int j, int k, real x, real y, real z)
{
    real value = 1;
    for (; i > 0; i--)
        value *= x;
    for (; j > 0; j--)
        value *= y;
    for (; k > 0; k--)
        value *= z;
    return value;
}
#endif

/* The vector from a centre, {x, y, z}, {to be added}, and its square. */
#define FROM_CENTRE(at, high, low) \
    const real x = ((at)->x - (high).x) + ((at)->x_low - (low).x), \
               y = ((at)->y - (high).y) + ((at)->y_low - (low).y), \
               z = ((at)->z - (high).z) + ((at)->z_low - (low).z), r2 = x * x + y * y + z * z

#if LEY_COMPILED
/* Without a basis at hand: one s and one p function around each centre. */
#ifndef LEY_BASIS_CODE
#define LEY_BASIS_CODE LEY_CENTRES(2, 5, LEY_GAUSSIAN(0, -1.0e+00, 0, 0) LEY_GAUSSIAN(1, -2.0e+00, 1, 1))
#endif

/* All centres of a kind, whose Gaussians have so many reaches and coefficients of an orbital; one
 * of them, behind so many. */
#define LEY_CENTRES(reaches, coefficients, gaussians) \
    { \
        const int count = (int)basis[0].x; \
        basis++; \
        for (int n = 0; n < count; n++, basis += 2 + ((reaches) + (coefficients) * LEY_ORBITALS + 3) / 4) { \
            BASIS scalar *numbers = (BASIS scalar *)(basis + 2); \
            FROM_CENTRE(at, basis[0], basis[1]); \
            gaussians \
        } \
    }
#if LEY_SUM == LEY_SPEC_SUM_DOUBLE
#define RATE(rate) rate
#else
#define RATE(rate) rate##f
#endif
#define LEY_GAUSSIAN(l, rate, reaches, coefficients) \
    if (!IS_NEAR(r2, numbers[(reaches) + (coefficients) * LEY_ORBITALS])) \
        continue; \
    add_gaussian(at, numbers + (reaches) + (coefficients) * LEY_ORBITALS + 1, l, RATE(rate), \
                 numbers[(reaches) + (coefficients) * LEY_ORBITALS], x, y, z, r2);

LEY_FN void add_all(point *at, BASIS atom *basis)
{
    LEY_BASIS_CODE
}
#elif LEY_CONTRACTED
/* Centres in so many vectors: a shell's values times the coefficients of all orbitals, as a product
 * of a column and a row. Sums are the function's own meanwhile, in registers. */
LEY_FN void add_centres(point *at, BASIS atom *basis, int vectors)
{
    real sum[LEY_ORBITALS], carry[CARRIES ? LEY_ORBITALS : 1];
    UNROLL for (int o = 0; o < LEY_ORBITALS; o++) {
        sum[o] = at->sum[o];
        carry[o * CARRIES] = at->carry[o * CARRIES];
    }
    for (int first = 0; first < vectors;) {
        const atom high = basis[first], low = basis[first + 1];
        const int next = first + (int)high.w;
        FROM_CENTRE(at, high, low);
        for (int g = first + 2; g < next;) {
            const atom shell = basis[g];
            BASIS scalar *numbers = (BASIS scalar *)(basis + g + 1);
            const int count = (int)shell.x, l = (int)shell.z;
            BASIS scalar *c = numbers + (2 * count + 3) / 4 * 4;
            if (!IS_NEAR(r2, shell.y))
                break;
            real radial = 0;
            for (int p = 0; p < count; p++)
                radial += numbers[2 * p + 1] * ley_exp2(EXPONENT(r2 * numbers[2 * p]));
            radial = WITHIN(radial, r2, shell.y);
            for (int i = l; i >= 0; i--)
                for (int j = l - i; j >= 0; j--, c += LEY_ORBITALS) {
                    const real value = radial * monomial(i, j, l - i - j, x, y, z);
                    UNROLL for (int o = 0; o < LEY_ORBITALS; o++)
                        ADD(sum[o], carry[o * CARRIES], value * c[o]);
                }
            g += (int)shell.w;
        }
        first = next;
    }
    UNROLL for (int o = 0; o < LEY_ORBITALS; o++) {
        at->sum[o] = sum[o];
        at->carry[o * CARRIES] = carry[o * CARRIES];
    }
}
#else
/* Centres in so many vectors. */
LEY_FN void add_centres(point *at, BASIS atom *basis, int vectors)
{
    for (int first = 0; first < vectors;) {
        const atom high = basis[first], low = basis[first + 1];
        const int next = first + (int)high.w;
        FROM_CENTRE(at, high, low);
        for (int g = first + 2; g < next;) {
            const atom gaussian = basis[g];
            if (!IS_NEAR(r2, gaussian.y))
                break;
            add_gaussian(at, (BASIS scalar *)(basis + g + 1), (int)gaussian.z, gaussian.x, gaussian.y, x,
                         y, z, r2);
            g += (int)gaussian.w;
        }
        first = next;
    }
}
#endif

LEY_KERNEL_OF(LEY_WG, 1, 1) gaussians(LEY_PARAMETERS(LEY_GAUSSIANS_ARGUMENTS))
{
    const int vector = (int)LEY_GLOBAL_ID(0);
    point at;
    at.x = coordinate(gm_points, pitch, 0, vector);
    at.y = coordinate(gm_points, pitch, 1, vector);
    at.z = coordinate(gm_points, pitch, 2, vector);
    at.x_low = coordinate(gm_points, pitch, 3, vector);
    at.y_low = coordinate(gm_points, pitch, 4, vector);
    at.z_low = coordinate(gm_points, pitch, 5, vector);
    UNROLL for (int k = 0; k < VALUES; k++) at.sum[k] = at.carry[k * CARRIES] = 0;

#if LEY_COMPILED
    add_all(&at, WHERE_IT_IS(gm_basis) + first);
#elif LEY_ATOMS == LEY_ATOMS_LOCAL
    LEY_LOCAL_VARIABLE atom sm_basis[LEY_TILE];
    for (int tile = 0; tile < n_tiles; tile++) {
        const int2 part = gm_tiles[tile];
        LEY_BARRIER();
        for (int k = LEY_LOCAL_ID(0); k < part.y; k += LEY_WG)
            sm_basis[k] = gm_basis[first + part.x + k];
        LEY_BARRIER();
        add_centres(&at, sm_basis, part.y);
    }
#else
    add_centres(&at, WHERE_IT_IS(gm_basis) + first, gm_tiles[0].y);
#endif

    LEY_GLOBAL scalar *gm_own = gm_values + (size_t)vector * LEY_WIDTH;
    real density = 0;
    UNROLL for (int o = 0; o < LEY_ORBITALS; o++) {
        const real psi = at.sum[o];
        if (places.x >= 0 && o < n_orbitals)
            STORE(psi, gm_own + (size_t)(places.x + o) * pitch);
        density += gm_weights[first_weight + o] * psi * psi;
    }
    if (places.y >= 0)
        ADD_TO(gm_own + (size_t)places.y * pitch, density);
#if LEY_DERIVATIVES
    const scalar twice = 2 * gm_weights[first_weight];
    const real psi = at.sum[0], psi_x = at.sum[1], psi_y = at.sum[2], psi_z = at.sum[3];
    if (places.z >= 0) {
        ADD_TO(gm_own + (size_t)places.z * pitch, twice * psi * psi_x);
        ADD_TO(gm_own + (size_t)(places.z + 1) * pitch, twice * psi * psi_y);
        ADD_TO(gm_own + (size_t)(places.z + 2) * pitch, twice * psi * psi_z);
    }
    if (places.w >= 0)
        ADD_TO(gm_own + (size_t)places.w * pitch,
               twice * (psi_x * psi_x + psi_y * psi_y + psi_z * psi_z + psi * at.sum[4]));
#endif
}
