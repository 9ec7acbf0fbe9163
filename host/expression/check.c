#include "expression/check.h"

#include "error.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Kernels have r from a reciprocal root, of positions from the corner of a bin: off by so much,
 * A. */
static const double distance_relative = 5e-7, distance_A = 3e-7;
static const double unit = 6e-8; /* rounding to a float */

enum {
    STARTS = 512,        /* pieces of the span to begin with, and places where errors are looked at */
    MOST_PIECES = 20000, /* in all: what depends on itself in more ways than these resolve is looked at in places */
    PLACES = 8,          /* of each piece left then */
    MOST_POWER = 32      /* up to here powers are products */
};
static const double narrowest = 1e-7; /* of a piece, relative: less than distances are right to */
static const double forgiven = 1e-4;  /* relative: digits may be lost over less than this */

/* What a node comes to in floats, somewhere in [low, high], and how far that is from its exact
 * value at most. */
typedef struct range {
    double low, high, error;
} range;

/* Why there is no value, or NULL. */
typedef struct trouble {
    const char *what;
} trouble;

static bool is_same(const expression *e, int a, int b)
{
    const tree_node *x = &e->nodes[a], *y = &e->nodes[b];
    if (a == b)
        return true;
    if (x->op != y->op || x->constant != y->constant || (x->constant && x->value != y->value))
        return false;
    return x->constant || x->left == NO_NODE ||
           (is_same(e, x->left, y->left) && (x->right == NO_NODE || is_same(e, x->right, y->right)));
}

void tree_mark_squares(expression *e)
{
    for (int i = 0; i < e->count; i++)
        e->nodes[i].is_square = e->nodes[i].op == TREE_MULTIPLY && is_same(e, e->nodes[i].left, e->nodes[i].right);
}

/* ---- Operations ------------------------------------------------------------------------------ */

static double largest(range x)
{
    return fmax(fabs(x.low), fabs(x.high));
}

/* The smallest absolute value. */
static double smallest(range x)
{
    return x.low > 0 ? x.low : x.high < 0 ? -x.high : 0;
}

/* Rounded so many times; what is too small for a float may become 0. Signs stay. */
static range rounded(range x, double times)
{
    const double share = times * unit;
    range y = {x.low - fabs(x.low) * share, x.high + fabs(x.high) * share, x.error + share * largest(x)};
    if (smallest(x) < (double)FLT_MIN)
        y.error += (double)FLT_MIN;
    if (fabs(y.low) < (double)FLT_MIN && y.low > 0)
        y.low = 0;
    if (fabs(y.high) < (double)FLT_MIN && y.high < 0)
        y.high = 0;
    return y;
}

static range product(range x, range y)
{
    const double a = x.low * y.low, b = x.low * y.high, c = x.high * y.low, d = x.high * y.high;
    return (range){fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)),
                   largest(x) * y.error + largest(y) * x.error};
}

static range quotient(range x, range y, trouble *t)
{
    if (smallest(y) == 0) {
        t->what = "it divides by zero, or by what rounding may make zero";
        return x;
    }
    range q = product(x, (range){1 / y.high, 1 / y.low, 0});
    q.error = (x.error + largest(q) * y.error) / smallest(y);
    return q;
}

/* x^n for n >= 1 */
static range whole_power(range x, double n)
{
    const bool is_even = fmod(n, 2) == 0;
    const double a = pow(x.low, n), b = pow(x.high, n), steepest = n * pow(largest(x), n - 1);
    range p = {fmin(a, b), fmax(a, b), steepest * x.error};
    if (is_even && smallest(x) == 0)
        p.low = 0;
    return rounded(p, fmin(n, MOST_POWER));
}

static range root(range x, trouble *t)
{
    if (x.low < 0) {
        t->what =
            "it takes the square root of a negative number, or of what rounding may make negative: max(0, ...) within "
            "the root prevents that";
        return x;
    }
    return rounded((range){sqrt(x.low), sqrt(x.high), fmin(sqrt(x.error), x.error / sqrt(x.low))}, 4);
}

