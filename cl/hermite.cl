/* The potential of charges that are sums of derivatives of Gaussians, all of one degree L, at
 * points anywhere, and their field. Around the centre P of a charge of exponent p, with
 * (x, y, z) = sqrt(p) (r - P) and t = x^2 + y^2 + z^2,
 *
 *     V(r) = sum over n <= L of F_n(t) Q_n(x, y, z),  F_n = 2/sqrt(pi) int_0^1 s^2n e^(-t s^2) ds
 *
 * where Q_n is a polynomial of degree n, and F_n Boys' function but for its factor. The highest one
 * that is needed, F_N, is piece by piece a polynomial P of 1/(t + c), times
 * (t + c)^-(N + 1/2); the others follow from F_(n-1) = (2 t F_n + 2/sqrt(pi) e^-t)/(2 n - 1). Where
 * t is large a charge is a multipole: F_n = (2 n - 1)!!/2^n t^-(n + 1/2). Of the field
 *
 *     E = -grad V = sqrt(p) sum over n of (2 F_(n+1) Q_n (x, y, z) - F_n grad Q_n)
 *
 * Charges of a cluster come one behind the other. At points near it its pairs of Gaussians are
 * summed; elsewhere its only charge with LEY_MULTIPOLES, the multipoles of all of them, whose
 * polynomials have terms of degree n alone.
 *
 * gm_places        {P, sqrt(p)} and {what is to be added to P, -} of each charge
 * gm_coefficients  its polynomials one behind the other, n = 0 first: of x^i y^j z^k, k fastest,
 *                  i + j + k <= n; with LEY_MULTIPOLES of x^i y^j z^(n - i - j), j fastest
 * gm_clusters      {R, a} and {what is to be added to R, a sqrt(3)}: a point is near if no
 *                  coordinate of r - R is a or more, nor the sum of all three a sqrt(3)
 * gm_firsts        [n_clusters + 1]: the first charge of each
 * first            the first charge of this launch
 * n_charges        how many it has
 * gm_boys          pieces, by t: {t from which on it holds, c, v, w, coefficients of P in
 *                  v + w/(t + c), highest power first}
 * n_pieces         of them
 * multipole_t      from this t on charges are multipoles
 * gm_points        [6][pitch]: x, y, z, and what is to be added to them
 * pitch            points, whole work-groups of them
 * reach            {x, y, z, R^2}: work-items whose points are all farther than R from there do
 *                  nothing
 * accumulate       0: sums begin here; 1: they go on
 * gm_values        [components][pitch]: V, and with LEY_FIELD E_x, E_y, E_z; and as many again:
 *                  what is to be subtracted from them, as a sum with compensation knows
 *
 * Global size {pitch / LEY_WIDTH}, work-group LEY_WG. */
#if !defined(LEY_MOMENTUM) || !defined(LEY_FIELD) || !defined(LEY_EXP) || !defined(LEY_MULTIPOLES)
#error "the specification is incomplete: see LEY_HERMITE_KEYS in spec.h"
#endif
#include "dialect.h"

#define TOP (LEY_MOMENTUM + LEY_FIELD)
#if LEY_MULTIPOLES
#define SIZE ((LEY_MOMENTUM + 1) * (LEY_MOMENTUM + 2) * (LEY_MOMENTUM + 3) / 6)
#define IS_USED(over) ((over) >= 0)
#else
#define SIZE ((LEY_MOMENTUM + 1) * (LEY_MOMENTUM + 2) * (LEY_MOMENTUM + 3) * (LEY_MOMENTUM + 4) / 24)
#define IS_USED(over) ((over) < 0)
#endif
#define COMPONENTS LEY_COMPONENTS(LEY_FIELD)
#define PIECE (4 + LEY_BOYS_DEGREE + 1)
#define TWO_OVER_ROOT_PI 1.12837916710f
#define MINUS_LOG2_E -1.44269504089f
#define LEAST_EXPONENT (-126.0f) /* below it 2^x is 0 all the same */

