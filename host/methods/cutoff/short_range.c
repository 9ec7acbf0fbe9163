#include "methods/cutoff/short_range.h"

#include "core/parameters.h"
#include "error.h"
#include "expression/check.h"
#include "law/accuracy.h"
#include "layout/binning.h"
#include "memory.h"
#include "spec.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BUILT_IN_NUMBERS = 3 };

#define PLACE_ROW(what, text) \
    { \
        .name = #what, .type = LEY_PARAMETER_CHOICE, .level = LEY_EXPERT, .value = "PLACE", .choices = place_words, \
        .methods = "cutoff", .sentence = text, PARAMETER_FIELD(ley_short_range, what) \
    }

static const char *const place_words[] = {LEY_PLACE_TABLE(LEY_NAME) NULL};

/* clang-format off */
static const ley_parameter rows[] = {
    PARAMETERS_OF_MEDIUM(ley_short_range),
    PARAMETERS_OF_CUTOFF(ley_short_range),
    {.name = "pair", .type = LEY_PARAMETER_OTHER, .level = LEY_EXPERT, .value = "FUNCTION", .methods = "cutoff",
     .sentence = "pair function to sum: the name of one, or an expression of r, r2 and q such as 'q*exp(-r/8)/r'"},
    {.name = "constants", .type = LEY_PARAMETER_OTHER, .level = LEY_EXPERT, .value = "LIST", .unset = "none",
     .methods = "cutoff", .sentence = "named constants of the expression"},
    {.name = "probe", .type = LEY_PARAMETER_REAL, .level = LEY_EXPERT, .value = "RADIUS,DEPTH",
     .default_value = {1.7, 0.1}, .low = 0, .high = 1e6, .methods = "cutoff",
     .sentence = "radius in Angstrom and well depth in kcal/mol of the probe, for interaction energies",
     PARAMETER_FIELD(ley_short_range, probe_radius_A), .count = 2},
    {.name = "steepness", .type = LEY_PARAMETER_REAL, .level = LEY_EXPERT, .value = "Z", .default_value = {12},
     .low = 6.5, .high = 40, .methods = "cutoff", .sentence = "steepness of the exponential in the Buckingham "
                                                              "function",
     PARAMETER_FIELD(ley_short_range, steepness)},
    {.name = "well_depth", .type = LEY_PARAMETER_REAL, .level = LEY_EXPERT, .unit = "kcal/mol", .value = "E",
     .default_value = {0.1}, .low = 0, .high = INFINITY, .methods = "cutoff",
     .sentence = "well depth of all atoms in kcal/mol, for interaction energies",
     PARAMETER_FIELD(ley_short_range, depth_for_all_kcal_mol)},
    {.name = "bin_depth", .type = LEY_PARAMETER_INTEGER, .level = LEY_EXPERT, .value = "N", .default_value = {8},
     .low = 1, .high = BINNING_MOST_DEPTH, .methods = "cutoff", .sentence = "capacity of a bin, in atoms",
     PARAMETER_FIELD(ley_short_range, bin_depth)},
    {.name = "bin_fill", .type = LEY_PARAMETER_REAL, .level = LEY_EXPERT, .value = "F", .default_value = {0.75},
     .low = 1e-3, .high = 1e3, .methods = "cutoff", .sentence = "mean share of a bin's capacity that should be used",
     PARAMETER_FIELD(ley_short_range, bin_fill)},
    PLACE_ROW(binning, "where atoms are sorted into bins"),
    PLACE_ROW(transposition, "where values are reordered into the rows of the map"),
};
/* clang-format on */

const ley_parameter_table short_range_parameters = PARAMETER_TABLE(ley_short_range, rows);
_Static_assert(offsetof(ley_short_range, probe_depth_kcal_mol) ==
                   offsetof(ley_short_range, probe_radius_A) + sizeof(double),
               "the probe is two numbers");

void ley_short_range_default(ley_short_range *range)
{
    parameters_default(&short_range_parameters, range);
    range->pair = LEY_PAIR_TAYLOR2;
}

static const double most_value = 1e35;     /* of one atom: a thousand of them, and more, add up to a float */
static const double nothing_value = 1e-30; /* of one atom: no sum shows an error of it */
static const double least_radius_A =
    1e-30; /* below it R is 0: z/R is no float, and at any r from 1e-6 A on f is below 1e-100 eps */

/* ---- The functions --------------------------------------------------------------------------- */

