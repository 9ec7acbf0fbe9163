/* Orbitals and densities at points anywhere, term by term:
 *
 *     psi(r) = sum_g e^(-a_g R_g^2) sum over i + j + k <= L_g of C_gijk x^i y^j z^k
 *
 * with R_g = (x, y, z) the vector from the Gaussian's centre. Places come as sums of two floats, so
 * that vectors are rounded by their lengths, not by how far both ends are from the origin.
 *
 * gm_centres       {x, y, z, -a log2 e} of each Gaussian
 * gm_lows          {what is to be added to x, y, z, the square of its reach}: beyond that it is
 *                  left out
 * gm_kinds         {L, its first coefficient}
 * n_gaussians      of them
 * gm_points        [6][pitch]: x, y, z, and what is to be added to them
 * pitch            points, whole work-groups of them
 * gm_coefficients  C_gijk, k fastest, of LEY_ORBITALS orbitals each; from number `first` on
 * gm_weights       of each of these orbitals in the density; from number `first_weight` on
 * n_orbitals       how many of them there are, LEY_ORBITALS or fewer
 * places           components of gm_values: {where orbitals are stored, one behind the other, or
 *                  -1; where the density is added, or -1; the first of its gradient, or -1; its
 *                  Laplacian, or -1}. LEY_DERIVATIVES: of the latter two, with LEY_ORBITALS = 1
 * gm_values        [components][pitch]
 *
 * Global size {pitch / LEY_WIDTH}, work-group LEY_WG. */
#if !defined(LEY_ORBITALS) || !defined(LEY_DERIVATIVES) || !defined(LEY_EXP)
#error "the specification is incomplete: see LEY_GAUSSIANS_KEYS in spec.h"
#endif
#include "dialect.h"

/* Below it 2^x is 0 all the same. */
#define LEAST_EXPONENT (-126.0f)

#if LEY_WIDTH == 1
#define IS_NEAR(r2, reach2) ((r2) < (reach2))
#define STORE(value, at) (*(at) = (value))
#else
#include "gaussians_vectors.h"
#endif
#define ADD_TO(at, value) STORE(LEY_LOAD(at) + (value), at)

LEY_FN real coordinate(LEY_GLOBAL const float *gm_points, int pitch, int axis, int vector, float high, float low)
{
    const real point = LEY_LOAD(gm_points + axis * (size_t)pitch + vector * LEY_WIDTH),
               rest = LEY_LOAD(gm_points + (axis + 3) * (size_t)pitch + vector * LEY_WIDTH);
    return (point - high) + (rest - low);
}

#if LEY_DERIVATIVES
/* A polynomial: its value, its derivatives, and the second ones along the axes. */
typedef struct {
    real p, x, y, z, xx, yy, zz;
} polynomial;

LEY_FN polynomial polynomial_of(LEY_GLOBAL const float *c, int l, real x, real y, real z)
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

LEY_KERNEL_OF(LEY_WG, 1, 1) gaussians(LEY_PARAMETERS(LEY_GAUSSIANS_ARGUMENTS))
{
    const int vector = (int)LEY_GLOBAL_ID(0);
    LEY_GLOBAL const float *c_first = gm_coefficients + first;
    real psi[LEY_ORBITALS];
    UNROLL for (int o = 0; o < LEY_ORBITALS; o++) psi[o] = 0;
#if LEY_DERIVATIVES
    real psi_x = 0, psi_y = 0, psi_z = 0, laplacian = 0;
#endif
    for (int g = 0; g < n_gaussians; g++) {
        const float4 centre = gm_centres[g], low = gm_lows[g];
        const real x = coordinate(gm_points, pitch, 0, vector, centre.x, low.x),
                   y = coordinate(gm_points, pitch, 1, vector, centre.y, low.y),
                   z = coordinate(gm_points, pitch, 2, vector, centre.z, low.z);
        const real r2 = x * x + y * y + z * z;
        if (!IS_NEAR(r2, low.w))
            continue;
        const int2 kind = gm_kinds[g];
        const int l = kind.x;
        const real e = ley_exp2(LEY_MAX(r2 * centre.w, (real)LEAST_EXPONENT));
#if LEY_DERIVATIVES
        const polynomial p = polynomial_of(c_first + kind.y, l, x, y, z);
        const real twice_a = -2 * 0.69314718056f * centre.w; /* 2 a */
        psi[0] += e * p.p;
        psi_x += e * (p.x - twice_a * x * p.p);
        psi_y += e * (p.y - twice_a * y * p.p);
        psi_z += e * (p.z - twice_a * z * p.p);
        laplacian += e * (p.xx + p.yy + p.zz - 2 * twice_a * (x * p.x + y * p.y + z * p.z) +
                          (twice_a * twice_a * r2 - 3 * twice_a) * p.p);
#else
        LEY_GLOBAL const float *c = c_first + (kind.y + (l + 1) * (l + 2) * (l + 3) / 6) * LEY_ORBITALS;
        real p[LEY_ORBITALS];
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
        UNROLL for (int o = 0; o < LEY_ORBITALS; o++) psi[o] += e * p[o];
#endif
    }

    LEY_GLOBAL float *gm_own = gm_values + (size_t)vector * LEY_WIDTH;
    real density = 0;
    UNROLL for (int o = 0; o < LEY_ORBITALS; o++) {
        if (places.x >= 0 && o < n_orbitals)
            STORE(psi[o], gm_own + (size_t)(places.x + o) * pitch);
        density += gm_weights[first_weight + o] * psi[o] * psi[o];
    }
    if (places.y >= 0)
        ADD_TO(gm_own + (size_t)places.y * pitch, density);
#if LEY_DERIVATIVES
    const real twice = 2 * gm_weights[first_weight];
    if (places.z >= 0) {
        ADD_TO(gm_own + (size_t)places.z * pitch, twice * psi[0] * psi_x);
        ADD_TO(gm_own + (size_t)(places.z + 1) * pitch, twice * psi[0] * psi_y);
        ADD_TO(gm_own + (size_t)(places.z + 2) * pitch, twice * psi[0] * psi_z);
    }
    if (places.w >= 0)
        ADD_TO(gm_own + (size_t)places.w * pitch,
               twice * (psi_x * psi_x + psi_y * psi_y + psi_z * psi_z + psi[0] * laplacian));
#endif
}
