#include "methods/wavefunction/c60.h"

#include "error.h"
#include "source/basis.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ATOMS = 60, SHELLS = 6, PRIMITIVES = 15, FUNCTIONS = 15, MOST_ORBITALS = 181 };
static const double bohr_A = 0.529177210903;

/* 6-31G*, of carbon and hydrogen. */
typedef struct shell {
    int l, primitives;
    double exponents[6], coefficients[6];
} shell;

static const shell carbon[] = {
    {0,
     6,
     {3047.5249, 457.36951, 103.94869, 29.210155, 9.286663, 3.163927},
     {0.0018347, 0.0140373, 0.0688426, 0.2321844, 0.4679413, 0.3623120}},
    {0, 3, {7.8682724, 1.8812885, 0.5442493}, {-0.1193324, -0.1608542, 1.1434564}},
    {1, 3, {7.8682724, 1.8812885, 0.5442493}, {0.0689991, 0.3164240, 0.7443083}},
    {0, 1, {0.1687144}, {1}},
    {1, 1, {0.1687144}, {1}},
    {2, 1, {0.8}, {1}},
};
static const shell hydrogen[] = {
    {0, 3, {18.7311370, 2.8253937, 0.6401217}, {0.03349460, 0.23472695, 0.81375733}},
    {0, 1, {0.1612778}, {1}},
};

/* Room for either. */
typedef struct material {
    double charges[MOST_ATOMS], positions[3 * MOST_ATOMS], exponents[MOST_ATOMS * PRIMITIVES],
        coefficients[MOST_ATOMS * PRIMITIVES], energies[MOST_ORBITALS], occupations[MOST_ORBITALS];
    int32_t atom[MOST_ATOMS * SHELLS], l[MOST_ATOMS * SHELLS], pure[MOST_ATOMS * SHELLS];
    int64_t first[MOST_ATOMS * SHELLS + 1];
    int64_t nuclei, shells, primitives, functions;
    double orbitals[MOST_ORBITALS * MOST_ATOMS * FUNCTIONS];
} material;

static void add_atom(material *m, bool is_carbon, const double place_A[3])
{
    const shell *list = is_carbon ? carbon : hydrogen;
    const size_t count = is_carbon ? sizeof carbon / sizeof *carbon : sizeof hydrogen / sizeof *hydrogen;
    m->charges[m->nuclei] = is_carbon ? 6 : 1;
    for (int axis = 0; axis < 3; axis++)
        m->positions[3 * m->nuclei + axis] = place_A[axis] / bohr_A;
    for (size_t s = 0; s < count; s++) {
        m->atom[m->shells] = (int32_t)m->nuclei;
        m->l[m->shells] = list[s].l;
        for (int p = 0; p < list[s].primitives; p++, m->primitives++) {
            m->exponents[m->primitives] = list[s].exponents[p];
            m->coefficients[m->primitives] = list[s].coefficients[p];
        }
        m->first[++m->shells] = m->primitives;
        m->functions += basis_shell_functions(list[s].l, false);
    }
    m->nuclei++;
}

/* Orbitals of random coefficients, about as large as those of orthonormal ones. */
static ley_status finish(material *m, int orbitals, ley_wavefunction **made, ley_error *error)
{
    uint64_t state = 60;
    for (int64_t k = 0; k < orbitals * m->functions; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        m->orbitals[k] = (2 * (double)(state >> 11) / 9007199254740992.0 - 1) / sqrt((double)m->functions);
    }
    for (int i = 0; i < orbitals; i++) {
        m->energies[i] = i + 1 - orbitals;
        m->occupations[i] = i + 1 < orbitals ? 2 : 0;
    }
    const ley_wavefunction_arrays arrays = {.size = sizeof arrays,
                                            .nuclei = m->nuclei,
                                            .shells = m->shells,
                                            .primitives = m->primitives,
                                            .orbitals = orbitals,
                                            .charges = m->charges,
                                            .positions_bohr = m->positions,
                                            .shell_atom = m->atom,
                                            .shell_l = m->l,
                                            .shell_pure = m->pure,
                                            .shell_first_primitive = m->first,
                                            .exponents = m->exponents,
                                            .coefficients = m->coefficients,
                                            .orbital_coefficients = m->orbitals,
                                            .energies = m->energies,
                                            .occupations = m->occupations};
    return ley_wavefunction_create(&arrays, made, error);
}

/* The corners of a truncated icosahedron, 3.55 A from its middle: the even permutations of these
 * three, with all signs. */
static void add_cage(material *m)
{
    const double g = (1 + sqrt(5)) / 2, of[3][3] = {{0, 1, 3 * g}, {1, 2 + g, 2 * g}, {g, 2, 2 * g + 1}};
    for (int kind = 0; kind < 3; kind++)
        for (int turn = 0; turn < 3; turn++)
            for (int signs = kind == 0 ? 1 : 0; signs < 8; signs += kind == 0 ? 2 : 1) { /* 0 has no sign */
                const double scale =
                    3.55 / sqrt(of[kind][0] * of[kind][0] + of[kind][1] * of[kind][1] + of[kind][2] * of[kind][2]);
                double place_A[3];
                for (int axis = 0; axis < 3; axis++)
                    place_A[(axis + turn) % 3] = scale * of[kind][axis] * (signs >> axis & 1 ? -1 : 1);
                add_atom(m, true, place_A);
            }
}

ley_status c60_create(ley_wavefunction **made, ley_error *error)
{
    material *m = calloc(1, sizeof *m);
    if (m == NULL)
        return ley_fail_memory(error, sizeof *m, "C60");
    add_cage(m);
    const ley_status status = finish(m, 181, made, error);
    free(m);
    return status;
}

/* A chain, bent to and fro, in rows of four. */
static ley_status make_chain(int carbons, int hydrogens, int occupied, ley_wavefunction **made, ley_error *error)
{
    material *m = calloc(1, sizeof *m);
    if (m == NULL)
        return ley_fail_memory(error, sizeof *m, "a molecule");
    for (int i = 0; i < carbons; i++)
        add_atom(m, true, (const double[3]){1.26 * (i % 4), 0.42 * (i % 2), 1.5 * (i / 4)});
    for (int i = 0; i < hydrogens; i++)
        add_atom(m, false, (const double[3]){1.26 * (i % 5) - 0.6, 1.4 + 0.3 * (i % 2), 2.9 * (i / 5) - 0.7});
    const ley_status status = finish(m, occupied + 1, made, error);
    free(m);
    return status;
}

ley_status c60_small(ley_wavefunction **made, ley_error *error)
{
    return make_chain(8, 9, 32, made, error);
}

ley_status c60_caffeine(ley_wavefunction **made, ley_error *error)
{
    return make_chain(14, 10, 51, made, error);
}
