#include "source/wavefunction.h"

#include "core/sizes.h"
#include "core/units.h"
#include "error.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double largest_exponent = 1e12, largest_coefficient = 1e12, most_occupation = 2 + 1e-6;

/* ---- Checks ---------------------------------------------------------------------------------- */

static ley_status check_numbers(const double *numbers, int64_t n, double low, double high, const char *what,
                                ley_error *error)
{
    for (int64_t i = 0; i < n; i++)
        if (!(numbers[i] >= low && numbers[i] <= high))
            return ley_fail(error, LEY_ERROR_INPUT, "%s: number %lld is %g, which is not within %g and %g", what,
                            (long long)i + 1, numbers[i], low, high);
    return LEY_OK;
}

static ley_status check_counts(const ley_wavefunction_arrays *a, ley_error *error)
{
    const struct {
        const char *what;
        int64_t count;
    } counts[] = {
        {"nuclei", a->nuclei}, {"shells", a->shells}, {"primitives", a->primitives}, {"orbitals", a->orbitals}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].count < 1 || counts[i].count > INT32_MAX / (2 * BASIS_MOST_FUNCTIONS))
            return ley_fail(error, LEY_ERROR_INPUT, "a wavefunction of %lld %s", (long long)counts[i].count,
                            counts[i].what);
    if (a->charges == NULL || a->positions_bohr == NULL || a->shell_atom == NULL || a->shell_l == NULL ||
        a->shell_pure == NULL || a->shell_first_primitive == NULL || a->exponents == NULL || a->coefficients == NULL ||
        a->orbital_coefficients == NULL || a->occupations == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "a wavefunction without one of its arrays");
    return LEY_OK;
}

static ley_status check_shell(const ley_wavefunction_arrays *a, int64_t s, ley_error *error)
{
    const long long number = (long long)s + 1;
    const int64_t first = a->shell_first_primitive[s], next = a->shell_first_primitive[s + 1];
    if (a->shell_atom[s] < 0 || a->shell_atom[s] >= a->nuclei)
        return ley_fail(error, LEY_ERROR_INPUT, "shell %lld is at atom %d of %lld, counted from 0", number,
                        a->shell_atom[s], (long long)a->nuclei);
    if (a->shell_l[s] < 0 || a->shell_l[s] > LEY_MOST_MOMENTUM)
        return ley_fail(error, LEY_ERROR_INPUT, "shell %lld: an angular momentum of %d; 0 to %d can be computed",
                        number, a->shell_l[s], LEY_MOST_MOMENTUM);
    if (a->shell_pure[s] != 0 && a->shell_pure[s] != 1)
        return ley_fail(error, LEY_ERROR_INPUT, "shell %lld: pure is %d, must be 0 or 1", number, a->shell_pure[s]);
    if (next == first)
        return ley_fail(error, LEY_ERROR_INPUT, "shell %lld has no primitives", number);
    if (first < 0 || next < first || next > a->primitives)
        return ley_fail(error, LEY_ERROR_INPUT, "shell %lld: primitives %lld to before %lld of %lld", number,
                        (long long)first, (long long)next, (long long)a->primitives);
    return LEY_OK;
}

static ley_status check_shells(const ley_wavefunction_arrays *a, ley_error *error)
{
    if (a->shell_first_primitive[0] != 0 || a->shell_first_primitive[a->shells] != a->primitives)
        return ley_fail(error, LEY_ERROR_INPUT, "the shells' primitives are %lld to before %lld, not 0 to before %lld",
                        (long long)a->shell_first_primitive[0], (long long)a->shell_first_primitive[a->shells],
                        (long long)a->primitives);
    ley_status status = LEY_OK;
    for (int64_t s = 0; s < a->shells && status == LEY_OK; s++)
        status = check_shell(a, s, error);
    return status;
}

static ley_status check_spins(const ley_wavefunction_arrays *a, ley_error *error)
{
    for (int64_t i = 0; a->spins != NULL && i < a->orbitals; i++)
        if (a->spins[i] < -1 || a->spins[i] > 1)
            return ley_fail(error, LEY_ERROR_INPUT, "orbital %lld: a spin of %d, must be 1, -1, or 0 for both",
                            (long long)i + 1, a->spins[i]);
    return LEY_OK;
}

