#include "methods/wavefunction/task.h"

#include "core/options.h"
#include "core/parameters.h"
#include "core/units.h"
#include "error.h"
#include "methods/wavefunction/list_build.h"
#include "parallel.h"
#include "target/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Terms that are left out add up to no more than this share of an orbital's largest value, of
 * floats and of doubles; what exponents are rounded by; and orbitals of one launch. */
static const double left_out_share = 5e-7, left_out_share_of_doubles = 1e-13, rounded_share = 1e-14,
                    most_occupation = 1000, usual_temperature_K = 298.15,
                    hosts_promise = 1e-9; /* of values that no kernel makes */
enum { MOST_ORBITALS = 64, MOST_OF_DENSITY = 256, DENSITY_VALUE = 0, LEAST_MANY = 8 };

/* ---- Options --------------------------------------------------------------------------------- */

static const ley_parameter rows[] = {
    {.name = "no_screening",
     .type = LEY_PARAMETER_FLAG,
     .sentence = "sum every term; without it, terms are left out that together are less than 1e-6 of the largest value",
     PARAMETER_FIELD(ley_wavefunction_options, is_exact)},
};

const ley_parameter_table wavefunction_parameters = PARAMETER_TABLE(ley_wavefunction_options, rows);

void ley_wavefunction_options_default(ley_wavefunction_options *options)
{
    parameters_default(&wavefunction_parameters, options);
}

/* ---- The request ----------------------------------------------------------------------------- */

size_t ley_wavefunction_values(const ley_wavefunction_request *r)
{
    return r->kind == LEY_ORBITALS ? r->orbital_count
                                   : (size_t)(1 + 3 * (r->gradient || r->field) + r->laplacian + r->reduced_gradient);
}

static ley_status check_maps(const ley_wavefunction_request *r, ley_error *error)
{
    const ley_grid *grid = ley_map_grid(r->maps[0]);
    for (size_t i = 0; i < ley_wavefunction_values(r); i++) {
        if (r->maps[i] == NULL || memcmp(ley_map_grid(r->maps[i]), grid, sizeof *grid) != 0)
            return ley_fail(error, LEY_ERROR_USAGE, "maps of a wavefunction's values are of several grids");
        for (size_t k = 0; k < i; k++)
            if (r->maps[k] == r->maps[i])
                return ley_fail(error, LEY_ERROR_USAGE, "a map is there twice");
    }
    return LEY_OK;
}

static ley_status check_points(const ley_wavefunction_request *r, ley_error *error)
{
    if (r->points < 1 || r->points > LEY_MAX_EXTENT || r->point_A == NULL || r->values == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "neither maps nor points, or %lld of them", (long long)r->points);
    for (int64_t k = 0; k < 3 * r->points; k++)
        if (!(fabs(r->point_A[k]) <= 1e9))
            return ley_fail(error, LEY_ERROR_INPUT, "%c of point %lld is %g", 'x' + (int)(k % 3),
                            (long long)(k / 3) + 1, r->point_A[k]);
    return LEY_OK;
}

static ley_status check_orbitals(const ley_wavefunction *w, const ley_wavefunction_request *r, ley_error *error)
{
    if (r->kind == LEY_ORBITALS && (r->gradient || r->laplacian || r->reduced_gradient))
        return ley_fail(error, LEY_ERROR_USAGE, "derivatives are computed of densities, not of orbitals");
    if ((r->kind == LEY_ORBITALS || r->orbitals != NULL) && (r->orbital_count == 0 || r->orbitals == NULL))
        return ley_fail(error, LEY_ERROR_USAGE, "no orbitals");
    if (r->occupations != NULL && (r->kind != LEY_DENSITY || r->orbitals == NULL))
        return ley_fail(error, LEY_ERROR_USAGE,
                        "occupations are those of a density's orbitals, which have to be named");
    for (size_t i = 0; r->orbitals != NULL && i < r->orbital_count; i++) {
        if (r->orbitals[i] < 0 || r->orbitals[i] >= w->arrays.orbitals)
            return ley_fail(error, LEY_ERROR_USAGE, "orbital %lld of %lld", (long long)r->orbitals[i] + 1,
                            (long long)w->arrays.orbitals);
        if (r->occupations != NULL && !(fabs(r->occupations[i]) <= most_occupation))
            return ley_fail(error, LEY_ERROR_INPUT, "an occupation of %g: it must be within -%g and %g",
                            r->occupations[i], most_occupation, most_occupation);
    }
    return LEY_OK;
}

