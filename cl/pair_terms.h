/* What two particles do to each other within the cutoff: Lennard-Jones and Coulomb energies, and
 * the slope of both together. docs/energies.md has the formulas, host/energy/pair_numbers.c their
 * numbers:
 *
 *   n.s0  c^2, of the cutoff
 *   n.s1  s, where switching begins
 *   n.s2 to n.s7  of the Lennard-Jones kind; n.s8, n.s9  of the Coulomb kind; of Ewald's sum
 *           n.s9 is alpha
 *   series  of Ewald's sum, for vectors: erf(alpha r) / r by powers of u = r^2 n.s8 - 1
 *
 * LEY_LENNARD_JONES and LEY_COULOMB have the kinds of spec.h, LEY_FORCES says whether slopes are
 * wanted. */
#ifndef LEY_PAIR_TERMS_H
#define LEY_PAIR_TERMS_H

typedef struct {
    real lennard_jones, coulomb; /* kcal/mol */
    real slope;                  /* -dE/dr / r of their sum: times (x - x') it is the force at x */
} pair_terms;

/* Of the energy a / r^12 - b / r^6, kept or changed near the cutoff. i1 is 1/r, i2 its square. */
LEY_FN void ley_lennard_jones(real r2, real i1, real i2, real a, real b, LEY_REFERENCE(sixteen) n, pair_terms *p)
{
#if LEY_LENNARD_JONES == LEY_LENNARD_JONES_IS_NONE
    p->lennard_jones = p->slope = (real)0;
#else
    const real i6 = i2 * i2 * i2, attraction = b * i6, repulsion = a * i6 * i6;
    real energy = repulsion - attraction;
    real slope = (2 * energy + attraction) * (6 * i2);
#if LEY_LENNARD_JONES == LEY_LENNARD_JONES_IS_SHIFTED
    energy += b * n.s3 - a * n.s2;
#elif LEY_LENNARD_JONES == LEY_LENNARD_JONES_IS_SWITCHED
    const real x = LEY_MAX((r2 * i1 - n.s1) * n.s2, (real)0), x2 = x * x;
    const real share = 1 + x2 * x * (x * (15 - 6 * x) - 10), steep = 30 * n.s2 * x2 * (1 - x) * (1 - x);
    slope = slope * share + energy * steep * i1;
    energy *= share;
#elif LEY_LENNARD_JONES == LEY_LENNARD_JONES_IS_SWITCHED_CHARMM
    const real q = LEY_MAX(r2, (real)(n.s3)), left = n.s0 - q;
    const real share = left * left * (n.s0 + 2 * q - 3 * n.s3) * n.s2;
    slope = slope * share + 12 * energy * left * (q - n.s3) * n.s2;
    energy *= share;
#elif LEY_LENNARD_JONES == LEY_LENNARD_JONES_IS_FORCE_SWITCHED_CHARMM
    const real i3 = i2 * i1, d6 = i6 - n.s6, d3 = i3 - n.s7;
    energy = r2 > (real)(n.s1 * n.s1) ? a * n.s4 * d6 * d6 - b * n.s5 * d3 * d3 : energy - a * n.s2 + b * n.s3;
    slope = r2 > (real)(n.s1 * n.s1) ? (12 * a * n.s4 * d6 * i6 - 6 * b * n.s5 * d3 * i3) * i2 : slope;
#elif LEY_LENNARD_JONES == LEY_LENNARD_JONES_IS_FORCE_SWITCHED_GROMACS
    const real t = LEY_MAX(r2 * i1 - n.s1, (real)0), t2 = t * t, t3 = t2 * t;
    energy += b * (t3 * (n.s5 * (1 / 3.0f) + n.s6 * 0.25f * t) + n.s7) -
              a * (t3 * (n.s2 * (1 / 3.0f) + n.s3 * 0.25f * t) + n.s4);
    slope += t2 * i1 * (a * (n.s2 + n.s3 * t) - b * (n.s5 + n.s6 * t));
#endif
    p->lennard_jones = energy;
    p->slope = slope;
#endif
}