/* Polynomials of high degrees are loops: their code would be larger than caches. In these powers
 * would leave a float's range far from a charge, where it has no such multipoles. */
#if SIZE > 210 || (LEY_FIELD && SIZE > 70)
#define FOR ROLLED for
#else
#define FOR UNROLL for
#endif
#define LOW_POWERS 2
#define FAR_AWAY 1e6f

#if LEY_WIDTH == 1
#define SOME(is) (is)
#define EVERY(is) true
#define STORE(value, at) (*(at) = (value))
#else
#include "hermite_vectors.h"
#endif

LEY_FN real root_of(real t) { return LEY_ROOT_SCALE * ley_unscaled_root(t); }

LEY_KERNEL_OF(LEY_WG, 1, 1) hermite(LEY_PARAMETERS(LEY_HERMITE_ARGUMENTS))
{
    const int vector = (int)LEY_GLOBAL_ID(0);
    LEY_GLOBAL const float *gm_own_points = gm_points + vector * LEY_WIDTH;
    LEY_GLOBAL float *gm_own = gm_values + (size_t)vector * LEY_WIDTH;
    const real px = LEY_LOAD(gm_own_points), py = LEY_LOAD(gm_own_points + (size_t)pitch),
               pz = LEY_LOAD(gm_own_points + 2 * (size_t)pitch), px_low = LEY_LOAD(gm_own_points + 3 * (size_t)pitch),
               py_low = LEY_LOAD(gm_own_points + 4 * (size_t)pitch),
               pz_low = LEY_LOAD(gm_own_points + 5 * (size_t)pitch);
    const real to_x = px - reach.x, to_y = py - reach.y, to_z = pz - reach.z;
    const int n_own = SOME(to_x * to_x + to_y * to_y + to_z * to_z <= reach.w) ? n_charges : 0;
    real sums[COMPONENTS], carries[COMPONENTS];
    UNROLL for (int d = 0; d < COMPONENTS; d++) {
        sums[d] = carries[d] = 0;
        if (accumulate) {
            sums[d] = LEY_LOAD(gm_own + d * (size_t)pitch);
            carries[d] = LEY_LOAD(gm_own + (COMPONENTS + d) * (size_t)pitch);
        }
    }

    for (int cluster = 0; cluster < n_clusters; cluster++) {
        const int of = gm_firsts[cluster], after = gm_firsts[cluster + 1], last = first + n_own,
                  from = of > first ? of : first, to = after < last ? after : last;
        const float4 mid = gm_clusters[2 * cluster], mid_low = gm_clusters[2 * cluster + 1];
        const real way_x = LEY_ABS((px - mid.x) + (px_low - mid_low.x)),
                   way_y = LEY_ABS((py - mid.y) + (py_low - mid_low.y)),
                   way_z = LEY_ABS((pz - mid.z) + (pz_low - mid_low.z));
        const real over = LEY_MAX(LEY_MAX(LEY_MAX(way_x, way_y), way_z) - mid.w, way_x + way_y + way_z - mid_low.w);
        if (from >= to || !SOME(IS_USED(over)))
            continue;
        for (int k = from; k < to; k++) {
            const float4 place = gm_places[2 * k], low = gm_places[2 * k + 1];
            const real x = place.w * ((px - place.x) + (px_low - low.x)),
                       y = place.w * ((py - place.y) + (py_low - low.y)),
                       z = place.w * ((pz - place.z) + (pz_low - low.z));
            const real t = x * x + y * y + z * z;

            real f[TOP + 1];
            if (SOME(t < multipole_t)) {
                f[TOP] = 0;
                for (int piece = 0; piece < n_pieces; piece++) {
                    LEY_GLOBAL const float *at = gm_boys + piece * PIECE;
                    const float begin = at[0], end = piece + 1 < n_pieces ? at[PIECE] : multipole_t;
                    if (!SOME(t >= begin && t < end))
                        continue;
                    const real root = root_of(t + at[1]), w = root * root, s = at[2] + at[3] * w;
                    real top = at[4];
                    UNROLL for (int i = 1; i <= LEY_BOYS_DEGREE; i++) top = top * s + at[4 + i];
                    top *= root;
                    UNROLL for (int n = 0; n < TOP; n++) top *= w;
                    f[TOP] = t >= begin ? top : f[TOP];
                }
#if TOP > 0
                const real e = TWO_OVER_ROOT_PI * ley_exp2(LEY_MAX(t * MINUS_LOG2_E, (real)LEAST_EXPONENT));
                UNROLL for (int n = TOP; n > 0; n--) f[n - 1] = (2 * t * f[n] + e) * (1.0f / (2 * n - 1));
#endif
            }
            if (!EVERY(t < multipole_t) || !SOME(t < multipole_t)) {
                const real root = root_of(t), w = root * root;
                real far = root;
                UNROLL for (int n = 0; n <= TOP; n++) {
                    f[n] = t < multipole_t ? f[n] : far;
                    far *= (n + 0.5f) * w;
                }
            }

            LEY_GLOBAL const float *c = gm_coefficients + (size_t)(k + 1) * SIZE;
#if LEY_MOMENTUM > 6 && !LEY_MULTIPOLES
            const real stays = t < FAR_AWAY ? (real)1 : (real)0;
            const real x_high = x * stays, y_high = y * stays, z_high = z * stays;
#else
            const real x_high = x, y_high = y, z_high = z;
#endif
            real value = 0;
#if LEY_FIELD
            real along = 0, slope_x = 0, slope_y = 0, slope_z = 0;
#endif
            FOR (int n = LEY_MOMENTUM; n >= 0; n--) {
                const real u = n > LOW_POWERS ? x_high : x, v = n > LOW_POWERS ? y_high : y,
                           w = n > LOW_POWERS ? z_high : z;
                real p = 0;
#if LEY_FIELD
                real p_x = 0, p_y = 0, p_z = 0;
#endif
                FOR (int i = n; i >= 0; i--) {
                    real q = 0;
#if LEY_MULTIPOLES
                    real power = 1, below = 0;
#endif
#if LEY_FIELD
                    real q_y = 0, q_z = 0;
#endif
                    FOR (int j = n - i; j >= 0; j--) {
                        real r = *--c;
#if LEY_FIELD
                        real r_z = 0;
#endif
#if LEY_MULTIPOLES
#if LEY_FIELD
                        r_z = r * ((n - i - j) * below);
                        below = power;
#endif
                        r *= power;
                        power *= w;
#else
                        FOR (int h = n - i - j; h > 0; h--) {
#if LEY_FIELD
                            r_z = r_z * w + r;
#endif
                            r = r * w + *--c;
                        }
#endif
#if LEY_FIELD
                        q_y = q_y * v + q;
                        q_z = q_z * v + r_z;
#endif
                        q = j == n - i ? r : q * v + r;
                    }
#if LEY_FIELD
                    p_x = p_x * u + p;
                    p_y = p_y * u + q_y;
                    p_z = p_z * u + q_z;
#endif
                    p = i == n ? q : p * u + q;
                }
                value += f[n] * p;
#if LEY_FIELD
                along += f[n + 1] * p;
                slope_x += f[n] * p_x;
                slope_y += f[n] * p_y;
                slope_z += f[n] * p_z;
#endif
            }

            real terms[COMPONENTS];
            terms[0] = value;
#if LEY_FIELD
            terms[1] = place.w * (2 * x * along - slope_x);
            terms[2] = place.w * (2 * y * along - slope_y);
            terms[3] = place.w * (2 * z * along - slope_z);
#endif
            UNROLL for (int d = 0; d < COMPONENTS; d++) {
                const real term = (IS_USED(over) ? terms[d] : (real)0) - carries[d], sum = sums[d] + term;
                carries[d] = (sum - sums[d]) - term;
                sums[d] = sum;
            }
        }
    }

    UNROLL for (int d = 0; d < COMPONENTS; d++) {
        STORE(sums[d], gm_own + d * (size_t)pitch);
        STORE(carries[d], gm_own + (COMPONENTS + d) * (size_t)pitch);
    }
}
