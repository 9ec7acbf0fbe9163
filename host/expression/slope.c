#include "expression/slope.h"

#include "error.h"
#include "expression/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- As an expression ------------------------------------------------------------------------ */

/* Keeps x/|x| finite at 0. */
static const double least_magnitude = 1e-30;

/* In place of a node: the derivative of what does not depend on r. */
enum { NOTHING = NO_NODE };

typedef struct writer {
    expression *made;
    bool is_full;
} writer;

static int put(writer *w, tree_op op, int left, int right, double value)
{
    expression *e = w->made;
    if (e->count == EXPRESSION_MAX_NODES) {
        w->is_full = true;
        return 0;
    }
    tree_node *n = &e->nodes[e->count];
    *n = (tree_node){.op = op, .constant = op == TREE_NUMBER, .left = left, .right = right, .value = value};
    if (left != NO_NODE)
        tree_fold(e, n);
    return e->count++;
}

static int number(writer *w, double value)
{
    return put(w, TREE_NUMBER, NO_NODE, NO_NODE, value);
}

static int unary(writer *w, tree_op op, int a)
{
    return put(w, op, a, NO_NODE, 0);
}

static bool is_number(const writer *w, int node, double value)
{
    const tree_node *n = &w->made->nodes[node];
    return n->constant && n->value == value && !n->is_named;
}

/* Of derivatives, which may be nothing. */
static int negative(writer *w, int a)
{
    return a == NOTHING ? NOTHING : unary(w, TREE_NEGATE, a);
}

static int sum(writer *w, int a, int b)
{
    return a == NOTHING ? b : b == NOTHING ? a : put(w, TREE_ADD, a, b, 0);
}

static int difference(writer *w, int a, int b)
{
    return b == NOTHING ? a : a == NOTHING ? negative(w, b) : put(w, TREE_SUBTRACT, a, b, 0);
}

static int product(writer *w, int a, int b)
{
    if (a == NOTHING || b == NOTHING)
        return NOTHING;
    return is_number(w, a, 1) ? b : is_number(w, b, 1) ? a : put(w, TREE_MULTIPLY, a, b, 0);
}

static int quotient(writer *w, int a, int b)
{
    return a == NOTHING ? NOTHING : put(w, TREE_DIVIDE, a, b, 0);
}

/* x / |x| */
static int sign(writer *w, int x)
{
    return quotient(w, x, sum(w, unary(w, TREE_ABS, x), number(w, least_magnitude)));
}

/* a^b, which is `node`: of a constant power b a^(b - 1) a', else a^b (b' log a + b a'/a). */
static int power_slope(writer *w, int node, int a, int b, int of_a, int of_b)
{
    if (of_b == NOTHING && w->made->nodes[b].constant) {
        const double n = w->made->nodes[b].value;
        return product(w, product(w, number(w, n), put(w, TREE_POWER, a, number(w, n - 1), 0)), of_a);
    }
    const int of_base = of_a == NOTHING ? NOTHING : product(w, b, quotient(w, of_a, a)),
              of_exponent = of_b == NOTHING ? NOTHING : product(w, of_b, unary(w, TREE_LOG, a));
    return product(w, node, sum(w, of_exponent, of_base));
}

/* Half of a' + b', plus or minus half of sign(a - b) (a' - b'). */
static int search_slope(writer *w, bool is_larger, int a, int b, int of_a, int of_b)
{
    const int apart = difference(w, of_a, of_b), both = sum(w, of_a, of_b);
    if (apart == NOTHING)
        return NOTHING;
    const int turned = product(w, sign(w, put(w, TREE_SUBTRACT, a, b, 0)), apart);
    return product(w, number(w, 0.5), is_larger ? sum(w, both, turned) : difference(w, both, turned));
}

/* The derivative of a function of a, f'(a) a'. */
static int function_slope(writer *w, tree_op op, int node, int a, int of_a)
{
    const double of_erf = 2 / sqrt(M_PI);
    if (of_a == NOTHING)
        return NOTHING;
    switch (op) {
    case TREE_EXP:
        return product(w, node, of_a);
    case TREE_LOG:
        return quotient(w, of_a, a);
    case TREE_SQRT:
        return quotient(w, of_a, product(w, number(w, 2), node));
    case TREE_ERF:
    case TREE_ERFC: {
        const int bell = unary(w, TREE_EXP, negative(w, put(w, TREE_POWER, a, number(w, 2), 0)));
        return product(w, product(w, number(w, op == TREE_ERF ? of_erf : -of_erf), bell), of_a);
    }
    case TREE_SIN:
        return product(w, unary(w, TREE_COS, a), of_a);
    case TREE_COS:
        return negative(w, product(w, unary(w, TREE_SIN, a), of_a));
    case TREE_TANH:
        return product(w, difference(w, number(w, 1), put(w, TREE_POWER, node, number(w, 2), 0)), of_a);
    default: /* TREE_ABS */
        return product(w, sign(w, a), of_a);
    }
}