/* A base that is not negative, any exponent. */
static range real_power(range x, range y, trouble *t)
{
    if (x.low < 0) {
        t->what =
            "it takes a negative number, or what rounding may make negative, to a fractional power: max(0, ...) as the "
            "base prevents that";
        return x;
    }
    if (x.low == 0 && y.low <= 0) {
        t->what = "it takes zero, or what rounding may make zero, to a power that is not positive";
        return x;
    }
    const double a = pow(x.low, y.low), b = pow(x.low, y.high), c = pow(x.high, y.low), d = pow(x.high, y.high);
    range p = {fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)), 0};
    const double log_base = fmax(x.low > 0 ? fabs(log(x.low)) : 200, fabs(log(x.high)));
    const double by_base = x.low > 0 ? largest(p) * largest(y) * x.error / x.low
                                     : pow(x.error, fmin(y.low, 1)) * fmax(1, largest(y)) * fmax(1, largest(p));
    p.error = by_base + largest(p) * log_base * y.error;
    return rounded(p, 20);
}

static range power(range x, range y, const tree_node *exponent, trouble *t)
{
    const double n = exponent->constant ? exponent->value : 0.25;
    if (n == 0)
        return (range){1, 1, 0};
    if (n == trunc(n) && fabs(n) < 1e6) {
        const range p = whole_power(x, fabs(n));
        return n > 0 ? p : rounded(quotient((range){1, 1, 0}, p, t), 2);
    }
    if (2 * n == trunc(2 * n) && fabs(2 * n) <= MOST_POWER) {
        const range r = root(x, t);
        if (t->what != NULL)
            return x;
        const range p = whole_power(r, fabs(2 * n));
        return n > 0 ? p : rounded(quotient((range){1, 1, 0}, p, t), 2);
    }
    return real_power(x, y, t);
}

static range sine(range x, double shift)
{
    const double middle = 0.5 * (x.low + x.high), half = 0.5 * (x.high - x.low), at = sin(middle + shift);
    return rounded((range){fmax(at - half, -1), fmin(at + half, 1), fmin(x.error, 2)}, 4);
}

static range increasing(double (*f)(double), range x, double steepest, double roundings)
{
    return rounded((range){f(x.low), f(x.high), steepest * x.error}, roundings);
}

static range logarithm(range x, trouble *t)
{
    if (x.low <= 0) {
        t->what = "it takes the logarithm of a number that is not positive, or that rounding may make so";
        return x;
    }
    range y = increasing(log, x, 1 / x.low, 4);
    y.error += unit;
    return y;
}

static range apply_function(const tree_node *n, range x, range y, trouble *t)
{
    const double bell = 1.1283791670955126 * exp(-smallest(x) * smallest(x)), tanh_least = tanh(smallest(x));
    switch (n->op) {
    case TREE_EXP:
        return rounded((range){exp(x.low), exp(x.high), exp(x.high) * fmin(expm1(x.error), 1)}, 4);
    case TREE_LOG:
        return logarithm(x, t);
    case TREE_SQRT:
        return root(x, t);
    case TREE_ERF:
        return increasing(erf, x, bell, 16);
    case TREE_ERFC:
        return rounded((range){erfc(x.high), erfc(x.low), bell * x.error}, 16);
    case TREE_SIN:
        return sine(x, 0);
    case TREE_COS:
        return sine(x, 1.5707963267948966);
    case TREE_TANH:
        return increasing(tanh, x, 1 - tanh_least * tanh_least, 6);
    case TREE_ABS:
        return (range){smallest(x), largest(x), x.error};
    case TREE_MIN:
        return x.high < y.low   ? x
               : y.high < x.low ? y
                                : (range){fmin(x.low, y.low), fmin(x.high, y.high), fmax(x.error, y.error)};
    case TREE_MAX:
        return x.low > y.high   ? x
               : y.low > x.high ? y
                                : (range){fmax(x.low, y.low), fmax(x.high, y.high), fmax(x.error, y.error)};
    default:
        return (range){NAN, NAN, NAN};
    }
}

static range apply_range(const expression *e, const tree_node *n, range x, range y, trouble *t)
{
    switch (n->op) {
    case TREE_NEGATE:
        return (range){-x.high, -x.low, x.error};
    case TREE_ADD:
        return rounded((range){x.low + y.low, x.high + y.high, x.error + y.error}, 1);
    case TREE_SUBTRACT:
        return rounded((range){x.low - y.high, x.high - y.low, x.error + y.error}, 1);
    case TREE_MULTIPLY:
        return n->is_square ? whole_power(x, 2) : rounded(product(x, y), 1);
    case TREE_DIVIDE:
        return rounded(quotient(x, y, t), 3);
    case TREE_POWER:
        return power(x, y, &e->nodes[n->right], t);
    default:
        return apply_function(n, x, y, t);
    }
}