/* Public names of pair functions are the table's, and their numbers the kernels'. */
#define TIED(of, number, NAME, ...) \
    _Static_assert((int)LEY_PAIR_##NAME == (number) && (number) < LEY_PAIR_SPEC_INSIDE, \
                   "LEY_PAIR_" #NAME " of leyden.h has the number of its row in cl/pair_table.h");
LEY_PAIR_ROWS(TIED, 0)

/* What rows may not say. */
#define HAS(traits, trait) (((traits) & (trait)) != 0)
#define SENSIBLE(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    _Static_assert(LEY_IS_ENERGY(brings) == HAS(traits, LEY_TAKES_PROBE) && \
                       ((brings) != LEY_BRINGS_EXP6 || HAS(traits, LEY_TAKES_STEEPNESS)) && \
                       (!HAS(traits, LEY_IS_SCREENED) || HAS(traits, LEY_TAKES_KAPPA)), \
                   "LEY_PAIR_" #NAME " takes what its numbers are made of"); \
    _Static_assert((zero) == 0 || (brings) == LEY_BRINGS_CHARGE, "LEY_PAIR_" #NAME " vanishes for a charge"); \
    _Static_assert(!LEY_CANCELS_##near || ((zero) >= 3 && (zero) <= 5 && (scaling) == LEY_SCALES_ALL), \
                   "LEY_PAIR_" #NAME " cancels as kernels know it");
LEY_PAIR_ROWS(SENSIBLE, 0)

#define INFO(of, number, NAME, text, brings, traits, zero, near, scaling, steepness, shown) \
    [number] = {.name = (text), \
                .formula = (shown), \
                .is_energy = LEY_IS_ENERGY(brings), \
                .is_uniform = !LEY_IS_ENERGY(brings) && !HAS(traits, LEY_IS_OF_MEDIUM), \
                .is_expression = (number) == LEY_PAIR_EXPRESSION, \
                .vanishes = (zero) > 0, \
                .takes_kappa = HAS(traits, LEY_TAKES_KAPPA), \
                .needs_kappa = HAS(traits, LEY_IS_SCREENED), \
                .takes_probe = HAS(traits, LEY_TAKES_PROBE), \
                .takes_steepness = HAS(traits, LEY_TAKES_STEEPNESS), \
                .takes_numbers = HAS(traits, LEY_TAKES_NUMBERS)},
static const ley_pair_info functions[] = {LEY_PAIR_ROWS(INFO, 0)};

enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };
#define ONE(...) +1
_Static_assert(FUNCTION_COUNT == 0 LEY_PAIR_ROWS(ONE, 0), "pair functions are numbered without a gap");

const ley_pair_info *ley_pair_get(ley_pair pair)
{
    return (unsigned)pair < FUNCTION_COUNT ? &functions[pair] : NULL;
}

bool short_range_is_energy(ley_pair pair)
{
    return LEY_IS_ENERGY(LEY_BRINGS_OF(pair));
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* What not every pair function takes. */
static const struct {
    int trait;
    const char *name;
} taken[] = {{LEY_TAKES_KAPPA, "kappa"},
             {LEY_TAKES_PROBE, "probe"},
             {LEY_TAKES_PROBE, "well_depth"},
             {LEY_TAKES_STEEPNESS, "steepness"}};

static bool takes(const ley_short_range *s, const char *name)
{
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(taken[i].name, name) == 0)
            return (LEY_TRAITS_OF(s->pair) & taken[i].trait) != 0 &&
                   (s->depth_kcal_mol == NULL || strcmp(name, "well_depth") != 0);
    return true;
}

/* Of what the function takes, each is within its range. */
static ley_status check_parameters(const ley_short_range *s, ley_error *error)
{
    ley_status status = LEY_OK;
    for (size_t i = 0; i < short_range_parameters.count && status == LEY_OK; i++)
        if (takes(s, rows[i].name))
            status = parameter_check(&rows[i], s, error);
    if (status == LEY_OK && takes(s, "probe") && s->probe_radius_A > 100)
        status = ley_fail(error, LEY_ERROR_USAGE, "probe: radius %g A, must be 0 to 100", s->probe_radius_A);
    return status;
}

/* That an expression has values where it is needed, that a float sum holds them, and that floats
 * have enough digits for it. */
static ley_status check_values(const expression *e, const ley_short_range *s, double q_e, ley_error *error)
{
    const double constant = ley_coulomb_constant(s->units, s->dielectric, s->temperature_K);
    const expression_span span = {.low_A = s->r_min_A,
                                  .high_A = s->cutoff_A,
                                  .q_e = q_e,
                                  .most_value = most_value / constant,
                                  .nothing_value = nothing_value / constant};
    return expression_check(e, &span, error);
}

static ley_status check_expression(const ley_short_range *s, ley_error *error)
{
    expression *e = NULL;
    ley_status status = short_range_expression(s, s->dielectric, &e, error);
    if (status == LEY_OK && !expression_uses(e).fits_float)
        status = ley_fail(error, LEY_ERROR_USAGE,
                          "pair function: a number of it is neither 0 nor within 1.2e-38 and 3.4e38: %.300s",
                          expression_text(e));
    /* Charges but scale most functions; others are looked at with the atoms' own charges, too. */
    const bool is_plain = status == LEY_OK && expression_uses(e).charge != EXPRESSION_OTHER_IN_CHARGE;
    for (int q_e = is_plain ? 1 : -1; q_e <= 1 && status == LEY_OK; q_e++)
        status = check_values(e, s, q_e, error);
    expression_destroy(e);
    return status;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of all charges that occur, the least, the largest and some between. */
static ley_status check_charges(const expression *e, const ley_short_range *s, const ley_atoms *atoms, ley_error *error)
{
    enum { MOST_CHARGES = 48 };
    const size_t n = ley_atoms_count(atoms);
    double *charge_e = malloc(n * sizeof *charge_e);
    if (charge_e == NULL)
        return ley_fail_memory(error, n * sizeof *charge_e, "the atoms' charges");
    memcpy(charge_e, ley_atoms_charges_e(atoms), n * sizeof *charge_e);
    qsort(charge_e, n, sizeof *charge_e, compare);
    size_t distinct = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || charge_e[i] != charge_e[distinct - 1])
            charge_e[distinct++] = charge_e[i];
    const size_t chosen = distinct < MOST_CHARGES ? distinct : MOST_CHARGES;
    ley_status status = LEY_OK;
    for (size_t i = 0; i < chosen && status == LEY_OK; i++)
        status = check_values(e, s, charge_e[chosen > 1 ? i * (distinct - 1) / (chosen - 1) : 0], error);
    free(charge_e);
    return status;
}

ley_status short_range_check_charges(const ley_short_range *s, const ley_atoms *atoms, ley_error *error)
{
    expression *e = NULL;
    ley_status status = s->pair == LEY_PAIR_EXPRESSION ? short_range_expression(s, s->dielectric, &e, error) : LEY_OK;
    if (status == LEY_OK && e != NULL && expression_uses(e).charge == EXPRESSION_OTHER_IN_CHARGE)
        status = check_charges(e, s, atoms, error);
    expression_destroy(e);
    return status;
}

static ley_status check_pair(const ley_short_range *s, ley_error *error)
{
    if (ley_pair_get(s->pair) == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "unknown pair function %d", (int)s->pair);
    if (s->expression != NULL && s->pair != LEY_PAIR_EXPRESSION)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "pair function: an expression is given, and another function is asked for");
    if (!(s->cutoff_A > s->r_min_A && s->cutoff_A <= 1e4))
        return ley_fail(error, LEY_ERROR_USAGE, "cutoff %g A, must be above r_min (%g A) and at most 1e4", s->cutoff_A,
                        s->r_min_A);
    ley_status status = check_parameters(s, error);
    if (status == LEY_OK && s->pair == LEY_PAIR_EXPRESSION)
        status = check_expression(s, error);
    return status;
}

/* Vectors that are no vectors. Whether they span a cell is seen when atoms are binned. */
static ley_status check_cell(const ley_short_range *s, ley_error *error)
{
    for (int i = 0; i < 3; i++) {
        const double *v = s->cell_A[i];
        if (!s->periodic[i])
            continue;
        if (!isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[2]))
            return ley_fail(error, LEY_ERROR_USAGE, "cell: vector %c (%g, %g, %g) A is not finite", 'a' + i, v[0], v[1],
                            v[2]);
        if (v[0] == 0 && v[1] == 0 && v[2] == 0)
            return ley_fail(error, LEY_ERROR_USAGE, "cell: vector %c is periodic and zero", 'a' + i);
    }
    return LEY_OK;
}

