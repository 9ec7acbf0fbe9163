#include "average/density.h"

#include "error.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

ley_status density_create(size_t nodes, density *made, ley_error *error)
{
    *made = (density){.nodes = nodes};
    const ley_status status =
        memory_check_one("the sums", 16 * (double)nodes, "a larger smooth_A, or a larger tolerance", error);
    if (status != LEY_OK)
        return status;
    made->low = parallel_zeros(nodes * sizeof *made->low);
    made->high = parallel_zeros(nodes * sizeof *made->high);
    if (made->low != NULL && made->high != NULL)
        return LEY_OK;
    density_destroy(made);
    return ley_fail_memory(error, 16 * nodes, "the sums");
}

void density_destroy(density *d)
{
    free(d->low);
    free(d->high);
    *d = (density){.nodes = 0};
}

typedef struct addition {
    density *to;
    const density *from;
    const int64_t *part;
    const double *value;
    double *made, factor;
} addition;

static inline void add_one(density *d, size_t i, uint64_t low, int64_t high)
{
    const uint64_t sum = d->low[i] + low;
    d->high[i] += high + (sum < low ? 1 : 0);
    d->low[i] = sum;
}

static void add_part(void *context, size_t first, size_t last)
{
    const addition *a = context;
    for (size_t i = first; i < last; i++)
        add_one(a->to, i, (uint64_t)a->part[i], a->part[i] < 0 ? -1 : 0);
}

static void add_density(void *context, size_t first, size_t last)
{
    const addition *a = context;
    for (size_t i = first; i < last; i++)
        add_one(a->to, i, a->from->low[i], a->from->high[i]);
}

static void add_rounded(density *d, size_t i, double value)
{
    const double amount = fabs(rint(value)), whole = floor(ldexp(amount, -64));
    const uint64_t low = (uint64_t)(amount - ldexp(whole, 64));
    const int64_t high = (int64_t)whole;
    if (value < 0)
        add_one(d, i, ~low + 1, ~high + (low == 0));
    else
        add_one(d, i, low, high);
}

static void add_value(void *context, size_t first, size_t last)
{
    const addition *a = context;
    for (size_t i = first; i < last; i++)
        add_rounded(a->to, i, a->value[i] * a->factor);
}

static void add_square(void *context, size_t first, size_t last)
{
    const addition *a = context;
    for (size_t i = first; i < last; i++)
        add_rounded(a->to, i, a->value[i] * a->value[i] * a->factor);
}

/* Of a negative sum the amount: beside 2^64 a double has no room for it. */
static inline double value_of(int64_t high, uint64_t low)
{
    if (high >= 0)
        return (double)high * 0x1p64 + (double)low;
    const uint64_t amount = ~low + 1;
    return -((double)(~high + (amount == 0)) * 0x1p64 + (double)amount);
}

static void make_value(void *context, size_t first, size_t last)
{
    const addition *a = context;
    for (size_t i = first; i < last; i++)
        a->made[i] = value_of(a->from->high[i], a->from->low[i]) * a->factor;
}

void density_add(density *d, const int64_t *part)
{
    parallel_ranges(d->nodes, add_part, &(addition){.to = d, .part = part});
}

void density_add_all(density *d, const density *other)
{
    parallel_ranges(d->nodes, add_density, &(addition){.to = d, .from = other});
}

void density_add_values(density *d, const double *value, int exponent)
{
    parallel_ranges(d->nodes, add_value, &(addition){.to = d, .value = value, .factor = ldexp(1, exponent)});
}

void density_add_squares(density *d, const double *value, int exponent)
{
    parallel_ranges(d->nodes, add_square, &(addition){.to = d, .value = value, .factor = ldexp(1, exponent)});
}

void density_values(const density *d, double factor, double *value)
{
    parallel_ranges(d->nodes, make_value, &(addition){.from = d, .made = value, .factor = factor});
}
