/* Pair functions of the user's: values, texts, complaints. */
#include "support.h"

#include "expression/check.h"
#include "expression/expression.h"

#include <locale.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const double pi = 3.14159265358979323846;
static const double distances_A[] = {0.05, 0.5, 1, 1.9, 3.25, 8, 11.75};
static const double charges_e[] = {1, -0.75, 0.125, 0};
static const expression_constant constants[] = {
    {"cutoff", 12}, {"eps", 78.54}, {"sigma_A", 3.4}, {"below", -0.25}, {"_", 2}};

static expression *create(const char *text)
{
    expression *e = NULL;
    ley_error error = {0};
    if (expression_create(text, strlen(text), constants, COUNT(constants), &e, &error) != LEY_OK)
        fail_msg("%s: %s", text, error.message);
    return e;
}

static bool is_near(double value, double expected, double tolerance)
{
    return value == expected || (isnan(value) && isnan(expected)) ||
           fabs(value - expected) <= tolerance * fabs(expected);
}

/* ---- Values ---------------------------------------------------------------------------------- */

typedef struct formula {
    const char *text;
    double (*value)(double r, double q);
} formula;

#define FORMULA(name, value) \
    static double name(double r, double q) \
    { \
        (void)r; \
        (void)q; \
        return value; \
    }

FORMULA(plain, q / r)
FORMULA(yukawa, q *exp(-r / 8) / r)
FORMULA(shifted, q *(1 / r - 1 / 12.0))
FORMULA(taylor2, q *(1 / r - 1 / 12.0 * (15.0 / 8 - 5.0 / 4 * (r * r / 144) + 3.0 / 8 * (r * r / 144) * (r * r / 144))))
FORMULA(lennard_jones,
        4 * 0.1 * (pow(3.4 / r, 4) * pow(3.4 / r, 8) - (3.4 / r) * (3.4 / r) * (3.4 / r) * pow(3.4 / r, 3)))
FORMULA(ewald, q *erfc(0.35 * r) / r)
FORMULA(distance_dependent, q / (4 * r * r))
FORMULA(gaussian, exp(-r *r / 9) * cos(2 * pi * r / 12))
FORMULA(square_negated, -(r *r))
FORMULA(seven, 7)
FORMULA(one_third_of_three_quarters, 0.25)
FORMULA(minus_four, -4)
FORMULA(tower, 512)
FORMULA(nested_power, pow(r, pow(1.5, r / 12)))
FORMULA(two_to_minus_r, exp2(-r))
FORMULA(minus_power, -1 / (r * r * r))
FORMULA(sixth, 1 / (r * r * r) / (r * r * r))
FORMULA(fifth, r *r *r *r *r)
FORMULA(thirteenth, pow(r + 1, 13))
FORMULA(one_and_a_half, r *sqrt(r))
FORMULA(root, 1 / r)
FORMULA(third_root, cbrt(r))
FORMULA(functions, exp(-r) + log(r) + sqrt(r) + erf(r) + erfc(r))
FORMULA(circles, sin(r) * 3 + cos(r) + tanh(r - 4))
FORMULA(least_and_most, fmin(r, 4) - fmax(q, 0.1) + fabs(q - r))
FORMULA(numbers, 0.5 + 5 + 1250 + 0.25e-2 + r)
FORMULA(named, -0.25 * r + 78.54 - 3.4 * 2)
FORMULA(differences, r - 1 - (2 - q))
FORMULA(divisions, 2 / (r / 2) * 8 / 4 * r)
FORMULA(below_squared, 0.0625 * r)
FORMULA(quadratic, q *q / r)
FORMULA(signs, q + r)