ley_status short_range_check(const ley_short_range *s, ley_error *error)
{
    const ley_status status = check_pair(s, error);
    return status == LEY_OK ? check_cell(s, error) : status;
}

ley_status short_range_check_atoms(const ley_short_range *s, const ley_atoms *atoms, double r_min_A, ley_error *error)
{
    if (!short_range_is_energy(s->pair))
        return LEY_OK;
    for (size_t j = 0; j < ley_atoms_count(atoms); j++) {
        const double depth_kcal_mol = s->depth_kcal_mol != NULL ? s->depth_kcal_mol[j] : s->depth_for_all_kcal_mol;
        double number[SHORT_RANGE_NUMBERS];
        if (!(depth_kcal_mol >= 0 && isfinite(depth_kcal_mol)))
            return ley_fail(error, LEY_ERROR_USAGE, "atom %zu: depth %g kcal/mol, must be finite and not negative",
                            j + 1, depth_kcal_mol);
        short_range_numbers(s, atoms, j, number);
        /* Each part, not their difference, which may be small. */
        const bool powers = LEY_BRINGS_OF(s->pair) == LEY_BRINGS_POWERS;
        const double r6 = pow(r_min_A, 6);
        const double first = powers ? number[0] / (r6 * r6) : number[0] * exp(-number[1] * r_min_A);
        const double second = (powers ? number[1] : number[2]) / r6;
        const bool fit = number[0] <= FLT_MAX && number[1] <= FLT_MAX && number[2] <= FLT_MAX;
        if (!(fit && first <= most_value && second <= most_value))
            return ley_fail(error, LEY_ERROR_INPUT,
                            "atom %zu: of radius %g A, beside the probe's %g A, its energy at r_min (%g A) is %.3g "
                            "kcal/mol: a larger "
                            "r_min is needed",
                            j + 1, ley_atoms_radii_A(atoms)[j], s->probe_radius_A, r_min_A,
                            first > second ? first : -second);
    }
    return LEY_OK;
}

