#include "average/density.h"

#include "error.h"
#include "for_this_cpu.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ley_status density_create(size_t nodes, density *made, ley_error *error)
{
    *made = (density){.nodes = 0};
    const ley_status status =
        memory_check_one("the sums", 16 * (double)nodes, "a larger smooth_A, or a larger tolerance", error);
    if (status != LEY_OK)
        return status;
    made->nodes = nodes;
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
    bool is_less; /* it is taken away */
    const double *value;
    const float *floats;
    const density_scale *by;
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
    for (size_t i = first; i < last; i++) {
        const int64_t value = a->is_less ? -a->part[i] : a->part[i];
        add_one(a->to, i, (uint64_t)value, value < 0 ? -1 : 0);
    }
}

static void add_density(void *context, size_t first, size_t last)
{
    const addition *a = context;
    for (size_t i = first; i < last; i++)
        add_one(a->to, i, a->from->low[i], a->from->high[i]);
}

static void add_rounded(density *d, size_t i, double value)
{
    const double amount = fabs(rint(value)), whole = floor(amount * 0x1p-64);
    const uint64_t low = (uint64_t)(amount - whole * 0x1p64);
    const int64_t high = (int64_t)whole;
    if (value < 0)
        add_one(d, i, ~low + 1, ~high + (low == 0));
    else
        add_one(d, i, low, high);
}

/* The integer next to x, of no more than 2^50: adding 1.5 2^52 makes it the last bits. */
static inline uint64_t small_integer(double x)
{
    const double magic = 0x1.8p52, sum = x + magic;
    uint64_t bits, of_magic;
    memcpy(&bits, &sum, sizeof bits);
    memcpy(&of_magic, &magic, sizeof of_magic);
    return bits - of_magic;
}

/* The same of up to 2^62, in two parts, as vectors can: what is left of x beside the upper one is
 * exact. */
static inline uint64_t integer(double x)
{
    const double upper = (x * 0x1p-32 + 0x1.8p52) - 0x1.8p52;
    return (small_integer(upper) << 32) + small_integer(x - upper * 0x1p32);
}

FOR_THIS_CPU static void add_scaled(uint64_t *restrict low, int64_t *restrict high, const float *restrict value,
                                    size_t count, const density_scale *by)
{
    const double factor = by->factor, most = by->most, unit = ldexp(1, by->exponent);
    const bool is_squared = by->is_squared, is_less = by->is_less;
    for (size_t i = 0; i < count; i++) {
        const double all = (double)value[i] * factor, above = all > -most ? all : -most,
                     bounded = above < most ? above : most;
        const uint64_t own = integer(bounded * (is_squared ? bounded : 1) * unit), part = is_less ? 0 - own : own,
                       sum = low[i] + part;
        high[i] += (sum < part ? 1 : 0) - (int64_t)(part >> 63);
        low[i] = sum;
    }
}

static void add_floats(void *context, size_t first, size_t last)
{
    const addition *a = context;
    add_scaled(a->to->low + first, a->to->high + first, a->floats + first, last - first, a->by);
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

/* Of a negative number its opposite is taken, whose halves lose no digits when they become
 * doubles. */
static inline double value_of(uint64_t low, int64_t high)
{
    const bool is_negative = high < 0;
    const uint64_t least = is_negative ? 0 - low : low,
                   most = is_negative ? ~(uint64_t)high + (low == 0 ? 1 : 0) : (uint64_t)high;
    const double magnitude = (double)most * 0x1p64 + (double)least;
    return is_negative ? -magnitude : magnitude;
}

static void make_value(void *context, size_t first, size_t last)
{
    const addition *a = context;
    for (size_t i = first; i < last; i++)
        a->made[i] = value_of(a->from->low[i], a->from->high[i]) * a->factor;
}

void density_add(density *d, const int64_t *part)
{
    parallel_ranges(d->nodes, add_part, &(addition){.to = d, .part = part});
}

void density_take(density *d, const int64_t *part)
{
    parallel_ranges(d->nodes, add_part, &(addition){.to = d, .part = part, .is_less = true});
}

void density_add_all(density *d, const density *other)
{
    parallel_ranges(d->nodes, add_density, &(addition){.to = d, .from = other});
}

void density_add_floats(density *d, const float *value, const density_scale *by)
{
    parallel_ranges(d->nodes, add_floats, &(addition){.to = d, .floats = value, .by = by});
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
