/* How much of the surroundings of a sphere rho another one of radius s at a distance d fills, for
 * born_pairs.cl; and its derivative:
 *
 *     T = int from L to U of (s^2 - (r - d)^2)/(4 d r^3) dr (+ 1/rho - 1/L where rho < s - d),
 *
 * L = max(rho, |d - s|), U = d + s, or where spheres end, if that is less. With x = s/d where d is
 * large, T = s^3/d^4 Q(x^2), T'/d = -s^3/d^6 P(x^2); where d is small within the other sphere,
 * y = d/s, T'/d = -P(y^2)/s^3:
 *
 *     Q(t) = sum over k of k/(2 k + 1) t^(k - 1),  P(t) = sum over k of 2 k (k + 1)/(2 k + 1) t^(k - 1)
 *
 * as polynomials of least error over [0, 1/16], 2e-7 and 6e-7. Most pairs of a molecule are far
 * from each other: they take one root, and lose no digits as logarithms would. */
#ifndef LEY_BORN_SPHERES_H
#define LEY_BORN_SPHERES_H

#define SERIES_END 0.0625f
#define LEAST_D2 1e-12f

LEY_FN real sphere_value(real t)
{
    return 0.333333272f + t * (0.400031532f + t * (0.426075833f + t * 0.506618158f));
}

LEY_FN real sphere_slope(real t)
{
    return 1.33333258f + t * (2.40038666f + t * (3.3980233f + t * 5.20209374f));
}

/* Whether the series of large distances holds; where the integral ends; whether it is not 0. Of a
 * negative s, which some models have, T is that of -s with the opposite sign, or 0. */
#if LEY_CUTOFF == LEY_BORN_TAPERED
#define IS_FAR(d, rho, s, end) \
    ((d) >= (rho) + LEY_ABS(s) && (s) * (s) <= SERIES_END * (d) * (d) && (d) + (s) <= (real)(end))
#define NECK_REACH(reach) LEY_MIN(reach, (real)numbers.s3)
#define UPPER(d, s, end) LEY_MIN((d) + (s), (real)(end))
#define IS_ANY(rho, lower, upper, end) ((rho) < (upper) && (lower) < (real)(end))
#else
#define IS_FAR(d, rho, s, end) ((d) >= (rho) + LEY_ABS(s) && (s) * (s) <= SERIES_END * (d) * (d))
#define NECK_REACH(reach) (reach)
#define UPPER(d, s, end) ((d) + (s))
#define IS_ANY(rho, lower, upper, end) ((rho) < (upper))
#endif

/* T of near spheres; `far`: by the series of large distances. */
LEY_FN real near_value(real d, real rho, real s, real far, scalar end)
{
    const real lower = LEY_MAX(rho, LEY_ABS(d - s)), upper = UPPER(d, s, end), a = 1 / lower, b = 1 / upper,
               by_d = 1 / d, by_s = 1 / s, y2 = d * d * by_s * by_s;
    const real value = 0.5f * ((a - b) * (1 - 0.25f * (d - s * s * by_d) * (a + b)) -
                               0.5f * by_d * LEY_F_LOG(upper * a));
    /* atanh(y)/y = 1 + y^2/3 + y^4/5 + ... */
    const real inner = 1 / rho - 0.5f * (s * a * b + by_s * (0.999999985f + y2 * (0.33334085f +
                                         y2 * (0.199403841f + y2 * 0.157787467f))));
    const real within = y2 < SERIES_END ? inner : value + 1 / rho - a;
    const real overlapping = s - d > rho ? within : value;
    return IS_FAR(d, rho, s, end) ? far : IS_ANY(rho, lower, upper, end) ? overlapping : (real)0;
}

/* The same of T'/d. */
LEY_FN real near_slope(real d, real rho, real s, real far, scalar end)
{
    const real lower = LEY_MAX(rho, LEY_ABS(d - s)), upper = UPPER(d, s, end), a = 1 / lower, b = 1 / upper,
               by_d = 1 / d, by_s = 1 / s, y2 = d * d * by_s * by_s, x = s * by_d;
    const real slope = by_d * (0.25f * by_d * by_d * LEY_F_LOG(upper * a) - 0.125f * (1 + x * x) * (a - b) * (a + b));
    const real within = y2 < SERIES_END ? -by_s * by_s * by_s * sphere_slope(y2) : slope;
    const real overlapping = s - d > rho ? within : slope;
    return IS_FAR(d, rho, s, end) ? far : IS_ANY(rho, lower, upper, end) ? overlapping : (real)0;
}

