#include "numerics/ewald.h"

#include <math.h>

/* exp(y) erfc(x); where exp(y) is too large a number, or erfc(x) too small a one, by a continued
 * fraction of exp(x^2) erfc(x). */
static double scaled_erfc(double y, double x)
{
    const double largest_y = 700, largest_x = 25;
    if (x < largest_x && (y < largest_y || x < 1))
        return exp(y) * erfc(x);
    double fraction = x;
    for (int k = 60; k > 0; k--)
        fraction = x + k / 2.0 / fraction;
    return exp(y - x * x) / (sqrt(M_PI) * fraction);
}

double ewald_image(double r_A, double kappa, double beta)
{
    if (beta == 0)
        return exp(-kappa * r_A) / r_A;
    if (kappa == 0)
        return erfc(beta * r_A) / r_A;
    const double half = kappa / (2 * beta);
    return (scaled_erfc(kappa * r_A, beta * r_A + half) + scaled_erfc(-kappa * r_A, beta * r_A - half)) / (2 * r_A);
}

double ewald_smooth(double r_A, double kappa, double beta)
{
    const double half = kappa / (2 * beta);
    if (r_A * beta < 1e-6)
        return 2 * beta / sqrt(M_PI) * exp(-half * half) - kappa * erfc(half);
    return kappa == 0 ? erf(beta * r_A) / r_A : exp(-kappa * r_A) / r_A - ewald_image(r_A, kappa, beta);
}

double ewald_image_slope(double r_A, double kappa, double beta)
{
    if (beta == 0)
        return exp(-kappa * r_A) * (1 + kappa * r_A) / (r_A * r_A);
    const double half = kappa / (2 * beta), x = beta * r_A, bell = 4 * beta / sqrt(M_PI) * exp(-x * x - half * half),
                 falls = kappa > 0 ? scaled_erfc(-kappa * r_A, x - half) - scaled_erfc(kappa * r_A, x + half) : 0;
    return ewald_image(r_A, kappa, beta) / r_A + (kappa * falls + bell) / (2 * r_A);
}

double ewald_wave(double k2, double kappa, double beta)
{
    const double q2 = k2 + kappa * kappa;
    return 4 * M_PI / q2 * exp(-q2 / (4 * beta * beta));
}

double ewald_mean(double kappa, double beta)
{
    return kappa == 0 ? -M_PI / (beta * beta) : ewald_wave(0, kappa, beta);
}

double ewald_mean_rest(double kappa, double beta)
{
    return kappa == 0 ? -M_PI / (beta * beta) : 4 * M_PI / (kappa * kappa) * expm1(-kappa * kappa / (4 * beta * beta));
}

double ewald_plane(double q, double beta, double z_A)
{
    const double half = q / (2 * beta), z = fabs(z_A);
    return M_PI / q * (scaled_erfc(q * z, half + beta * z) + scaled_erfc(-q * z, half - beta * z));
}

/* erf(x + h) - erf(x - h), whose digits small h leaves. */
static double erf_difference(double x, double h)
{
    return h < 1e-3 ? 4 * h / sqrt(M_PI) * exp(-x * x) * (1 + h * h * (2 * x * x - 1) / 3) : erf(x + h) - erf(x - h);
}

double ewald_plane_rest(double q, double beta, double z_A)
{
    const double half = q / (2 * beta), z = fabs(z_A), x = beta * z;
    const double grows = q * z < 1 ? expm1(q * z) * erfc(half + x) : scaled_erfc(q * z, half + x) - erfc(half + x);
    return M_PI / q * (grows + expm1(-q * z) * erfc(half - x) - erf_difference(x, half));
}