/* Of node i, which stands at the same place in what is made. */
static int slope_of(writer *w, int i, const int *of)
{
    const tree_node n = w->made->nodes[i];
    const int a = n.left, b = n.right, of_a = a != NO_NODE ? of[a] : NOTHING, of_b = b != NO_NODE ? of[b] : NOTHING;
    if (n.constant || n.op == TREE_Q)
        return NOTHING;
    switch (n.op) {
    case TREE_R:
        return number(w, 1);
    case TREE_R2:
        return product(w, number(w, 2), put(w, TREE_R, NO_NODE, NO_NODE, 0));
    case TREE_NEGATE:
        return negative(w, of_a);
    case TREE_ADD:
        return sum(w, of_a, of_b);
    case TREE_SUBTRACT:
        return difference(w, of_a, of_b);
    case TREE_MULTIPLY:
        return sum(w, product(w, of_a, b), product(w, a, of_b));
    case TREE_DIVIDE:
        return quotient(w, difference(w, of_a, product(w, i, of_b)), b);
    case TREE_POWER:
        return power_slope(w, i, a, b, of_a, of_b);
    case TREE_MIN:
    case TREE_MAX:
        return search_slope(w, n.op == TREE_MAX, a, b, of_a, of_b);
    default:
        return function_slope(w, n.op, i, a, of_a);
    }
}

static void write_slope(writer *w, const expression *e)
{
    int of[EXPRESSION_MAX_NODES];
    memcpy(w->made->nodes, e->nodes, (size_t)e->count * sizeof *e->nodes);
    w->made->count = e->count;
    for (int i = 0; i < e->count && !w->is_full; i++)
        of[i] = slope_of(w, i, of);
    if (w->is_full)
        return;
    /* The whole is the last node. */
    const int whole = of[e->count - 1];
    if (whole == NOTHING)
        number(w, 0);
    else if (whole != w->made->count - 1)
        put(w, TREE_MULTIPLY, number(w, 1), whole, 0);
}

ley_status expression_slope(const expression *e, expression **made, ley_error *error)
{
    writer w = {.made = calloc(1, sizeof *w.made)};
    *made = NULL;
    if (w.made == NULL)
        return ley_fail_memory(error, sizeof *w.made, "a pair function");
    w.made->function = "ley_user_slope";
    w.made->is_shared = true;
    w.made->number_count = e->number_count;
    memcpy(w.made->numbers, e->numbers, sizeof e->numbers);
    write_slope(&w, e);
    ley_status status = w.is_full ? ley_fail(error, LEY_ERROR_USAGE,
                                             "pair function: its derivative, which the field takes, has more than %d "
                                             "values and operations",
                                             EXPRESSION_MAX_NODES)
                                  : tree_write_source(w.made, error);
    if (status == LEY_OK && !w.made->use.fits_float)
        status = ley_fail(error, LEY_ERROR_USAGE,
                          "pair function: a number of its derivative, which the field takes, is neither 0 nor within "
                          "1.2e-38 and 3.4e38");
    if (status == LEY_OK)
        *made = w.made;
    else
        expression_destroy(w.made);
    return status;
}

/* ---- Side by side ---------------------------------------------------------------------------- */

/* Of a function of one value, f'(a). */
static double function_derivative(tree_op op, double a)
{
    switch (op) {
    case TREE_EXP:
        return exp(a);
    case TREE_LOG:
        return 1 / a;
    case TREE_SQRT:
        return 0.5 / sqrt(a);
    case TREE_ERF:
        return 2 / sqrt(M_PI) * exp(-a * a);
    case TREE_ERFC:
        return -2 / sqrt(M_PI) * exp(-a * a);
    case TREE_SIN:
        return cos(a);
    case TREE_COS:
        return -sin(a);
    case TREE_TANH:
        return 1 / (cosh(a) * cosh(a));
    case TREE_ABS:
        return a < 0 ? -1 : a > 0 ? 1 : 0;
    default:
        return NAN;
    }
}

static double operation_derivative(tree_op op, double a, double b, double of_a, double of_b)
{
    switch (op) {
    case TREE_NEGATE:
        return -of_a;
    case TREE_ADD:
        return of_a + of_b;
    case TREE_SUBTRACT:
        return of_a - of_b;
    case TREE_MULTIPLY:
        return of_a * b + a * of_b;
    case TREE_DIVIDE:
        return (of_a * b - a * of_b) / (b * b);
    case TREE_POWER:
        return (of_a != 0 ? b * pow(a, b - 1) * of_a : 0) + (of_b != 0 ? log(a) * pow(a, b) * of_b : 0);
    case TREE_MIN:
        return a < b ? of_a : a > b ? of_b : (of_a + of_b) / 2;
    case TREE_MAX:
        return a > b ? of_a : a < b ? of_b : (of_a + of_b) / 2;
    default:
        return of_a != 0 ? function_derivative(op, a) * of_a : 0;
    }
}

double expression_evaluate_slope(const expression *e, double r_A, double q_e)
{
    double value[EXPRESSION_MAX_NODES], slope[EXPRESSION_MAX_NODES];
    slope[0] = 0; /* an expression has a node at least */
    for (int i = 0; i < e->count; i++) {
        const tree_node *n = &e->nodes[i];
        const int a = n->left, b = n->right;
        slope[i] = 0;
        if (n->constant) {
            value[i] = n->value;
        } else if (a == NO_NODE) {
            value[i] = n->op == TREE_R ? r_A : n->op == TREE_R2 ? r_A * r_A : q_e;
            slope[i] = n->op == TREE_R ? 1 : n->op == TREE_R2 ? 2 * r_A : 0;
        } else {
            const double of_b = b != NO_NODE ? slope[b] : 0, other = b != NO_NODE ? value[b] : 0;
            value[i] = tree_apply(n->op, value[a], other);
            slope[i] = operation_derivative(n->op, value[a], other, slope[a], of_b);
        }
    }
    return slope[e->count - 1];
}
