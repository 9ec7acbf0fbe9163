#include "energy/pair_numbers.h"

#include "spec.h"

#include <float.h>
#include <math.h>
#include <string.h>

_Static_assert((int)LEY_LENNARD_JONES_KINDS == LEY_LENNARD_JONES_IS_FORCE_SWITCHED_GROMACS + 1 &&
                   (int)LEY_COULOMB_KINDS == LEY_COULOMB_IS_EWALD + 1,
               "kernels number the kinds as the library does");

/* GROMACS's force switch of 1/r^power: A, B and C of its manual. */
static void force_switch(int power, double c, double s, double made[3])
{
    const double whole = pow(c, power + 2), width = c - s;
    made[0] = -power * ((power + 4) * c - (power + 1) * s) / (whole * width * width);
    made[1] = power * ((power + 3) * c - (power + 1) * s) / (whole * width * width * width);
    made[2] = pow(c, -power) - made[0] / 3 * width * width * width - made[1] / 4 * pow(width, 4);
}

static void lennard_jones_numbers(ley_lennard_jones_kind kind, double c, double s, double *n)
{
    const double c3 = c * c * c, s3 = s * s * s, s2 = s * s;
    switch (kind) {
    case LEY_LENNARD_JONES_SHIFTED:
        n[2] = 1 / (c3 * c3 * c3 * c3);
        n[3] = 1 / (c3 * c3);
        break;
    case LEY_LENNARD_JONES_SWITCHED:
        n[2] = 1 / (c - s);
        break;
    case LEY_LENNARD_JONES_SWITCHED_CHARMM:
        n[2] = 1 / pow(c * c - s2, 3);
        n[3] = s2;
        break;
    case LEY_LENNARD_JONES_FORCE_SWITCHED_CHARMM:
        n[2] = 1 / (s3 * s3 * c3 * c3);
        n[3] = 1 / (s3 * c3);
        n[4] = c3 * c3 / (c3 * c3 - s3 * s3);
        n[5] = c3 / (c3 - s3);
        n[6] = 1 / (c3 * c3);
        n[7] = 1 / c3;
        break;
    case LEY_LENNARD_JONES_FORCE_SWITCHED_GROMACS:
        force_switch(12, c, s, n + 2);
        force_switch(6, c, s, n + 5);
        break;
    default:
        break;
    }
}

static void coulomb_numbers(const ley_energy_options *o, double c, double *n)
{
    const double e = o->reaction_dielectric, c3 = c * c * c;
    switch (o->coulomb) {
    case LEY_COULOMB_SHIFTED:
        n[8] = 1 / c;
        break;
    case LEY_COULOMB_SHIFTED_CHARMM:
        n[8] = 1 / (c * c);
        break;
    case LEY_COULOMB_REACTION_FIELD:
        n[8] = e > 0 ? (e - 1) / ((2 * e + 1) * c3) : 1 / (2 * c3);
        n[9] = e > 0 ? 3 * e / ((2 * e + 1) * c) : 3 / (2 * c);
        break;
    case LEY_COULOMB_EWALD:
        n[8] = 2 / (c * c);
        break;
    default:
        break;
    }
}

static double erf_r(double alpha, double r)
{
    return r > 0 ? erf(alpha * r) / r : 2 * alpha / sqrt(M_PI);
}

/* Chebyshev's series of erf(alpha r) / r in u = 2 r^2 / c^2 - 1, an entire function of r^2, by
 * powers of u. */
static void make_series(double alpha, double c, double *series)
{
    enum { POINTS = 64 };
    double chebyshev[PAIR_NUMBERS] = {0}, before[PAIR_NUMBERS] = {1}, now[PAIR_NUMBERS] = {0, 1};
    for (int k = 0; k < POINTS; k++) {
        const double angle = M_PI * (k + 0.5) / POINTS, value = erf_r(alpha, c * sqrt((cos(angle) + 1) / 2));
        for (int i = 0; i < PAIR_NUMBERS; i++)
            chebyshev[i] += (i == 0 ? 1.0 : 2.0) / POINTS * value * cos(i * angle);
    }
    memset(series, 0, PAIR_NUMBERS * sizeof *series);
    series[0] = chebyshev[0];
    for (int i = 1; i < PAIR_NUMBERS; i++) { /* T_{i + 1} = 2 u T_i - T_{i - 1} */
        double next[PAIR_NUMBERS] = {0};
        for (int k = 0; k < PAIR_NUMBERS; k++) {
            series[k] += chebyshev[i] * now[k];
            next[k] = (k > 0 ? 2 * now[k - 1] : 0) - before[k];
        }
        memcpy(before, now, sizeof now);
        memcpy(now, next, sizeof next);
    }
}

/* What the series, as floats, has for errors. */
static void measure_series(double alpha, double c, pair_numbers *made)
{
    enum { POINTS = 500 };
    for (int i = 1; i <= POINTS; i++) {
        const double r = c * i / POINTS, u = 2 * r * r / (c * c) - 1;
        double value = 0, slope = 0;
        for (int k = PAIR_NUMBERS - 1; k >= 0; k--) {
            slope = slope * u + value;
            value = value * u + (double)(float)made->series[k];
        }
        const double right = erf_r(alpha, r),
                     steep = (right - 2 * alpha / sqrt(M_PI) * exp(-alpha * alpha * r * r)) / (r * r);
        made->series_error = fmax(made->series_error, fabs(value - right) / alpha);
        made->slope_error = fmax(made->slope_error, fabs(-slope * 4 / (c * c) - steep) / (alpha * alpha * alpha));
    }
}

void pair_numbers_make(const ley_energy_options *options, double alpha_per_A, pair_numbers *made)
{
    const double c = options->cutoff_A;
    *made = (pair_numbers){.n = {c > 0 ? c * c : FLT_MAX, options->switch_A}};
    lennard_jones_numbers(options->lennard_jones, c, options->switch_A, made->n);
    coulomb_numbers(options, c, made->n);
    if (options->coulomb == LEY_COULOMB_EWALD) {
        made->n[9] = alpha_per_A;
        make_series(alpha_per_A, c, made->series);
        measure_series(alpha_per_A, c, made);
    }
}
