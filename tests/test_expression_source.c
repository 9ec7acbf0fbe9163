/* Source text of pair functions: what it looks like, what it uses, and that a compiler turns it
 * into the interpreter's values. */
#include "support.h"

#include "expression/expression.h"

#include <dlfcn.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const expression_constant constants[] = {{"cutoff", 12}, {"below", -0.25}};

static expression *create(const char *text)
{
    expression *e = NULL;
    ley_error error = {0};
    if (expression_create(text, strlen(text), constants, COUNT(constants), &e, &error) != LEY_OK)
        fail_msg("%s: %s", text, error.message);
    return e;
}

#define HEAD "LEY_FN real ley_user_pair(real r, real r2, real inverse_r, real q, LEY_REFERENCE(own_numbers) own)\n{\n"

static void sources(void **state)
{
    static const char *const rows[][2] = {
        {"q*exp(-r/8)/r", "    return (q * LEY_F_EXP(((-r) * LEY_REAL(0.125))) * inverse_r);\n}\n"},
        {"q/r", "    return (q * inverse_r);\n}\n"},
        {"8", "    return LEY_REAL(8.0);\n}\n"},
        {"0-1e20/3", "    return (-LEY_REAL(3.3333333333333332e+19));\n}\n"},
        {"below*1e20-1/3", "    return ((real)own.low.s0);\n}\n"},
        {"r*below+cutoff/r-(r+1)*below/cutoff",
         "    return ((r * ((real)own.low.s0)) + (((real)own.low.s1) * inverse_r) - "
         "((r + LEY_REAL(1.0)) * ((real)own.low.s0) * ((real)own.low.s2)));\n}\n"},
        {"(1+(cutoff-12))*q^(cutoff/6)", "    return (((real)own.low.s0) * (q * q));\n}\n"},
        {"q+0*cutoff", "    return (q + LEY_REAL(0.0));\n}\n"},
        {"q/1e-60", "    return (q / LEY_REAL(9.9999999999999997e-61));\n}\n"},
        {"q/1e-310", "    return (q / LEY_REAL(9.9999999999999694e-311));\n}\n"},
        {"r^2+r2^0.5", "    return (r2 + r);\n}\n"},
        {"(3/r)^12", "    const real t1 = (LEY_REAL(3.0) * inverse_r);\n    const real t2 = t1 * t1;\n"
                     "    const real t3 = t2 * t2;\n    const real t4 = t3 * t3;\n    return (t3 * t4);\n}\n"},
        {"q/(1+r)^8", "    const real t1 = (LEY_REAL(1.0) + r);\n    const real t2 = t1 * t1;\n"
                      "    const real t3 = t2 * t2;\n    return (q / (t3 * t3));\n}\n"},
        {"min(q,0.1)-(r-2-(1-q))", "    return (LEY_F_MIN(q, LEY_REAL(0.10000000000000001)) - "
                                   "(r - LEY_REAL(2.0) - (LEY_REAL(1.0) - q)));\n}\n"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        expression *e = create(rows[i][0]);
        const char *source = expression_source(e);
        assert_memory_equal(source, HEAD, strlen(HEAD));
        assert_string_equal(source + strlen(HEAD), rows[i][1]);
        expression_destroy(e);
    }
}

static void uses(void **state)
{
    static const struct {
        const char *text, *arguments;
        expression_charge charge;
        bool fits_float;
    } rows[] = {
        {"q/r", "i", EXPRESSION_LINEAR_IN_CHARGE, true},
        {"q*exp(-r/8)/r", "ri", EXPRESSION_LINEAR_IN_CHARGE, true},
        {"exp(-r^2/9)+r*r", "2", EXPRESSION_WITHOUT_CHARGE, true},
        {"exp(-r2/9)/r2", "2i", EXPRESSION_WITHOUT_CHARGE, true},
        {"sqrt(r2)", "r", EXPRESSION_WITHOUT_CHARGE, true},
        {"(3/r)^12-(3/r)^6", "i", EXPRESSION_WITHOUT_CHARGE, true},
        {"r^3", "r2", EXPRESSION_WITHOUT_CHARGE, true},
        {"3", "", EXPRESSION_WITHOUT_CHARGE, true},
        {"-q*2+r*q-q/r2", "ri", EXPRESSION_LINEAR_IN_CHARGE, true},
        {"q*q", "", EXPRESSION_OTHER_IN_CHARGE, true},
        {"q+1", "", EXPRESSION_OTHER_IN_CHARGE, true},
        {"r/q", "r", EXPRESSION_OTHER_IN_CHARGE, true},
        {"abs(q)", "", EXPRESSION_OTHER_IN_CHARGE, true},
        {"max(1,q)", "", EXPRESSION_OTHER_IN_CHARGE, true},
        {"r^q", "r", EXPRESSION_OTHER_IN_CHARGE, true},
        {"1e39*q", "", EXPRESSION_LINEAR_IN_CHARGE, false},
        {"1e-39*q", "", EXPRESSION_LINEAR_IN_CHARGE, false},
        {"1e30*1e-30*q", "", EXPRESSION_LINEAR_IN_CHARGE, true},
        {"q/1e39", "", EXPRESSION_LINEAR_IN_CHARGE, false},
        {"0*r", "r", EXPRESSION_WITHOUT_CHARGE, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        expression *e = create(rows[i].text);
        const expression_use use = expression_uses(e);
        char arguments[8];
        snprintf(arguments, sizeof arguments, "%s%s%s", use.r ? "r" : "", use.r2 ? "2" : "", use.inverse_r ? "i" : "");
        if (strcmp(arguments, rows[i].arguments) != 0 || use.charge != rows[i].charge ||
            use.fits_float != rows[i].fits_float)
            fail_msg("%s: uses '%s', charge %d, fits %d", rows[i].text, arguments, use.charge, use.fits_float);
        expression_destroy(e);
    }
}

/* ---- Random formulas ------------------------------------------------------------------------- */

enum { TREES = 200, FORMULA_BYTES = EXPRESSION_MAX_LENGTH + 1 };

static uint64_t seed = 2024;

static int draw(int n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)n);
}

