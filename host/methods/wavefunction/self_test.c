/* Kernels are wrong in corners: in the last part of a tile, in late planes, in segments behind the
 * first, in one power or one derivative. So the basis has more terms than a segment, with every
 * angular momentum that the kernel is for, in pure and Cartesian shells, and the grid several tiles
 * along x and y; it is judged in its corners and at random places. */
#include "verify/self_test.h"
#include "methods/wavefunction/self_test.h"

#include "core/units.h"
#include "error.h"
#include "law/wavefunction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLANES = 3,
    ORBITALS = LIST_TESTED_ORBITALS,
    JUDGED = 400,
    LEAST_TERMS = 1100,
    MATRIX_TERMS = 300,
    SOME_TERMS = 120,
    FEW_TERMS = 40,
    CORE = 2,
    WIDTH_BOHR = 20
};
static const double tolerance = 5e-6, tolerance_of_doubles = 1e-11;

/* What passes with a threshold leave out of densities; and what is nothing where exponents are
 * rounded by their size. */
static const double left_out = 1e-11, rounded = 1e-14;

/* An interpreter's self-test shall be short. */
static bool is_short(const dev_info *info)
{
    return (info->quirks & DEV_QUIRK_INTERPRETER) != 0;
}

/* What test problems are made of. */
typedef struct basis {
    int64_t nuclei, shells, primitives, functions;
    double *numbers; /* of all that is double, in one piece */
    int32_t *whole;
    int64_t *first;
    double *positions, *charges, *exponents, *coefficients, *orbitals, *occupations;
} basis;

/* Each nucleus has a contracted s shell and one of the angular momenta in turn. */
static ley_status make_basis(int powers, int terms, basis *b, ley_wavefunction **w, ley_error *error)
{
    uint32_t state = 2009;
    b->nuclei = self_test_less(terms / (CORE + (powers + 1) / 2) + 1);
    b->shells = 2 * b->nuclei;
    b->primitives = (CORE + 1) * b->nuclei;
    b->whole = calloc(3 * (size_t)b->shells, sizeof *b->whole);
    b->first = calloc((size_t)b->shells + 1, sizeof *b->first);
    for (int64_t s = 0; b->whole != NULL && b->first != NULL && s < b->shells; s++) {
        const int l = s % 2 == 0 ? 0 : (int)(s / 2 % powers);
        b->whole[s] = (int32_t)(s / 2);
        b->whole[b->shells + s] = l;
        b->whole[2 * b->shells + s] = s / 2 / powers % 2 == 0;
        b->first[s + 1] = b->first[s] + (s % 2 == 0 ? CORE : 1);
        b->functions += basis_shell_functions(l, b->whole[2 * b->shells + s] != 0);
    }
    const size_t n = (size_t)(4 * b->nuclei + 2 * b->primitives + ORBITALS * (b->functions + 1));
    b->numbers = calloc(n, sizeof *b->numbers);
    if (b->whole == NULL || b->first == NULL || b->numbers == NULL)
        return ley_fail_memory(error, n * sizeof *b->numbers, "the self-test");
    b->charges = b->numbers;
    b->positions = b->charges + b->nuclei;
    b->exponents = b->positions + 3 * b->nuclei;
    b->coefficients = b->exponents + b->primitives;
    b->occupations = b->coefficients + b->primitives;
    b->orbitals = b->occupations + ORBITALS;
    for (int64_t k = 0; k < 3 * b->nuclei; k++)
        b->positions[k] = (k % 3 == 2 ? 5 : 18) * self_test_fraction(&state) - 1;
    for (int64_t p = 0; p < b->primitives; p++) {
        b->exponents[p] = 0.15 * pow(2, 5 * self_test_fraction(&state));
        b->coefficients[p] = 0.4 + 0.6 * self_test_fraction(&state);
    }
    for (int64_t k = 0; k < ORBITALS * b->functions; k++)
        b->orbitals[k] = 2 * self_test_fraction(&state) - 1;
    b->occupations[0] = 2;
    b->occupations[1] = 1;
    const ley_wavefunction_arrays arrays = {.size = sizeof arrays,
                                            .nuclei = b->nuclei,
                                            .shells = b->shells,
                                            .primitives = b->primitives,
                                            .orbitals = ORBITALS,
                                            .charges = b->charges,
                                            .positions_bohr = b->positions,
                                            .shell_atom = b->whole,
                                            .shell_l = b->whole + b->shells,
                                            .shell_pure = b->whole + 2 * b->shells,
                                            .shell_first_primitive = b->first,
                                            .exponents = b->exponents,
                                            .coefficients = b->coefficients,
                                            .orbital_coefficients = b->orbitals,
                                            .occupations = b->occupations};
    return ley_wavefunction_create(&arrays, w, error);
}

