/* A pair function as a tree: made by its reader (expression.c), which has its texts written
 * (expression_source.c), and evaluated here. */
#ifndef LEY_EXPRESSION_TREE_H
#define LEY_EXPRESSION_TREE_H

#include "leyden_status.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    EXPRESSION_MAX_LENGTH = 1000, /* characters */
    EXPRESSION_MAX_NODES = 512,   /* values and operations */
    EXPRESSION_MOST_NUMBERS = 32  /* that kernels take as arguments: two vectors of 16 */
};

typedef struct expression expression;

/* Functions that expressions may call: ROW(NAME, name, values that it takes). */
#define TREE_FUNCTIONS(ROW) \
    ROW(EXP, "exp", 1) \
    ROW(LOG, "log", 1) \
    ROW(SQRT, "sqrt", 1) \
    ROW(ERF, "erf", 1) \
    ROW(ERFC, "erfc", 1) \
    ROW(SIN, "sin", 1) \
    ROW(COS, "cos", 1) \
    ROW(TANH, "tanh", 1) \
    ROW(ABS, "abs", 1) \
    ROW(MIN, "min", 2) \
    ROW(MAX, "max", 2)

typedef enum tree_op {
    TREE_NUMBER,
    TREE_R,
    TREE_R2,
    TREE_Q,
    TREE_NEGATE,
    TREE_ADD,
    TREE_SUBTRACT,
    TREE_MULTIPLY,
    TREE_DIVIDE,
    TREE_POWER,
#define TREE_ROW(NAME, name, arity) TREE_##NAME,
    TREE_FUNCTIONS(TREE_ROW)
#undef TREE_ROW
        TREE_OPS
} tree_op;

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

enum { NO_NODE = -1 };

typedef struct tree_node {
    tree_op op;
    bool constant;   /* no variable in or below it */
    bool is_named;   /* a constant that a named number is, or is in: another job may have another value */
    int left, right; /* operands, which stand before their operation; NO_NODE where there is none */
    double value;    /* of a constant */
    bool is_square;  /* a product of two operands that are the same */
} tree_node;

struct expression {
    char *text, *source;
    expression_use use;
    const char *function; /* what its source calls it; NULL: ley_user_pair */
    bool is_shared;       /* a node may be an operand of several others */
    int number_count;
    double numbers[EXPRESSION_MOST_NUMBERS]; /* that the source takes as arguments; 0 behind the last */
    int count;
    tree_node nodes[EXPRESSION_MAX_NODES]; /* the last one is the whole */
};

typedef struct tree_function {
    const char *name, *macro;
    int arity;
} tree_function;

extern const tree_function tree_functions[TREE_OPS - TREE_EXP];

/* The value of an operation. */
double tree_apply(tree_op op, double a, double b);

/* What an operation with operands is by these: whether it is a constant, whether a named one, and
 * its value; 0, if it is none. */
void tree_fold(const expression *e, tree_node *operation);

void expression_destroy(expression *e);

/* The value by the formula as it was written: the judge of what the kernels compute. Any thread. */
double expression_evaluate(const expression *e, double r_A, double q_e);

/* The same text for the same formula, whatever blanks, parentheses and names of constants it was
 * written with: no blanks, constants as the shortest decimal numbers that mean them. For messages
 * and cache keys. The expression's. */
const char *expression_text(const expression *e);

/* A function for C11, OpenCL C 1.2 and CUDA C alike (the expression's text):
 *
 *   LEY_FN real ley_user_pair(real r, real r2, real inverse_r, real q,
 *                             LEY_REFERENCE(own_numbers) own) { ...; return ...; }
 *
 * r2 = r^2 and inverse_r = 1/r are the caller's, who has them from one reciprocal root; what is not
 * used may be anything. `own` has the values of expression_numbers(), low.s0 to low.sf and high.s0
 * to high.sf: named numbers, and what comes of them alone, stand there and not in the text, which
 * is the same for whatever values they have. In the text itself are only zeros, which a kernel's
 * self-test could not tell from what is missing, exponents that become multiplications, and
 * numbers beyond EXPRESSION_MOST_NUMBERS. The dialect defines beforehand, each evaluating its
 * arguments once:
 *
 *   real          float, double or, in OpenCL C, a vector of them
 *   LEY_FN        qualifiers of an inline function
 *   LEY_REAL(x)   the real of x, a double literal that is not negative: x, or for floats
 *                 ((real)x##f)
 *   LEY_F_EXP(x) LEY_F_LOG(x) LEY_F_SQRT(x) LEY_F_ERF(x) LEY_F_ERFC(x) LEY_F_SIN(x) LEY_F_COS(x)
 *   LEY_F_TANH(x) LEY_F_ABS(x) LEY_F_MIN(x, y) LEY_F_MAX(x, y) LEY_F_POW(x, y) */
const char *expression_source(const expression *e);

/* EXPRESSION_MOST_NUMBERS values, 0 behind the last that the source takes. Those of a slope begin
 * with those of its expression. */
const double *expression_numbers(const expression *e);

expression_use expression_uses(const expression *e);

#endif