static void add_leaf(FILE *out)
{
    static const char *const leaves[] = {"r", "r", "r2", "q", "q", "pi", "below", "r/cutoff", "r^2", "1/r", "r2^-1"};
    const int kind = draw((int)COUNT(leaves) + 3);
    if (kind < (int)COUNT(leaves))
        fprintf(out, "(%s)", leaves[kind]);
    else
        fprintf(out, "%.*g", 1 + draw(17), 0.1 + draw(1000000) / 300000.0);
}

/* '@' stands for a part, '#' for a whole or half exponent. Divisors, roots and logarithms stay away
 * from where they would magnify rounding, so that what is compared is the translation. */
static void add_tree(FILE *out, int depth)
{
    static const char *const shapes[] = {
        "@+@",          "@-@",           "@*@",
        "@-(@-@)",      "@+@*@-@",       "-@",
        "@/(2+abs(@))", "@/r",           "@/r2",
        "@/r2^3",       "@/(3*r^4)",     "@/(below*r2)",
        "@/3.7",        "@/(4*r)",       "@/(r*r)",
        "@*r*r",        "@*r/7*r2",      "r^#",
        "r2^#",         "(2/r)^#",       "(1.5+sin(@))^#",
        "exp(-abs(@))", "log(2+abs(@))", "sqrt(1+abs(@))",
        "erf(@)",       "erfc(@)",       "sin(@)",
        "cos(@)",       "tanh(@)",       "abs(@)",
        "min(@,@)",     "max(@,@)",      "pow(1.5+cos(@),sin(@))",
        "1/(1+r)^#",    "tanh(@)^2",     "tanh(@)^3",
        "tanh(@)^7",    "((@))",         "-@^2",
    };
    if (depth == 0) {
        add_leaf(out);
        return;
    }
    fputc('(', out);
    for (const char *c = shapes[draw((int)COUNT(shapes))]; *c != '\0'; c++)
        if (*c == '@')
            add_tree(out, depth - 1 - (draw(3) == 0 && depth > 1));
        else if (*c == '#')
            fprintf(out, "%g", (draw(25) - 12) / 2.0);
        else
            fputc(*c, out);
    fputc(')', out);
}

static void random_formula(char text[FORMULA_BYTES])
{
    long length;
    do {
        FILE *out = fmemopen(text, FORMULA_BYTES, "w");
        assert_non_null(out);
        add_tree(out, 2 + draw(4));
        length = ftell(out);
        fclose(out);
    } while (length >= FORMULA_BYTES - 1);
}

/* ---- A compiler ------------------------------------------------------------------------------ */

static char c_path[64], library_path[64];

/* All formulas in one file: ley_user_pair becomes pair_0, pair_1, ... */
static void write_program(expression *const *e, size_t n, bool is_float)
{
    static const char *const functions[] = {"EXP",  "exp",  "LOG", "log",  "SQRT", "sqrt", "ERF",  "erf",
                                            "ERFC", "erfc", "SIN", "sin",  "COS",  "cos",  "TANH", "tanh",
                                            "ABS",  "fabs", "MIN", "fmin", "MAX",  "fmax", "POW",  "pow"};
    FILE *out = fopen(c_path, "w");
    assert_non_null(out);
    fprintf(out,
            "#include <math.h>\n#define LEY_FN static inline\n#define LEY_REFERENCE(type) const type\n"
            "typedef %s real;\n#define LEY_REAL(x) %s\n"
            "typedef struct {\n    real s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf;\n} sixteen;\n"
            "typedef struct {\n    sixteen low, high;\n} own_numbers;\n",
            is_float ? "float" : "double", is_float ? "((real)x##f)" : "x");
    for (size_t i = 0; i < COUNT(functions); i += 2) {
        const char *arguments = i < 18 ? "x" : "x, y";
        fprintf(out, "#define LEY_F_%s(%s) %s%s(%s)\n", functions[i], arguments, functions[i + 1], is_float ? "f" : "",
                arguments);
    }
    for (size_t i = 0; i < n; i++)
        fprintf(out, "#define ley_user_pair pair_%zu\n%s#undef ley_user_pair\n", i, expression_source(e[i]));
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "static const own_numbers numbers_%zu = {", i);
        for (size_t k = 0; k < EXPRESSION_MOST_NUMBERS; k++)
            fprintf(out, "%s(real)%.17g%s", k % 16 == 0 ? "{" : "", expression_numbers(e[i])[k],
                    k % 16 == 15 ? "}, " : ", ");
        fputs("};\n", out);
    }
    fputs("double call(int i, double r, double q);\ndouble call(int i, double r, double q)\n{\n    switch (i) {\n",
          out);
    for (size_t i = 0; i < n; i++)
        fprintf(out,
                "    case %zu: return (double)pair_%zu((real)r, (real)(r * r), (real)(1 / r), (real)q, numbers_%zu);\n",
                i, i, i);
    fputs("    }\n    return 0;\n}\n", out);
    assert_int_equal(fclose(out), 0);
}