static ley_status check_request(const ley_wavefunction *w, const ley_wavefunction_request *r, ley_error *error)
{
    if ((unsigned)r->kind >= LEY_WAVEFUNCTION_KINDS)
        return ley_fail(error, LEY_ERROR_USAGE, "nothing of a wavefunction has the number %d", (int)r->kind);
    if (r->kind != LEY_POTENTIAL && (r->field || r->units != NULL))
        return ley_fail(error, LEY_ERROR_USAGE, "fields and units are those of potentials");
    if (r->kind == LEY_POTENTIAL && (r->gradient || r->laplacian || r->reduced_gradient || r->orbitals != NULL))
        return ley_fail(error, LEY_ERROR_USAGE, "of potentials there is the field, E = -grad V, of all orbitals");
    const ley_status status = check_orbitals(w, r, error);
    if (status != LEY_OK)
        return status;
    return r->maps != NULL ? check_maps(r, error) : check_points(r, error);
}

/* ---- The task -------------------------------------------------------------------------------- */

/* All orbitals, or those of the request, with their own occupations or with those that it has. */
static ley_status weigh(wavefunction_task *t, ley_error *error)
{
    const ley_wavefunction_request *r = &t->request;
    const int64_t n = t->wavefunction->arrays.orbitals, count = r->orbitals != NULL ? (int64_t)r->orbital_count : n;
    ley_status status = LEY_OK;
    memset(t->weights, 0, (size_t)n * sizeof *t->weights);
    for (int64_t k = 0; k < count && status == LEY_OK; k++) {
        const int64_t i = r->orbitals != NULL ? r->orbitals[k] : k;
        double weight = 0;
        if (r->occupations != NULL)
            weight = r->occupations[k];
        else
            status = wavefunction_weight(t->wavefunction, i, r->kind == LEY_SPIN_DENSITY, &weight, error);
        t->weights[i] += weight;
    }
    return status;
}

static ley_status make_weights(wavefunction_task *t, ley_error *error)
{
    const size_t n = (size_t)t->wavefunction->arrays.orbitals;
    t->weights = malloc(n * sizeof *t->weights);
    t->left_out_of = calloc(n, sizeof *t->left_out_of);
    return t->weights != NULL && t->left_out_of != NULL ? weigh(t, error)
                                                        : ley_fail_memory(error, n * sizeof *t->weights, "the density");
}

/* Its derivative as a judge numbers it. */
static int derivative_of(const wavefunction_task *t, size_t value)
{
    const ley_wavefunction_request *r = &t->request;
    const size_t last = t->values - 1;
    return r->reduced_gradient && value == last                  ? WAVEFUNCTION_REDUCED
           : r->laplacian && value == last - r->reduced_gradient ? 4
                                                                 : (int)value;
}

size_t wavefunction_sum_place(const wavefunction_task *t, size_t value)
{
    const int derivative = t->orbitals != NULL ? 0 : derivative_of(t, value);
    return derivative == WAVEFUNCTION_REDUCED ? t->sums : derivative == 4 ? t->sums - 1 : value;
}

static void name_quantities(wavefunction_task *t)
{
    for (size_t v = 0; v < t->values; v++)
        t->quantities[v] = (wavefunction_quantity){.wavefunction = t->wavefunction,
                                                   .weights = t->weights,
                                                   .orbital = t->orbitals != NULL ? t->orbitals[v] : 0,
                                                   .promise = hosts_promise,
                                                   .derivative = t->orbitals != NULL ? 0 : derivative_of(t, v)};
}

static ley_status name_unit(wavefunction_task *t, ley_error *error)
{
    const ley_wavefunction_request *r = &t->request;
    const char *units = r->units != NULL ? r->units : "hartree/e";
    const double temperature_K = r->temperature_K != 0 ? r->temperature_K : usual_temperature_K;
    if (!(temperature_K >= 1e-3 && temperature_K <= 1e6))
        return ley_fail(error, LEY_ERROR_USAGE, "a temperature of %g K", temperature_K);
    t->unit = units_per_hartree(units, temperature_K);
    t->field_unit = strcmp(units, "hartree/e") == 0 ? 1 : t->unit / units_bohr_A;
    return t->unit > 0 ? LEY_OK
                       : ley_fail(error, LEY_ERROR_USAGE,
                                  "'%s' are no units of potentials: hartree/e, kT/e, V, kcal/mol/e or kJ/mol/e", units);
}

