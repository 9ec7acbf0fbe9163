/* The texts of a pair function: what stands for it in messages and cache keys, and source text for
 * kernels.
 *
 * On its way to source text the tree is lowered: constants are folded in double, powers become
 * multiplications, and divisions by r, r2 and constants become multiplications by what a kernel has
 * anyway. The interpreter does none of this, so that a mistake here shows when kernels are held
 * against it. */
#include "expression/source.h"
#include "core/number.h"
#include "error.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Text ------------------------------------------------------------------------------------ */

/* A number that is not negative, with at least `digits` digits and as many as tell it from all
 * others. The locale must be the "C" locale. */
static void print_number(FILE *out, double value, int digits, bool is_source)
{
    char text[40];
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (digits++ < 17 && strtod(text, NULL) != value);
    /* C reads 8 as an integer; a point makes it a real number, and lets a suffix follow. */
    const size_t whole = strcspn(text, "e");
    fwrite(text, 1, whole, out);
    if (is_source && memchr(text, '.', whole) == NULL)
        fputs(".0", out);
    fputs(text + whole, out);
}

static int precedence(tree_op op)
{
    switch (op) {
    case TREE_ADD:
    case TREE_SUBTRACT:
        return 1;
    case TREE_MULTIPLY:
    case TREE_DIVIDE:
        return 2;
    case TREE_NEGATE:
        return 3;
    case TREE_POWER:
        return 4;
    default:
        return 5;
    }
}

/* In parentheses where the grammar asks for an operator of at least this precedence. */
static void print_node(FILE *out, const expression *e, int node, int least)
{
    static const char signs[] = {
        [TREE_ADD] = '+', [TREE_SUBTRACT] = '-', [TREE_MULTIPLY] = '*', [TREE_DIVIDE] = '/', [TREE_POWER] = '^'};
    static const char *const names[] = {[TREE_R] = "r", [TREE_R2] = "r2", [TREE_Q] = "q"};
    const tree_node *n = &e->nodes[node];
    const int own = precedence(n->op);
    if (own < least)
        fputc('(', out);
    if (n->op == TREE_NUMBER) {
        print_number(out, n->value, 15, false);
    } else if (n->left == NO_NODE) {
        fputs(names[n->op], out);
    } else if (n->op == TREE_NEGATE) {
        fputc('-', out);
        print_node(out, e, n->left, own);
    } else if (n->op >= TREE_EXP) {
        fprintf(out, "%s(", tree_functions[n->op - TREE_EXP].name);
        print_node(out, e, n->left, 0);
        if (n->right != NO_NODE) {
            fputc(',', out);
            print_node(out, e, n->right, 0);
        }
        fputc(')', out);
    } else {
        print_node(out, e, n->left, n->op == TREE_POWER ? own + 1 : own);
        fputc(signs[n->op], out);
        print_node(out, e, n->right, n->op == TREE_POWER ? own - 1 : own + 1);
    }
    if (own < least)
        fputc(')', out);
}

ley_status tree_write_text(expression *e, ley_error *error)
{
    size_t size = 0;
    FILE *out = open_memstream(&e->text, &size);
    if (out == NULL)
        return ley_fail_memory(error, EXPRESSION_MAX_LENGTH, "a pair function");
    locale_t old = uselocale(ley_c_locale());
    print_node(out, e, e->count - 1, 0);
    uselocale(old);
    return fclose(out) == 0 ? LEY_OK : ley_fail_memory(error, size, "a pair function");
}

/* ---- Lowering -------------------------------------------------------------------------------- */

enum {
    LOW_INVERSE_R = TREE_OPS, /* beyond the operations of the tree */
    LOW_POWER,                /* left^n, n >= 2 */
    LOW_OPS
};

enum {
    MOST_MULTIPLIED = 32, /* the largest exponent that becomes multiplications */
    LOW_PER_NODE = 8,     /* more than what one node of the tree becomes */
    MOST_BRACKETS = 24    /* within each other; compilers stop at 256, macros add some */
};

