#include "law/mdh.h"

#include "law/reference.h"
#include "laws/mdh.h"

#include <math.h>

static reference_value mdh_sum(const ley_atoms *atoms, const double point_A[3], double factor_A, double kappa)
{
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms),
                 *radius_A = ley_atoms_radii_A(atoms);
    reference_value sum = {0};
    for (size_t j = 0; j < n; j++) {
        const double dx = point_A[0] - position_A[3 * j], dy = point_A[1] - position_A[3 * j + 1],
                     dz = point_A[2] - position_A[3 * j + 2];
        const double d_A = sqrt(dx * dx + dy * dy + dz * dz);
        reference_add(&sum, factor_A, ley_mdh_term(charge_e[j], d_A, radius_A[j], kappa));
    }
    return sum;
}

reference_value reference_mdh(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent)
{
    return mdh_sum(atoms, point_A, ley_solvent_coulomb_constant(solvent) / solvent->dielectric,
                   ley_screening_per_A(solvent));
}

/* The parts of monopole, dipole and quadrupole that do not depend on direction. */
static void sdh_tensors(double r, double a, double k, double eps_s, double er, double t[3])
{
    if (k < 1e-9) {
        t[0] = 1 / (eps_s * r);
        t[1] = -1 / (eps_s * pow(r, 3)) * 3 * er / (1 + 2 * er);
        t[2] = 3 / (eps_s * pow(r, 5)) * 5 * er / (2 + 3 * er);
        return;
    }
    const double e = exp(k * (a - r)), ka = k * a, kr = k * r;
    t[0] = e / (eps_s * r * (1 + ka));
    t[1] = -3 * er * e * (1 + kr) / (eps_s * pow(r, 3) * (1 + ka + er * (2 + 2 * ka + ka * ka)));
    t[2] = 15 * er * e * (3 + 3 * kr + kr * kr) /
           (eps_s * pow(r, 5) * (6 + 6 * ka + 2 * ka * ka + er * (9 + 9 * ka + 4 * ka * ka + ka * ka * ka)));
}

double reference_sdh(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent)
{
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms),
                 *radius_A = ley_atoms_radii_A(atoms);
    double low_A[3], high_A[3], centre_A[3], a_A = 0, r2_A2 = 0, t[3];
    double charge = 0, dipole[3] = {0}, quadrupole[3][3] = {{0}};
    for (int i = 0; i < 3; i++) {
        low_A[i] = high_A[i] = position_A[i];
        for (size_t j = 0; j < n; j++) {
            low_A[i] = fmin(low_A[i], position_A[3 * j + (size_t)i]);
            high_A[i] = fmax(high_A[i], position_A[3 * j + (size_t)i]);
        }
        centre_A[i] = (low_A[i] + high_A[i]) / 2;
        r2_A2 += (point_A[i] - centre_A[i]) * (point_A[i] - centre_A[i]);
    }
    for (size_t j = 0; j < n; j++) {
        double x[3], d2_A2 = 0;
        for (int i = 0; i < 3; i++) {
            x[i] = position_A[3 * j + (size_t)i] - centre_A[i];
            d2_A2 += x[i] * x[i];
        }
        a_A = fmax(a_A, sqrt(d2_A2) + radius_A[j]);
        charge += charge_e[j];
        for (int i = 0; i < 3; i++) {
            dipole[i] += charge_e[j] * x[i];
            for (int k = 0; k < 3; k++)
                quadrupole[i][k] += 0.5 * charge_e[j] * (x[i] * x[k] - (i == k ? d2_A2 / 3 : 0));
        }
    }
    sdh_tensors(sqrt(r2_A2), a_A, ley_screening_per_A(solvent), solvent->dielectric,
                solvent->dielectric / solvent->solute_dielectric, t);
    double sum = charge * t[0];
    for (int i = 0; i < 3; i++) {
        sum -= dipole[i] * (point_A[i] - centre_A[i]) * t[1];
        for (int k = 0; k < 3; k++)
            sum += quadrupole[i][k] * (point_A[i] - centre_A[i]) * (point_A[k] - centre_A[k]) * t[2];
    }
    return ley_solvent_coulomb_constant(solvent) * sum;
}

/* ---- The law --------------------------------------------------------------------------------- */

static reference_value value(const reference_terms *t, const double point_A[3])
{
    return mdh_sum(t->atoms, point_A, t->constant, t->kappa_per_A);
}

static long double second(const reference_terms *t, size_t atom, long double r_A)
{
    const long double q_e = ley_atoms_charges_e(t->atoms)[atom], radius_A = ley_atoms_radii_A(t->atoms)[atom],
                      kappa = t->kappa_per_A;
    return kappa < 1e-9L ? q_e / r_A : q_e * expl(kappa * (radius_A - r_A)) / (r_A * (1 + kappa * radius_A));
}

static void numbers(const reference_terms *t, double to[4])
{
    to[0] = t->kappa_per_A;
}

static bool more(const reference_terms *t, size_t atom, double to[2])
{
    to[0] = ley_atoms_radii_A(t->atoms)[atom];
    to[1] = 0;
    return true;
}

const law law_mdh = {
    .name = "mdh", .number = LEY_LAW_MDH, .value = value, .numbers = numbers, .more = more, .second = second};
