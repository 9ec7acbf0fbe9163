/* A user's pair function, `q*exp(-r/8)/r` say: read, checked, evaluated in double precision, and
 * turned into source text for kernels.
 *
 *   sum      = product { ("+" | "-") product }
 *   product  = unary { ("*" | "/") unary }
 *   unary    = "-" unary | power
 *   power    = value [ "^" unary ]                 -r^2 is -(r^2), a^b^c is a^(b^c), 2^-r needs no parentheses
 *   value    = number | name | function "(" sum [ "," sum ] ")" | "(" sum ")"
 *   number   = a decimal number of C, without a suffix
 *   name     = "r" | "r2" | "q" | "pi" | a constant of the caller's
 *   function = "exp" | "log" | "sqrt" | "erf" | "erfc" | "sin" | "cos" | "tanh" | "abs" | "min" | "max" | "pow"
 *
 * r is the distance in A, r2 its square in A^2, q the charge in e. Capitals count; blanks and tabs
 * may stand between words. Characters are checked before anything else, and what is not in the
 * grammar goes no further: source text is printed from the tree, never copied from the user. */
#ifndef LEY_EXPRESSION_H
#define LEY_EXPRESSION_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    EXPRESSION_MAX_LENGTH = 1000, /* characters */
    EXPRESSION_MAX_DEPTH = 64,    /* parentheses, minus signs and exponents within each other */
    EXPRESSION_MAX_NODES = 512,   /* values and operations */
    EXPRESSION_MAX_NAME = 31      /* characters of a constant's name */
};

typedef struct expression expression;

/* A named number: the cutoff in A under the name "cutoff", a dielectric, ... */
typedef struct expression_constant {
    const char *name;
    double value;
} expression_constant;

/* Reads `length` bytes of text, which need not be terminated. Constants are copied. Errors, all
 * LEY_ERROR_USAGE but for memory: "pair function, column 7: unknown name 'rr'" (bytes from 1); a
 * constant whose name is none, is taken or comes twice, or whose value is not finite. Operations on
 * constants that have no finite value, such as log(0) and q/0, are errors too. */
ley_status expression_create(const char *text, size_t length, const expression_constant *constants, size_t count,
                             expression **made, ley_error *error);
void expression_destroy(expression *e);

/* The value by the formula as it was written: the judge of what the kernels compute. Any thread. */
double expression_evaluate(const expression *e, double r_A, double q_e);

/* The same text for the same formula, whatever blanks, parentheses and names of constants it was
 * written with: no blanks, constants as the shortest decimal numbers that mean them. For messages
 * and cache keys. The expression's. */
const char *expression_text(const expression *e);

/* A function for C11, OpenCL C 1.2 and CUDA C alike (the expression's text):
 *
 *   LEY_FN real ley_user_pair(real r, real r2, real inverse_r, real q) { ...; return ...; }
 *
 * r2 = r^2 and inverse_r = 1/r are the caller's, who has them from one reciprocal root; what is not
 * used may be anything. The dialect defines beforehand, each of them evaluating its arguments once:
 *
 *   real          float, double or, in OpenCL C, a vector of them
 *   LEY_FN        qualifiers of an inline function
 *   LEY_REAL(x)   the real of x, a double literal that is not negative: x, or ((real)x##f) for floats
 *   LEY_F_EXP(x) LEY_F_LOG(x) LEY_F_SQRT(x) LEY_F_ERF(x) LEY_F_ERFC(x) LEY_F_SIN(x) LEY_F_COS(x)
 *   LEY_F_TANH(x) LEY_F_ABS(x) LEY_F_MIN(x, y) LEY_F_MAX(x, y) LEY_F_POW(x, y) */
const char *expression_source(const expression *e);

typedef enum expression_charge {
    EXPRESSION_WITHOUT_CHARGE,   /* f(r) */
    EXPRESSION_LINEAR_IN_CHARGE, /* q f(r) */
    EXPRESSION_OTHER_IN_CHARGE
} expression_charge;

typedef struct expression_use {
    bool r, r2, inverse_r; /* arguments that the source reads; without r and inverse_r no root is needed */
    bool fits_float;       /* each number of the source is 0 or a normal float */
    expression_charge charge;
} expression_use;

expression_use expression_uses(const expression *e);

#endif