typedef struct low_node {
    int op, left, right;
    double value;  /* of TREE_NUMBER */
    bool is_named; /* of TREE_NUMBER: it comes of a named number */
    int n;         /* of LOW_POWER */
    int name;      /* t<name> holds the value; 0 without a name */
    int users;     /* nodes that it is an operand of, where the expression says that these may be several */
    int squares;   /* t<squares> is the base's square, the next one its fourth power, ... */
    int brackets;  /* within each other when printed */
} low_node;

typedef struct low_tree {
    low_node *nodes;
    int count, names;
    FILE *out;
    expression *made;
} low_tree;

static int low(low_tree *t, int op, int left, int right)
{
    t->nodes[t->count] = (low_node){.op = op, .left = left, .right = right};
    return t->count++;
}

static int low_number(low_tree *t, double value, bool is_named)
{
    const int node = low(t, TREE_NUMBER, NO_NODE, NO_NODE);
    t->nodes[node].value = value;
    t->nodes[node].is_named = is_named;
    return node;
}

static bool is_op(const low_tree *t, int node, int op)
{
    return t->nodes[node].op == op;
}

static bool is_one(const low_tree *t, int node)
{
    return is_op(t, node, TREE_NUMBER) && t->nodes[node].value == 1 && !t->nodes[node].is_named;
}

static bool is_normal_float(double value)
{
    return fabs(value) >= (double)FLT_MIN && fabs(value) <= (double)FLT_MAX;
}

/* x r r = x r2. */
static int low_product(low_tree *t, int a, int b)
{
    if (is_one(t, a))
        return b;
    if (is_one(t, b))
        return a;
    if (is_op(t, b, TREE_R) && is_op(t, a, TREE_R))
        return low(t, TREE_R2, NO_NODE, NO_NODE);
    if (is_op(t, b, TREE_R) && is_op(t, a, TREE_MULTIPLY) && is_op(t, t->nodes[a].right, TREE_R))
        return low_product(t, t->nodes[a].left, low(t, TREE_R2, NO_NODE, NO_NODE));
    return low(t, TREE_MULTIPLY, a, b);
}

static int low_inverse_power(low_tree *t, int n)
{
    const int inverse = low(t, LOW_INVERSE_R, NO_NODE, NO_NODE);
    if (n == 1)
        return inverse;
    const int power = low(t, LOW_POWER, inverse, NO_NODE);
    t->nodes[power].n = n;
    return power;
}

/* 1/node without a division, or NO_NODE: of a constant, of r, r2 and r2's powers, of a constant
 * times one of these. */
static int low_reciprocal(low_tree *t, int node, bool is_product_allowed)
{
    const low_node *n = &t->nodes[node];
    switch (n->op) {
    case TREE_NUMBER:
        /* A reciprocal that floats cannot hold would lose a quotient that they can. */
        return is_normal_float(1 / n->value) ? low_number(t, 1 / n->value, n->is_named) : NO_NODE;
    case TREE_R:
        return low_inverse_power(t, 1);
    case TREE_R2:
        return low_inverse_power(t, 2);
    case LOW_POWER:
        return is_op(t, n->left, TREE_R2) ? low_inverse_power(t, 2 * n->n) : NO_NODE;
    case TREE_MULTIPLY:
        if (is_product_allowed && is_op(t, n->left, TREE_NUMBER)) {
            const int right = n->right, a = low_reciprocal(t, n->left, false);
            const int b = a == NO_NODE ? NO_NODE : low_reciprocal(t, right, false);
            return b == NO_NODE ? NO_NODE : low_product(t, a, b);
        }
        return NO_NODE;
    default:
        return NO_NODE;
    }
}

static int low_quotient(low_tree *t, int a, int b)
{
    const int reciprocal = low_reciprocal(t, b, true);
    return reciprocal != NO_NODE ? low_product(t, a, reciprocal) : low(t, TREE_DIVIDE, a, b);
}

static int low_root(low_tree *t, int a)
{
    return is_op(t, a, TREE_R2) ? low(t, TREE_R, NO_NODE, NO_NODE) : low(t, TREE_SQRT, a, NO_NODE);
}