#if LEY_COULOMB == LEY_COULOMB_IS_EWALD && LEY_WIDTH == 1
/* erfc(x), for x up to 3.95: 2 to the power of x Q(x), of which the latter has the least error in
 * erfc, 2e-8, and 1e-7 in floats. Cards have an instruction for powers, processors do not. */
LEY_FN real ley_erfc_power(real x)
{
    return ley_exp2(x * (-1.62790859f + x * (-0.918416381f + x * (-0.148481652f + x * (0.0282537602f + x *
                         (-0.000774720975f + x * (-0.00148938526f + x * (0.000445490179f - x * 4.53564790e-5f))))))));
}
#elif LEY_COULOMB == LEY_COULOMB_IS_EWALD
#define LEY_SERIES_STEP(c) \
    slope = slope * u + value; \
    value = value * u + c;

/* erf(alpha r) / r, and its derivative by u. */
LEY_FN void ley_erf_series(real u, LEY_REFERENCE(sixteen) series, real *erf_r, real *derivative)
{
    real value = u * series.sf + series.se, slope = (real)(series.sf);
    LEY_SERIES_STEP(series.sd)
    LEY_SERIES_STEP(series.sc)
    LEY_SERIES_STEP(series.sb)
    LEY_SERIES_STEP(series.sa)
    LEY_SERIES_STEP(series.s9)
    LEY_SERIES_STEP(series.s8)
    LEY_SERIES_STEP(series.s7)
    LEY_SERIES_STEP(series.s6)
    LEY_SERIES_STEP(series.s5)
    LEY_SERIES_STEP(series.s4)
    LEY_SERIES_STEP(series.s3)
    LEY_SERIES_STEP(series.s2)
    LEY_SERIES_STEP(series.s1)
    LEY_SERIES_STEP(series.s0)
    *erf_r = value;
    *derivative = slope;
}
#endif

/* Of charges whose product, times Coulomb's constant, is qq: kcal/mol A. */
LEY_FN void ley_coulomb(real r2, real i1, real i2, real qq, LEY_REFERENCE(sixteen) n, LEY_REFERENCE(sixteen) series,
                        pair_terms *p)
{
#if LEY_COULOMB == LEY_COULOMB_IS_NONE
    p->coulomb = (real)0;
#else
    real energy = i1, slope = i1 * i2;
#if LEY_COULOMB == LEY_COULOMB_IS_SHIFTED
    energy -= n.s8;
#elif LEY_COULOMB == LEY_COULOMB_IS_SHIFTED_CHARMM
    const real left = 1 - r2 * n.s8;
    slope += i1 * n.s8 * (2 - 3 * r2 * n.s8);
    energy *= left * left;
#elif LEY_COULOMB == LEY_COULOMB_IS_REACTION_FIELD
    energy += n.s8 * r2 - n.s9;
    slope -= 2 * n.s8;
#elif LEY_COULOMB == LEY_COULOMB_IS_EWALD && LEY_WIDTH == 1
    const real log2_e = 1.44269504f, two_by_root_pi = 1.12837917f;
    energy = i1 * ley_erfc_power(r2 * i1 * n.s9);
    slope = i2 * (energy + two_by_root_pi * n.s9 * ley_exp2(-log2_e * n.s9 * n.s9 * r2));
#elif LEY_COULOMB == LEY_COULOMB_IS_EWALD
    real erf_r, derivative;
    ley_erf_series(r2 * n.s8 - 1, series, &erf_r, &derivative);
    energy -= erf_r;
    slope += 2 * n.s8 * derivative;
#endif
    p->coulomb = qq * energy;
    p->slope += qq * slope;
#endif
}

/* r2 is neither 0 nor beyond the cutoff: the caller sees to that. */
LEY_FN pair_terms ley_pair_terms(real r2, real a, real b, real qq, LEY_REFERENCE(sixteen) n,
                                 LEY_REFERENCE(sixteen) series)
{
    pair_terms p;
    const real i1 = ley_unscaled_root(r2) * LEY_ROOT_SCALE, i2 = i1 * i1;
    ley_lennard_jones(r2, i1, i2, a, b, n, &p);
    ley_coulomb(r2, i1, i2, qq, n, series, &p);
    return p;
}

#endif
