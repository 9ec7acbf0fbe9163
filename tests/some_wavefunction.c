#include "some_wavefunction.h"

#include "core/units.h"
#include "error.h"
#include "source/wavefunction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

ley_status some_wavefunction_of(const ley_atoms *atoms, ley_wavefunction **made, ley_error *error)
{
    static const double steep[] = {0.9}, wide[] = {0.15}, one[] = {1};
    const size_t n = ley_atoms_count(atoms);
    lists s = {.shells = 0};
    if (!begin(&s, (int)n)) {
        end(&s);
        return ley_fail_memory(error, MOST_PRIMITIVES * sizeof(double), "a wavefunction");
    }
    for (size_t i = 0; i < n; i++) {
        s.charges[i] = 1;
        for (int axis = 0; axis < 3; axis++)
            s.positions[3 * i + (size_t)axis] = ley_atoms_positions_A(atoms)[3 * i + (size_t)axis] / 0.529177210903;
        add_shell(&s, (int)i, 0, false, 1, wide, one);
        add_shell(&s, (int)i, 1, false, 1, steep, one);
    }
    const ley_status status = finish(&s, (int)n, 1, 1, 5, made, error);
    end(&s);
    return status;
}

ley_status some_core(double charge_e, const double place_bohr[3], const double exponents[2],
                     const double occupations[2], ley_wavefunction **made, ley_error *error)
{
    static const double ones[] = {1, 1}, orbitals[] = {1, 0, 0, 1};
    static const int32_t none[] = {0, 0};
    static const int64_t first[] = {0, 1, 2};
    const ley_wavefunction_arrays a = {.size = sizeof a,
                                       .nuclei = 1,
                                       .shells = 2,
                                       .primitives = 2,
                                       .orbitals = 2,
                                       .charges = &charge_e,
                                       .positions_bohr = place_bohr,
                                       .shell_atom = none,
                                       .shell_l = none,
                                       .shell_pure = none,
                                       .shell_first_primitive = first,
                                       .exponents = exponents,
                                       .coefficients = ones,
                                       .orbital_coefficients = orbitals,
                                       .occupations = occupations};
    return ley_wavefunction_create(&a, made, error);
}

int64_t wavefunction_job_points(const wavefunction_job *j)
{
    return j->points != NULL ? j->request.points : ley_grid_points(ley_map_grid(j->maps[0]));
}

double wavefunction_job_found(const wavefunction_job *j, size_t value, int64_t i, double place[3])
{
    if (j->points != NULL)
        memcpy(place, j->points + 3 * i, 3 * sizeof *place);
    else {
        const ley_grid *grid = ley_map_grid(j->maps[value]);
        const int64_t at[3] = {i % grid->n[0], i / grid->n[0] % grid->n[1], i / (grid->n[0] * grid->n[1])};
        ley_grid_point_A(grid, at, place);
    }
    for (int axis = 0; axis < 3; axis++)
        place[axis] /= units_bohr_A;
    return j->points != NULL ? j->found[(int64_t)value * j->request.points + i]
                             : (double)ley_map_read_values(j->maps[value])[i];
}

void wavefunction_job_end(wavefunction_job *j)
{
    ley_job_destroy(j->job);
    for (size_t v = 0; v < j->values; v++)
        ley_map_destroy(j->maps[v]);
    free(j->found);
    ley_error_clear(&j->error);
}

ley_status gaussians_of(int64_t nuclei, double width, int64_t each, const double *exponents, const int32_t *l,
                        ley_wavefunction **made, ley_error *error)
{
    enum { MOST = 28 };
    const int64_t n = nuclei * each;
    unsigned seed = 3;
    int32_t *shells = calloc(3 * (size_t)n, sizeof *shells);
    int64_t *first = calloc((size_t)n + 1, sizeof *first);
    double *positions = calloc(3 * (size_t)nuclei, sizeof *positions),
           *charges = calloc((size_t)nuclei, sizeof *charges),
           *numbers = calloc((2 + MOST) * (size_t)n, sizeof *numbers);
    for (int64_t i = 0; i < 3 * nuclei; i++)
        positions[i] = width * random_number(&seed);
    for (int64_t i = 0; i < n; i++) {
        shells[i] = (int32_t)(i / each);
        first[i + 1] = i + 1;
        numbers[i] = exponents[i % each];
        numbers[n + i] = 1;
        shells[n + i] = l[i % each];
    }
    for (int64_t i = 2 * n; i < (2 + MOST) * n; i++)
        numbers[i] = 1 - 0.5 * random_number(&seed);
    static const double two[] = {2};
    const ley_wavefunction_arrays arrays = {.size = sizeof arrays,
                                            .nuclei = nuclei,
                                            .shells = n,
                                            .primitives = n,
                                            .orbitals = 1,
                                            .charges = charges,
                                            .positions_bohr = positions,
                                            .shell_atom = shells,
                                            .shell_l = shells + n,
                                            .shell_pure = shells + 2 * n,
                                            .shell_first_primitive = first,
                                            .exponents = numbers,
                                            .coefficients = numbers + n,
                                            .orbital_coefficients = numbers + 2 * n,
                                            .occupations = two};
    const ley_status status = ley_wavefunction_create(&arrays, made, error);
    free(shells);
    free(first);
    free(positions);
    free(charges);
    free(numbers);
    return status;
}
