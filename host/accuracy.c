#include "accuracy.h"

#include "error.h"
#include "parallel.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>

ley_accuracy accuracy_compare_double(size_t n, const double *values, const double *references, double tolerance)
{
    double error2 = 0, reference2 = 0, largest = 0;
    bool finite = true;
    for (size_t i = 0; i < n; i++) {
        const double difference = values[i] - references[i];
        finite = finite && isfinite(values[i]);
        error2 += difference * difference;
        reference2 += references[i] * references[i];
        largest = fmax(largest, fabs(difference));
    }
    const double scale = reference2 > 0 ? sqrt(reference2 / (double)n) : 1;
    ley_accuracy a = {.points = n, .tolerance = tolerance};
    a.relative_rms = n > 0 ? sqrt(error2 / (double)n) / scale : 0;
    a.max_relative = largest / scale;
    a.passed = n > 0 && finite && a.relative_rms <= tolerance;
    return a;
}

ley_accuracy accuracy_compare(size_t n, const float *values, const double *references, double tolerance)
{
    double *wide = calloc(n + 1, sizeof *wide);
    if (wide == NULL)
        return (ley_accuracy){.points = n, .tolerance = tolerance, .relative_rms = INFINITY, .max_relative = INFINITY};
    for (size_t i = 0; i < n; i++)
        wide[i] = (double)values[i];
    const ley_accuracy a = accuracy_compare_double(n, wide, references, tolerance);
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
static uint64_t next_random(uint64_t *state)
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
        indices[i] = (int64_t)(n == total ? i : next_random(&seed) % total);
    return n;
}

typedef struct sample {
    const ley_lattice *lattice;
    accuracy_reference *reference;
    const void *context;
    const atomic_bool *cancelled;
    int64_t *indices;
    float *values;
    double *references;
} sample;

static bool stopped(const sample *s)
{
    return s->cancelled != NULL && atomic_load_explicit(s->cancelled, memory_order_relaxed);
}

/* The number nearest to `value`, which need not be one, between low and high; `middle` lies there. */
static double nearest(double value, double low, double middle, double high)
{
    if (isnan(value) || isnan(middle))
        return middle;
    return value < low ? low : value > high ? high : value;
}

static void recompute(void *context, size_t first, size_t last)
{
    const sample *s = context;
    const ley_lattice *l = s->lattice;
    for (size_t i = first; i < last && !stopped(s); i++) {
        const int64_t x = s->indices[i] % l->n[0], rest = s->indices[i] / l->n[0];
        const double point_A[3] = {l->origin_A[0] + (double)x * l->spacing_A[0],
                                   l->origin_A[1] + (double)(rest % l->n[1]) * l->spacing_A[1],
                                   l->origin_A[2] + (double)(rest / l->n[1]) * l->spacing_A[2]};
        double slack[2] = {0, 0};
        const double reference = s->reference(s->context, point_A, slack);
        s->references[i] = nearest((double)s->values[i], reference + slack[0], reference, reference + slack[1]);
    }
}

ley_status accuracy_sample_map(const ley_map *map, accuracy_reference *reference, const void *context, size_t points, uint64_t seed,
                               double tolerance, const atomic_bool *cancelled, ley_accuracy *accuracy, ley_error *error)
{
    const ley_lattice *lattice = ley_map_lattice(map);
    const uint64_t total = (uint64_t)ley_lattice_points(lattice);
    if (points > total)
        points = (size_t)total;
    sample s = {.lattice = lattice, .reference = reference, .context = context, .cancelled = cancelled,
                .indices = calloc(points, sizeof *s.indices), .values = calloc(points, sizeof *s.values),
                .references = calloc(points, sizeof *s.references)};
    ley_status status = LEY_OK;
    if (s.indices == NULL || s.references == NULL || s.values == NULL)
        status = ley_fail_memory(error, points * 20, "the verification");
    else {
        accuracy_choose(total, points, seed, s.indices);
        for (size_t i = 0; i < points; i++)
            s.values[i] = ley_map_read_values(map)[s.indices[i]];
        parallel_ranges(points, recompute, &s);
        if (stopped(&s))
            status = ley_fail(error, LEY_CANCELLED, "cancelled");
        else
            *accuracy = accuracy_compare(points, s.values, s.references, tolerance);
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

static double dcs_value(const void *context, const double point_A[3], double slack[2])
{
    const dcs_context *d = context;
    (void)slack;
    return reference_dcs(d->atoms, point_A, d->coulomb_constant, d->r_min_A);
}

ley_status accuracy_sample(const ley_atoms *atoms, const ley_map *map, double coulomb_constant, double r_min_A,
                           size_t points, uint64_t seed, double tolerance, const atomic_bool *cancelled,
                           ley_accuracy *accuracy, ley_error *error)
{
    const dcs_context context = {atoms, coulomb_constant, r_min_A};
    return accuracy_sample_map(map, dcs_value, &context, points, seed, tolerance, cancelled, accuracy, error);
}