/* ---- The caller's function ------------------------------------------------------------------- */

ley_status short_range_expression(const ley_short_range *s, double dielectric, expression **made, ley_error *error)
{
    const expression_constant built_in[BUILT_IN_NUMBERS] = {
        {"cutoff", s->cutoff_A}, {"kappa", s->kappa_per_A}, {"dielectric", dielectric}};
    *made = NULL;
    if (s->expression == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "pair function: an expression is asked for, and there is none");
    if (s->number_count > 0 && s->numbers == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "pair function: %zu numbers, and a null pointer to them",
                        s->number_count);
    expression_constant *all = calloc(BUILT_IN_NUMBERS + s->number_count, sizeof *all);
    if (all == NULL)
        return ley_fail_memory(error, s->number_count * sizeof *all, "the pair function's numbers");
    memcpy(all, built_in, sizeof built_in);
    ley_status status = LEY_OK;
    for (size_t i = 0; i < s->number_count && status == LEY_OK; i++) {
        const char *name = s->numbers[i].name;
        all[BUILT_IN_NUMBERS + i] = (expression_constant){name, s->numbers[i].value};
        if (name == NULL)
            status = ley_fail(error, LEY_ERROR_USAGE, "pair function: number %zu has no name", i + 1);
        for (int k = 0; k < BUILT_IN_NUMBERS && status == LEY_OK; k++)
            if (strcmp(name, built_in[k].name) == 0)
                status = ley_fail(error, LEY_ERROR_USAGE,
                                  "pair function: the constant '%s' is the job's own, take another name", name);
    }
    if (status == LEY_OK)
        status = expression_create(s->expression, strlen(s->expression), all, BUILT_IN_NUMBERS + s->number_count, made,
                                   error);
    free(all);
    return status;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Names lie behind the numbers, in the same allocation. */
static ley_named_number *copy_numbers(const ley_named_number *numbers, size_t count)
{
    size_t bytes = count * sizeof *numbers;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(numbers[i].name) + 1;
    ley_named_number *copies = malloc(bytes);
    if (copies == NULL)
        return NULL;
    char *names = (char *)(copies + count);
    for (size_t i = 0; i < count; i++) {
        copies[i] = (ley_named_number){names, numbers[i].value};
        names = stpcpy(names, numbers[i].name) + 1;
    }
    return copies;
}

ley_status short_range_copy(const ley_short_range *s, size_t atoms, ley_short_range *copy, ley_error *error)
{
    *copy = *s;
    copy->expression = NULL;
    copy->numbers = NULL;
    copy->number_count = 0;
    copy->depth_kcal_mol = NULL;
    if (s->pair == LEY_PAIR_EXPRESSION) {
        copy->expression = strdup(s->expression);
        if (s->number_count > 0)
            copy->numbers = copy_numbers(s->numbers, s->number_count);
        if (copy->expression == NULL || (s->number_count > 0 && copy->numbers == NULL))
            return ley_fail_memory(error, s->number_count * sizeof *s->numbers, "the pair function");
        copy->number_count = s->number_count;
    }
    if (LEY_TRAITS_OF(s->pair) & LEY_TAKES_PROBE && s->depth_kcal_mol != NULL) {
        double *depths = malloc((atoms + 1) * sizeof *depths);
        if (depths == NULL)
            return ley_fail_memory(error, atoms * sizeof *depths, "the atoms' depths");
        memcpy(depths, s->depth_kcal_mol, atoms * sizeof *depths);
        copy->depth_kcal_mol = depths;
    }
    return LEY_OK;
}

void short_range_free(ley_short_range *copy)
{
    memory_free(copy->numbers);
    memory_free(copy->expression);
    memory_free(copy->depth_kcal_mol);
    copy->numbers = NULL;
    copy->number_count = 0;
    copy->expression = NULL;
    copy->depth_kcal_mol = NULL;
}

/* ---- What atoms bring ------------------------------------------------------------------------ */

int short_range_number_count(ley_pair pair)
{
    return 1 + LEY_PAIR_MORE(pair);
}

void short_range_numbers(const ley_short_range *s, const ley_atoms *atoms, size_t j,
                         double numbers[SHORT_RANGE_NUMBERS])
{
    numbers[0] = numbers[1] = numbers[2] = 0;
    if (!short_range_is_energy(s->pair)) {
        numbers[0] = ley_atoms_charges_e(atoms)[j];
        return;
    }
    const double depth_kcal_mol = s->depth_kcal_mol != NULL ? s->depth_kcal_mol[j] : s->depth_for_all_kcal_mol;
    const double eps = sqrt(depth_kcal_mol) * sqrt(s->probe_depth_kcal_mol),
                 R_A = ley_atoms_radii_A(atoms)[j] + s->probe_radius_A;
    const double R3 = R_A * R_A * R_A, R6 = R3 * R3, z = s->steepness;
    if (LEY_BRINGS_OF(s->pair) == LEY_BRINGS_POWERS) {
        numbers[0] = eps * R6 * R6;
        numbers[1] = 2 * eps * R6;
    } else if (R_A >= least_radius_A) {
        numbers[0] = eps * 6 / (z - 6) * exp(z);
        numbers[1] = z / R_A;
        numbers[2] = eps * z / (z - 6) * R6;
    }
}

const char *short_range_units(const ley_short_range *s, ley_units units)
{
    return short_range_is_energy(s->pair) ? "kcal/mol" : ley_units_name(units);
}

/* By how much of itself a value may change in an Angstrom, at distances from r on. */
static double steepness_per_A(const ley_short_range *s, double r)
{
    const double kappa = s->kappa_per_A, z = s->steepness;
#define STEEPNESS(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    case number: \
        return steepness;
    switch ((int)s->pair) {
        LEY_PAIR_ROWS(STEEPNESS, 0)
    default:
        return NAN;
    }
#undef STEEPNESS
}

/* Two roundings of a float of that size: of an atom's place, and of a point's. */
double short_range_place_A(double largest_A)
{
    return 1.2e-7 * largest_A;
}

double short_range_promise(const ley_short_range *s, ley_math math, double r_min_A, double largest_A)
{
    /* Far atoms' distances are rounded by their own size, and show in exponents; floats hold none
     * above 100. */
    const double exponent = LEY_TRAITS_OF(s->pair) & LEY_IS_SCREENED ? fmin(s->kappa_per_A * s->cutoff_A, 100) : 0;
    return accuracy_promise(math, LEY_SUM_FLOAT) + short_range_place_A(largest_A) * steepness_per_A(s, r_min_A) +
           2e-7 * exponent;
}

double short_range_constant(const ley_short_range *s, double coulomb_constant)
{
    return short_range_is_energy(s->pair) ? 1 : coulomb_constant;
}