static ley_status fill(wavefunction_task *t, ley_error *error)
{
    const bool has_orbitals = t->request.kind == LEY_ORBITALS;
    t->quantities = calloc(t->values, sizeof *t->quantities);
    t->maps = calloc(t->values, sizeof *t->maps);
    t->orbitals = has_orbitals ? calloc(t->values, sizeof *t->orbitals) : NULL;
    if (t->quantities == NULL || t->maps == NULL || (has_orbitals && t->orbitals == NULL))
        return ley_fail_memory(error, t->values * sizeof *t->quantities, "the job");
    if (t->request.maps != NULL)
        memcpy(t->maps, t->request.maps, t->values * sizeof *t->maps);
    if (has_orbitals)
        memcpy(t->orbitals, t->request.orbitals, t->values * sizeof *t->orbitals);
    t->grid = t->request.maps != NULL ? *ley_map_grid(t->maps[0]) : (ley_grid){.n = {1, 1, t->request.points}};
    t->has_gradient = t->request.gradient || t->request.reduced_gradient;
    t->sums = has_orbitals ? t->values : (size_t)(1 + 3 * t->has_gradient + t->request.laplacian);
    const ley_status status = has_orbitals ? LEY_OK : make_weights(t, error);
    name_quantities(t);
    return status == LEY_OK ? name_unit(t, error) : status;
}

ley_status wavefunction_task_create(const ley_wavefunction *w, const ley_wavefunction_request *request,
                                    const ley_wavefunction_options *options, wavefunction_task **made, ley_error *error)
{
    ley_wavefunction_options taken;
    ley_status status = check_request(w, request, error);
    if (options == NULL)
        ley_wavefunction_options_default(&taken);
    else if (status == LEY_OK)
        status = OPTIONS_TAKE(ley_wavefunction_options, is_exact, &taken, options, error);
    if (status != LEY_OK)
        return status;
    wavefunction_task *t = calloc(1, sizeof *t);
    if (t == NULL)
        return ley_fail_memory(error, sizeof *t, "the job");
    *t = (wavefunction_task){.wavefunction = w,
                             .request = *request,
                             .is_exact = taken.is_exact || request->reduced_gradient,
                             .values = ley_wavefunction_values(request)};
    status = fill(t, error);
    if (status == LEY_OK)
        *made = t;
    else
        wavefunction_task_end(t);
    return status;
}

void wavefunction_task_end(void *context)
{
    wavefunction_task *t = context;
    free(t->orbitals);
    free(t->maps);
    free(t->weights);
    free(t->left_out_of);
    free(t->quantities);
    free(t);
}

/* ---- Coefficients ---------------------------------------------------------------------------- */

static void choose_orbitals(wavefunction_task *t)
{
    if (t->weights == NULL)
        for (size_t i = 0; i < t->values; i++)
            t->used[t->used_count++] = t->orbitals[i];
    for (int64_t i = 0; t->weights != NULL && i < t->wavefunction->arrays.orbitals; i++)
        if (t->weights[i] != 0)
            t->used[t->used_count++] = i;
}

static void fill_orbitals(void *context, size_t first, size_t last)
{
    const wavefunction_task *t = context;
    for (size_t i = first; i < last; i++) {
        const size_t at = i * (size_t)t->e.coefficients;
        expansion_fill(&t->e, t->used[i], t->coefficients + at, t->exact != NULL ? t->exact + at : NULL);
        t->largest[i] = expansion_largest(t->wavefunction, t->used[i]);
    }
}

/* ---- Passes ---------------------------------------------------------------------------------- */

static double share_of(const wavefunction_task *t)
{
    return t->sum == LEY_SPEC_SUM_DOUBLE ? left_out_share_of_doubles : left_out_share;
}

/* Which terms are left out: of all that an orbital has, each is so small that all of them
 * together do not matter. */
static double threshold_of(const wavefunction_task *t, int32_t i)
{
    return t->is_exact ? 0 : share_of(t) * t->largest[i] / t->e.rows;
}

/* Orbitals by themselves, or rho = sum n psi^2, its gradient 2 sum n psi grad psi, its Laplacian
 * 2 sum n (|grad psi|^2 + psi Laplacian psi). */
