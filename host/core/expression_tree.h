/* The tree of a pair function, between its reader (expression.c) and the writer of its texts
 * (expression_source.c). */
#ifndef LEY_EXPRESSION_TREE_H
#define LEY_EXPRESSION_TREE_H

#include "core/expression.h"

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
    TREE_EXP, /* from here in the order of tree_functions */
    TREE_LOG,
    TREE_SQRT,
    TREE_ERF,
    TREE_ERFC,
    TREE_SIN,
    TREE_COS,
    TREE_TANH,
    TREE_ABS,
    TREE_MIN,
    TREE_MAX,
    TREE_OPS
} tree_op;

enum { NO_NODE = -1 };

typedef struct tree_node {
    tree_op op;
    bool constant;   /* no variable in or below it */
    int left, right; /* operands, which stand before their operation; NO_NODE where there is none */
    double value;    /* of a constant */
    bool is_square;  /* a product of two operands that are the same */
} tree_node;

struct expression {
    char *text, *source;
    expression_use use;
    int count;
    tree_node nodes[EXPRESSION_MAX_NODES]; /* the last one is the whole */
};

typedef struct tree_function {
    const char *name, *macro;
    int arity;
} tree_function;

extern const tree_function tree_functions[TREE_OPS - TREE_EXP];

/* Fills in `text`. */
ley_status tree_write_text(expression *e, ley_error *error);

/* Marks what is a square. */
void tree_mark_squares(expression *e);

/* Fills in `source` and `use`. */
ley_status tree_write_source(expression *e, ley_error *error);

#endif
