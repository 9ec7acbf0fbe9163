#include "law/energy_born.h"

#include "error.h"
#include "numerics/neck.h"

#include <math.h>

energy_born_model energy_born_model_of(const ley_particles_arrays *of, const ley_energy_options *o, int64_t i)
{
    static const energy_born_model models[LEY_BORN_KINDS] = {
        [LEY_BORN_HCT] = {0.09, 0, {0, 0, 0}},
        [LEY_BORN_OBC1] = {0.09, 0, {0.8, 0, 2.909125}},
        [LEY_BORN_OBC2] = {0.09, 0, {1, 0.8, 4.85}},
        [LEY_BORN_GBN] = {0.09, 0.361825, {1.09511284, 1.90792938, 2.50798245}},
        [LEY_BORN_GBN2] = {0.195141, 0.826836, {0, 0, 0}},
    };
    energy_born_model m = models[o->born];
    for (int k = 0; k < 3 && o->born == LEY_BORN_GBN2; k++)
        m.factor[k] = of->born_factors[i][k];
    return m;
}

/* rho~; 0 where a particle has no volume. */
static double inner_radius(const energy_law *law, int64_t i)
{
    return fmax(0, law->of->born_radii[i] - energy_born_model_of(law->of, law->options, i).offset_A);
}

/* Radii are found from integrals and integrals from radii: B must grow with them. */
ley_status energy_born_check(const ley_particles_arrays *of, const ley_energy_options *o, ley_error *error)
{
    for (int64_t i = 0; i < of->particles; i++) {
        const energy_born_model m = energy_born_model_of(of, o, i);
        const double *f = m.factor;
        if (of->charges[i] != 0 && !(of->born_radii[i] > m.offset_A))
            return ley_fail(error, LEY_ERROR_INPUT,
                            "particle %lld: it has a charge, and an intrinsic radius of %g A, not above %g A",
                            (long long)i + 1, of->born_radii[i], m.offset_A);
        if (m.neck > 0 && of->born_radii[i] > m.offset_A &&
            !(of->born_radii[i] >= NECK_LEAST_A - 1e-6 && of->born_radii[i] <= NECK_MOST_A + 1e-6))
            return ley_fail(
                error, LEY_ERROR_INPUT,
                "particle %lld: an intrinsic radius of %g A, must be %g to %g A: GBn has no necks of others",
                (long long)i + 1, of->born_radii[i], NECK_LEAST_A, NECK_MOST_A);
        if (o->born == LEY_BORN_GBN2 && of->born_radii[i] > m.offset_A &&
            !(f[0] > 0 && f[2] >= 0 && f[1] * f[1] <= 3 * f[0] * f[2]))
            return ley_fail(error, LEY_ERROR_INPUT,
                            "particle %lld: with factors %g, %g and %g its Born radius does not grow with its integral",
                            (long long)i + 1, f[0], f[1], f[2]);
    }
    return LEY_OK;
}

double energy_born_reach(const ley_particles_arrays *of, const ley_energy_options *o)
{
    double most_A = 0;
    for (int64_t i = 0; i < of->particles && o->born_taper; i++)
        most_A = fmax(most_A, fabs(of->born_screens[i]) * of->born_radii[i]);
    return o->born_cutoff_A > 0 ? o->born_cutoff_A + most_A : 0;
}

/* ---- Integrals ------------------------------------------------------------------------------- */

/* The integral of 1/(4 pi x^4), x > rho, over a sphere of radius s at r, up to x = end: that of
 * (s^2 - (x - r)^2)/(4 r x^3) from where the sphere begins to where it ends; all below that, where
 * it has particle i within. Of a negative s it is less by so much, as long as spheres do not
 * overlap: u is where such a sphere begins. */
