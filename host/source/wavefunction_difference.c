/* The difference of two wavefunctions: the basis functions and the occupied orbitals of both, those
 * of the second with occupations of the other sign. */
#include "error.h"
#include "memory.h"
#include "source/wavefunction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the arrays are made of, and of how many there is room. */
typedef struct joining {
    ley_wavefunction_arrays a;
    int64_t functions;
    int32_t *numbers, *shell_atom, *shell_l, *shell_pure, *spins;
    int64_t *first;
    double *charges, *positions, *exponents, *coefficients, *orbitals, *energies, *occupations;
} joining;

static int64_t count_occupied(const ley_wavefunction *w)
{
    int64_t count = 0;
    for (int64_t i = 0; i < w->arrays.orbitals; i++)
        count += w->arrays.occupations[i] != 0;
    return count;
}

static ley_status make_room(const ley_wavefunction *of, const ley_wavefunction *less, joining *j, ley_error *error)
{
    const size_t nuclei = (size_t)(of->arrays.nuclei + less->arrays.nuclei),
                 shells = (size_t)(of->arrays.shells + less->arrays.shells),
                 primitives = (size_t)(of->arrays.primitives + less->arrays.primitives),
                 orbitals = (size_t)(count_occupied(of) + count_occupied(less)) + 1;
    j->functions = of->functions + less->functions;
    const double bytes = (double)orbitals * (double)j->functions * sizeof(double);
    const ley_status status = memory_check_one("the orbitals", bytes, "fewer orbitals", error);
    if (status != LEY_OK)
        return status;
#define ROOM(member, count) ((j->member = calloc((count), sizeof *j->member)) != NULL)
    if (ROOM(numbers, nuclei) && ROOM(charges, nuclei) && ROOM(positions, 3 * nuclei) && ROOM(shell_atom, shells) &&
        ROOM(shell_l, shells) && ROOM(shell_pure, shells) && ROOM(first, shells + 1) && ROOM(exponents, primitives) &&
        ROOM(coefficients, primitives) && ROOM(orbitals, orbitals * (size_t)j->functions) && ROOM(energies, orbitals) &&
        ROOM(occupations, orbitals) && ROOM(spins, orbitals))
        return LEY_OK;
#undef ROOM
    return ley_fail_memory(error, (size_t)bytes, "the difference");
}

static void end(joining *j)
{
    void *const owned[] = {j->numbers,  j->shell_atom, j->shell_l,    j->shell_pure, j->spins,
                           j->first,    j->charges,    j->positions,  j->exponents,  j->coefficients,
                           j->orbitals, j->energies,   j->occupations};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

/* The nucleus at the same place, to which it is added unless it is there. */
static int32_t add_nucleus(joining *j, const ley_wavefunction_arrays *from, int64_t atom)
{
    const double *place = from->positions_bohr + 3 * atom;
    for (int64_t i = 0; i < j->a.nuclei; i++) {
        const double *other = j->positions + 3 * i;
        if (other[0] == place[0] && other[1] == place[1] && other[2] == place[2])
            return (int32_t)i;
    }
    memcpy(j->positions + 3 * j->a.nuclei, place, 3 * sizeof *place);
    j->numbers[j->a.nuclei] = from->numbers[atom];
    j->charges[j->a.nuclei] = from->charges[atom];
    return (int32_t)j->a.nuclei++;
}

static void add_shells(joining *j, const ley_wavefunction *w)
{
    for (int64_t s = 0; s < w->arrays.shells; s++) {
        const basis_shell *shell = &w->shells[s];
        const size_t bytes = (size_t)shell->primitives * sizeof(double);
        j->shell_atom[j->a.shells] = add_nucleus(j, &w->arrays, shell->atom);
        j->shell_l[j->a.shells] = shell->l;
        j->shell_pure[j->a.shells] = shell->is_pure;
        memcpy(j->exponents + j->a.primitives, w->arrays.exponents + shell->first_primitive, bytes);
        memcpy(j->coefficients + j->a.primitives, w->arrays.coefficients + shell->first_primitive, bytes);
        j->a.primitives += shell->primitives;
        j->first[++j->a.shells] = j->a.primitives;
    }
}

/* Their functions are numbered from `first_function` on. */
static void add_orbitals(joining *j, const ley_wavefunction *w, double sign, int64_t first_function)
{
    for (int64_t i = 0; i < w->arrays.orbitals; i++) {
        const int64_t to = j->a.orbitals;
        if (w->arrays.occupations[i] == 0)
            continue;
        memcpy(j->orbitals + to * j->functions + first_function, w->arrays.orbital_coefficients + i * w->functions,
               (size_t)w->functions * sizeof(double));
        j->energies[to] = w->arrays.energies[i];
        j->occupations[to] = sign * w->arrays.occupations[i];
        j->spins[to] = w->arrays.spins[i];
        j->a.orbitals++;
    }
}

ley_status ley_wavefunction_difference(const ley_wavefunction *of, const ley_wavefunction *less,
                                       ley_wavefunction **difference, ley_error *error)
{
    joining j = {.a = {.size = sizeof j.a}};
    ley_status status = make_room(of, less, &j, error);
    if (status == LEY_OK) {
        for (int64_t i = 0; i < of->arrays.nuclei; i++)
            add_nucleus(&j, &of->arrays, i);
        add_shells(&j, of);
        add_shells(&j, less);
        add_orbitals(&j, of, 1, 0);
        add_orbitals(&j, less, -1, of->functions);
        j.a.numbers = j.numbers;
        j.a.charges = j.charges;
        j.a.positions_bohr = j.positions;
        j.a.shell_atom = j.shell_atom;
        j.a.shell_l = j.shell_l;
        j.a.shell_pure = j.shell_pure;
        j.a.shell_first_primitive = j.first;
        j.a.exponents = j.exponents;
        j.a.coefficients = j.coefficients;
        j.a.orbital_coefficients = j.orbitals;
        j.a.energies = j.energies;
        j.a.occupations = j.occupations;
        j.a.spins = j.spins;
        status = ley_wavefunction_create(&j.a, difference, error);
    }
    end(&j);
    return status;
}