static void add_passes(wavefunction_task *t)
{
    const bool is_density = t->weights != NULL;
    const int32_t most = is_density ? MOST_OF_DENSITY : MOST_ORBITALS;
    for (int32_t i = 0; i < t->used_count; i += most) {
        separable_pass *pass = &t->passes[t->problem.pass_count++];
        *pass = (separable_pass){.orbital = i,
                                 .orbitals = t->used_count - i < most ? t->used_count - i : most,
                                 .places = {is_density ? -1 : i, is_density ? DENSITY_VALUE : -1,
                                            t->has_gradient ? DENSITY_VALUE + 1 : -1,
                                            t->request.laplacian ? (int32_t)t->sums - 1 : -1}};
    }
}

/* What terms that are left out may change the values by. Where all are summed, values that are next
 * to nothing have fewer digits all the same: exponents are rounded by their size. */
static void allow_left_out(wavefunction_task *t)
{
    const double share = t->is_exact ? rounded_share : share_of(t);
    const double of_squares = 12; /* of a Laplacian */
    t->left_out = 0;
    for (int32_t i = 0; i < t->used_count && t->weights != NULL; i++) {
        t->left_out_of[t->used[i]] = share * t->largest[i];
        t->left_out += of_squares * fabs(t->weights[t->used[i]]) * pow(share * t->largest[i], 2);
    }
    for (size_t v = 0; v < t->values; v++) {
        t->quantities[v].promise = wavefunction_task_promise(t);
        t->quantities[v].left_out = t->left_out_of;
        if (t->weights == NULL) {
            t->quantities[v].least = share * t->largest[v] / t->quantities[v].promise;
            t->left_out = fmax(t->left_out, share * t->largest[v]);
        }
    }
}

static void make_list(wavefunction_task *t)
{
    t->list = (list_problem){.e = &t->e,
                             .coefficients = t->coefficients,
                             .exact = t->exact,
                             .weights = t->weights != NULL ? t->used_weights : NULL,
                             .thresholds = t->thresholds,
                             .orbitals = t->used_count,
                             .gradient = t->has_gradient,
                             .laplacian = t->request.laplacian,
                             .values = (int)t->sums};
    for (int32_t i = 0; i < t->used_count; i++) {
        t->thresholds[i] = threshold_of(t, i);
        t->used_weights[i] = t->weights != NULL ? t->weights[t->used[i]] : 0;
    }
}

static void make_passes(wavefunction_task *t)
{
    t->problem = (separable_problem){.e = &t->e,
                                     .grid = t->grid,
                                     .derivatives = t->request.laplacian ? 2 : t->has_gradient,
                                     .coefficients = t->coefficients,
                                     .numbers = t->used,
                                     .orbitals = t->used_count,
                                     .thresholds = t->thresholds,
                                     .weights = t->used_weights,
                                     .passes = t->passes,
                                     .adds = t->weights != NULL,
                                     .values = (int)t->sums};
    add_passes(t);
    allow_left_out(t);
}

bool wavefunction_task_is_listed(const wavefunction_task *t, int sum, const char *variant)
{
    return t->request.maps == NULL || !ley_grid_is_orthogonal(&t->grid) || sum != LEY_SPEC_SUM_FLOAT ||
           (variant != NULL && list_has_variant(variant));
}

/* A density without terms left out has right digits where it is next to nothing, as sums of squares
 * have them, but products of functions do not. */
separable_wish wavefunction_task_wish(const wavefunction_task *t, const char *variant, int math)
{
    const bool is_of_matrix = t->weights != NULL && !t->request.laplacian && !t->is_exact;
    return (separable_wish){.variant = variant,
                            .powers = t->e.most_l + 1,
                            .derivatives = t->problem.derivatives,
                            .math = math,
                            .orbitals = t->used_count,
                            .functions = is_of_matrix ? density_matrix_functions(t->wavefunction) : 0};
}

double wavefunction_task_promise(const wavefunction_task *t)
{
    return t->sum != LEY_SPEC_SUM_DOUBLE ? 1e-5 : t->request.maps != NULL ? 1e-6 : 1e-11;
}