static energy_curve sphere(double rho_A, double s_A, double r_A, double end_A)
{
    const double u = fmin(r_A + s_A, end_A), l = fmin(fmax(rho_A, fabs(r_A - s_A)), end_A);
    const bool is_inside = rho_A < s_A - r_A;
    if (!(rho_A < u) || s_A == 0)
        return (energy_curve){0, 0};
    if (l == u) /* beyond the end */
        return (energy_curve){is_inside ? 1 / rho_A - 1 / l : 0, 0};
    if (r_A < 1e-5 * s_A) /* to the square of r */
        return is_inside ? (energy_curve){1 / rho_A - 1 / s_A, 4 / (3 * s_A * s_A * s_A)} : (energy_curve){0, 0};
    const double squares = 0.5 * (1 / (l * l) - 1 / (u * u)), logarithm = log(l / u);
    const double value = 2 * r_A * (1 / l - 1 / u) + (s_A * s_A - r_A * r_A) * squares + logarithm;
    const double falls = (s_A * s_A + r_A * r_A) * squares + logarithm;
    return (energy_curve){value / (4 * r_A) + (is_inside ? 1 / rho_A - 1 / l : 0), falls / (4 * r_A * r_A * r_A)};
}

/* Of the space between two spheres. */
static energy_curve between(double rho_A, double other_A, double r_A)
{
    const neck of = neck_of(rho_A, other_A);
    const double d = r_A - of.position_A, below = 1 + d * d + 0.3 * pow(d, 6), value = of.height_per_A / below;
    if (!(r_A < rho_A + other_A + NECK_GAP_A))
        return (energy_curve){0, 0};
    return (energy_curve){value, value * (2 * d + 1.8 * pow(d, 5)) / (below * r_A)};
}

static energy_curve integral(const energy_law *law, int64_t i, int64_t j, double r_A)
{
    const double c_A = law->options->born_cutoff_A, inner_A = inner_radius(law, i), other_A = inner_radius(law, j);
    const double share = energy_born_model_of(law->of, law->options, i).neck;
    const bool is_within = !(c_A > 0) || r_A < c_A, is_tapered = law->options->born_taper;
    if (inner_A == 0 || other_A == 0 || !(is_within || is_tapered))
        return (energy_curve){0, 0};
    energy_curve made = sphere(inner_A, law->of->born_screens[j] * other_A, r_A, is_tapered ? c_A : INFINITY);
    if (share > 0 && is_within) {
        const energy_curve gap = between(law->of->born_radii[i], law->of->born_radii[j], r_A);
        made = (energy_curve){made.value + share * gap.value, made.slope + share * gap.slope};
    }
    return made;
}

/* ---- Radii ----------------------------------------------------------------------------------- */

static bool has_most(const energy_law *law)
{
    return law->options->born == LEY_BORN_HCT || law->options->born_taper;
}

/* Of tanh, and of psi = rho~ I. */
static double argument_of(const double f[3], double psi)
{
    return psi * (f[0] - psi * (f[1] - psi * f[2]));
}

double energy_born_radius(const energy_law *law, int64_t i)
{
    const energy_born_model model = energy_born_model_of(law->of, law->options, i);
    const double rho_A = inner_radius(law, i);
    double sum = 0, way_A[3];
    if (rho_A == 0)
        return 0;
    for (int64_t j = 0; j < law->n; j++)
        if (j != i)
            sum += integral(law, i, j, sqrt(energy_way(law, i, j, way_A))).value;
    double inverse = 1 / rho_A;
    if (law->options->born == LEY_BORN_HCT)
        inverse -= sum;
    else
        inverse -= tanh(argument_of(model.factor, rho_A * sum)) / law->of->born_radii[i];
    return 1 / (has_most(law) ? fmax(inverse, 1 / law->options->born_most_A) : inverse);
}

/* Where that has a value: it grows with psi. */
static double psi_of(const double f[3], double value)
{
    double low = -1, high = 1;
    while (argument_of(f, low) > value)
        low *= 2;
    while (argument_of(f, high) < value)
        high *= 2;
    for (int step = 0; step < 80; step++) {
        const double psi = 0.5 * (low + high);
        *(argument_of(f, psi) < value ? &low : &high) = psi;
    }
    return 0.5 * (low + high);
}

