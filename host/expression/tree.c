#include "expression/tree.h"

#include <math.h>
#include <stdlib.h>

const tree_function tree_functions[] = {
#define TREE_ROW(NAME, name, arity) {(name), "LEY_F_" #NAME, (arity)},
    TREE_FUNCTIONS(TREE_ROW)
#undef TREE_ROW
};

double tree_apply(tree_op op, double a, double b)
{
    switch (op) {
    case TREE_NEGATE:
        return -a;
    case TREE_ADD:
        return a + b;
    case TREE_SUBTRACT:
        return a - b;
    case TREE_MULTIPLY:
        return a * b;
    case TREE_DIVIDE:
        return a / b;
    case TREE_POWER:
        return pow(a, b);
    case TREE_EXP:
        return exp(a);
    case TREE_LOG:
        return log(a);
    case TREE_SQRT:
        return sqrt(a);
    case TREE_ERF:
        return erf(a);
    case TREE_ERFC:
        return erfc(a);
    case TREE_SIN:
        return sin(a);
    case TREE_COS:
        return cos(a);
    case TREE_TANH:
        return tanh(a);
    case TREE_ABS:
        return fabs(a);
    case TREE_MIN:
        return fmin(a, b);
    case TREE_MAX:
        return fmax(a, b);
    default:
        return NAN;
    }
}

void tree_fold(const expression *e, tree_node *operation)
{
    const tree_node *a = &e->nodes[operation->left],
                    *b = operation->right != NO_NODE ? &e->nodes[operation->right] : NULL;
    operation->constant = a->constant && (b == NULL || b->constant);
    operation->is_named = operation->constant && (a->is_named || (b != NULL && b->is_named));
    operation->value = operation->constant ? tree_apply(operation->op, a->value, b != NULL ? b->value : 0) : 0;
}

double expression_evaluate(const expression *e, double r_A, double q_e)
{
    double values[EXPRESSION_MAX_NODES];
    for (int i = 0; i < e->count; i++) {
        const tree_node *n = &e->nodes[i];
        if (n->constant)
            values[i] = n->value;
        else if (n->op == TREE_R)
            values[i] = r_A;
        else if (n->op == TREE_R2)
            values[i] = r_A * r_A;
        else if (n->op == TREE_Q)
            values[i] = q_e;
        else
            values[i] = tree_apply(n->op, values[n->left], n->right != NO_NODE ? values[n->right] : 0);
    }
    return values[e->count - 1];
}

void expression_destroy(expression *e)
{
    if (e == NULL)
        return;
    free(e->text);
    free(e->source);
    free(e);
}

const char *expression_text(const expression *e)
{
    return e->text;
}

const double *expression_numbers(const expression *e)
{
    return e->numbers;
}

const char *expression_source(const expression *e)
{
    return e->source;
}

expression_use expression_uses(const expression *e)
{
    return e->use;
}