/* Whole tiles, and of one work-item alone a part of the next block; no padding hides the last
 * column and row. It is as wide as the nuclei lie, so that no part of it is 0. */
static ley_grid make_grid(const separable_spec *spec, bool is_small)
{
    const int64_t x = separable_tile_x(spec), y = separable_tile_y(spec);
    const bool is_group = spec->width == 1;
    const int64_t n[3] = {is_small   ? 13
                          : is_group ? 2 * x
                                     : x + 2 * x / spec->tile,
                          is_small   ? 9
                          : is_group ? 2 * y
                                     : y + 2 * y / LEY_SEPARABLE_STEPS,
                          PLANES + 1};
    const double origin_A[3] = {-2 * units_bohr_A, -1.5 * units_bohr_A, -1.2 * units_bohr_A};
    const double spacing_A[3] = {fmin(0.3, WIDTH_BOHR / (double)n[0]) * units_bohr_A,
                                 fmin(0.33, WIDTH_BOHR / (double)n[1]) * units_bohr_A, 0.9 * units_bohr_A};
    return ley_grid_orthogonal(origin_A, spacing_A, n);
}

/* Two orbitals by themselves, and the density of others, whose derivatives not all kernels have. */
enum { ORBITAL, NEXT_ORBITAL, DENSITY, SLOPE, LAPLACIAN = SLOPE + 3, VALUES };

static wavefunction_quantity quantity_of(const ley_wavefunction *w, int value, const double *weights)
{
    wavefunction_quantity q = {.wavefunction = w};
    if (value <= NEXT_ORBITAL)
        q.orbital = value;
    else
        q.weights = weights;
    q.derivative = value >= SLOPE ? value - DENSITY : 0;
    return q;
}

/* How far a value is off, in shares of what is there, to which is added what is nothing; so many
 * are allowed. */
static double share_of(const reference_value *right, double nothing, double most, double found)
{
    const double scale = right->absolute + nothing / most, off = fabs(found - right->value) / scale;
    self_test_note(off, most, scale, found, right->value);
    return off;
}

static ley_status judge(const ley_wavefunction *w, const ley_grid *grid, const separable_run *run, int value,
                        const double *weights, const float *planes, ley_error *error)
{
    const wavefunction_quantity q = quantity_of(w, value, weights);
    const int64_t points = grid->n[0] * grid->n[1] * run->planes;
    const size_t judged = value <= NEXT_ORBITAL ? JUDGED : JUDGED / 4;
    uint32_t state = 77;
    for (size_t i = 0; i < judged; i++) {
        const double share = self_test_fraction(&state);
        int64_t at = i == 0 ? 0 : i == 1 ? points - 1 : (int64_t)(share * (double)points);
        if (i % 4 == 2) /* the last columns, or rows */
            at = at / grid->n[0] * grid->n[0] + grid->n[0] - 1 - (int64_t)(i / 4 % 13);
        const int64_t index[3] = {at % grid->n[0], at / grid->n[0] % grid->n[1],
                                  at / (grid->n[0] * grid->n[1]) + run->first};
        double place[3];
        ley_grid_point_A(grid, index, place);
        for (int axis = 0; axis < 3; axis++)
            place[axis] /= units_bohr_A;
        const reference_value right = wavefunction_value(&q, place);
        const double off = share_of(&right, value >= DENSITY ? left_out : 1e-30, tolerance, (double)planes[at]);
        if (!(off <= tolerance))
            return ley_fail(error, LEY_ERROR_WRONG_RESULT,
                            "value %d at point (%lld, %lld, %lld) of %lld x %lld is %g, not %g", value,
                            (long long)index[0], (long long)index[1], (long long)index[2], (long long)grid->n[0],
                            (long long)grid->n[1], (double)planes[at], right.value);
    }
    return LEY_OK;
}

static int tested_derivatives(const separable_choice *c)
{
    return c->is_by_matrix ? 1 : c->spec.width > 1 ? 2 : c->spec.derivatives;
}

/* Several blocks of points, where these are small. */
static ley_grid grid_of(const separable_choice *c, bool is_small)
{
    separable_spec spec = c->spec;
    if (c->is_by_matrix)
        spec.ux = spec.uy = 4;
    return make_grid(&spec, is_small);
}