static ley_status check(const ley_wavefunction_arrays *a, ley_error *error)
{
    ley_status status = check_counts(a, error);
    if (status == LEY_OK)
        status = check_shells(a, error);
    if (status == LEY_OK)
        status = check_numbers(a->charges, a->nuclei, -1e6, 1e6, "charges", error);
    if (status == LEY_OK)
        status = check_numbers(a->positions_bohr, 3 * a->nuclei, -1e6, 1e6, "positions_bohr", error);
    if (status == LEY_OK)
        status = check_numbers(a->exponents, a->primitives, 1e-12, largest_exponent, "exponents", error);
    if (status == LEY_OK)
        status = check_numbers(a->coefficients, a->primitives, -largest_coefficient, largest_coefficient,
                               "coefficients", error);
    if (status == LEY_OK)
        status = check_numbers(a->occupations, a->orbitals, -most_occupation, most_occupation, "occupations", error);
    if (status == LEY_OK && a->energies != NULL)
        status = check_numbers(a->energies, a->orbitals, -1e9, 1e9, "energies", error);
    return status == LEY_OK ? check_spins(a, error) : status;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Zeros where there is nothing to copy; NULL: no memory. */
static void *copy_of(const void *from, int64_t count, size_t each)
{
    void *made = calloc((size_t)count, each);
    if (made != NULL && from != NULL)
        memcpy(made, from, (size_t)count * each);
    return made;
}

static bool copy_arrays(const ley_wavefunction_arrays *a, int64_t functions, ley_wavefunction_arrays *to)
{
#define COPY(member, count) ((to->member = copy_of(a->member, (count), sizeof *a->member)) != NULL)
    return COPY(numbers, a->nuclei) && COPY(charges, a->nuclei) && COPY(positions_bohr, 3 * a->nuclei) &&
           COPY(shell_atom, a->shells) && COPY(shell_l, a->shells) && COPY(shell_pure, a->shells) &&
           COPY(shell_first_primitive, a->shells + 1) && COPY(exponents, a->primitives) &&
           COPY(coefficients, a->primitives) && COPY(orbital_coefficients, a->orbitals * functions) &&
           COPY(energies, a->orbitals) && COPY(occupations, a->orbitals) && COPY(spins, a->orbitals);
#undef COPY
}

static void name_elements(ley_wavefunction *w)
{
    int32_t *number = (int32_t *)(uintptr_t)w->arrays.numbers;
    for (int64_t i = 0; i < w->arrays.nuclei; i++)
        number[i] = (int32_t)lround(fmin(fmax(w->arrays.charges[i], 0), 200));
}

static bool make_shells(ley_wavefunction *w)
{
    const ley_wavefunction_arrays *a = &w->arrays;
    w->shells = calloc((size_t)a->shells, sizeof *w->shells);
    int64_t functions = 0;
    for (int64_t s = 0; w->shells != NULL && s < a->shells; s++) {
        w->shells[s] = (basis_shell){.atom = a->shell_atom[s],
                                     .l = a->shell_l[s],
                                     .is_pure = a->shell_pure[s] != 0,
                                     .first_primitive = a->shell_first_primitive[s],
                                     .primitives = a->shell_first_primitive[s + 1] - a->shell_first_primitive[s],
                                     .first_function = functions};
        functions += basis_shell_functions(a->shell_l[s], a->shell_pure[s] != 0);
    }
    return w->shells != NULL;
}

static ley_status make_atoms(ley_wavefunction *w, ley_error *error)
{
    const int64_t n = w->arrays.nuclei;
    double *position_A = calloc(3 * (size_t)n, sizeof *position_A);
    if (position_A == NULL)
        return ley_fail_memory(error, 3 * (size_t)n * sizeof *position_A, "the nuclei");
    for (int64_t k = 0; k < 3 * n; k++)
        position_A[k] = w->arrays.positions_bohr[k] * units_bohr_A;
    const ley_status status = ley_atoms_create((size_t)n, position_A, w->arrays.charges, NULL, &w->atoms, error);
    free(position_A);
    return status;
}

static ley_status fill(ley_wavefunction *w, const ley_wavefunction_arrays *a, ley_error *error)
{
    w->arrays = (ley_wavefunction_arrays){.size = sizeof w->arrays,
                                          .nuclei = a->nuclei,
                                          .shells = a->shells,
                                          .primitives = a->primitives,
                                          .orbitals = a->orbitals};
    const double bytes = (double)a->orbitals * (double)w->functions * sizeof(double);
    ley_status status = memory_check_one("the orbitals", bytes, "fewer orbitals", error);
    if (status != LEY_OK)
        return status;
    if (!copy_arrays(a, w->functions, &w->arrays) || !make_shells(w))
        return ley_fail_memory(error, (size_t)bytes, "the wavefunction");
    if (a->numbers == NULL)
        name_elements(w);
    return make_atoms(w, error);
}

ley_status ley_wavefunction_create(const ley_wavefunction_arrays *a, ley_wavefunction **wavefunction, ley_error *error)
{
    if (a->size != sizeof *a)
        return ley_fail(error, LEY_ERROR_USAGE, "ley_wavefunction_arrays of %zu bytes, not %zu", a->size, sizeof *a);
    ley_status status = check(a, error);
    if (status != LEY_OK)
        return status;
    ley_wavefunction *w = calloc(1, sizeof *w);
    if (w == NULL)
        return ley_fail_memory(error, sizeof *w, "the wavefunction");
    for (int64_t s = 0; s < a->shells; s++)
        w->functions += basis_shell_functions(a->shell_l[s], a->shell_pure[s] != 0);
    int64_t coefficients = 0;
    status = ley_multiply(a->orbitals, w->functions, &coefficients)
                 ? check_numbers(a->orbital_coefficients, coefficients, -1e9, 1e9, "orbitals", error)
                 : ley_fail(error, LEY_ERROR_INPUT, "too many orbitals");
    if (status == LEY_OK)
        status = fill(w, a, error);
    if (status == LEY_OK)
        *wavefunction = w;
    else
        ley_wavefunction_destroy(w);
    return status;
}

void ley_wavefunction_destroy(ley_wavefunction *w)
{
    if (w == NULL)
        return;
    const ley_wavefunction_arrays *a = &w->arrays;
    const void *const owned[] = {
        a->numbers,   a->charges,  a->positions_bohr,        a->shell_atom,   a->shell_l,     a->shell_pure,
        a->exponents, a->energies, a->shell_first_primitive, a->coefficients, a->occupations, a->orbital_coefficients,
        a->spins};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        memory_free(owned[i]);
    ley_atoms_destroy(w->atoms);
    free(w->shells);
    free(w);
}

/* ---- What it is ------------------------------------------------------------------------------ */

ley_wavefunction_arrays ley_wavefunction_get(const ley_wavefunction *w)
{
    return w->arrays;
}

int64_t ley_wavefunction_functions(const ley_wavefunction *w)
{
    return w->functions;
}

const ley_atoms *ley_wavefunction_atoms(const ley_wavefunction *w)
{
    return w->atoms;
}

/* Of both spins, an orbital has as many alpha electrons as it can before it has beta ones. */
static double electrons_of(const ley_wavefunction_arrays *a, int64_t i, int spin)
{
    const double n = a->occupations[i];
    if (spin == 0)
        return n;
    if (a->spins[i] != 0)
        return a->spins[i] == spin ? n : 0;
    const double alpha = copysign(fmin(fabs(n), 1), n);
    return spin > 0 ? alpha : n - alpha;
}

double ley_wavefunction_electrons(const ley_wavefunction *w, int spin)
{
    double sum = 0;
    for (int64_t i = 0; i < w->arrays.orbitals; i++)
        sum += electrons_of(&w->arrays, i, spin);
    return sum;
}

ley_status wavefunction_weight(const ley_wavefunction *w, int64_t i, bool is_spin, double *weight, ley_error *error)
{
    const double n = w->arrays.occupations[i], whole = round(n);
    if (is_spin && w->arrays.spins[i] == 0 && fabs(n - whole) > 1e-6)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "orbital %lld has %g electrons of both spins, and nobody knows how many of each: there is no "
                        "spin density",
                        (long long)i + 1, n);
    *weight = is_spin ? electrons_of(&w->arrays, i, 1) - electrons_of(&w->arrays, i, -1) : n;
    return LEY_OK;
}

ley_status ley_wavefunction_grid(const ley_wavefunction *w, double padding_bohr, double spacing_bohr, ley_grid *grid,
                                 ley_error *error)
{
    const double usual_padding_bohr = 6, usual_spacing_bohr = 0.2;
    return ley_grid_around(w->atoms, (spacing_bohr == 0 ? usual_spacing_bohr : spacing_bohr) * units_bohr_A,
                           (padding_bohr == 0 ? usual_padding_bohr : padding_bohr) * units_bohr_A, grid, error);
}