/* The integral is found again from the radius. */
double energy_born_weight(const energy_law *law, int64_t i, double radius_A, double slope)
{
    const energy_born_model model = energy_born_model_of(law->of, law->options, i);
    const double rho_A = inner_radius(law, i), *f = model.factor;
    if (rho_A == 0 || (has_most(law) && radius_A >= law->options->born_most_A))
        return 0;
    if (law->options->born == LEY_BORN_HCT)
        return slope * radius_A * radius_A;
    const double t = fmin(fmax(-1 + 1e-15, (1 / rho_A - 1 / radius_A) * law->of->born_radii[i]), 1 - 1e-15);
    const double psi = psi_of(f, atanh(t)), change = f[0] - psi * (2 * f[1] - psi * 3 * f[2]);
    return slope * radius_A * radius_A * (1 - t * t) * change * rho_A / law->of->born_radii[i];
}

/* ---- Energies -------------------------------------------------------------------------------- */

/* C (1/eps_p - exp(-kappa f)/eps_s) / f. */
static energy_curve screened(const energy_law *law, double f_A)
{
    const ley_energy_options *o = law->options;
    const double salt = exp(-law->kappa * f_A) / o->solvent_dielectric, c = o->coulomb_constant;
    const double value = c * (1 / o->dielectric - salt) / f_A;
    return (energy_curve){value, (value / f_A - c * law->kappa * salt / f_A) / f_A};
}

/* f of a pair, and exp(-r^2 / (4 B B')). */
static double still_f(double r2, double radii2, double *gaussian)
{
    *gaussian = exp(-r2 / (4 * radii2));
    return sqrt(r2 + radii2 * *gaussian);
}

static bool is_within(const energy_law *law, double r2)
{
    const double c_A = law->options->born_cutoff_A;
    return !(c_A > 0) || r2 < c_A * c_A;
}

double energy_born_slope(const energy_law *law, const double *radii, int64_t i)
{
    const double q = law->of->charges[i], b = radii[i];
    if (q == 0)
        return 0;
    double way_A[3], gaussian, slope = 0.5 * q * q * screened(law, b).slope * b;
    for (int64_t j = 0; j < law->n; j++) {
        const double r2 = energy_way(law, i, j, way_A), radii2 = b * radii[j];
        if (j == i || law->of->charges[j] == 0 || !is_within(law, r2))
            continue;
        const double f = still_f(r2, radii2, &gaussian),
                     by_radius = 0.5 * radii[j] * gaussian * (1 + r2 / (4 * radii2));
        slope += q * law->of->charges[j] * screened(law, f).slope * by_radius;
    }
    return slope;
}

void energy_add_born(const energy_law *law, const double *radii, const double *weight, int64_t i, energy_sums *sums)
{
    const double q = law->of->charges[i];
    if (q != 0)
        energy_add_own(law, i, LEY_ENERGY_BORN, -0.5 * q * q * screened(law, radii[i]).value, sums);
    for (int64_t j = 0; j < law->n; j++) {
        double way_A[3], gaussian;
        if (j == i)
            continue;
        const double r2 = energy_way(law, i, j, way_A), r_A = sqrt(r2), charges_e2 = q * law->of->charges[j];
        if (charges_e2 != 0 && is_within(law, r2)) {
            const double f = still_f(r2, radii[i] * radii[j], &gaussian);
            const energy_curve g = screened(law, f);
            energy_add_pair(law, j, LEY_ENERGY_BORN,
                            (energy_curve){-charges_e2 * g.value, -charges_e2 * g.slope * (1 - gaussian / 4)},
                            fabs(charges_e2 * g.value), way_A, sums);
        }
        if (weight == NULL)
            continue;
        double chain = 0;
        if (weight[i] != 0)
            chain += weight[i] * integral(law, i, j, r_A).slope;
        if (weight[j] != 0)
            chain += weight[j] * integral(law, j, i, r_A).slope;
        for (int axis = 0; axis < 3; axis++)
            sums->force[axis] += chain * way_A[axis];
    }
}