static ley_status compute(separable_kernel *k, const separable_problem *problem, const ley_wavefunction *w,
                          ley_error *error)
{
    const size_t points = (size_t)(problem->grid.n[0] * problem->grid.n[1] * PLANES);
    const int tested = problem->derivatives == 2 ? VALUES : problem->derivatives == 1 ? LAPLACIAN : SLOPE;
    float *values = malloc(VALUES * points * sizeof *values), *planes[VALUES];
    separable_run run = {.kernel = NULL};
    if (values == NULL)
        return ley_fail_memory(error, VALUES * points * sizeof *values, "the self-test");
    for (int v = 0; v < VALUES; v++)
        planes[v] = values + (size_t)v * points;
    ley_status status = separable_kernel_load(k, problem, error);
    if (status == LEY_OK)
        status = separable_run_create(&run, k, PLANES, error);
    if (status == LEY_OK)
        status = separable_run_begin(&run, 1, PLANES, NULL, error);
    if (status == LEY_OK)
        status = separable_run_finish(&run, planes, error);
    for (int v = k->choice.is_by_matrix ? DENSITY : 0; v < tested && status == LEY_OK; v++)
        status = judge(w, &problem->grid, &run, v, problem->weights, planes[v], error);
    separable_run_destroy(&run);
    free(values);
    return status;
}

/* What both kernels are tested with. */
typedef struct material {
    basis b;
    ley_wavefunction *wavefunction;
    expansion e;
    float *coefficients;
    double *exact;
} material;

static ley_status expand(const ley_wavefunction *w, bool is_contracted, material *m, ley_error *error)
{
    const ley_status status =
        is_contracted ? expansion_create_contracted(w, &m->e, error) : expansion_create(w, &m->e, error);
    if (status != LEY_OK)
        return status;
    m->coefficients = calloc(ORBITALS * (size_t)m->e.coefficients, sizeof *m->coefficients);
    m->exact = calloc(ORBITALS * (size_t)m->e.coefficients, sizeof *m->exact);
    if (m->coefficients == NULL || m->exact == NULL)
        return ley_fail_memory(error, ORBITALS * (size_t)m->e.coefficients * sizeof *m->coefficients, "the self-test");
    for (int64_t i = 0; i < ORBITALS; i++)
        expansion_fill(&m->e, i, m->coefficients + i * m->e.coefficients, m->exact + i * m->e.coefficients);
    return LEY_OK;
}

static ley_status make_material(int powers, int terms, bool is_contracted, material *m, ley_error *error)
{
    *m = (material){.wavefunction = NULL};
    const ley_status status = make_basis(powers, terms, &m->b, &m->wavefunction, error);
    return status == LEY_OK ? expand(m->wavefunction, is_contracted, m, error) : status;
}

static void end_material(material *m)
{
    free(m->coefficients);
    free(m->exact);
    expansion_destroy(&m->e);
    ley_wavefunction_destroy(m->wavefunction);
    free(m->b.numbers);
    free(m->b.whole);
    free(m->b.first);
}

