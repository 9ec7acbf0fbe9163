#include "expression/expression.h"

#include "core/number.h"
#include "error.h"
#include "expression/check.h"
#include "expression/source.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct parser {
    const char *text;
    size_t length, at;
    int depth;
    const expression_constant *constants;
    size_t constant_count;
    expression *made;
    ley_error *error;
} parser;

static int parse_sum(parser *p);
static int parse_unary(parser *p);

static int fail_at(parser *p, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int fail_at(parser *p, size_t at, const char *format, ...)
{
    char what[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    ley_fail(p->error, LEY_ERROR_USAGE, "pair function, column %zu: %s", at + 1, what);
    return NO_NODE;
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || ley_is_digit(c);
}

static size_t name_length(const char *text, size_t length)
{
    size_t n = 0;
    if (length == 0 || ley_is_digit(text[0]))
        return 0;
    while (n < length && is_name_character(text[n]))
        n++;
    return n;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* The next character behind blanks; 0 at the end, for no NUL is among the characters allowed. */
static char peek(parser *p)
{
    while (p->at < p->length && (p->text[p->at] == ' ' || p->text[p->at] == '\t'))
        p->at++;
    return p->at < p->length ? p->text[p->at] : '\0';
}

/* What stands at the next place, for "... is expected, not ". */
static const char *found(parser *p, char quote[LEY_TEXT_QUOTE])
{
    if (peek(p) == '\0')
        return "the end";
    size_t length = 1;
    if (is_name_character(p->text[p->at]))
        while (p->at + length < p->length && is_name_character(p->text[p->at + length]))
            length++;
    return ley_quote(p->text + p->at, length, quote);
}

/* Why an operation on constants has no finite value. */
static const char *no_value(tree_op op, double a, double b)
{
    if (op == TREE_DIVIDE && b == 0)
        return "division by zero";
    if (op == TREE_LOG && a <= 0)
        return "the logarithm of a number that is not positive";
    if (op == TREE_SQRT && a < 0)
        return "the square root of a negative number";
    if (op == TREE_POWER && a == 0)
        return "zero to a negative power";
    if (op == TREE_POWER && a < 0 && b != trunc(b))
        return "a negative number to a fractional power";
    return "the value is too large";
}

/* `at`: where to point when the operation makes no sense. */
static int add_node(parser *p, tree_node node, size_t at)
{
    expression *e = p->made;
    if (e->count == EXPRESSION_MAX_NODES)
        return fail_at(p, at, "more than %d values and operations", EXPRESSION_MAX_NODES);
    if (node.left != NO_NODE) {
        const tree_node *left = &e->nodes[node.left], *right = node.right != NO_NODE ? &e->nodes[node.right] : NULL;
        const double b = right != NULL ? right->value : 0;
        tree_fold(e, &node);
        if (node.constant ? !isfinite(node.value) : node.op == TREE_DIVIDE && right->constant && b == 0)
            return fail_at(p, at, "%s", no_value(node.op, left->value, b));
    }
    e->nodes[e->count] = node;
    return e->count++;
}

static int add_number(parser *p, double value, size_t at)
{
    return add_node(
        p, (tree_node){.op = TREE_NUMBER, .constant = true, .left = NO_NODE, .right = NO_NODE, .value = value}, at);
}

static int add_operation(parser *p, tree_op op, int left, int right, size_t at)
{
    return add_node(p, (tree_node){.op = op, .left = left, .right = right}, at);
}

static int parse_number(parser *p)
{
    const char *word = p->text + p->at;
    const size_t left = p->length - p->at, at = p->at;
    char quote[LEY_TEXT_QUOTE];
    double value;
    size_t n = 0;
    /* All that could belong to it, so that 1.5f, 1..2 and 0x10 are quoted as a whole. */
    while (n < left && (is_name_character(word[n]) || word[n] == '.' ||
                        ((word[n] == '+' || word[n] == '-') && (word[n - 1] == 'e' || word[n - 1] == 'E'))))
        n++;
    if (n > LEY_TEXT_WORD_MAX)
        return fail_at(p, at, "a number of more than %d characters", LEY_TEXT_WORD_MAX);
    const ley_number number = ley_parse_double(word, n, &value);
    if (number != LEY_NUMBER_FINE)
        return fail_at(p, at, "%s %s", ley_quote(word, n, quote), ley_number_complaint(number));
    p->at += n;
    return add_number(p, value, at);
}

static int parse_call(parser *p, tree_op op, const char *name, int arity, size_t at)
{
    char quote[LEY_TEXT_QUOTE];
    int operands[2] = {NO_NODE, NO_NODE};
    if (peek(p) != '(')
        return fail_at(p, p->at, "'(' is expected behind the function '%s', not %s", name, found(p, quote));
    for (int i = 0; i < arity; i++) {
        if (i > 0 && peek(p) != ',')
            return fail_at(p, p->at, "',' is expected, not %s: '%s' takes %d values", found(p, quote), name, arity);
        p->at++;
        operands[i] = parse_sum(p);
        if (operands[i] == NO_NODE)
            return NO_NODE;
    }
    if (peek(p) == ',')
        return fail_at(p, p->at, "'%s' takes %d value%s", name, arity, arity == 1 ? "" : "s");
    if (peek(p) != ')')
        return fail_at(p, p->at, "')' is expected, not %s", found(p, quote));
    p->at++;
    return add_operation(p, op, operands[0], operands[1], at);
}

static int parse_name(parser *p)
{
    const char *word = p->text + p->at;
    const size_t length = name_length(word, p->length - p->at), at = p->at;
    char quote[LEY_TEXT_QUOTE];
    p->at += length;
    for (int i = 0; i < TREE_OPS - TREE_EXP; i++)
        if (is_word(word, length, tree_functions[i].name))
            return parse_call(p, (tree_op)(TREE_EXP + i), tree_functions[i].name, tree_functions[i].arity, at);
    if (is_word(word, length, "pow"))
        return parse_call(p, TREE_POWER, "pow", 2, at);
    if (is_word(word, length, "r"))
        return add_operation(p, TREE_R, NO_NODE, NO_NODE, at);
    if (is_word(word, length, "r2"))
        return add_operation(p, TREE_R2, NO_NODE, NO_NODE, at);
    if (is_word(word, length, "q"))
        return add_operation(p, TREE_Q, NO_NODE, NO_NODE, at);
    if (is_word(word, length, "pi"))
        return add_number(p, 3.14159265358979323846, at);
    for (size_t i = 0; i < p->constant_count; i++)
        if (is_word(word, length, p->constants[i].name)) {
            /* Numbers of the tree are never negative: neither are those that its text is read back
             * from. */
            const double value = p->constants[i].value;
            const int node = add_number(p, fabs(value), at);
            if (node != NO_NODE)
                p->made->nodes[node].is_named = true;
            return node != NO_NODE && signbit(value) ? add_operation(p, TREE_NEGATE, node, NO_NODE, at) : node;
        }
    fail_at(p, at, "unknown name %s", ley_quote(word, length, quote));
    if (p->error != NULL)
        p->error->cause = LEY_CAUSE_UNKNOWN_NAME;
    return NO_NODE;
}

static int parse_value(parser *p)
{
    char quote[LEY_TEXT_QUOTE];
    const char c = peek(p);
    if (ley_is_digit(c) || c == '.')
        return parse_number(p);
    if (is_name_character(c))
        return parse_name(p);
    if (c != '(')
        return fail_at(p, p->at, "a value is expected, not %s", found(p, quote));
    p->at++;
    const int node = parse_sum(p);
    if (node != NO_NODE && peek(p) != ')')
        return fail_at(p, p->at, "')' is expected, not %s", found(p, quote));
    p->at++;
    return node;
}

static int parse_power(parser *p)
{
    const int base = parse_value(p);
    if (base == NO_NODE || peek(p) != '^')
        return base;
    const size_t at = p->at++;
    const int exponent = parse_unary(p);
    return exponent == NO_NODE ? NO_NODE : add_operation(p, TREE_POWER, base, exponent, at);
}

/* All recursion comes through here. */
static int parse_unary(parser *p)
{
    int node;
    const char c = peek(p);
    if (p->depth == EXPRESSION_MAX_DEPTH)
        return fail_at(p, p->at, "nested deeper than %d levels", EXPRESSION_MAX_DEPTH);
    p->depth++;
    if (c == '-') {
        const size_t at = p->at++;
        node = parse_unary(p);
        if (node != NO_NODE)
            node = add_operation(p, TREE_NEGATE, node, NO_NODE, at);
    } else {
        node = parse_power(p);
    }
    p->depth--;
    return node;
}

static int parse_product(parser *p)
{
    int left = parse_unary(p);
    for (char c; left != NO_NODE && ((c = peek(p)) == '*' || c == '/');) {
        const size_t at = p->at++;
        const int right = parse_unary(p);
        left = right == NO_NODE ? NO_NODE : add_operation(p, c == '*' ? TREE_MULTIPLY : TREE_DIVIDE, left, right, at);
    }
    return left;
}

static int parse_sum(parser *p)
{
    int left = parse_product(p);
    for (char c; left != NO_NODE && ((c = peek(p)) == '+' || c == '-');) {
        const size_t at = p->at++;
        const int right = parse_product(p);
        left = right == NO_NODE ? NO_NODE : add_operation(p, c == '+' ? TREE_ADD : TREE_SUBTRACT, left, right, at);
    }
    return left;
}

static int check_characters(parser *p)
{
    const size_t checked = p->length < EXPRESSION_MAX_LENGTH ? p->length : EXPRESSION_MAX_LENGTH;
    for (size_t i = 0; i < checked; i++) {
        const char c = p->text[i];
        if (is_name_character(c) || (c != '\0' && strchr(" \t.,()+-*/^", c) != NULL))
            continue;
        if (c > ' ' && c <= '~')
            return fail_at(p, i, "the character '%c' is not allowed", c);
        return fail_at(p, i, "the byte 0x%02x is not allowed", (unsigned)(unsigned char)c);
    }
    if (p->length > checked)
        return fail_at(p, checked, "longer than %d characters", EXPRESSION_MAX_LENGTH);
    return 0;
}

static int parse(parser *p)
{
    char quote[LEY_TEXT_QUOTE];
    if (check_characters(p) == NO_NODE)
        return NO_NODE;
    const int node = parse_sum(p);
    if (node == NO_NODE || peek(p) == '\0')
        return node;
    if (peek(p) == ')')
        return fail_at(p, p->at, "')' without '('");
    return fail_at(p, p->at, "an operator is expected, not %s", found(p, quote));
}

static bool is_taken(const char *name)
{
    static const char *const names[] = {"r", "r2", "q", "pi", "pow"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    for (int i = 0; i < TREE_OPS - TREE_EXP; i++)
        if (strcmp(name, tree_functions[i].name) == 0)
            return true;
    return false;
}

static ley_status check_constants(const expression_constant *constants, size_t count, ley_error *error)
{
    char quote[LEY_TEXT_QUOTE];
    for (size_t i = 0; i < count; i++) {
        const char *name = constants[i].name, *what = NULL;
        const size_t length = strlen(name);
        if (length == 0 || length > EXPRESSION_MAX_NAME || name_length(name, length) != length)
            what = "is no name: at most 31 letters, digits and '_' are, the first one not a digit";
        else if (is_taken(name))
            what = "is the name of something else";
        else if (!isfinite(constants[i].value))
            what = "is not finite";
        for (size_t k = 0; k < i && what == NULL; k++)
            if (strcmp(name, constants[k].name) == 0)
                what = "is given twice";
        if (what != NULL)
            return ley_fail(error, LEY_ERROR_USAGE, "pair function: the constant %s %s", ley_quote(name, length, quote),
                            what);
    }
    return LEY_OK;
}

/* ---- The expression -------------------------------------------------------------------------- */

ley_status expression_create(const char *text, size_t length, const expression_constant *constants, size_t count,
                             expression **made, ley_error *error)
{
    *made = NULL;
    ley_status status = check_constants(constants, count, error);
    if (status != LEY_OK)
        return status;
    expression *e = calloc(1, sizeof *e);
    if (e == NULL)
        return ley_fail_memory(error, sizeof *e, "a pair function");
    parser p = {
        .text = text, .length = length, .constants = constants, .constant_count = count, .made = e, .error = error};
    status = parse(&p) == NO_NODE ? LEY_ERROR_USAGE : LEY_OK;
    if (status == LEY_OK) {
        tree_mark_squares(e);
        status = tree_write_text(e, error);
    }
    if (status == LEY_OK)
        status = tree_write_source(e, error);
    if (status == LEY_OK)
        *made = e;
    else
        expression_destroy(e);
    return status;
}