static range range_of_distance(double low_A, double high_A)
{
    const double low_error = distance_relative * low_A + distance_A, error = distance_relative * high_A + distance_A;
    return (range){fmax(low_A - low_error, 0.5 * low_A), high_A + error, error};
}

/* The whole at all distances between these. */
static range evaluate(const expression *e, double low_A, double high_A, double q_e, trouble *t)
{
    range values[EXPRESSION_MAX_NODES];
    const range r = range_of_distance(low_A, high_A), none = {0, 0, 0};
    t->what = NULL;
    for (int i = 0; i < e->count; i++) {
        const tree_node *n = &e->nodes[i];
        if (n->constant)
            values[i] = (range){n->value, n->value, unit * fabs(n->value)};
        else if (n->op == TREE_R)
            values[i] = r;
        else if (n->op == TREE_R2)
            values[i] = (range){r.low * r.low, r.high * r.high, 2 * r.high * r.error};
        else if (n->op == TREE_Q)
            values[i] = (range){q_e, q_e, unit * fabs(q_e)};
        else
            values[i] = apply_range(e, n, values[n->left], n->right != NO_NODE ? values[n->right] : none, t);
        if (t->what == NULL && !(largest(values[i]) <= (double)FLT_MAX))
            t->what = "it comes to a number that no float holds";
        if (t->what != NULL)
            return none;
    }
    return values[e->count - 1];
}

double expression_float_error(const expression *e, double r_A, double q_e)
{
    trouble t;
    const range at = evaluate(e, r_A, r_A, q_e, &t);
    return t.what != NULL ? INFINITY : at.error;
}

/* ---- The check ------------------------------------------------------------------------------- */

/* The largest values around each of the places where the span is cut. */
typedef struct charge_statistics {
    const expression *e;
    const expression_span *span;
    double place_A[STARTS + 1], value[STARTS + 1], around[STARTS + 1];
    int pieces;
} charge_statistics;

/* Cuts lie closer towards the lower end, in equal ratios, but never much farther apart than in
 * equal steps. */
static double place_of(const expression_span *s, int i)
{
    const double at = (double)i / STARTS;
    const double in_ratio_A = s->low_A * pow(s->high_A / s->low_A, at),
                 in_steps_A = s->low_A + at * (s->high_A - s->low_A);
    return i == STARTS ? s->high_A : 0.5 * (in_ratio_A + in_steps_A);
}

/* Whether it has a value that can be summed at all distances between these. */
static bool has_value(const charge_statistics *s, double low_A, double high_A, trouble *t)
{
    const range all = evaluate(s->e, low_A, high_A, s->span->q_e, t);
    if (t->what == NULL && !(largest(all) <= s->span->most_value))
        t->what = "its value is too large to be summed";
    return t->what == NULL;
}

static ley_status fail_value(const charge_statistics *s, double r_A, const trouble *t, ley_error *error)
{
    return ley_fail(error, LEY_ERROR_USAGE, "pair function: at r = %.5g A, q = %g e, %s", r_A, s->span->q_e, t->what);
}

/* What intervals cannot settle: the ends of a piece and places between them. */
static ley_status check_value_places(const charge_statistics *s, double low_A, double high_A, ley_error *error)
{
    for (int i = 0; i <= PLACES; i++) {
        trouble t;
        const double r_A = i == PLACES ? high_A : low_A + (high_A - low_A) * i / PLACES;
        if (!has_value(s, r_A, r_A, &t))
            return fail_value(s, r_A, &t, error);
    }
    return LEY_OK;
}

/* Halves a piece until every part of it has a value that can be summed, or is too narrow for
 * that. */
static ley_status check_values(charge_statistics *s, double low_A, double high_A, ley_error *error)
{
    trouble t;
    const double middle_A = 0.5 * (low_A + high_A);
    if (has_value(s, low_A, high_A, &t))
        return LEY_OK;
    if (s->pieces++ > MOST_PIECES)
        return check_value_places(s, low_A, high_A, error);
    if (high_A - low_A <= narrowest * high_A)
        return fail_value(s, middle_A, &t, error);
    const ley_status status = check_values(s, low_A, middle_A, error);
    return status == LEY_OK ? check_values(s, middle_A, high_A, error) : status;
}

