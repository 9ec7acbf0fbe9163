/* Every row of cl/pair_table.h: the kernels' formula against the judge's, both in double precision;
 * what the row says of the function; and that a row which lacks a piece does not compile. */
#include "support.h"

#include "law/pairs.h"
#include "law/reference.h"
#include "methods/cutoff/short_range.h"

/* cl/pair.h of doubles. Its exponentials take floats to pieces; here they are the C library's. */
typedef double real, scalar;
typedef struct atom {
    double x, y, z, w;
} atom;
#include "spec.h"
static double ley_exp2_shifted(double shift, double a, double b)
{
    return exp2(shift - LEY_EXP2_SHIFT - a * b);
}
static double ley_polynomial_exp2(double x)
{
    return exp2(x);
}
#define LEY_FN static inline
#define LEY_MAX(a, b) fmax(a, b)
#define LEY_MIN(a, b) fmin(a, b)
#define LEY_DIVIDE(a, b) ((a) / (b))
#define LEY_PAIR_WHICH int which,
#define LEY_PAIR which
#include "pair.h"

#include "laws/pairs.h"

static const double a_A = 10, log2_e = 1.4426950408889634;
static const int first_exponent = 7; /* n of screened functions */

/* The functions with a formula of their own, by number. */
#define NUMBER_OF(of, number, ...) number,
static const int pairs[] = {LEY_PAIR_FUNCTIONS(NUMBER_OF, 0)};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static ley_short_range range_of(int pair)
{
    return (ley_short_range){.pair = (ley_pair)pair,
                             .cutoff_A = a_A,
                             .kappa_per_A = 0.25,
                             .probe_radius_A = 1.5,
                             .probe_depth_kcal_mol = 0.1,
                             .steepness = 12,
                             .depth_for_all_kcal_mol = 0.4};
}

/* Of one atom. */
static ley_atoms *lone_atom(void)
{
    static const double at[3] = {0}, charge_e = -0.75, radius_A = 1.25;
    return support_make_atoms(1, at, &charge_e, &radius_A);
}

/* ---- Both formulas --------------------------------------------------------------------------- */

/* As host/methods/cutoff/problem.c makes them. */
static void get_constants(int pair, double a, double kappa, int n, double constants[5])
{
    const double constant = 1;
#define CONSTANTS(of, number, NAME, ...) \
    if (pair == (number)) { \
        const double of_row[5] = LEY_PAIR_CONSTANTS_##NAME; \
        memcpy(constants, of_row, sizeof of_row); \
    }
    LEY_PAIR_ROWS(CONSTANTS, 0)
#undef CONSTANTS
}

/* What kernels make of the atom at distance r; 1/r and the constants multiplied by these
 * factors. */
static double kernel_value(const ley_short_range *s, const ley_atoms *atoms, double r, double root_factor,
                           double constant_factor)
{
    const int pair = (int)s->pair;
    const bool is_screened = ley_pair_get(s->pair)->needs_kappa;
    double c[5] = {0}, number[SHORT_RANGE_NUMBERS];
    get_constants(pair, a_A, s->kappa_per_A * log2_e, first_exponent, c);
    short_range_numbers(s, atoms, 0, number);
    if (LEY_BRINGS_OF(pair) == LEY_BRINGS_EXP6)
        number[1] *= log2_e;
    for (int i = 0; i < 5; i++)
        c[i] *= constant_factor;
    const atom series = {c[0], c[1], c[2], c[3]};
    const double value = ley_pair_value(pair, r * r, root_factor / r, series, c[4], number[0], number[1], number[2]);
    return (LEY_BRINGS_OF(pair) == LEY_BRINGS_CHARGE ? number[0] : 1) * ldexp(value, is_screened ? -first_exponent : 0);
}

static ley_term judge_term(const ley_short_range *s, const ley_atoms *atoms, double r_A)
{
    return ley_pair_term((int)s->pair, r_A, a_A, ley_atoms_charges_e(atoms)[0],
                         ley_atoms_radii_A(atoms)[0] + s->probe_radius_A, reference_eps(s, 0), reference_parameter(s));
}

