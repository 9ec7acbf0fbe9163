/* APBS's constants, for values that are to agree with its own to the last digit: older ones, in
 * CGS, where the screening is concerned, and others, in SI, for the potential. Products are written
 * in APBS's order. */
#include "law/solvent.h"

#include "core/parameters.h"
#include "error.h"

#include <math.h>
#include <stdio.h>

static const double pi = 3.14159265358979323846;

double ley_ionic_strength_M(const ley_solvent *solvent)
{
    double strength_M = 0;
    for (size_t i = 0; i < solvent->ion_count; i++) {
        const ley_ion *ion = &solvent->ions[i];
        strength_M += 0.5 * ion->concentration_M * (ion->charge_e * ion->charge_e);
    }
    return strength_M;
}

double ley_screening_per_A(const ley_solvent *solvent)
{
    const double avogadro_per_mol = 6.022045000e23, charge_esu = 4.803242384e-10, boltzmann_erg_K = 1.380662000e-16;
    const double strength_M = ley_ionic_strength_M(solvent);
    return sqrt(strength_M * 1.0e-16 *
                ((8.0 * pi * avogadro_per_mol * charge_esu * charge_esu) /
                 (1000.0 * solvent->dielectric * boltzmann_erg_K * solvent->temperature_K)));
}

bool ley_solvent_remark(const ley_solvent *solvent, char *text, size_t size)
{
    const double rounding = 1e-6; /* of concentrations that are given in decimals */
    double charge_M = 0, magnitude_M = 0;
    size_t idle = 0;
    for (size_t i = 0; i < solvent->ion_count; i++) {
        const ley_ion *ion = &solvent->ions[i];
        charge_M += ion->concentration_M * ion->charge_e;
        magnitude_M += ion->concentration_M * fabs(ion->charge_e);
        if (idle == 0 && ion->charge_e == 0 && ion->concentration_M > 0)
            idle = i + 1;
    }
    const bool is_charged = fabs(charge_M) > rounding * magnitude_M;
    int used = snprintf(text, size, "%s", "");
    if (is_charged)
        used = snprintf(text, size,
                        "the ions are not neutral together: %+g mol/l of charge; a salt has ions of both signs, as 0.1 "
                        "mol/l of +1 e and 0.1 mol/l of -1 e",
                        charge_M);
    if (idle > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "%sion %zu has a charge of 0 and no part in the screening",
                 is_charged ? "; " : "", idle);
    return is_charged || idle > 0;
}

double ley_solvent_coulomb_constant(const ley_solvent *solvent)
{
    const double charge_C = 1.6021773e-19, boltzmann_J_K = 1.3806581e-23, eps0_F_m = 8.8541878e-12;
    return (charge_C * charge_C) / (4 * pi * eps0_F_m * boltzmann_J_K * solvent->temperature_K) * 1.0e10;
}

/* clang-format off */
static const ley_parameter rows[] = {
    {.name = "dielectric", .alias = "sdie", .type = LEY_PARAMETER_REAL, .value = "E", .default_value = {78.54},
     .low = 1, .high = 1e6, .sentence = "relative permittivity of the solvent",
     PARAMETER_FIELD(ley_solvent, dielectric)},
    {.name = "solute_dielectric", .alias = "pdie", .type = LEY_PARAMETER_REAL, .value = "E", .default_value = {2},
     .low = 1, .high = 1e6, .sentence = "relative permittivity of the molecule, which matters for sdh only",
     PARAMETER_FIELD(ley_solvent, solute_dielectric)},
    {.name = "temperature", .former = (const char *const[]){"temp", NULL}, .type = LEY_PARAMETER_REAL, .unit = "K",
     .default_value = {298.15}, .low = 1e-3, .high = 1e6, .sentence = "temperature in Kelvin",
     PARAMETER_FIELD(ley_solvent, temperature_K)},
    {.name = "ion", .type = LEY_PARAMETER_OTHER, .value = "C,Z,R", .low = -1e6, .high = 1e6,
     .sentence = "ion species: concentration in mol/l, charge in e, radius in Angstrom; give the option once for "
                 "each species"},
};
/* clang-format on */

const ley_parameter_table solvent_parameters = {
    .of = "ley_solvent", .size = sizeof(ley_solvent), .count = sizeof rows / sizeof *rows, .rows = rows};

void ley_solvent_default(ley_solvent *solvent)
{
    parameters_default(&solvent_parameters, solvent);
}

ley_status solvent_check(const ley_solvent *solvent, ley_error *error)
{
    ley_status status = parameters_check(&solvent_parameters, solvent, error);
    if (status == LEY_OK && solvent->ion_count > 0 && solvent->ions == NULL)
        status = ley_fail(error, LEY_ERROR_USAGE, "solvent: %zu ions, and a null pointer to them", solvent->ion_count);
    for (size_t i = 0; i < solvent->ion_count && status == LEY_OK; i++) {
        const ley_ion *ion = &solvent->ions[i];
        if (!(fabs(ion->charge_e) <= 1e6))
            status = ley_fail(error, LEY_ERROR_USAGE, "solvent: ion %zu: charge %g e is not within 1e6 e", i + 1,
                              ion->charge_e);
        else if (!(ion->concentration_M >= 0 && isfinite(ion->concentration_M)))
            status = ley_fail(error, LEY_ERROR_USAGE, "solvent: ion %zu: %g mol/l is not a concentration", i + 1,
                              ion->concentration_M);
    }
    if (status == LEY_OK && !isfinite(ley_screening_per_A(solvent)))
        status = ley_fail(error, LEY_ERROR_USAGE, "solvent: the ionic strength %g mol/l is too large",
                          ley_ionic_strength_M(solvent));
    return status;
}
