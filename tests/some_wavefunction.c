#include "some_wavefunction.h"

#include "error.h"
#include "source/wavefunction.h"

#include <math.h>
#include <stdlib.h>

static double random_number(unsigned *seed)
{
    return rand_r(seed) / (RAND_MAX + 1.0);
}

/* Lists that grow, of what arrays point to. */
enum { MOST_SHELLS = 1 << 15, MOST_PRIMITIVES = 1 << 17 };
typedef struct lists {
    double *charges, *positions, *exponents, *coefficients, *orbitals, *energies, *occupations;
    int32_t *atom, *l, *pure;
    int64_t *first;
    int64_t shells, primitives, functions;
} lists;

static bool begin(lists *s, int nuclei)
{
    s->charges = calloc((size_t)nuclei, sizeof(double));
    s->positions = calloc(3 * (size_t)nuclei, sizeof(double));
    s->exponents = calloc(MOST_PRIMITIVES, sizeof(double));
    s->coefficients = calloc(MOST_PRIMITIVES, sizeof(double));
    s->atom = calloc(MOST_SHELLS, sizeof(int32_t));
    s->l = calloc(MOST_SHELLS, sizeof(int32_t));
    s->pure = calloc(MOST_SHELLS, sizeof(int32_t));
    s->first = calloc(MOST_SHELLS + 1, sizeof(int64_t));
    return s->charges != NULL && s->positions != NULL && s->exponents != NULL && s->coefficients != NULL &&
           s->atom != NULL && s->l != NULL && s->pure != NULL && s->first != NULL;
}

static void add_shell(lists *s, int atom, int l, bool is_pure, int n, const double *exponents,
                      const double *coefficients)
{
    s->atom[s->shells] = atom;
    s->l[s->shells] = l;
    s->pure[s->shells] = is_pure;
    for (int p = 0; p < n; p++) {
        s->exponents[s->primitives] = exponents[p];
        s->coefficients[s->primitives++] = coefficients[p];
    }
    s->first[++s->shells] = s->primitives;
    s->functions += basis_shell_functions(l, is_pure);
}

static ley_status finish(lists *s, int nuclei, int orbitals, int occupied, unsigned seed, ley_wavefunction **made,
                         ley_error *error)
{
    s->orbitals = calloc((size_t)(orbitals * s->functions), sizeof(double));
    s->energies = calloc((size_t)orbitals, sizeof(double));
    s->occupations = calloc((size_t)orbitals, sizeof(double));
    for (int64_t k = 0; k < orbitals * s->functions; k++)
        s->orbitals[k] = (2 * random_number(&seed) - 1) / sqrt((double)s->functions);
    for (int i = 0; i < orbitals; i++) {
        s->energies[i] = i - occupied;
        s->occupations[i] = i < occupied ? 2 : i == occupied && orbitals > occupied + 1 ? 1 : 0;
    }
    const ley_wavefunction_arrays arrays = {.size = sizeof arrays,
                                            .nuclei = nuclei,
                                            .shells = s->shells,
                                            .primitives = s->primitives,
                                            .orbitals = orbitals,
                                            .charges = s->charges,
                                            .positions_bohr = s->positions,
                                            .shell_atom = s->atom,
                                            .shell_l = s->l,
                                            .shell_pure = s->pure,
                                            .shell_first_primitive = s->first,
                                            .exponents = s->exponents,
                                            .coefficients = s->coefficients,
                                            .orbital_coefficients = s->orbitals,
                                            .energies = s->energies,
                                            .occupations = s->occupations};
    return ley_wavefunction_create(&arrays, made, error);
}

static void end(lists *s)
{
    void *const owned[] = {s->charges,     s->positions, s->exponents, s->coefficients, s->orbitals, s->energies,
                           s->occupations, s->atom,      s->l,         s->pure,         s->first};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

ley_status some_c60(ley_wavefunction **made, ley_error *error)
{
    enum { ATOMS = 60, OCCUPIED = 180 };
    static const double core[] = {3047.5249, 457.36951, 103.94869, 29.210155, 9.286663, 3.163927},
                        core_s[] = {0.0018347, 0.0140373, 0.0688426, 0.2321844, 0.4679413, 0.3623120},
                        inner[] = {7.8682724, 1.8812885, 0.5442493}, inner_s[] = {-0.1193324, -0.1608542, 1.1434564},
                        inner_p[] = {0.0689991, 0.3164240, 0.7443083}, outer[] = {0.1687144}, polarising[] = {0.8},
                        one[] = {1};
    const double radius = 6.71, golden = M_PI * (3 - sqrt(5)); /* bohr */
    lists s = {.shells = 0};
    if (!begin(&s, ATOMS)) {
        end(&s);
        return ley_fail_memory(error, MOST_PRIMITIVES * sizeof(double), "a wavefunction");
    }
    for (int i = 0; i < ATOMS; i++) {
        const double z = 1 - (2 * i + 1.0) / ATOMS, r = sqrt(1 - z * z);
        s.charges[i] = 6;
        s.positions[3 * i] = radius * r * cos(golden * i);
        s.positions[3 * i + 1] = radius * r * sin(golden * i);
        s.positions[3 * i + 2] = radius * z;
        add_shell(&s, i, 0, false, 6, core, core_s);
        add_shell(&s, i, 0, false, 3, inner, inner_s);
        add_shell(&s, i, 1, false, 3, inner, inner_p);
        add_shell(&s, i, 0, false, 1, outer, one);
        add_shell(&s, i, 1, false, 1, outer, one);
        add_shell(&s, i, 2, false, 1, polarising, one);
    }
    const ley_status status = finish(&s, ATOMS, OCCUPIED + 1, OCCUPIED, 60, made, error);
    end(&s);
    return status;
}

ley_status some_wavefunction(int nuclei, int l, int orbitals, unsigned seed, ley_wavefunction **made, ley_error *error)
{
    const double edge = 3 * cbrt(nuclei); /* bohr */
    lists s = {.shells = 0};
    if (!begin(&s, nuclei)) {
        end(&s);
        return ley_fail_memory(error, MOST_PRIMITIVES * sizeof(double), "a wavefunction");
    }
    for (int i = 0, turn = 0; i < nuclei; i++) {
        s.charges[i] = 1 + i % 9;
        for (int axis = 0; axis < 3; axis++)
            s.positions[3 * i + axis] = edge * random_number(&seed);
        for (int k = 0; k <= l; k++, turn++) {
            double exponents[3], coefficients[3];
            for (int p = 0; p < 3; p++) {
                exponents[p] = 0.2 * pow(3, 3 * random_number(&seed));
                coefficients[p] = 0.2 + random_number(&seed);
            }
            add_shell(&s, i, k, turn % 2 == 0, 1 + turn % 3, exponents, coefficients);
        }
    }
    const ley_status status = finish(&s, nuclei, orbitals, orbitals / 2, seed, made, error);
    end(&s);
    return status;
}
