#include "law/accuracy.h"

#include "cancel.h"
#include "error.h"
#include "law/dcs.h"
#include "law/reference.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>

/* When values are another multiple of what is right: so many points, a root mean square error of
 * this share of the tolerance, a correlation of errors and right values above this, and errors that
 * are this share of the right values. Of smooth errors, what the multiple leaves is this share of
 * what a constant leaves. */
enum { LEAST_COMPARED = 16 };
static const double above_rounding = 0.05, alike = 0.99, least_share = 0.1, far_better = 0.1;

/* How far a value is from the nearest right one: right are those between `lower` and `higher` about
 * the reference. */
double accuracy_difference(double value, const reference_value *right)
{
    const double low = right->value + right->lower, high = right->value + right->higher;
    return value < low ? value - low : value > high ? value - high : value - value;
}

double accuracy_error(double value, const reference_value *right, const accuracy_limits *limits)
{
    return limits->place > 0 ? value - right->value : accuracy_difference(value, right);
}

/* At a point, of this scale. What places do passes and is an error all the same: it is relative to
 * the terms and to what these change by with their distances. */
static double relative_error(double value, const reference_value *right, const accuracy_limits *limits, double scale)
{
    const double beyond = fabs(accuracy_difference(value, right)) / scale;
    if (!(limits->place > 0))
        return beyond;
    const double slopes = (right->higher - right->lower) / (2 * limits->place);
    return fmax(beyond, fabs(value - right->value) / (scale + slopes));
}

/* Sums of doubles that are no larger a share of their terms are 0. */
static const double is_zero = 1e-11;

/* Of the tolerance: what rounding leaves of it is a tenth at most. */
static const double silent_share = 0.1;

ley_accuracy accuracy_compare(size_t n, const double *values, const reference_value *references, accuracy_limits limits,
                              size_t *worst)
{
    ley_accuracy a = {.points = n, .tolerance = limits.tolerance};
    double error2 = 0, reference2 = 0, absolute2 = 0, most_beyond = 0;
    bool finite = true;
    for (size_t i = 0; i < n; i++) {
        const reference_value *right = &references[i];
        const double difference = accuracy_difference(values[i], right),
                     off = accuracy_error(values[i], right, &limits);
        const bool counts = right->absolute > limits.nothing,
                   is_number = isfinite(difference) && isfinite(right->value);
        /* A value of exactly 0 was never computed, even where terms cancel so far that the limit
         * would let it pass. */
        const double silent = fmax(limits.left_out, silent_share * limits.tolerance * right->absolute);
        const bool is_silent = values[i] == 0 && difference != 0 && fabs(right->value) > silent;
        const double scale = fmax(is_silent ? fabs(right->value) : right->absolute, limits.nothing);
        const double error = is_number ? relative_error(values[i], right, &limits, scale) : INFINITY;
        finite = finite && is_number;
        a.compared += counts;
        const double beyond =
            (is_number ? fabs(difference) / scale : INFINITY) - (is_silent ? 0 : limits.noise / scale);
        if (counts || !(fabs(values[i]) <= limits.nothing)) {
            a.max_error = fmax(a.max_error, error);
            if (beyond > most_beyond) {
                most_beyond = beyond;
                if (worst != NULL)
                    *worst = i;
            }
        }
        error2 += off * off;
        reference2 += right->value * right->value;
        absolute2 += right->absolute * right->absolute;
    }
    a.absolute_rms = n > 0 ? sqrt(error2 / (double)n) : 0;
    a.relative_rms = reference2 > is_zero * is_zero * absolute2 ? sqrt(error2 / reference2)
                     : error2 > is_zero * is_zero * absolute2   ? INFINITY
                                                                : 0;
    a.passed = n > 0 && finite && most_beyond <= a.tolerance;
    if (a.passed)
        a.tolerance = fmax(a.tolerance, a.max_error);
    return a;
}

bool accuracy_is_multiple(size_t n, const double *values, const reference_value *references, accuracy_limits limits,
                          double *multiple)
{
    double error2 = 0, right2 = 0, product = 0, sum = 0;
    size_t compared = 0;
    for (size_t i = 0; i < n; i++) {
        const reference_value *right = &references[i];
        if (!(right->absolute > limits.nothing) || !isfinite(values[i]) || !isfinite(right->value) ||
            (values[i] == 0 && fabs(right->value) <= limits.left_out))
            continue;
        const double error = accuracy_difference(values[i], right) / right->absolute,
                     share = right->value / right->absolute;
        error2 += error * error;
        right2 += share * share;
        product += error * share;
        sum += error;
        compared++;
    }
    *multiple = right2 > 0 ? 1 + product / right2 : 1;
    if (limits.is_smooth && right2 > 0 &&
        !(error2 - product * product / right2 < far_better * (error2 - sum * sum / (double)compared)))
        return false;
    return compared >= LEAST_COMPARED && sqrt(error2 / (double)compared) > above_rounding * limits.tolerance &&
           fabs(product) > alike * sqrt(error2 * right2) && fabs(*multiple - 1) > least_share;
}

