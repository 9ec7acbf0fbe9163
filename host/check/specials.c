/* Denormals, infinities, and what is no number. */
#include "check/functions.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct special {
    int which;
    double x, y, right;
} special;

typedef struct special_case {
    function_type type;
    const special *all;
    size_t count;
    bool may_flush; /* denormals may count as 0, both those that are taken and those that come of it */
    size_t flushed;
} special_case;

/* ---- Denormals ------------------------------------------------------------------------------- */

#define TINY 0x1p-126
#define TINY_DOUBLE 0x1p-1022

static const special denormals[] = {
    {LEY_FUNCTION_PRODUCT, TINY, 0.25, TINY / 4},     {LEY_FUNCTION_PRODUCT, 0x1p-100, 0x1p-40, 0x1p-140},
    {LEY_FUNCTION_PRODUCT, TINY / 8, 8, TINY},        {LEY_FUNCTION_SUM, TINY / 2, TINY / 4, 0.75 * TINY},
    {LEY_FUNCTION_SUM, TINY, -TINY / 4, 0.75 * TINY}, {LEY_FUNCTION_DIVIDE, TINY, 4, TINY / 4},
    {LEY_FUNCTION_SUM, 0x1p-149, 0x1p-149, 0x1p-148}, {LEY_FUNCTION_PRODUCT, -TINY / 2, 0.5, -TINY / 4},
    {LEY_FUNCTION_MAX, TINY / 2, TINY / 4, TINY / 2}, {LEY_FUNCTION_MIN, TINY / 2, TINY / 4, TINY / 4},
};

static const special double_denormals[] = {
    {LEY_FUNCTION_PRODUCT, TINY_DOUBLE, 0.25, TINY_DOUBLE / 4},
    {LEY_FUNCTION_SUM, TINY_DOUBLE, -TINY_DOUBLE / 4, 0.75 * TINY_DOUBLE},
    {LEY_FUNCTION_DIVIDE, TINY_DOUBLE, 4, TINY_DOUBLE / 4},
    {LEY_FUNCTION_SUM, 0x1p-1074, 0x1p-1074, 0x1p-1073},
};

/* ---- Infinities ------------------------------------------------------------------------------ */

static const special infinities[] = {
    {LEY_FUNCTION_DIVIDE, 1, 0, INFINITY},       {LEY_FUNCTION_DIVIDE, -1, 0, -INFINITY},
    {LEY_FUNCTION_DIVIDE, 1, INFINITY, 0},       {LEY_FUNCTION_DIVIDE, 1, -0.0, -INFINITY},
    {LEY_FUNCTION_RSQRT, 0, 0, INFINITY},        {LEY_FUNCTION_RSQRT, INFINITY, 0, 0},
    {LEY_FUNCTION_SQRT, INFINITY, 0, INFINITY},  {LEY_FUNCTION_EXP, 1000, 0, INFINITY},
    {LEY_FUNCTION_EXP, -INFINITY, 0, 0},         {LEY_FUNCTION_EXP2, INFINITY, 0, INFINITY},
    {LEY_FUNCTION_LOG, 0, 0, -INFINITY},         {LEY_FUNCTION_SUM, INFINITY, 1, INFINITY},
    {LEY_FUNCTION_SUM, -INFINITY, 1, -INFINITY}, {LEY_FUNCTION_PRODUCT, -INFINITY, 2, -INFINITY},
    {LEY_FUNCTION_MAX, INFINITY, 1, INFINITY},   {LEY_FUNCTION_MIN, INFINITY, 1, 1},
    {LEY_FUNCTION_MIN, 1, -INFINITY, -INFINITY},
};

static const special no_numbers[] = {
    {LEY_FUNCTION_SUM, INFINITY, -INFINITY, NAN},
    {LEY_FUNCTION_PRODUCT, 0, INFINITY, NAN},
    {LEY_FUNCTION_DIVIDE, 0, 0, NAN},
    {LEY_FUNCTION_DIVIDE, INFINITY, INFINITY, NAN},
    {LEY_FUNCTION_SQRT, -1, 0, NAN},
    {LEY_FUNCTION_RSQRT, -1, 0, NAN},
    {LEY_FUNCTION_LOG, -1, 0, NAN},
    {LEY_FUNCTION_SUM, NAN, 1, NAN},
    {LEY_FUNCTION_PRODUCT, NAN, 0, NAN},
    {LEY_FUNCTION_MAX, NAN, 1, 1},
    {LEY_FUNCTION_MAX, 1, NAN, 1},
    {LEY_FUNCTION_MIN, NAN, 1, 1},
    {LEY_FUNCTION_MIN, 1, NAN, 1},
    {LEY_FUNCTION_EXP, NAN, 0, NAN},
};