static const formula formulas[] = {
    {"q/r", plain},
    {"q*exp(-r/8)/r", yukawa},
    {" q *\texp ( - r / 8 ) / r ", yukawa},
    {"q*(1/r-1/cutoff)", shifted},
    {"q*(1/r-1/cutoff*(15/8-5/4*(r2/cutoff^2)+3/8*(r2/cutoff^2)^2))", taylor2},
    {"4*0.1*((sigma_A/r)^12-(sigma_A/r)^6)", lennard_jones},
    {"q*erfc(0.35*r)/r", ewald},
    {"q/(4*r2)", distance_dependent},
    {"q/(4*r*r)", distance_dependent},
    {"q/4/r^2", distance_dependent},
    {"exp(-r2/9)*cos(2*pi*r/cutoff)", gaussian},
    {"-r^2", square_negated},
    {"-r2", square_negated},
    {"-r*r", square_negated},
    {"1+2*3", seven},
    {"9-3+1", seven},
    {"28/8*2", seven},
    {"3/4/3", one_third_of_three_quarters},
    {"-2^2", minus_four},
    {"-(2)^2", minus_four},
    {"2^3^2", tower},
    {"pow(2,pow(3,2))", tower},
    {"(2^3)^3", tower},
    {"r^1.5^(r/12)", nested_power},
    {"2^-r", two_to_minus_r},
    {"2^-1^2*2^(1-r)", two_to_minus_r},
    {"-r^-3", minus_power},
    {"-1/r^3", minus_power},
    {"-pow(r,-3)", minus_power},
    {"r^-6", sixth},
    {"r2^-3", sixth},
    {"1/r2^3", sixth},
    {"(r^3)^-2", sixth},
    {"r^5", fifth},
    {"r*r*r*r*r", fifth},
    {"r2^2*r", fifth},
    {"r2^(5/2)", fifth},
    {"(r+1)^13", thirteenth},
    {"(1+r)^6*(1+r)^7", thirteenth},
    {"r^1.5", one_and_a_half},
    {"r2^0.75", one_and_a_half},
    {"1/sqrt(r2)", root},
    {"r2^-0.5", root},
    {"r^0/r^1", root},
    {"r^(1/3)", third_root},
    {"exp(-r)+log(r)+sqrt(r)+erf(r)+erfc(r)", functions},
    {"sin(r)*3+cos(r)+tanh(r-4)", circles},
    {"min(r,4)-max(q,.1)+abs(q-r)", least_and_most},
    {".5+5.+1.25e3+0.25E-02+1e+0*r", numbers},
    {"below*r+eps-sigma_A*_", named},
    {"r-1-(2-q)", differences},
    {"2/(r/2)*8/4*r", divisions},
    {"below^2*r", below_squared},
    {"q*q/r", quadratic},
    {"((((q))))^2*r^-1", quadratic},
    {"q--r", signs},
    {"-(-q-r)", signs},
    {"---q*-1+r", signs},
};

static void values(void **state)
{
    for (size_t i = 0; i < COUNT(formulas); i++) {
        expression *e = create(formulas[i].text);
        for (size_t k = 0; k < COUNT(distances_A); k++)
            for (size_t l = 0; l < COUNT(charges_e); l++) {
                const double r = distances_A[k], q = charges_e[l];
                const double value = expression_evaluate(e, r, q), expected = formulas[i].value(r, q);
                if (!is_near(value, expected, 1e-15))
                    fail_msg("%s at %g A, %g e: %.17g, not %.17g", formulas[i].text, r, q, value, expected);
            }
        expression_destroy(e);
    }
    expression_destroy(NULL);
}

