/* Potentials and their units. Constants: CODATA 2018; e, k_B and N_A are exact. */
#include "core/units.h"

#include <string.h>

const double units_bohr_A = 0.529177210903;

static const double elementary_charge_C = 1.602176634e-19;
static const double boltzmann_J_K = 1.380649e-23;
static const double avogadro_mol = 6.02214076e23;
static const double vacuum_permittivity_F_m = 8.8541878128e-12;
static const double thermochemical_calorie_J = 4.184;
static const double pi = 3.14159265358979323846;

double ley_coulomb_constant(ley_units units, double dielectric, double temperature_K)
{
    const double volt_A = elementary_charge_C / (4 * pi * vacuum_permittivity_F_m * dielectric) * 1e10;
    switch (units) {
    case LEY_UNITS_VOLT:
        return volt_A;
    case LEY_UNITS_KCAL_MOL_E:
        return volt_A * elementary_charge_C * avogadro_mol / (1000 * thermochemical_calorie_J);
    case LEY_UNITS_KJ_MOL_E:
        return volt_A * elementary_charge_C * avogadro_mol / 1000;
    case LEY_UNITS_KT_E:
    case LEY_UNITS_COUNT:
        break;
    }
    return volt_A * elementary_charge_C / (boltzmann_J_K * temperature_K);
}

const char *ley_units_name(ley_units units)
{
    static const char *const names[] = {LEY_UNITS_TABLE(LEY_NAME)};
    return names[(unsigned)units < LEY_UNITS_COUNT ? units : LEY_UNITS_KT_E];
}

double units_per_hartree(const char *units, double temperature_K)
{
    if (strcmp(units, "hartree/e") == 0)
        return 1;
    if (strcmp(units, "mV") == 0)
        return 1000 * ley_coulomb_constant(LEY_UNITS_VOLT, 1, temperature_K) / units_bohr_A;
    for (int i = 0; i < LEY_UNITS_COUNT; i++)
        if (strcmp(units, ley_units_name((ley_units)i)) == 0)
            return ley_coulomb_constant((ley_units)i, 1, temperature_K) / units_bohr_A;
    return 0;
}