ley_status separable_self_test(const separable_kernel *kernel, ley_error *error)
{
    /* terms that are left out change the values by less than what is allowed anyway */
    static const double weights[ORBITALS] = {0, 0, 2, 1, -0.5}, thresholds[ORBITALS] = {0, 0, 1e-11, 1e-11, 1e-11};
    static const int64_t numbers[ORBITALS] = {0, 1, 2, 3, 4};
    const bool is_by_matrix = kernel->choice.is_by_matrix;
    const int derivatives = tested_derivatives(&kernel->choice);
    const separable_pass passes[] = {
        {.orbital = 0, .orbitals = 2, .places = {ORBITAL, -1, -1, -1}},
        {.orbital = 2,
         .orbitals = 2,
         .places = {-1, DENSITY, derivatives > 0 ? SLOPE : -1, derivatives > 1 ? LAPLACIAN : -1}},
        {.orbital = 4,
         .orbitals = 1,
         .places = {-1, DENSITY, derivatives > 0 ? SLOPE : -1, derivatives > 1 ? LAPLACIAN : -1}},
    };
    separable_kernel trial = *kernel;
    material m;
    ley_status status = make_material(kernel->choice.spec.powers,
                                      is_short(kernel->device->info) ? FEW_TERMS
                                      : is_by_matrix                 ? MATRIX_TERMS
                                                                     : LEAST_TERMS,
                                      false, &m, error);
    const separable_problem problem = {.e = &m.e,
                                       .grid = grid_of(&kernel->choice, is_short(kernel->device->info)),
                                       .derivatives = derivatives,
                                       .coefficients = m.coefficients,
                                       .numbers = numbers,
                                       .orbitals = ORBITALS,
                                       .thresholds = thresholds,
                                       .weights = weights,
                                       .passes = passes + is_by_matrix, /* a matrix is of densities */
                                       .pass_count = sizeof passes / sizeof *passes - is_by_matrix,
                                       .adds = true,
                                       .values = VALUES};
    if (status == LEY_OK)
        status = compute(&trial, &problem, m.wavefunction, error);
    trial.kernel.program = NULL;
    separable_kernel_destroy(&trial);
    end_material(&m);
    return status;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

enum { LISTED = 700, DERIVATIVES = 5 };

/* Among the nuclei, and beside them. */
static void list_place_of(const void *context, int64_t i, double place[3])
{
    uint32_t state = (uint32_t)i * 2654435761u + 7u;
    (void)context;
    for (int axis = 0; axis < 3; axis++)
        place[axis] = (axis == 2 ? 9 : 24) * self_test_fraction(&state) - 4;
}

static ley_status judge_list(const list_problem *p, const list_run *run, ley_error *error)
{
    const bool is_double = run->kernel->spec.sum == LEY_SPEC_SUM_DOUBLE;
    const double most = is_double ? tolerance_of_doubles : tolerance;
    for (int64_t i = 0; i < LISTED; i++)
        for (int v = (int)(i % 2); v < p->values; v += 2) {
            const wavefunction_quantity q = {.wavefunction = p->e->wavefunction,
                                             .weights = p->weights,
                                             .orbital = p->weights == NULL ? v : 0,
                                             .derivative = p->weights == NULL ? 0 : v};
            double place[3];
            list_place_of(NULL, i, place);
            const reference_value right = wavefunction_value(&q, place);
            const double found = list_run_value(run, v, i), off = share_of(&right,
                                                                           is_double            ? 1e-30
                                                                           : p->weights != NULL ? left_out
                                                                                                : rounded,
                                                                           most, found);
            if (!(off <= most))
                return ley_fail(error, LEY_ERROR_WRONG_RESULT, "value %d of point %lld is %g, not %g", v, (long long)i,
                                found, right.value);
        }
    return LEY_OK;
}

/* Orbitals by themselves, in a block and a part of one; and where the kernel has derivatives, the
 * density and all of them. */
static ley_status compute_list(list_kernel *k, const material *m, ley_error *error)
{
    const double weights[ORBITALS] = {2, 1, 0, 0.5, -1}, thresholds[ORBITALS] = {0};
    const bool has_derivatives = k->spec.derivatives;
    const list_problem problem = {.e = &m->e,
                                  .coefficients = m->coefficients,
                                  .exact = k->spec.sum == LEY_SPEC_SUM_DOUBLE ? m->exact : NULL,
                                  .weights = has_derivatives ? weights : NULL,
                                  .thresholds = thresholds,
                                  .orbitals = ORBITALS,
                                  .gradient = has_derivatives,
                                  .laplacian = has_derivatives,
                                  .values = has_derivatives ? DERIVATIVES : ORBITALS};
    list_run run = {.kernel = NULL};
    ley_status status = list_kernel_load(k, &problem, error);
    if (status == LEY_OK)
        status = list_run_create(&run, k, LISTED, error);
    if (status == LEY_OK)
        status = list_run_begin(&run, list_place_of, NULL, LISTED, NULL, error);
    if (status == LEY_OK)
        status = list_run_finish(&run, error);
    if (status == LEY_OK)
        status = judge_list(&problem, &run, error);
    list_run_destroy(&run);
    return status;
}

/* Constant memory has little room; and what is compiled for a basis is tested with that one. */
ley_status list_self_test(const list_kernel *kernel, ley_error *error)
{
    list_kernel trial = *kernel;
    const bool is_few = is_short(kernel->device->info), is_small = kernel->spec.atoms == LEY_ATOMS_CONSTANT;
    material m = {.wavefunction = NULL};
    ley_status status = !kernel->spec.compiled   ? make_material(LEY_MOST_MOMENTUM + 1,
                                                               is_few     ? FEW_TERMS
                                                                 : is_small ? SOME_TERMS
                                                                            : LEAST_TERMS,
                                                                 kernel->spec.contracted, &m, error)
                        : kernel->sample != NULL ? expand(kernel->sample, false, &m, error)
                                                 : ley_fail(error, LEY_ERROR_USAGE,
                                                            "a kernel that is compiled for a basis, and there is none");
    if (status == LEY_OK)
        status = compute_list(&trial, &m, error);
    trial.kernel.program = NULL;
    list_kernel_destroy(&trial);
    end_material(&m);
    return status;
}