static void test_formulas(void **state)
{
    ley_atoms *atoms = lone_atom();
    for (int i = 0; i < PAIRS; i++) {
        const ley_short_range s = range_of(pairs[i]);
        for (double r_A = 0.75; r_A < a_A; r_A += 1.0 / 128) {
            const ley_term right = judge_term(&s, atoms, r_A);
            const double value = kernel_value(&s, atoms, r_A, 1, 1);
            const double size = right.absolute + (LEY_CANCELS_OF(pairs[i]) ? 1 / r_A : 0);
            if (!(fabs(value - right.value) <= 1e-12 * size))
                fail_msg("%s at %g A: %.17g by the kernels' formula, %.17g by the judge's", ley_pair_get(s.pair)->name,
                         r_A, value, right.value);
        }
    }
    ley_atoms_destroy(atoms);
}

/* That of functions that cancel has its zero as a factor. */
static void test_factored_formulas(void **state)
{
    ley_atoms *atoms = lone_atom();
    const double q_e = ley_atoms_charges_e(atoms)[0];
    int tried = 0;
    for (int i = 0; i < PAIRS; i++) {
        const ley_short_range s = range_of(pairs[i]);
        for (double r_A = 0.75; LEY_CANCELS_OF(pairs[i]) && r_A < 0.9999 * a_A; r_A += 1.0 / 128, tried++) {
            const double right = judge_term(&s, atoms, r_A).value;
            const double value = q_e * ley_factored_value(pairs[i], r_A * r_A, 1 / r_A, 1 / a_A, 1 / (a_A * a_A));
            if (!(fabs(value / right - 1) <= 1e-11 / (1 - r_A / a_A)))
                fail_msg("%s at %g A: %.17g with its zero as a factor, %.17g by the judge's formula",
                         ley_pair_get(s.pair)->name, r_A, value, right);
        }
    }
    assert_true(tried > 3000);
    ley_atoms_destroy(atoms);
}

/* Derivatives: the kernels' and the judge's, and both against differences of values. */
static void test_slopes(void **state)
{
    ley_atoms *atoms = lone_atom();
    const double h_A = 1e-5;
    for (int i = 0; i < PAIRS; i++) {
        const ley_short_range s = range_of(pairs[i]);
        const bool is_screened = ley_pair_get(s.pair)->needs_kappa;
        double c[5] = {0}, number[SHORT_RANGE_NUMBERS];
        get_constants(pairs[i], a_A, s.kappa_per_A * log2_e, first_exponent, c);
        short_range_numbers(&s, atoms, 0, number);
        number[1] *= LEY_BRINGS_OF(pairs[i]) == LEY_BRINGS_EXP6 ? log2_e : 1;
        const atom series = {c[0], c[1], c[2], c[3]};
        const double factor = (LEY_BRINGS_OF(pairs[i]) == LEY_BRINGS_CHARGE ? number[0] : 1) *
                              ldexp(1, is_screened ? -first_exponent : 0);
        for (double r_A = 0.75; r_A < a_A - h_A; r_A += 1.0 / 16) {
            const ley_term right = ley_pair_slope_term(pairs[i], r_A, a_A, ley_atoms_charges_e(atoms)[0],
                                                       ley_atoms_radii_A(atoms)[0] + s.probe_radius_A,
                                                       reference_eps(&s, 0), reference_parameter(&s));
            const double value = factor * r_A *
                                 ley_pair_slope(pairs[i], r_A * r_A, 1 / r_A, series, c[4], number[0], number[1],
                                                number[2], 1 / a_A, 1 / (a_A * a_A));
            const double about =
                (judge_term(&s, atoms, r_A - h_A).value - judge_term(&s, atoms, r_A + h_A).value) / (2 * h_A);
            if (!(fabs(value - right.value) <= 1e-7 * right.absolute) ||
                !(fabs(about - right.value) <= 1e-8 * (right.absolute + judge_term(&s, atoms, r_A).absolute) + 1e-12))
                fail_msg("%s at %g A: a slope of %.12g by the kernels' formula, %.12g by the judge's, %.12g by "
                         "differences",
                         ley_pair_get(s.pair)->name, r_A, value, right.value, about);
        }
    }
    ley_atoms_destroy(atoms);
}

/* ---- What rows say --------------------------------------------------------------------------- */