typedef double pair_call(int i, double r, double q);

/* Any warning fails: a double among floats, a value without its parentheses. */
static void *compile(pair_call **call)
{
    char command[512];
    const char *compiler = getenv("CC");
    snprintf(
        command, sizeof command,
        "%s -std=c11 -O1 -shared -fPIC -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Wno-unused-parameter "
        "-Werror -o %s %s -lm",
        compiler != NULL ? compiler : "cc", library_path, c_path);
    assert_int_equal(system(command), 0);
    void *library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    *(void **)call = dlsym(library, "call");
    assert_non_null(*call);
    return library;
}

static void compare(expression *const *e, size_t n, bool is_float, double tolerance)
{
    pair_call *call;
    size_t finite = 0, moving = 0;
    write_program(e, n, is_float);
    void *library = compile(&call);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) {
            /* Exact in floats as well. */
            const double r = 0.75 + k * 0.125, q = 0.5 - k * 0.25;
            const double value = call((int)i, r, q), expected = expression_evaluate(e[i], r, q);
            const double scale = fmax(1, fabs(expected));
            if (!(fabs(value - expected) <= tolerance * scale))
                fail_msg("%s at %g A, %g e: %.17g, not %.17g\n%s", expression_text(e[i]), r, q, value, expected,
                         expression_source(e[i]));
            finite += isfinite(expected);
            moving += expected != expression_evaluate(e[i], r + 0.01, q + 0.01);
        }
    /* The comparison must have compared something. */
    assert_true(finite == 8 * n && moving > 6 * n);
    dlclose(library);
}

static void random_formulas(void **state)
{
    expression *e[TREES];
    for (size_t i = 0; i < TREES; i++) {
        char text[FORMULA_BYTES];
        random_formula(text);
        e[i] = create(text);
        /* Its text means the same. */
        expression *again = create(expression_text(e[i]));
        assert_string_equal(expression_text(again), expression_text(e[i]));
        const double value = expression_evaluate(e[i], 1.25, 0.5);
        assert_true(expression_evaluate(again, 1.25, 0.5) == value);
        expression_destroy(again);
    }
    compare(e, TREES, false, 1e-13);
    compare(e, TREES, true, 1e-4);
    for (size_t i = 0; i < TREES; i++)
        expression_destroy(e[i]);
}

/* Every limit of the parser's at once must not be beyond a compiler's. */
static void deep_formulas(void **state)
{
    char text[6][FORMULA_BYTES] = {""};
    expression *e[6];
    for (int i = 0; i < 200; i++) {
        strcat(text[0], i < 120 ? "r*q+" : "");
        strcat(text[1], "q-");
        strcat(text[2], i % 2 != 0 ? "r*" : "q/");
    }
    for (int i = 0; i < 60; i++) {
        strcat(text[3], "q+r*(1-");
        strcat(text[4], "-");
        strcat(text[5], i % 2 != 0 ? "r/(q*q+" : "min(r,");
    }
    for (int i = 0; i < 6; i++) {
        strcat(text[i], i == 2 ? "(q+4)" : "r");
        for (int k = 0; k < 60 && (i == 3 || i == 5); k++)
            strcat(text[i], ")");
        e[i] = create(text[i]);
        for (size_t depth = 0, most = 0, k = 0; expression_source(e[i])[k] != '\0'; k++) {
            depth += expression_source(e[i])[k] == '(';
            depth -= expression_source(e[i])[k] == ')';
            most = depth > most ? depth : most;
            assert_true(most <= 40);
        }
    }
    write_program(e, 6, false);
    pair_call *call;
    void *library = compile(&call);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(call(i, 1.25, 0.75) / expression_evaluate(e[i], 1.25, 0.75) - 1) < 1e-13);
    dlclose(library);
    for (int i = 0; i < 6; i++)
        expression_destroy(e[i]);
}

static int set_up(void **state)
{
    snprintf(c_path, sizeof c_path, "%s/pairs.c", support_directory());
    snprintf(library_path, sizeof library_path, "%s/pairs.so", support_directory());
    return 0;
}

int main(void)
{
    return RUN_GROUP(SUPPORT_GROUP(.begin = set_up), sources, uses, random_formulas, deep_formulas);
}