ley_accuracy accuracy_compare_float(size_t n, const float *values, const reference_value *references, double tolerance,
                                    size_t *worst)
{
    double *wide = calloc(n + 1, sizeof *wide);
    if (wide == NULL)
        return (ley_accuracy){.points = n, .tolerance = tolerance, .max_error = INFINITY, .relative_rms = INFINITY};
    for (size_t i = 0; i < n; i++)
        wide[i] = (double)values[i];
    const ley_accuracy a = accuracy_compare(
        n, wide, references, (accuracy_limits){.tolerance = tolerance, .nothing = ACCURACY_NOTHING}, worst);
    free(wide);
    return a;
}

double accuracy_promise(ley_math math, ley_sum sum)
{
    if (sum == LEY_SUM_DOUBLE)
        return 1e-6;
    return math == LEY_MATH_NATIVE ? 1e-3 : 1e-5;
}

/* splitmix64 (Steele, Lea, Flood 2014): small, seedable, the same everywhere. */
uint64_t accuracy_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

size_t accuracy_choose(uint64_t total, size_t wanted, uint64_t seed, int64_t *indices)
{
    const size_t n = wanted < total ? wanted : (size_t)total;
    for (size_t i = 0; i < n; i++)
        indices[i] = (int64_t)(n == total ? i : accuracy_random(&seed) % total);
    return n;
}

typedef struct sample {
    const ley_grid *grid;
    accuracy_reference *reference;
    const void *context;
    const atomic_bool *cancelled;
    int64_t *indices;
    float *values;
    reference_value *references;
} sample;

static bool stopped(const sample *s)
{
    return cancel_is_asked(s->cancelled);
}

static void point_of(const ley_grid *l, int64_t index, double point_A[3])
{
    const int64_t rest = index / l->n[0], at[3] = {index % l->n[0], rest % l->n[1], rest / l->n[1]};
    ley_grid_point_A(l, at, point_A);
}

static void recompute(void *context, size_t first, size_t last)
{
    const sample *s = context;
    for (size_t i = first; i < last && !stopped(s); i++) {
        double point_A[3];
        point_of(s->grid, s->indices[i], point_A);
        s->references[i] = s->reference(s->context, point_A);
    }
}

ley_status accuracy_sample_map(const ley_map *map, accuracy_reference *reference, const void *context, size_t points,
                               uint64_t seed, double tolerance, const atomic_bool *cancelled, ley_accuracy *accuracy,
                               double worst_A[3], ley_error *error)
{
    const ley_grid *grid = ley_map_grid(map);
    const uint64_t total = (uint64_t)ley_grid_points(grid);
    if (points > total)
        points = (size_t)total;
    const size_t point_bytes = sizeof(int64_t) + sizeof(float) + sizeof(reference_value);
    ley_status status =
        memory_check_one("the verification", (double)points * (double)point_bytes, "fewer points to verify", error);
    if (status != LEY_OK)
        return status;
    sample s = {.grid = grid,
                .reference = reference,
                .context = context,
                .cancelled = cancelled,
                .indices = calloc(points, sizeof *s.indices),
                .values = calloc(points, sizeof *s.values),
                .references = calloc(points, sizeof *s.references)};
    if (s.indices == NULL || s.references == NULL || s.values == NULL)
        status = ley_fail_memory(error, points * sizeof *s.references, "the verification");
    else {
        accuracy_choose(total, points, seed, s.indices);
        for (size_t i = 0; i < points; i++)
            s.values[i] = ley_map_read_values(map)[s.indices[i]];
        parallel_ranges(points, recompute, &s);
        if (stopped(&s))
            status = ley_fail(error, LEY_CANCELLED, "cancelled");
        else {
            size_t worst = 0;
            *accuracy = accuracy_compare_float(points, s.values, s.references, tolerance, &worst);
            accuracy->host_points = points;
            if (worst_A != NULL && points > 0)
                point_of(grid, s.indices[worst], worst_A);
        }
    }
    free(s.indices);
    free(s.references);
    free(s.values);
    return status;
}

typedef struct dcs_context {
    const ley_atoms *atoms;
    double coulomb_constant, r_min_A;
} dcs_context;

static reference_value dcs_value(const void *context, const double point_A[3])
{
    const dcs_context *d = context;
    return reference_dcs(d->atoms, point_A, d->coulomb_constant, d->r_min_A);
}

ley_status accuracy_sample(const ley_atoms *atoms, const ley_map *map, double coulomb_constant, double r_min_A,
                           size_t points, uint64_t seed, double tolerance, const atomic_bool *cancelled,
                           ley_accuracy *accuracy, ley_error *error)
{
    const dcs_context context = {atoms, coulomb_constant, r_min_A};
    return accuracy_sample_map(map, dcs_value, &context, points, seed, tolerance, cancelled, accuracy, NULL, error);
}
