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