static int low_integer_power(low_tree *t, int a, int n)
{
    if (n == 0)
        return low_number(t, 1, false);
    if (n == 1)
        return a;
    if (n < 0 && is_op(t, a, TREE_R))
        return low_inverse_power(t, -n);
    if (n < 0 && is_op(t, a, TREE_R2))
        return low_inverse_power(t, -2 * n);
    if (n < 0)
        return low_quotient(t, low_number(t, 1, false), low_integer_power(t, a, -n));
    if (is_op(t, a, TREE_R)) {
        const int even = low_integer_power(t, low(t, TREE_R2, NO_NODE, NO_NODE), n / 2);
        return n % 2 == 0 ? even : low_product(t, a, even);
    }
    const int power = low(t, LOW_POWER, a, NO_NODE);
    t->nodes[power].n = n;
    return power;
}

static int low_power(low_tree *t, int a, int b)
{
    const double n = t->nodes[b].value;
    if (!is_op(t, b, TREE_NUMBER) || fabs(n) > MOST_MULTIPLIED)
        return low(t, TREE_POWER, a, b);
    if (n == trunc(n))
        return low_integer_power(t, a, (int)n);
    if (2 * n == trunc(2 * n) && fabs(2 * n) <= MOST_MULTIPLIED)
        return low_integer_power(t, low_root(t, a), (int)(2 * n));
    return low(t, TREE_POWER, a, b);
}

/* Returns the whole. */
static int lower(low_tree *t, const expression *e)
{
    int at[EXPRESSION_MAX_NODES];
    for (int i = 0; i < e->count; i++) {
        const tree_node *n = &e->nodes[i];
        const int a = n->left != NO_NODE ? at[n->left] : NO_NODE, b = n->right != NO_NODE ? at[n->right] : NO_NODE;
        if (n->constant)
            at[i] = low_number(t, n->value, n->is_named);
        else if (n->op == TREE_MULTIPLY)
            at[i] = low_product(t, a, b);
        else if (n->op == TREE_DIVIDE)
            at[i] = low_quotient(t, a, b);
        else if (n->op == TREE_POWER)
            at[i] = low_power(t, a, b);
        else if (n->op == TREE_SQRT)
            at[i] = low_root(t, a);
        else
            at[i] = low(t, n->op, a, b);
    }
    return at[e->count - 1];
}

/* ---- Source ---------------------------------------------------------------------------------- */

static void print_value(low_tree *t, int node);

static bool is_sum(int op)
{
    return op == TREE_ADD || op == TREE_SUBTRACT;
}

static bool is_product(int op)
{
    return op == TREE_MULTIPLY || op == TREE_DIVIDE;
}

/* Whether `node` is printed without brackets as the left operand of `op`: a - b + c. */
static bool goes_on(const low_tree *t, int node, int op)
{
    const int inner = t->nodes[node].op;
    return t->nodes[node].name == 0 && ((is_sum(op) && is_sum(inner)) || (is_product(op) && is_product(inner)));
}

static void print_chain(low_tree *t, int node)
{
    static const char signs[] = {[TREE_ADD] = '+', [TREE_SUBTRACT] = '-', [TREE_MULTIPLY] = '*', [TREE_DIVIDE] = '/'};
    const low_node *n = &t->nodes[node];
    if (goes_on(t, n->left, n->op))
        print_chain(t, n->left);
    else
        print_value(t, n->left);
    fprintf(t->out, " %c ", signs[n->op]);
    print_value(t, n->right);
}

/* base^(2^k) */
static void print_square(low_tree *t, const low_node *n, int k)
{
    if (k == 0)
        print_value(t, n->left);
    else
        fprintf(t->out, "t%d", n->squares + k - 1);
}

static void print_power(low_tree *t, const low_node *n)
{
    const char *between = "";
    int top = 0;
    while (2 << top <= n->n)
        top++;
    if (n->n == 1 << top) { /* the last square is taken here */
        print_square(t, n, top - 1);
        fputs(" * ", t->out);
        print_square(t, n, top - 1);
        return;
    }
    for (int k = 0; k <= top; k++)
        if ((n->n >> k & 1) != 0) {
            fputs(between, t->out);
            print_square(t, n, k);
            between = " * ";
        }
}

