#include "reference.h"

#include <math.h>

double reference_dcs(const ley_atoms *atoms, const double point_A[3], double coulomb_constant, double r_min_A)
{
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms);
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        const double dx = point_A[0] - position_A[3 * j], dy = point_A[1] - position_A[3 * j + 1],
                     dz = point_A[2] - position_A[3 * j + 2];
        const double r_A = sqrt(dx * dx + dy * dy + dz * dz);
        sum += charge_e[j] / (r_A < r_min_A ? r_min_A : r_A);
    }
    return coulomb_constant * sum;
}

double reference_mdh(const ley_atoms *atoms, const double point_A[3], const ley_solvent *solvent)
{
    const double kappa = ley_screening_per_A(solvent),
                 factor_A = ley_solvent_coulomb_constant(solvent) / solvent->dielectric;
    const size_t n = ley_atoms_count(atoms);
    const double *position_A = ley_atoms_positions_A(atoms), *charge_e = ley_atoms_charges_e(atoms),
                 *radius_A = ley_atoms_radii_A(atoms);
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        const double dx = point_A[0] - position_A[3 * j], dy = point_A[1] - position_A[3 * j + 1],
                     dz = point_A[2] - position_A[3 * j + 2];
        const double d_A = sqrt(dx * dx + dy * dy + dz * dz);
        if (charge_e[j] == 0)
            continue;
        if (kappa < 1e-9)
            sum += charge_e[j] / d_A;
        else
            sum += charge_e[j] / d_A * exp(-kappa * (d_A - radius_A[j])) / (1 + kappa * radius_A[j]);
    }
    return factor_A * sum;
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
