/* How much of the surroundings of a sphere rho another one of radius s at a distance d fills, for
 * born_pairs.cl; and its slope:
 *
 *     T = int from L to U of (s^2 - (r - d)^2)/(4 d r^3) dr (+ 1/rho - 1/L where rho < s - d),
 *
 * L = max(rho, |d - s|), U = d + s, neither beyond where spheres end. Where d is large,
 * x = s/d, T = s^3/d^4 Q(x^2) and T'/d = -s^3/d^6 P(x^2); where d is small within the other sphere,
 * y = d/s, T'/d = -P(y^2)/s^3:
 *
 *     Q(t) = sum over k of k/(2 k + 1) t^(k - 1),
 *     P(t) = sum over k of 2 k (k + 1)/(2 k + 1) t^(k - 1)
 *
 * as polynomials of least error over [0, 1/9], which are exact at 0: 1e-7 and 3e-7 in floats. All
 * but a few pairs of a molecule are far from each other: they take one root, and lose no digits as
 * logarithms would. The others are near, or have a neck; they are added by themselves. */
#ifndef LEY_BORN_SPHERES_H
#define LEY_BORN_SPHERES_H

#define SERIES_END 0.111111111f
#define LEAST_D2 1e-12f

LEY_FN real sphere_value(real t)
{
    return 0.333333343f + t * (0.40014257f + t * (0.42090746f + t * 0.55813605f));
}

LEY_FN real sphere_slope(real t)
{
    return 1.33333337f + t * (2.4017522f + t * (3.33403953f + t * 5.84224796f));
}

/* Whether the series of large and of small distances hold; whether a sphere has the other one
 * within; where the integral begins and ends, and necks do. Of a negative s, which some models
 * have, T is that of -s with the opposite sign, or 0 where spheres overlap: what begins and ends
 * has changed places. */
#define IS_APART(d, rho, s) ((d) >= (rho) + LEY_ABS(s) && (s) * (s) <= SERIES_END * (d) * (d))
#if LEY_CUTOFF == LEY_BORN_TAPERED
#define IS_FAR(d, rho, s, end) (IS_APART(d, rho, s) && (d) + LEY_ABS(s) <= (real)(end))
#define IS_DEEP(y2, d, s, end) ((y2) < SERIES_END && (d) + (s) <= (real)(end))
#define IS_WITHIN(d, rho, s, end) ((s) - (d) > (rho) && (rho) < (real)(end))
#define LOWER(d, rho, s, end) LEY_MIN(LEY_MAX(rho, LEY_ABS((d) - (s))), (real)(end))
#define UPPER(d, s, end) LEY_MIN((d) + (s), (real)(end))
#define NECK_REACH(reach) LEY_MIN(reach, (real)numbers.s3)
#else
#define IS_FAR(d, rho, s, end) IS_APART(d, rho, s)
#define IS_DEEP(y2, d, s, end) ((y2) < SERIES_END)
#define IS_WITHIN(d, rho, s, end) ((s) - (d) > (rho))
#define LOWER(d, rho, s, end) LEY_MAX(rho, LEY_ABS((d) - (s)))
#define UPPER(d, s, end) ((d) + (s))
#define NECK_REACH(reach) (reach)
#endif

/* T of near spheres; by_d: 1/d. The logarithm is that of upper/lower, without the digits that it
 * would lose where both are nearly the same: a division that is not rounded as IEEE 754 has it, as
 * OpenCL's, would cost others. */
LEY_FN real near_value(real d, real by_d, real rho, real s, scalar end)
{
    const real lower = LOWER(d, rho, s, end), upper = UPPER(d, s, end), by = 1 / (lower * upper),
               by_d2 = by_d * by_d;
    const real value = 0.5f * ((upper - lower) * by * (1 - 0.25f * (d - s * s * by_d) * (upper + lower) * by) -
                               0.5f * by_d * LEY_F_LOG1P((upper - lower) * (upper * by)));
    const real far = s * s * s * by_d2 * (by_d2 * sphere_value(s * s * by_d2));
    real overlapping = rho < upper ? value : (real)0;
    if (SOME(s - d > rho)) { /* atanh(y)/y = 1 + y^2/3 + y^4/5 + ... */
        const real by_s = 1 / s, y2 = d * d * by_s * by_s;
        const real deep = 1 / rho - 0.5f * (s * by + by_s * (1 + y2 * (0.333332092f + y2 * (0.200107649f +
                                            y2 * (0.140008882f + y2 * 0.140060708f)))));
        overlapping = IS_WITHIN(d, rho, s, end) ? (IS_DEEP(y2, d, s, end) ? deep : value + 1 / rho - upper * by)
                                                : overlapping;
    }
    return IS_FAR(d, rho, s, end) ? far : overlapping;
}

/* T'/d of near spheres. */
LEY_FN real near_slope(real d, real by_d, real rho, real s, scalar end)
{
    const real lower = LOWER(d, rho, s, end), upper = UPPER(d, s, end), by = 1 / (lower * upper), x = s * by_d,
               by_d2 = by_d * by_d;
    const real slope = by_d * (0.25f * by_d2 * LEY_F_LOG1P((upper - lower) * (upper * by)) -
                               0.125f * (1 + x * x) * (upper - lower) * by * (upper + lower) * by);
    const real far = -s * s * s * by_d2 * (by_d2 * (by_d2 * sphere_slope(x * x)));
    real overlapping = rho < upper ? slope : (real)0;
    if (SOME(s - d > rho)) {
        const real by_s = 1 / s, y2 = d * d * by_s * by_s;
        overlapping = IS_WITHIN(d, rho, s, end) && IS_DEEP(y2, d, s, end) ? -by_s * by_s * by_s * sphere_slope(y2)
                                                                          : overlapping;
    }
    return IS_FAR(d, rho, s, end) ? far : overlapping;
}