/* A particle's sum is not one of itself; what is farther than all cutoffs is none either. */
#define IS_SELF(number, j) (LEY_LANES == (real)(float)((j) - (number)))
#if LEY_CUTOFF == LEY_BORN_CUT
#define WITHIN(d2, value) ((d2) < (real)numbers.s4 ? (value) : (real)0)
#elif LEY_CUTOFF == LEY_BORN_TAPERED
#define WITHIN(d2, value) ((d2) < (real)numbers.s6 ? (value) : (real)0)
#else
#define WITHIN(d2, value) (value)
#endif
#if LEY_CUTOFF == LEY_BORN_TAPERED
#define IS_NEAR(d2) ((d2) < (real)numbers.s0 || ((d2) > (real)numbers.s5 && (d2) < (real)numbers.s6))
#else
#define IS_NEAR(d2) ((d2) < (real)numbers.s0)
#endif

/* The neck of T(rho_i, s_j), which: 0, or of T(rho_j, s_i), which: 2; of i from this number on and j
 * of this class: its height h/(1 + r^2 + 0.3 r^6), r = d - d_0; and its slope by d, over d. */
#define NECK_AT(which, kind) (gm_neck + ((size_t)(which) * size.w + (kind)) * size.y + number)
LEY_FN real neck_value(LEY_GLOBAL const float *gm_neck, int4 size, int number, int which, int kind, real d)
{
    const real r = d - LEY_LOAD(NECK_AT(which, kind)), r2 = r * r;
    return LEY_LOAD(NECK_AT(which + 1, kind)) / (1 + r2 * (1 + 0.3f * r2 * r2));
}

LEY_FN real neck_slope(LEY_GLOBAL const float *gm_neck, int4 size, int number, int which, int kind, real d)
{
    const real r = d - LEY_LOAD(NECK_AT(which, kind)), r2 = r * r, by = 1 / (1 + r2 * (1 + 0.3f * r2 * r2));
    return -LEY_LOAD(NECK_AT(which + 1, kind)) * r * (2 + 1.8f * r2 * r2) * by * by / d;
}

LEY_FN void add_pair(const own *o, int u, other a, int j, LEY_REFERENCE(image_cell) cell,
                     LEY_REFERENCE(sixteen) numbers, LEY_GLOBAL const float *gm_neck, int4 size, real *sum)
{
    real dx, dy, dz;
    const real d2 = way_from(o, u, a.at, cell, &dx, &dy, &dz), root = root_of(d2), by_d2 = root * root;
#if LEY_PASS == LEY_BORN_INTEGRALS
    real value = a.more.x * by_d2 * (by_d2 * sphere_value(a.at.w * by_d2));
#else
    const real by_d6 = by_d2 * by_d2 * by_d2, far = -a.more.x * by_d6 * sphere_slope(a.at.w * by_d2),
               back = -o->second[u] * by_d6 * sphere_slope(o->first[u] * by_d2);
    real value = o->w[u] * far + a.more.y * back;
#endif
    if (SOME(IS_NEAR(d2))) {
        const real d = LEY_F_SQRT(LEY_MAX(d2, (real)LEAST_D2)), s = (real)(a.more.x < 0 ? -LEY_F_SQRT(a.at.w) : LEY_F_SQRT(a.at.w));
#if LEY_PASS == LEY_BORN_INTEGRALS
        const real near = IS_SELF(o->number[u], j) ? (real)0 : near_value(d, o->rho[u], s, value, numbers.s3);
#else
        const real near = o->w[u] * near_slope(d, o->rho[u], s, far, numbers.s3) +
                          a.more.y * near_slope(d, (real)a.more.z, o->s[u], back, numbers.s3);
#endif
        value = IS_NEAR(d2) ? near : value;
    }
#if LEY_NECK
    if (SOME(d2 < (real)numbers.s1)) {
        const real d = LEY_F_SQRT(LEY_MAX(d2, (real)LEAST_D2)), reach = NECK_REACH(o->rho[u] + (a.more.z + numbers.s2));
        const int number = o->number[u], kind = (int)a.more.w;
#if LEY_PASS == LEY_BORN_INTEGRALS
        const real neck = IS_SELF(number, j) ? (real)0 : neck_value(gm_neck, size, number, 0, kind, d);
#else
        const real neck = o->w[u] * neck_slope(gm_neck, size, number, 0, kind, d) +
                          a.more.y * neck_slope(gm_neck, size, number, 2, kind, d);
#endif
        value += d < reach ? neck : (real)0;
    }
#endif
#if LEY_PASS == LEY_BORN_INTEGRALS
    sum[0] += WITHIN(d2, value);
#else
    const real slope = WITHIN(d2, value);
    sum[0] += slope * dx;
    sum[1] += slope * dy;
    sum[2] += slope * dz;
#endif
}

#endif