static void every_function(void **state)
{
    static const struct {
        const char *name;
        double (*value)(double);
    } rows[] = {{"exp", exp}, {"log", log}, {"sqrt", sqrt}, {"erf", erf}, {"erfc", erfc},
                {"sin", sin}, {"cos", cos}, {"tanh", tanh}, {"abs", fabs}};
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int inner = 0; inner < 2; inner++) {
            char text[40];
            snprintf(text, sizeof text, inner == 0 ? "%s(r)" : "3-%s(q-2*r)", rows[i].name);
            expression *e = create(text);
            for (size_t k = 0; k < COUNT(distances_A); k++) {
                const double r = distances_A[k], x = inner == 0 ? r : 0.5 - 2 * r;
                const double expected = inner == 0 ? rows[i].value(x) : 3 - rows[i].value(x);
                assert_true(is_near(expression_evaluate(e, r, 0.5), expected, 1e-15));
            }
            expression_destroy(e);
        }
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static void texts(void **state)
{
    static const char *const rows[][2] = {
        {" q * exp(-(r) / 8.0) / r ", "q*exp(-r/8)/r"},
        {"((q+r)+2)-(3+q)", "q+r+2-(3+q)"},
        {"q*(r*2)/(r/2)", "q*(r*2)/(r/2)"},
        {"(-r)^2-(r^2)^3+r^(2^q)+r^(-2)", "(-r)^2-(r^2)^3+r^2^q+r^-2"},
        {"pow(r+1, q*2)", "(r+1)^(q*2)"},
        {"-(q+1)*-(r)", "-(q+1)*-r"},
        {"min( r,(1))+max(q , abs(r2))", "min(r,1)+max(q,abs(r2))"},
        {"eps*below^2+cutoff-_", "78.54*(-0.25)^2+12-2"},
        {"pi*1e-5+0.1+1e300", "3.141592653589793*1e-05+0.1+1e+300"},
        {"0.30000000000000004*r", "0.30000000000000004*r"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        expression *e = create(rows[i][0]), *again = create(rows[i][1]);
        assert_string_equal(expression_text(e), rows[i][1]);
        assert_string_equal(expression_text(again), rows[i][1]);
        if (strstr(rows[i][0], "eps") == NULL) /* named numbers stand in texts, but not in sources */
            assert_string_equal(expression_source(again), expression_source(e));
        expression_destroy(e);
        expression_destroy(again);
    }
}

static void other_locales(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    bool found = false;
    for (size_t i = 0; i < COUNT(names) && !found; i++)
        found = setlocale(LC_ALL, names[i]) != NULL;
    if (!found)
        skip();
    expression *e = create("0.1*r+2.123456789012345678901");
    assert_string_equal(expression_text(e), "0.1*r+2.1234567890123457");
    assert_non_null(strstr(expression_source(e), "(0.10000000000000001)"));
    setlocale(LC_ALL, "C");
    expression_destroy(e);
}

/* ---- Complaints ------------------------------------------------------------------------------ */

static void expect_refusal(const char *text, size_t length, const char *what)
{
    char message[512];
    expression *e = NULL;
    ley_error error = {0};
    snprintf(message, sizeof message, "pair function, column %s", what);
    const ley_status status = expression_create(text, length, constants, COUNT(constants), &e, &error);
    if (status != LEY_ERROR_USAGE || e != NULL || strcmp(error.message, message) != 0)
        fail_msg("%s: status %d, \"%s\", not \"%s\"", text, status, error.message, message);
    assert_int_equal(error.cause, strstr(what, "unknown name") != NULL ? LEY_CAUSE_UNKNOWN_NAME : LEY_CAUSE_OTHER);
    assert_int_equal(expression_create(text, length, constants, COUNT(constants), &e, NULL), LEY_ERROR_USAGE);
    ley_error_clear(&error);
}

static void bad_grammar(void **state)
{
    static const char *const rows[][2] = {
        {"", "1: a value is expected, not the end"},
        {" \t ", "4: a value is expected, not the end"},
        {"q/r+rr", "5: unknown name 'rr'"},
        {"q*R", "3: unknown name 'R'"},
        {"q*EXP(r)", "3: unknown name 'EXP'"},
        {"system(r)", "1: unknown name 'system'"},
        {"q*a_very_long_name_that_nobody_would_ever_want_to_type",
         "3: unknown name 'a_very_long_name_that_nobody_would_ever_wa...'"},
        {"q*", "3: a value is expected, not the end"},
        {"q**r", "3: a value is expected, not '*'"},
        {"q//r", "3: a value is expected, not '/'"},
        {"q/*r*/", "3: a value is expected, not '*'"},
        {"+r", "1: a value is expected, not '+'"},
        {"r^", "3: a value is expected, not the end"},
        {"r^*2", "3: a value is expected, not '*'"},
        {"()", "2: a value is expected, not ')'"},
        {"(r", "3: ')' is expected, not the end"},
        {"(r q)", "4: ')' is expected, not 'q'"},
        {"(r,q)", "3: ')' is expected, not ','"},
        {"r)", "2: ')' without '('"},
        {"r,q", "2: an operator is expected, not ','"},
        {"2 r", "3: an operator is expected, not 'r'"},
        {"r(2)", "2: an operator is expected, not '('"},
        {"r2 (r) ", "4: an operator is expected, not '('"},
        {"r 12cutoff", "3: an operator is expected, not '12cutoff'"},
        {"exp", "4: '(' is expected behind the function 'exp', not the end"},
        {"2*log r", "7: '(' is expected behind the function 'log', not 'r'"},
        {"exp()", "5: a value is expected, not ')'"},
        {"exp(r", "6: ')' is expected, not the end"},
        {"exp(r,q)", "6: 'exp' takes 1 value"},
        {"min(r)", "6: ',' is expected, not ')': 'min' takes 2 values"},
        {"pow(r 2)", "7: ',' is expected, not '2': 'pow' takes 2 values"},
        {"max(r,q,2)", "8: 'max' takes 2 values"},
        {"q*2r", "3: '2r' is not a number"},
        {"1.5f*q", "1: '1.5f' is not a number"},
        {"1..2", "1: '1..2' is not a number"},
        {"q*.", "3: '.' is not a number"},
        {"1e*q", "1: '1e' is not a number"},
        {"1e+*q", "1: '1e+' is not a number"},
        {"0x10*q", "1: '0x10' is not a number"},
        {"0x1p-3", "1: '0x1p' is not a number"},
        {"q+1e999", "3: '1e999' is too large"},
        {"nan*q", "1: unknown name 'nan'"},
        {"inf", "1: unknown name 'inf'"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_refusal(rows[i][0], strlen(rows[i][0]), rows[i][1]);
}

static void constants_without_a_value(void **state)
{
    static const char *const rows[][2] = {
        {"q/0", "2: division by zero"},
        {"q/r/(1-1)", "4: division by zero"},
        {"q/-0", "2: division by zero"},
        {"1/0", "2: division by zero"},
        {"q+log(0)", "3: the logarithm of a number that is not positive"},
        {"r*log(below)", "3: the logarithm of a number that is not positive"},
        {"q*sqrt(1-2)", "3: the square root of a negative number"},
        {"r+0^-1", "4: zero to a negative power"},
        {"r+pow(below,1/2)", "3: a negative number to a fractional power"},
        {"q*exp(1000)", "3: the value is too large"},
        {"q*10^400", "5: the value is too large"},
        {"1e300*1e300*q", "6: the value is too large"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_refusal(rows[i][0], strlen(rows[i][0]), rows[i][1]);
}

static void injections(void **state)
{
    static const char *const rows[][2] = {
        {"q; return r", "2: the character ';' is not allowed"},
        {"q} void f() {", "2: the character '}' is not allowed"},
        {"{r}", "1: the character '{' is not allowed"},
        {"q\"r\"", "2: the character '\"' is not allowed"},
        {"q'r'", "2: the character ''' is not allowed"},
        {"#include <stdio.h>", "1: the character '#' is not allowed"},
        {"q\n#define r", "2: the byte 0x0a is not allowed"},
        {"q\r", "2: the byte 0x0d is not allowed"},
        {"q\\", "2: the character '\\' is not allowed"},
        {"q//comment", "3: a value is expected, not '/'"},
        {"q/*comment*/", "3: a value is expected, not '*'"},
        {"q*\xcf\x80", "3: the byte 0xcf is not allowed"},
        {"q*\xe2\x88\x92r", "3: the byte 0xe2 is not allowed"},
        {"q\x7f", "2: the byte 0x7f is not allowed"},
        {"q\x1b[0m", "2: the byte 0x1b is not allowed"},
        {"r[0]", "2: the character '[' is not allowed"},
        {"q=r", "2: the character '=' is not allowed"},
        {"q%n", "2: the character '%' is not allowed"},
        {"q?r:1", "2: the character '?' is not allowed"},
        {"q<r", "2: the character '<' is not allowed"},
        {"q&r|!~r", "2: the character '&' is not allowed"},
        {"$(id)", "1: the character '$' is not allowed"},
        {"`id`", "1: the character '`' is not allowed"},
        {"q@r", "2: the character '@' is not allowed"},
        {"LEY_F_EXP(r)", "1: unknown name 'LEY_F_EXP'"},
        {"__asm(r)", "1: unknown name '__asm'"},
        {"inverse_r", "1: unknown name 'inverse_r'"},
        {"t1", "1: unknown name 't1'"},
        {"rr+;", "4: the character ';' is not allowed"}, /* characters come first */
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_refusal(rows[i][0], strlen(rows[i][0]), rows[i][1]);
    expect_refusal("q\0+;", 4, "2: the byte 0x00 is not allowed");
    expect_refusal("q\0", 2, "2: the byte 0x00 is not allowed");
    expect_refusal("\0", 1, "1: the byte 0x00 is not allowed");
    /* Bytes behind the end are none of it. */
    expression *e = NULL;
    assert_int_equal(expression_create("q;", 1, NULL, 0, &e, NULL), LEY_OK);
    assert_string_equal(expression_text(e), "q");
    expression_destroy(e);
}

/* What a row of `count` copies and an end says. */
static char *repeated(const char *start, const char *part, size_t count, const char *end)
{
    static char text[4000];
    size_t at = strlen(start);
    assert_true(at + count * strlen(part) + strlen(end) < sizeof text);
    strcpy(text, start);
    for (size_t i = 0; i < count; i++, at += strlen(part))
        strcpy(text + at, part);
    strcpy(text + at, end);
    return text;
}

static void limits(void **state)
{
    char *text = repeated("", " ", 999, "r");
    expression_destroy(create(text));
    text = repeated("", " ", 1000, "r");
    expect_refusal(text, strlen(text), "1001: longer than 1000 characters");
    text = repeated("", " ", 3000, ";");
    expect_refusal(text, strlen(text), "1001: longer than 1000 characters");

    /* 64 levels, of which the innermost value is one. */
    static const char *const parts[] = {"(", "-", "2^", "abs("};
    for (size_t i = 0; i < COUNT(parts); i++) {
        char what[80];
        text = repeated("", parts[i], 63, "r");
        for (size_t k = 0; strchr(parts[i], '(') != NULL && k < 63; k++)
            strcat(text, ")");
        expression_destroy(create(text));
        text = repeated("", parts[i], 64, "r");
        snprintf(what, sizeof what, "%zu: nested deeper than 64 levels", 64 * strlen(parts[i]) + 1);
        expect_refusal(text, strlen(text), what);
    }

    text = repeated("r", "+r", 255, "");
    expression *e = create(text);
    assert_true(expression_evaluate(e, 0.5, 0) == 128);
    expression_destroy(e);
    expression_destroy(create(repeated("-r", "+r", 255, "")));
    text = repeated("r", "+r", 256, "");
    expect_refusal(text, strlen(text), "512: more than 512 values and operations");

    expression_destroy(create(repeated("1.", "0", 253, "*q")));
    text = repeated("q+1.", "0", 254, "");
    expect_refusal(text, strlen(text), "3: a number of more than 255 characters");
}

static void bad_constants(void **state)
{
    static const struct {
        expression_constant constants[2];
        const char *what;
    } rows[] = {
        {{{"", 1}, {"b", 1}}, "'' is no name: at most 31 letters, digits and '_' are, the first one not a digit"},
        {{{"2b", 1}, {"b", 1}}, "'2b' is no name: at most 31 letters, digits and '_' are, the first one not a digit"},
        {{{"a", 1}, {"b c", 1}}, "'b c' is no name: at most 31 letters, digits and '_' are, the first one not a digit"},
        {{{"a", 1}, {"abcdefghijklmnopqrstuvwxyzABCDEF", 1}},
         "'abcdefghijklmnopqrstuvwxyzABCDEF' is no name: at most 31 letters, digits and '_' are, the first one not a "
         "digit"},
        {{{"r", 1}, {"b", 1}}, "'r' is the name of something else"},
        {{{"a", 1}, {"pi", 3}}, "'pi' is the name of something else"},
        {{{"a", 1}, {"erfc", 3}}, "'erfc' is the name of something else"},
        {{{"pow", 1}, {"b", 3}}, "'pow' is the name of something else"},
        {{{"a", 1}, {"a", 2}}, "'a' is given twice"},
        {{{"a", NAN}, {"b", 2}}, "'a' is not finite"},
        {{{"a", 1}, {"b", INFINITY}}, "'b' is not finite"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char message[300];
        expression *e = NULL;
        ley_error error = {0};
        snprintf(message, sizeof message, "pair function: the constant %s", rows[i].what);
        assert_int_equal(expression_create("q/r", 3, rows[i].constants, 2, &e, &error), LEY_ERROR_USAGE);
        assert_null(e);
        assert_string_equal(error.message, message);
    }
}

/* ---- What floats can evaluate ---------------------------------------------------------------- */

static const expression_span usual = {
    .low_A = 0.05, .high_A = 12, .q_e = 1, .most_value = 1e33, .nothing_value = 1e-33};

static const char *const sound[] = {
    "q/r",
    "q*exp(-r/8)/r",
    "q*erfc(0.3*r)/r",
    "q*(1-erf(0.3*r))/r",
    "q*(1-r2/100)^2/r",
    "q*(1/r-1/cutoff)",
    "q*(1/r+r2/(2*cutoff^3)-3/(2*cutoff))",
    "1e5/r^12-1e3/r^6",
    "4*((3/r)^12-(3/r)^6)",
    "1/r^14",
    "2^-r",
    "log(r2)",
    "abs(r-5)",
    "(r-5)^3",
    "max(0,1-r/3)",
    "min(1,max(0,2-r/5))/r",
    "q/max(r,1)",
    "q*(1-min(1,max(0,(r-8)/2))^3*(10-15*min(1,max(0,(r-8)/2))+6*min(1,max(0,(r-8)/2))^2))/r",
    "(1-r/cutoff)^8",
    "sqrt(max(0,1-r/cutoff))",
    "sqrt((r-5)*(r-5))",
    "sqrt((r-5)^2)",
    "pow(max(0,1-r/cutoff),1.5)",
    "pow(r,1.3)",
    "exp(-r2)",
    "exp(-50*r)/r",
    "exp(-(r-3)^2/0.02)",
    "1/((r-5)^2+0.01)",
    "1/(r2-10*r+27)",
    "1/(1.1+sin(r))",
    "sin(r)/r",
    "cos(50*r)",
    "tanh(r-5)",
    "tanh(1e7*(r-5))", /* a step */
    "q^2/r",
    "-q",
};

/* What is refused says where and why. */
static const struct {
    const char *text, *where, *why;
} unsound[] = {
    {"1/(r-5)", "r = 5 A", "divides by zero"},
    {"q/(r-7.123456789)", "r = 7.1235 A", "divides by zero"},
    {"1/(r2-25)", "r = 5 A", "divides by zero"},
    {"1/(r-5)^2", "r = 5 A", "divides by zero"},
    {"(r-5)^-3", "r = 5 A", "divides by zero"},
    {"1/sin(r)", "r = 3.1416 A", "divides by zero"},
    {"1/tanh(r-2)", "r = 2 A", "divides by zero"},
    {"1/log(r)", "r = 1 A", "divides by zero"},
    {"1/(0.5-erf(r-4))", "r = 4.4769 A", "divides by zero"},
    {"1/min(r-3,1)", "r = 3 A", "divides by zero"},
    {"q/(1-exp(5-r))", "r = 5 A", "divides by zero"},
    {"sin(r-5)/(r-5)", "r = 5 A", "divides by zero"},
    {"1/(cutoff-r)", "r = 12 A", "divides by zero"},
    {"pow(r-5,-r)", "r = 0.05 A", "fractional power"},
    {"pow(max(r-5,0),-r)", "r = 0.05 A", "to a power that is not positive"},
    {"pow(5-r,1.3)", "r = 5 A", "fractional power"},
    {"sqrt(1-r)", "r = 1 A", "square root of a negative number"},
    {"sqrt(1-r/cutoff)", "r = 12 A", "max(0, ...) within the root prevents that"},
    {"(5-r)^0.5", "r = 5 A", "square root of a negative number"},
    {"log(5-r)", "r = 5 A", "logarithm of a number that is not positive"},
    {"log(1/r-1/cutoff*(15/8-5/4*(r2/cutoff^2)+3/8*(r2/cutoff^2)^2))",
     "r = 1", /* close to it intervals do not settle */
     "logarithm of a number that is not positive"},
    {"exp(r2)", "r = 8.7", "too large to be summed"},
    {"exp(r2)*exp(-2*r2)", "r = 9.4", "no float holds"},
    {"erfc(r)*exp(r2)", "r = 9.4", "no float holds"},
    {"log(r2)-2*log(r)", "r = 0.05 A", "rounding eats its digits"},
    {"cos(1e6*r)", "A, q = 1 e", "rounding eats its digits"},
    {"cos(1e4*r)", "r = 12 A", "floats are off by up to 0.0"},
    {"1e30*(1+1e-9*r)-1e30", "r = 0.05 A", "rounding eats its digits"},
    {"r+1e9-1e9", "r = 0.05 A", "rounding eats its digits"},
    {"1/(r2-10*r+25.01)", "r = 5.0", "rounding eats its digits"}, /* the distance and its square are rounded apart */
    {"1/((r-5)^2+1e-12)", "r = ", "rounding eats its digits"},
};

static void what_floats_can_evaluate(void **state)
{
    for (size_t i = 0; i < COUNT(sound); i++) {
        ley_error error = {0};
        expression *e = create(sound[i]);
        if (expression_check(e, &usual, &error) != LEY_OK)
            fail_msg("%s: %s", sound[i], error.message);
        expression_destroy(e);
    }
    for (size_t i = 0; i < COUNT(unsound); i++) {
        ley_error error = {0};
        expression *e = create(unsound[i].text);
        if (expression_check(e, &usual, &error) != LEY_ERROR_USAGE || strstr(error.message, unsound[i].where) == NULL ||
            strstr(error.message, unsound[i].why) == NULL)
            fail_msg("%s: '%s', expected '%s' and '%s'", unsound[i].text, error.message, unsound[i].where,
                     unsound[i].why);
        expression_destroy(e);
    }
}

/* Charges that are poles. */
static void charges_count(void **state)
{
    ley_error error = {0};
    expression_span span = usual;
    expression *e = create("q/(q-0.5)/r");
    assert_int_equal(expression_check(e, &span, &error), LEY_OK);
    span.q_e = 0.5;
    assert_error(expression_check(e, &span, &error), LEY_ERROR_USAGE, "q = 0.5 e, it divides by zero");
    expression_destroy(e);
}

/* The bound holds for distances as far off as kernels have them, and is no more than some times
 * that error. */
static void bounds_of_errors(void **state)
{
    for (size_t i = 0; i < COUNT(sound); i++) {
        expression *e = create(sound[i]);
        for (double r_A = 0.06; r_A < 11.9; r_A *= 1.07) {
            const double value = expression_evaluate(e, r_A, 1), bound = expression_float_error(e, r_A, 1);
            const double off_A = 3e-7 * r_A + 3e-7, above = fabs(expression_evaluate(e, r_A + off_A, 1) - value),
                         below = fabs(expression_evaluate(e, r_A - off_A, 1) - value);
            if (!(fmax(above, below) <= bound && bound <= 1e-2 * fabs(value) + 40 * fmax(above, below) + 1e-5))
                fail_msg("%s at %g A: %g, off by %g and %g, bound %g", sound[i], r_A, value, above, below, bound);
        }
        expression_destroy(e);
    }
}

int main(void)
{
    return RUN_TESTS(values, every_function, texts, other_locales, bad_grammar, constants_without_a_value, injections,
                     limits, bad_constants, what_floats_can_evaluate, charges_count, bounds_of_errors);
}