/* Halving the way to a zero of an order divides a function by two as often. */
static void test_zeros(void **state)
{
    ley_atoms *atoms = lone_atom();
    for (int i = 0; i < PAIRS; i++) {
        const ley_short_range s = range_of(pairs[i]);
        const int zero = LEY_ZERO_OF(pairs[i]);
        const double far = judge_term(&s, atoms, a_A * 0.998).value, near = judge_term(&s, atoms, a_A * 0.999).value;
        if (!(fabs(far / near / exp2(zero) - 1) < 0.05))
            fail_msg("%s: no zero of order %d at the cutoff", ley_pair_get(s.pair)->name, zero);
        assert_int_equal(ley_pair_get(s.pair)->vanishes, zero > 0);
        for (double r_A = a_A * 1.001; LEY_ENDS_OF(pairs[i]) && r_A < 3 * a_A; r_A += 0.1)
            assert_true(kernel_value(&s, atoms, r_A, 1, 1) / ley_atoms_charges_e(atoms)[0] < 0);
    }
    ley_atoms_destroy(atoms);
}

static void test_scaling(void **state)
{
    ley_atoms *atoms = lone_atom();
    for (int i = 0; i < PAIRS; i++) {
        const ley_short_range s = range_of(pairs[i]);
        const int scaling = LEY_SCALING_OF(pairs[i]);
        double worst = 0;
        for (double r_A = 1; r_A < 8; r_A += 0.25) {
            const double once = kernel_value(&s, atoms, r_A, 1, 1),
                         twice = kernel_value(&s, atoms, r_A, 2, scaling == LEY_SCALES_ALL ? 2 : 1);
            worst = fmax(worst, fabs(twice / (2 * once) - 1));
        }
        if ((worst < 1e-9) != (scaling != LEY_SCALES_NOT))
            fail_msg("%s: twice 1/r makes it off by %g of twice its value", ley_pair_get(s.pair)->name, worst);
    }
    ley_atoms_destroy(atoms);
}

/* Of a value's size, where it is steepest, as the promise has it. */
static void test_steepness(void **state)
{
    ley_atoms *atoms = lone_atom();
    for (int i = 0; i < PAIRS; i++) {
        const ley_short_range s = range_of(pairs[i]);
        for (double r_A = 0.0625; r_A <= 0.5; r_A *= 2) {
            const double largest_A = 5, step_A = 1e-5 * r_A;
            const double said = (short_range_promise(&s, LEY_MATH_STANDARD, r_A, largest_A) -
                                 short_range_promise(&s, LEY_MATH_STANDARD, r_A, 0)) /
                                (1.2e-7 * largest_A);
            const double change = judge_term(&s, atoms, r_A + step_A).value - judge_term(&s, atoms, r_A - step_A).value;
            const double is = fabs(change) / (2 * step_A) / judge_term(&s, atoms, r_A).absolute;
            if (!(is <= 1.15 * said && said <= 20 * is))
                fail_msg("%s: by %g of its size in an Angstrom at %g A, by %g in its row", ley_pair_get(s.pair)->name,
                         is, r_A, said);
        }
    }
    ley_atoms_destroy(atoms);
}

/* ---- What is made of rows -------------------------------------------------------------------- */

