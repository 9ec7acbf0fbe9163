/* A user's pair function, `q*exp(-r/8)/r` say: read, checked, evaluated in double precision, and
 * turned into source text for kernels.
 *
 *   sum      = product { ("+" | "-") product }
 *   product  = unary { ("*" | "/") unary }
 *   unary    = "-" unary | power
 *   power    = value [ "^" unary ]    -r^2 is -(r^2), a^b^c is a^(b^c), 2^-r needs no parentheses
 *   value    = number | name | function "(" sum [ "," sum ] ")" | "(" sum ")"
 *   number   = a decimal number of C, without a suffix
 *   name     = "r" | "r2" | "q" | "pi" | a constant of the caller's
 *   function = "exp" | "log" | "sqrt" | "erf" | "erfc" | "sin" | "cos" | "tanh" | "abs" | "min" |
 *              "max" | "pow"
 *
 * r is the distance in A, r2 its square in A^2, q the charge in e. Capitals count; blanks and tabs
 * may stand between words. Characters are checked before anything else, and what is not in the
 * grammar goes no further: source text is printed from the tree, never copied from the user. */
#ifndef LEY_EXPRESSION_EXPRESSION_H
#define LEY_EXPRESSION_EXPRESSION_H

#include "expression/tree.h"

enum {
    EXPRESSION_MAX_DEPTH = 64, /* parentheses, minus signs and exponents within each other */
    EXPRESSION_MAX_NAME = 31   /* characters of a constant's name */
};

/* A named number: the cutoff in A under the name "cutoff", a dielectric, ... */
typedef struct expression_constant {
    const char *name;
    double value;
} expression_constant;

/* Reads `length` bytes of text, which need not be terminated. Constants are copied. Errors, all
 * LEY_ERROR_USAGE but for memory: "pair function, column 7: unknown name 'rr'" (bytes from 1), with
 * LEY_CAUSE_UNKNOWN_NAME; a constant whose name is none, is taken or comes twice, or whose value is
 * not finite. Operations on constants that have no finite value, such as log(0) and q/0, are errors
 * too. */
ley_status expression_create(const char *text, size_t length, const expression_constant *constants, size_t count,
                             expression **made, ley_error *error);

#endif