/* Which pairs are not far, and which may have a neck; what is farther than all cutoffs is not
 * there. */
#if LEY_CUTOFF == LEY_BORN_TAPERED
#define IS_NEAR(d2) ((d2) < (real)numbers.s0 || ((d2) > (real)numbers.s5 && (d2) < (real)numbers.s6))
#else
#define IS_NEAR(d2) ((d2) < (real)numbers.s0)
#endif
#define MAY_HAVE_NECK(d2) ((d2) < (real)numbers.s1)
#if LEY_CUTOFF == LEY_BORN_CUT
#define WITHIN(d2, value) ((d2) < (real)numbers.s4 ? (value) : (real)0)
#elif LEY_CUTOFF == LEY_BORN_TAPERED
#define WITHIN(d2, value) ((d2) < (real)numbers.s6 ? (value) : (real)0)
#else
#define WITHIN(d2, value) (value)
#endif

/* An integral is not one of a particle over itself. */
#define IS_SELF(number, j) (LEY_LANES == (real)(float)((j) - (number)))

LEY_FN void add_value(real *sum, real value, real x, real y, real z)
{
#if LEY_PASS == LEY_BORN_INTEGRALS
    sum[0] += value;
#else
    sum[0] += value * x;
    sum[1] += value * y;
    sum[2] += value * z;
#endif
}

/* Of pairs as if all were far, of slopes the opposite; the way between them is {x, y, z}. */
LEY_FN real far_term(const own *o, int u, other a, real d2)
{
    const real root = root_of(d2), by_d2 = root * root;
#if LEY_PASS == LEY_BORN_INTEGRALS
    return a.more.x * by_d2 * (by_d2 * sphere_value(a.at.w * by_d2));
#else
    return by_d2 * (by_d2 * (by_d2 * (o->w[u] * a.more.x * sphere_slope(a.at.w * by_d2) +
                                      a.more.y * o->second[u] * sphere_slope(o->first[u] * by_d2))));
#endif
}

/* Of near ones; the same. */
LEY_FN real near_term(const own *o, int u, other a, int j, real d2, LEY_REFERENCE(sixteen) numbers)
{
    const real d = LEY_F_SQRT(LEY_MAX(d2, (real)LEAST_D2)), by_d = 1 / d,
               s = (real)(a.more.x < 0 ? -LEY_F_SQRT(a.at.w) : LEY_F_SQRT(a.at.w));
#if LEY_PASS == LEY_BORN_INTEGRALS
    return IS_SELF(o->number[u], j) ? (real)0 : near_value(d, by_d, o->rho[u], s, numbers.s3);
#else
    return -(o->w[u] * near_slope(d, by_d, o->rho[u], s, numbers.s3) +
             a.more.y * near_slope(d, by_d, (real)a.more.z, o->s[u], numbers.s3));
#endif
}

/* And of necks, the same: that of T(rho_i, s_j), which: 0, or of T(rho_j, s_i), which: 2, of i from
 * this number on and j of this class, is h/(1 + r^2 + 0.3 r^6), r = d - d_0. */
#define NECK_AT(which, kind) (gm_neck + ((size_t)(which) * size.w + (kind)) * size.y + number)
LEY_FN real neck_value(LEY_GLOBAL const float *gm_neck, int4 size, int number, int which, int kind, real d)
{
    const real r = d - LEY_LOAD(NECK_AT(which, kind)), r2 = r * r;
    return LEY_LOAD(NECK_AT(which + 1, kind)) / (1 + r2 * (1 + 0.3f * r2 * r2));
}

LEY_FN real neck_slope(LEY_GLOBAL const float *gm_neck, int4 size, int number, int which, int kind, real d)
{
    const real r = d - LEY_LOAD(NECK_AT(which, kind)), r2 = r * r, by = 1 / (1 + r2 * (1 + 0.3f * r2 * r2));
    return LEY_LOAD(NECK_AT(which + 1, kind)) * r * (2 + 1.8f * r2 * r2) * by * by;
}

LEY_FN real neck_term(const own *o, int u, other a, int j, real d2, LEY_REFERENCE(sixteen) numbers,
                      LEY_GLOBAL const float *gm_neck, int4 size)
{
    const real d = LEY_F_SQRT(LEY_MAX(d2, (real)LEAST_D2)), reach = NECK_REACH(o->rho[u] + (a.more.z + numbers.s2));
    const int number = o->number[u], kind = (int)a.more.w;
#if LEY_PASS == LEY_BORN_INTEGRALS
    const real neck = IS_SELF(number, j) ? (real)0 : neck_value(gm_neck, size, number, 0, kind, d);
#else
    const real neck = (o->w[u] * neck_slope(gm_neck, size, number, 0, kind, d) +
                       a.more.y * neck_slope(gm_neck, size, number, 2, kind, d)) / d;
#endif
    return d < reach ? neck : (real)0;
}

/* Of pairs that are near or may have a neck: both. */
#define IS_MARKED(d2) (IS_NEAR(d2) || (LEY_NECK && MAY_HAVE_NECK(d2)))
LEY_FN real marked_term(const own *o, int u, other a, int j, real d2, LEY_REFERENCE(sixteen) numbers,
                        LEY_GLOBAL const float *gm_neck, int4 size)
{
    const real near = near_term(o, u, a, j, d2, numbers);
#if LEY_NECK
    return near + neck_term(o, u, a, j, d2, numbers, gm_neck, size);
#else
    return near;
#endif
}

#endif