static void test_names(void **state)
{
    char *page = support_read_file("docs/short-range.md", NULL);
    int expressions = 0;
    for (int pair = 0; ley_pair_get((ley_pair)pair) != NULL; pair++) {
        const ley_pair_info *info = ley_pair_get((ley_pair)pair);
        char quoted[64];
        snprintf(quoted, sizeof quoted, "| `%s` |", info->name);
        expressions += info->is_expression;
        if (!info->is_expression && strstr(page, quoted) == NULL)
            fail_msg("docs/short-range.md has no line of %s", info->name);
        assert_true(strlen(info->name) > 0 && strlen(info->formula) > 0);
        assert_true(strspn(info->name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(info->name));
        for (int other = 0; other < pair; other++)
            assert_string_not_equal(info->name, ley_pair_get((ley_pair)other)->name);
    }
    assert_int_equal(expressions, 1);
    assert_null(ley_pair_get((ley_pair)-1));
    assert_null(ley_pair_get((ley_pair)LEY_PAIR_SPEC_INSIDE));
    free(page);
}

/* ---- Rows that lack a piece ------------------------------------------------------------------ */

/* Where the pieces of a row are needed. */
static const char *const sources[] = {"host/methods/cutoff/serial_pairs.c", "host/methods/cutoff/problem.c",
                                      "host/methods/cutoff/short_range.c", "host/law/pairs.c"};
static const char *const pieces[] = {"LEY_PAIR_NOWHERE",
                                     "LEY_PAIR_VALUE_NOWHERE=inverse_r",
                                     "LEY_PAIR_CONSTANTS_NOWHERE={0}",
                                     "LEY_PAIR_TERM_NOWHERE=ley_single_term(q_e)",
                                     "LEY_PAIR_SLOPE_NOWHERE=inverse_r2",
                                     "LEY_PAIR_SLOPE_TERM_NOWHERE=ley_single_term(q_e)"};
enum { SOURCES = sizeof sources / sizeof *sources, PIECES = sizeof pieces / sizeof *pieces };

/* A copy of cl/ with one row more, of this number. */
static void plant_row(const char *folder, int number)
{
    char command[512], path[256], row[256];
    snprintf(command, sizeof command, "cp -r cl/*.h cl/laws '%s'", folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/pair_table.h", folder);
    snprintf(
        row, sizeof row,
        "    ROW(of, %d, NOWHERE, \"nowhere\", LEY_BRINGS_CHARGE, 0, 0, keeps, LEY_SCALES_ALL, 1 / r, \"1/r\") \\\n",
        number);
    char *text = support_read_file(path, NULL), *at = strstr(text, "    ROW(of, 8, ");
    assert_non_null(at);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%.*s%s%s", (int)(at - text), text, row, at);
    assert_int_equal(fclose(file), 0);
    free(text);
}

/* How many sources do not compile with the planted row and these definitions, and whether a message
 * has this word. */
static int failures(const char *folder, const char *definitions, const char *word, bool *named)
{
    const char *cc = getenv("CC");
    int count = 0;
    *named = false;
    for (int i = 0; i < SOURCES; i++) {
        char command[2048], line[1024];
        snprintf(command, sizeof command,
                 "%s -std=c11 -D_GNU_SOURCE -fsyntax-only -I'%s' -Iplatform -Ihost %s %s 2>&1; echo result $?",
                 cc != NULL ? cc : "cc", folder, definitions, sources[i]);
        FILE *out = popen(command, "r");
        assert_non_null(out);
        int result = -1;
        while (fgets(line, sizeof line, out) != NULL) {
            *named = *named || strstr(line, word) != NULL;
            sscanf(line, "result %d", &result);
        }
        pclose(out);
        count += result != 0;
    }
    return count;
}

/* All pieces but one. */
static void write_definitions(int left_out, int number, char *definitions, size_t size)
{
    size_t used = 0;
    definitions[0] = '\0';
    for (int i = 0; i < PIECES; i++) {
        char piece[128];
        snprintf(piece, sizeof piece, i == 0 ? "%s=%d" : "%s", pieces[i], number);
        if (i != left_out)
            used += (size_t)snprintf(definitions + used, size - used, "-D'%s' ", piece);
    }
}

static void test_rows_without_a_piece(void **state)
{
    const int number = PAIRS + 1; /* an expression is the other one */
    char folder[] = "/tmp/leyden-pairs-XXXXXX", definitions[1024], command[256];
    bool named;
    assert_non_null(mkdtemp(folder));
    plant_row(folder, number);
    for (int left_out = 0; left_out <= PIECES; left_out++) {
        char name[64] = "error";
        if (left_out < PIECES)
            snprintf(name, sizeof name, "%.*s", (int)strcspn(pieces[left_out], "="), pieces[left_out]);
        write_definitions(left_out, number, definitions, sizeof definitions);
        const int failed = failures(folder, definitions, name, &named);
        if ((failed > 0) != (left_out < PIECES) || named != (left_out < PIECES))
            fail_msg("a row without %s: %d sources do not compile, %s", name, failed,
                     named ? "and it is named" : "and it is not named");
    }
    plant_row(folder, number + 1); /* a gap */
    write_definitions(PIECES, number + 1, definitions, sizeof definitions);
    assert_int_equal(failures(folder, definitions, "numbered without a gap", &named), 1);
    assert_true(named);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    return RUN_TESTS(test_formulas, test_factored_formulas, test_slopes, test_zeros, test_scaling, test_steepness,
                     test_names, test_rows_without_a_piece);
}
