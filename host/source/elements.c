#include "source/elements.h"

#include "error.h"
#include "leyden.h"
#include "source/atoms.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* IUPAC's abridged standard atomic weights (2021), in u; of elements that have none, the mass
 * number of the isotope of the longest life. Van der Waals radii, in A: A. Bondi, J. Phys. Chem.
 * 68, 441 (1964); those of B, Al and of the alkali and alkaline earth metals that it lacks: M.
 * Mantina et al., J. Phys. Chem. A 113, 5806 (2009); of Mn, Fe and Co: S. Alvarez, Dalton Trans.
 * 42, 8617 (2013). */
static const struct element {
    char symbol[3];
    double mass, radius_A; /* 0: nobody knows */
} elements[] = {
    {"H", 1.0080, 1.2},   {"He", 4.0026, 1.4},  {"Li", 6.94, 1.82},   {"Be", 9.0122, 0},    {"B", 10.81, 1.92},
    {"C", 12.011, 1.7},   {"N", 14.007, 1.55},  {"O", 15.999, 1.52},  {"F", 18.998, 1.47},  {"Ne", 20.180, 1.54},
    {"Na", 22.990, 2.27}, {"Mg", 24.305, 1.73}, {"Al", 26.982, 1.84}, {"Si", 28.085, 2.1},  {"P", 30.974, 1.8},
    {"S", 32.06, 1.8},    {"Cl", 35.45, 1.75},  {"Ar", 39.95, 1.88},  {"K", 39.098, 2.75},  {"Ca", 40.078, 2.31},
    {"Sc", 44.956, 0},    {"Ti", 47.867, 0},    {"V", 50.942, 0},     {"Cr", 51.996, 0},    {"Mn", 54.938, 2.45},
    {"Fe", 55.845, 2.44}, {"Co", 58.933, 2.4},  {"Ni", 58.693, 1.63}, {"Cu", 63.546, 1.4},  {"Zn", 65.38, 1.39},
    {"Ga", 69.723, 0},    {"Ge", 72.630, 0},    {"As", 74.922, 1.85}, {"Se", 78.971, 1.9},  {"Br", 79.904, 1.85},
    {"Kr", 83.798, 2.02}, {"Rb", 85.468, 3.03}, {"Sr", 87.62, 0},     {"Y", 88.906, 0},     {"Zr", 91.224, 0},
    {"Nb", 92.906, 0},    {"Mo", 95.95, 0},     {"Tc", 98, 0},        {"Ru", 101.07, 0},    {"Rh", 102.91, 0},
    {"Pd", 106.42, 0},    {"Ag", 107.87, 1.72}, {"Cd", 112.41, 1.58}, {"In", 114.82, 0},    {"Sn", 118.71, 0},
    {"Sb", 121.76, 0},    {"Te", 127.60, 0},    {"I", 126.90, 1.98},  {"Xe", 131.29, 2.16}, {"Cs", 132.91, 3.43},
    {"Ba", 137.33, 0},    {"La", 138.91, 0},    {"Ce", 140.12, 0},    {"Pr", 140.91, 0},    {"Nd", 144.24, 0},
    {"Pm", 145, 0},       {"Sm", 150.36, 0},    {"Eu", 151.96, 0},    {"Gd", 157.25, 0},    {"Tb", 158.93, 0},
    {"Dy", 162.50, 0},    {"Ho", 164.93, 0},    {"Er", 167.26, 0},    {"Tm", 168.93, 0},    {"Yb", 173.05, 0},
    {"Lu", 174.97, 0},    {"Hf", 178.49, 0},    {"Ta", 180.95, 0},    {"W", 183.84, 0},     {"Re", 186.21, 0},
    {"Os", 190.23, 0},    {"Ir", 192.22, 0},    {"Pt", 195.08, 1.75}, {"Au", 196.97, 1.66}, {"Hg", 200.59, 1.55},
    {"Tl", 204.38, 0},    {"Pb", 207.2, 0},     {"Bi", 208.98, 0},    {"Po", 209, 0},       {"At", 210, 0},
    {"Rn", 222, 0},       {"Fr", 223, 0},       {"Ra", 226, 0},       {"Ac", 227, 0},       {"Th", 232.04, 0},
    {"Pa", 231.04, 0},    {"U", 238.03, 0},
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

double ley_element_mass(int32_t number)
{
    return number >= 1 && number <= ELEMENTS ? elements[number - 1].mass : 0;
}

double ley_element_radius_A(int32_t number)
{
    return number >= 1 && number <= ELEMENTS ? elements[number - 1].radius_A : 0;
}

static int32_t number_of(const char *symbol)
{
    for (int32_t k = 0; k < ELEMENTS; k++)
        if (strcasecmp(elements[k].symbol, symbol) == 0)
            return k + 1;
    return 0;
}

int32_t element_of_name(const char *name, size_t length, bool is_residue)
{
    /* Names of two letters that are no other atom's in a protein, a nucleic acid or a lipid; and
     * ions by the names of force fields. */
    static const char *const pairs[] = {"CL", "BR", "ZN", "FE", "MG", "SE", "SI", "LI", "AL", "MN", "CU"};
    static const char *const ions[][2] = {{"SOD", "Na"}, {"CLA", "Cl"}, {"POT", "K"},  {"CAL", "Ca"}, {"CES", "Cs"},
                                          {"RUB", "Rb"}, {"CAD", "Cd"}, {"NA+", "Na"}, {"K+", "K"},   {"CL-", "Cl"}};
    char letters[3] = "";
    size_t found = 0;
    for (size_t i = 0; i < sizeof ions / sizeof *ions; i++)
        if (length == strlen(ions[i][0]) && strncasecmp(name, ions[i][0], length) == 0)
            return number_of(ions[i][1]);
    for (size_t i = 0; i < length && found < 2; i++)
        if (isalpha((unsigned char)name[i]))
            letters[found++] = (char)toupper((unsigned char)name[i]);
    if (is_residue && length == 2 && found == 2 && number_of(letters) > 0)
        return number_of(letters);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && found == 2 && isalpha((unsigned char)name[0]); i++)
        if (strcmp(letters, pairs[i]) == 0)
            return number_of(letters);
    letters[1] = '\0';
    return number_of(strcmp(letters, "D") == 0 ? "H" : letters);
}