/* The number's place among the arguments, where it may be one that it is already; MOST: there is
 * none left. */
static int place_of_number(expression *e, double value)
{
    int place = 0;
    while (place < e->number_count && e->numbers[place] != value)
        place++;
    if (place == e->number_count && place < EXPRESSION_MOST_NUMBERS)
        e->numbers[e->number_count++] = value;
    return place;
}

static void print_constant(low_tree *t, const low_node *n)
{
    const double value = n->value;
    if (value != 0 && !is_normal_float(value))
        t->made->use.fits_float = false;
    const int place = n->is_named && value != 0 ? place_of_number(t->made, value) : EXPRESSION_MOST_NUMBERS;
    if (place < EXPRESSION_MOST_NUMBERS) {
        fprintf(t->out, "((real)own.%s.s%x)", place < 16 ? "low" : "high", (unsigned)place % 16);
        return;
    }
    fputs(signbit(value) ? "(-LEY_REAL(" : "LEY_REAL(", t->out);
    print_number(t->out, fabs(value), 17, true);
    fputs(signbit(value) ? "))" : ")", t->out);
}

static void print_function(low_tree *t, const low_node *n)
{
    fprintf(t->out, "%s(", n->op == TREE_POWER ? "LEY_F_POW" : tree_functions[n->op - TREE_EXP].macro);
    print_value(t, n->left);
    if (n->right != NO_NODE) {
        fputs(", ", t->out);
        print_value(t, n->right);
    }
    fputc(')', t->out);
}

/* In brackets, whatever stands around it. */
static void print_value(low_tree *t, int node)
{
    static const char *const names[LOW_OPS] = {
        [TREE_R] = "r", [TREE_R2] = "r2", [TREE_Q] = "q", [LOW_INVERSE_R] = "inverse_r"};
    const low_node *n = &t->nodes[node];
    if (n->name != 0) {
        fprintf(t->out, "t%d", n->name);
        return;
    }
    switch (n->op) {
    case TREE_NUMBER:
        print_constant(t, n);
        return;
    case TREE_R:
    case TREE_R2:
    case TREE_Q:
    case LOW_INVERSE_R:
        t->made->use.r |= n->op == TREE_R;
        t->made->use.r2 |= n->op == TREE_R2;
        t->made->use.inverse_r |= n->op == LOW_INVERSE_R;
        fputs(names[n->op], t->out);
        return;
    case TREE_NEGATE:
    case LOW_POWER:
    case TREE_ADD:
    case TREE_SUBTRACT:
    case TREE_MULTIPLY:
    case TREE_DIVIDE:
        fputc('(', t->out);
        if (n->op == TREE_NEGATE) {
            fputc('-', t->out);
            print_value(t, n->left);
        } else if (n->op == LOW_POWER) {
            print_power(t, n);
        } else {
            print_chain(t, node);
        }
        fputc(')', t->out);
        return;
    default:
        print_function(t, n);
    }
}

/* const real t1 = ...; */
static void give_name(low_tree *t, int node)
{
    fprintf(t->out, "    const real t%d = ", t->names + 1);
    print_value(t, node);
    fputs(";\n", t->out);
    t->nodes[node].name = ++t->names;
    t->nodes[node].brackets = 0;
}

/* The base once, not once a factor; then its squares. */
static void name_squares(low_tree *t, low_node *n)
{
    if (t->nodes[n->left].left != NO_NODE && t->nodes[n->left].name == 0)
        give_name(t, n->left);
    n->squares = t->names + 1;
    /* The last square of a power of two is left to print_power. */
    for (int k = 1; 1 << k <= n->n && n->n != 1 << k; k++) {
        fprintf(t->out, "    const real t%d = ", t->names + 1);
        print_square(t, n, k - 1);
        fputs(" * ", t->out);
        print_square(t, n, k - 1);
        fputs(";\n", t->out);
        t->names++;
    }
}