static void take_values(charge_statistics *s)
{
    for (int i = 0; i <= STARTS; i++)
        s->value[i] = fabs(expression_evaluate(s->e, s->place_A[i], s->span->q_e));
    for (int i = 0; i <= STARTS; i++)
        for (int k = 0; k <= STARTS; k++)
            if (s->place_A[k] >= 0.5 * s->place_A[i] && s->place_A[k] <= 2 * s->place_A[i])
                s->around[i] = fmax(s->around[i], s->value[k]);
}

/* The least error next to a distance: what is worse in one place only, at an edge or a root's zero,
 * hits hardly any pair. */
static double error_at(const charge_statistics *s, double r_A)
{
    double least = INFINITY;
    for (int side = -1; side <= 1; side++) {
        trouble t;
        const double beside_A = fmin(fmax(r_A * (1 + side * forgiven), s->span->low_A), s->span->high_A);
        const range at = evaluate(s->e, beside_A, beside_A, s->span->q_e, &t);
        if (t.what == NULL)
            least = fmin(least, at.error);
    }
    return least;
}

/* `around`: the largest value nearby. */
static ley_status fail_digits(const charge_statistics *s, double r_A, double off, double around, ley_error *error)
{
    return ley_fail(
        error, LEY_ERROR_USAGE,
        "pair function: at r = %.5g A, q = %g e, rounding eats its digits: floats are off by up to %.2g where its "
        "values are at most %.2g. It needs to be written without differences of what is nearly equal, or less steep",
        r_A, s->span->q_e, off, around);
}

/* Where the error is worst among the places. */
static ley_status check_places(const charge_statistics *s, ley_error *error)
{
    double worst = 0, off = 0;
    int where = 0;
    for (int i = 0; i <= STARTS; i++) {
        const double at = error_at(s, s->place_A[i]);
        const double share = at / fmax(s->around[i], s->span->nothing_value / EXPRESSION_MOST_ERROR);
        if (share > worst) {
            worst = share;
            off = at;
            where = i;
        }
    }
    return worst > EXPRESSION_MOST_ERROR ? fail_digits(s, s->place_A[where], off, s->around[where], error) : LEY_OK;
}

/* Halves a piece until the error of every part of it is small, or it is too narrow for that. */
static ley_status check_digits(charge_statistics *s, double low_A, double high_A, double around, ley_error *error)
{
    trouble t;
    const range all = evaluate(s->e, low_A, high_A, s->span->q_e, &t);
    const double middle_A = 0.5 * (low_A + high_A), nothing = s->span->nothing_value;
    if (s->pieces++ > MOST_PIECES || (t.what == NULL && all.error <= fmax(EXPRESSION_MOST_ERROR * around, nothing)))
        return LEY_OK;
    if (high_A - low_A > forgiven * high_A) {
        const ley_status status = check_digits(s, low_A, middle_A, around, error);
        return status == LEY_OK ? check_digits(s, middle_A, high_A, around, error) : status;
    }
    const double here = fmax(around, fabs(expression_evaluate(s->e, middle_A, s->span->q_e))),
                 off = error_at(s, middle_A);
    return off <= fmax(EXPRESSION_MOST_ERROR * here, nothing) ? LEY_OK : fail_digits(s, middle_A, off, here, error);
}

ley_status expression_check(const expression *e, const expression_span *span, ley_error *error)
{
    charge_statistics s = {.e = e, .span = span};
    ley_status status = LEY_OK;
    for (int i = 0; i <= STARTS; i++)
        s.place_A[i] = place_of(span, i);
    for (int i = 0; i < STARTS && status == LEY_OK; i++)
        status = check_values(&s, s.place_A[i], s.place_A[i + 1], error);
    if (status != LEY_OK)
        return status;
    take_values(&s);
    s.pieces = 0;
    status = check_places(&s, error);
    for (int i = 0; i < STARTS && status == LEY_OK; i++)
        status = check_digits(&s, s.place_A[i], s.place_A[i + 1], fmax(s.around[i], s.around[i + 1]), error);
    return status;
}