ley_status ley_density_weights_of(const ley_atoms *atoms, ley_density_weights weights, double *weight, ley_error *error)
{
    const int32_t *element = ley_atoms_elements(atoms);
    const double *charge_e = ley_atoms_charges_e(atoms);
    const bool needs_element = weights == LEY_DENSITY_NUMBER || weights == LEY_DENSITY_MASS;
    if ((unsigned)weights >= LEY_DENSITY_WEIGHTS)
        return ley_fail(error, LEY_ERROR_USAGE, "weights %d, must be one of ley_density_weights", (int)weights);
    if (needs_element && element == NULL)
        return ley_fail(error, LEY_ERROR_INPUT,
                        "the atoms have no names, which would tell their elements: read a PQR file, or take charge or "
                        "occupancy as weights");
    for (size_t i = 0; i < ley_atoms_count(atoms); i++) {
        if (needs_element && ley_element_mass(element[i]) == 0)
            return ley_fail(error, LEY_ERROR_INPUT, "atom %zu has a name that tells no element, which its %s needs",
                            i + 1, weights == LEY_DENSITY_MASS ? "mass" : "atomic number");
        weight[i] = weights == LEY_DENSITY_NUMBER   ? element[i]
                    : weights == LEY_DENSITY_MASS   ? ley_element_mass(element[i])
                    : weights == LEY_DENSITY_CHARGE ? charge_e[i]
                                                    : 1;
    }
    return LEY_OK;
}

void ley_density_radii_of(const ley_atoms *atoms, double *radius_A)
{
    const int32_t *element = ley_atoms_elements(atoms);
    for (size_t i = 0; i < ley_atoms_count(atoms); i++) {
        const double own_A = ley_atoms_radii_A(atoms)[i];
        radius_A[i] = own_A > 0 || element == NULL ? own_A : ley_element_radius_A(element[i]);
    }
}