/* Names what must stand in statements of its own in front of the one that `node` is printed in:
 * bases of powers, and what would be nested too deeply. The rest stays in one piece, where
 * compilers may fuse products and sums. */
static void name_parts(low_tree *t, int node)
{
    low_node *n = &t->nodes[node];
    if (n->left == NO_NODE || n->name != 0)
        return;
    name_parts(t, n->left);
    if (n->right != NO_NODE)
        name_parts(t, n->right);
    if (n->op == LOW_POWER) {
        name_squares(t, n);
        n->brackets = 1;
        if (n->users > 1)
            give_name(t, node);
        return;
    }
    const int left = t->nodes[n->left].brackets, right = n->right != NO_NODE ? t->nodes[n->right].brackets : 0;
    /* A function's macro may add two of its own. */
    const int own = n->op == TREE_POWER || n->op >= TREE_EXP ? 3 : 1;
    n->brackets = (left > right ? left : right) + own;
    if (left > right && goes_on(t, n->left, n->op))
        n->brackets = left;
    if (n->brackets > MOST_BRACKETS || n->users > 1)
        give_name(t, node);
}

/* How many nodes each of those below has for a user. */
static void count_users(low_tree *t, int node)
{
    const low_node *n = &t->nodes[node];
    const int operands[2] = {n->left, n->right};
    for (int i = 0; i < 2; i++)
        if (operands[i] != NO_NODE && t->nodes[operands[i]].users++ == 0)
            count_users(t, operands[i]);
}

static expression_charge find_charge(const expression *e)
{
    expression_charge charge[EXPRESSION_MAX_NODES];
    for (int i = 0; i < e->count; i++) {
        const tree_node *n = &e->nodes[i];
        const expression_charge a = n->left != NO_NODE ? charge[n->left] : EXPRESSION_WITHOUT_CHARGE,
                                b = n->right != NO_NODE ? charge[n->right] : EXPRESSION_WITHOUT_CHARGE;
        const bool is_linear_kept =
            n->op == TREE_NEGATE || (is_product(n->op) && b == EXPRESSION_WITHOUT_CHARGE) || (is_sum(n->op) && a == b);
        if (n->op == TREE_Q)
            charge[i] = EXPRESSION_LINEAR_IN_CHARGE;
        else if (is_linear_kept)
            charge[i] = a;
        else if (n->op == TREE_MULTIPLY && a == EXPRESSION_WITHOUT_CHARGE)
            charge[i] = b;
        else if (a == EXPRESSION_WITHOUT_CHARGE && b == EXPRESSION_WITHOUT_CHARGE)
            charge[i] = EXPRESSION_WITHOUT_CHARGE;
        else
            charge[i] = EXPRESSION_OTHER_IN_CHARGE;
    }
    return charge[e->count - 1];
}

ley_status tree_write_source(expression *e, ley_error *error)
{
    const size_t bytes = (size_t)e->count * LOW_PER_NODE * sizeof(low_node);
    size_t size = 0;
    low_tree t = {.nodes = malloc(bytes), .made = e};
    if (t.nodes == NULL)
        return ley_fail_memory(error, bytes, "a pair function");
    t.out = open_memstream(&e->source, &size);
    if (t.out == NULL) {
        free(t.nodes);
        return ley_fail_memory(error, bytes, "a pair function");
    }
    e->use = (expression_use){.fits_float = true, .charge = find_charge(e)};
    locale_t old = uselocale(ley_c_locale());
    const int whole = lower(&t, e);
    fprintf(t.out, "LEY_FN real %s(real r, real r2, real inverse_r, real q, LEY_REFERENCE(own_numbers) own)\n{\n",
            e->function != NULL ? e->function : "ley_user_pair");
    if (e->is_shared)
        count_users(&t, whole);
    name_parts(&t, whole);
    fputs("    return ", t.out);
    print_value(&t, whole);
    fputs(";\n}\n", t.out);
    uselocale(old);
    free(t.nodes);
    return fclose(t.out) == 0 ? LEY_OK : ley_fail_memory(error, size, "a pair function");
}