static ley_status make_room(wavefunction_task *t, ley_error *error)
{
    const int64_t n = t->weights != NULL ? t->wavefunction->arrays.orbitals : (int64_t)t->values;
    t->used = calloc((size_t)n, sizeof *t->used);
    t->passes = calloc((size_t)n, sizeof *t->passes);
    t->largest = calloc((size_t)n, sizeof *t->largest);
    t->thresholds = calloc((size_t)n, sizeof *t->thresholds);
    t->used_weights = calloc((size_t)n, sizeof *t->used_weights);
    t->used_count = 0;
    if (t->used != NULL)
        choose_orbitals(t);
    const size_t numbers = (size_t)t->used_count * (size_t)t->e.coefficients + 1;
    const bool is_double = t->sum == LEY_SPEC_SUM_DOUBLE;
    t->coefficients = malloc(numbers * sizeof *t->coefficients);
    t->exact = is_double ? malloc(numbers * sizeof *t->exact) : NULL;
    if (t->used == NULL || t->passes == NULL || t->largest == NULL || t->coefficients == NULL ||
        t->thresholds == NULL || t->used_weights == NULL || (is_double && t->exact == NULL))
        return ley_fail_memory(error, numbers * sizeof(double), "the orbitals");
    return LEY_OK;
}

/* All that follows from the coefficients. */
static void fill_all(wavefunction_task *t)
{
    parallel_ranges((size_t)t->used_count, fill_orbitals, t);
    make_passes(t);
    make_list(t);
}

/* Of points anywhere: whether so many orbitals are wanted that it pays to compute functions first,
 * and the orbitals from these. */
static bool takes_many(const wavefunction_task *t, const char *variant)
{
    int64_t count = t->weights == NULL ? (int64_t)t->values : 0;
    for (int64_t i = 0; t->weights != NULL && i < t->wavefunction->arrays.orbitals; i++)
        count += t->weights[i] != 0;
    return t->is_listed && !t->has_gradient && !t->request.laplacian &&
           (variant != NULL ? strcmp(variant, LIST_OF_MANY) == 0 : count >= LEAST_MANY);
}

ley_status wavefunction_task_prepare(wavefunction_task *t, int sum, const char *variant, ley_error *error)
{
    t->sum = sum;
    t->is_listed = wavefunction_task_is_listed(t, sum, variant);
    if (t->is_listed && variant != NULL && !list_has_variant(variant))
        return ley_fail(error, LEY_ERROR_USAGE, "variant %s is for float sums on grids along x, y and z", variant);
    t->is_many = takes_many(t, variant);
    ley_status status = t->is_many ? expansion_create_contracted(t->wavefunction, &t->e, error)
                                   : expansion_create(t->wavefunction, &t->e, error);
    if (status == LEY_OK)
        status = make_room(t, error);
    if (status == LEY_OK && t->used_count == 0)
        status = ley_fail(error, LEY_ERROR_INPUT,
                          t->request.kind == LEY_SPIN_DENSITY
                              ? "each orbital has as many alpha electrons as beta electrons, so that the density of "
                                "spins is 0 everywhere"
                              : "no orbital of this density has electrons, so that it is 0 everywhere; with an "
                                "occupation of 1 it is the orbital's square");
    if (status == LEY_OK)
        fill_all(t);
    return status;
}

ley_status wavefunction_task_renew(wavefunction_task *t, ley_error *error)
{
    int64_t used = 0;
    const ley_status status = t->weights != NULL ? weigh(t, error) : LEY_OK;
    if (status != LEY_OK)
        return status;
    for (int64_t i = 0; t->weights != NULL && i < t->wavefunction->arrays.orbitals; i++) {
        const bool is_used = t->weights[i] != 0;
        if (is_used && (used == t->used_count || t->used[used] != i))
            return ley_fail(error, LEY_ERROR_USAGE, "other orbitals have electrons now");
        used += is_used;
    }
    if (t->weights != NULL && used != t->used_count)
        return ley_fail(error, LEY_ERROR_USAGE, "other orbitals have electrons now");
    fill_all(t);
    return LEY_OK;
}

void wavefunction_task_release(wavefunction_task *t)
{
    expansion_destroy(&t->e);
    hermite_destroy(&t->charges);
    free(t->coefficients);
    free(t->exact);
    free(t->largest);
    free(t->used);
    free(t->passes);
    free(t->thresholds);
    free(t->used_weights);
    t->coefficients = NULL;
    t->exact = NULL;
    t->largest = NULL;
    t->used = NULL;
    t->passes = NULL;
    t->thresholds = t->used_weights = NULL;
}
