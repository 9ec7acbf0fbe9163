#include "series/smooth.h"

#include <math.h>
#include <string.h>

/* erf(x) / x = 2 / sqrt(pi) sum_n (-x^2)^n / (n! (2 n + 1)): below 1 twenty terms are doubles. */
enum { SERIES_TERMS = 20 };

double smooth_value(double r2, double beta)
{
    const double v = beta * beta * r2;
    double sum = 0, term = 2 * beta / sqrt(M_PI);
    if (v >= 1)
        return erf(sqrt(v)) / sqrt(r2);
    for (int n = 0; n < SERIES_TERMS; n++) {
        sum += term / (2 * n + 1);
        term *= -v / (n + 1);
    }
    return sum;
}

double smooth_slope(double r2, double beta)
{
    const double v = beta * beta * r2;
    double sum = 0, term = -2 * pow(beta, 3) / sqrt(M_PI); /* of n = 1, but for 1 / (2 n + 1) */
    if (v >= 1)
        return beta / sqrt(M_PI) * exp(-v) / r2 - erf(sqrt(v)) / (2 * r2 * sqrt(r2));
    for (int n = 1; n < SERIES_TERMS; n++) {
        sum += term / (2 * n + 1);
        term *= -v / n;
    }
    return sum;
}

/* Coefficients of powers of t from values at Chebyshev's nodes. */
static void find_powers(const double values[SMOOTH_TERMS], double power[SMOOTH_TERMS])
{
    enum { N = SMOOTH_TERMS };
    double before[N] = {1}, now[N] = {0, 1}; /* Chebyshev's polynomials, by powers of t */
    memset(power, 0, N * sizeof *power);
    for (int degree = 0; degree < N; degree++) {
        double share = 0, next[N] = {0};
        for (int i = 0; i < N; i++)
            share += values[i] * cos(M_PI * degree * (i + 0.5) / N) * (degree == 0 ? 1.0 : 2.0) / N;
        for (int k = 0; k < N; k++) {
            power[k] += share * before[k];
            next[k] = (k > 0 ? 2 * now[k - 1] : 0) - before[k];
        }
        memcpy(before, now, sizeof before);
        memcpy(now, next, sizeof now);
    }
}

smooth_part smooth_make(double s, double cutoff_A)
{
    smooth_part made = {.cutoff_A = cutoff_A, .beta_per_A = s / cutoff_A};
    double value[SMOOTH_TERMS], slope[SMOOTH_TERMS];
    for (int i = 0; i < SMOOTH_TERMS; i++) {
        const double r2 = (1 + cos(M_PI * (i + 0.5) / SMOOTH_TERMS)) / 2 * cutoff_A * cutoff_A;
        value[i] = smooth_value(r2, made.beta_per_A);
        slope[i] = smooth_slope(r2, made.beta_per_A);
    }
    find_powers(value, made.value);
    find_powers(slope, made.slope);
    return made;
}