/* ---- Judging --------------------------------------------------------------------------------- */

static double flush(double x)
{
    return fabs(x) < (double)FLT_MIN ? 0 : x;
}

static double compute(const special *s, double x, double y)
{
    switch (s->which) {
    case LEY_FUNCTION_PRODUCT:
        return x * y;
    case LEY_FUNCTION_SUM:
        return x + y;
    case LEY_FUNCTION_MAX:
        return fmax(x, y);
    case LEY_FUNCTION_MIN:
        return fmin(x, y);
    default:
        return x / y;
    }
}

static bool is_same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && (a != 0 || signbit(a) == signbit(b) || b == 0));
}

static bool is_right(special_case *c, const special *s, double found)
{
    if (is_same(found, s->right))
        return true;
    const bool is_flushed =
        c->may_flush && (found == flush(s->right) || found == flush(compute(s, flush(s->x), flush(s->y))));
    c->flushed += is_flushed;
    return is_flushed;
}

static ley_status attempt(check_run *run, void *context, size_t size, check_finding *f, ley_error *error)
{
    static const char *const names[LEY_FUNCTION_COUNT] = {
        [LEY_FUNCTION_RSQRT] = "rsqrt",     [LEY_FUNCTION_SQRT] = "sqrt", [LEY_FUNCTION_EXP] = "exp",
        [LEY_FUNCTION_EXP2] = "exp2",       [LEY_FUNCTION_LOG] = "log",   [LEY_FUNCTION_DIVIDE] = "division",
        [LEY_FUNCTION_PRODUCT] = "product", [LEY_FUNCTION_SUM] = "sum",   [LEY_FUNCTION_MAX] = "fmax",
        [LEY_FUNCTION_MIN] = "fmin"};
    special_case *c = context;
    dev_kernel kernel = {.device = run->device};
    ley_status status = function_create(run, &c->type, &kernel, error);
    (void)size;
    c->flushed = 0;
    for (size_t i = 0; i < c->count && status == LEY_OK; i++) {
        const special *s = &c->all[i];
        const double *const in[3] = {&s->x, &s->y, &s->y};
        double found = 0;
        status = function_compute(&kernel, &c->type, s->which, 1, in, &found, error);
        if (status == LEY_OK && !is_right(c, s, found))
            status = check_wrong(f, found, s->right, error, "%s of %g and %g is %g, not %g", names[s->which], s->x,
                                 s->y, found, s->right);
    }
    function_release(run, &kernel);
    if (status == LEY_OK && c->may_flush)
        snprintf(f->text, sizeof f->text,
                 c->flushed > 0 ? "flushed, as the driver says" : "kept, although the driver does not promise it");
    return status;
}

static void try_all(check_run *run, const check_row *row, const special *all, size_t count, const special *of_double,
                    size_t double_count, bool may_flush)
{
    function_type types[FUNCTION_TYPES];
    const size_t type_count = function_types(run->device->info, types);
    for (size_t i = 0; i < type_count && !(run->quick && i > 0); i++) {
        special_case c = {.type = types[i], .all = all, .count = count, .may_flush = may_flush};
        if (types[i].is_double) {
            c.all = of_double;
            c.count = double_count;
            c.may_flush = false;
        }
        check_try(run, row, &(check_case){.variant = types[i].variant, .attempt = attempt, .context = &c});
    }
}

#define COUNT(table) (sizeof(table) / sizeof *(table))

void check_denormals(check_run *run, const check_row *row)
{
    try_all(run, row, denormals, COUNT(denormals), double_denormals, COUNT(double_denormals),
            !run->device->info->has_denormals);
}

void check_infinities(check_run *run, const check_row *row)
{
    try_all(run, row, infinities, COUNT(infinities), infinities, COUNT(infinities), false);
}

void check_no_numbers(check_run *run, const check_row *row)
{
    try_all(run, row, no_numbers, COUNT(no_numbers), no_numbers, COUNT(no_numbers), false);
}
