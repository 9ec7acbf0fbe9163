#include "methods/cutoff/serial_pairs.h"

#include "clock.h"
#include "error.h"
#include "for_this_cpu.h"

#include "spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* cl/pair.h in C, for floats. Which pair function a loop computes is known when it is compiled. */
typedef float real, scalar;
typedef struct atom {
    float x, y, z, w;
} atom;
static inline int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float real_of(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#define LEY_FN static inline __attribute__((always_inline))
#define LEY_MAX(a, b) ((a) > (b) ? (a) : (b))
#define LEY_MIN(a, b) ((a) < (b) ? (a) : (b))
#define LEY_AS_BITS(x) bits_of(x)
#define LEY_AS_REAL(i) real_of(i)
#define LEY_ADD_EXPONENT(bits, n) ((int32_t)((uint32_t)(bits) + ((uint32_t)(n) << 23)))
#define LEY_DIVIDE(a, b) ((a) / (b))
#define LEY_PAIR_WHICH int which,
#define LEY_PAIR which
#include "pair.h"

enum { VECTOR = 16 }; /* floats */

/* What atoms do around them. Lengths in units (see cutoff_problem): the grid's steps along x, y and
 * z, the cutoff, r_min; `series` and `k` are those of ley_pair_value() in cl/pair.h. */
typedef struct pair_terms {
    int32_t n[3];
    double step[3], cutoff, r_min;
    float series[4], k;
} pair_terms;

/* An atom: its place from the grid's origin, in units; its numbers. */
typedef struct pair_atom {
    double place[3];
    float numbers[3];
} pair_atom;

/* 1/sqrt(x). Of 1/sqrtf() compilers make a root, then a reciprocal, from approximations that differ
 * between processors. Where the function multiplies its error, by exponents or powers, a step more
 * brings it down to rounding. */
static inline __attribute__((always_inline)) float root_of(int which, float x)
{
    const float y = ley_unscaled_newton_root(x) * LEY_NEWTON_SCALE;
    return LEY_SCALING_OF(which) != LEY_SCALES_NOT ? y : y * (1.5f - 0.5f * x * (y * y));
}

/* Constants of an atom's sums. */
typedef struct sphere {
    float cutoff2, r_min2, inverse_a, inverse_a2, outer2, k;
    atom series;
    const float *numbers;
} sphere;

/* From this r/a on, squared, functions that cancel next to the cutoff are computed by
 * outer_value(). */
#define OUTER_FROM_TAYLOR2 0.49f
#define OUTER_FROM_TAYLOR3 0.4225f
#define OUTER_FROM_TAYLOR4 0.4225f

#define OUTER_FROM_keeps(NAME) INFINITY
#define OUTER_FROM_cancels(NAME) OUTER_FROM_##NAME
#define OUTER_FROM(of, number, NAME, name, brings, traits, zero, near, scaling, steepness, formula) \
    (of) == (number) ? OUTER_FROM_##near(NAME):
static inline __attribute__((always_inline)) float outer_from(int which)
{
    return LEY_PAIR_FUNCTIONS(OUTER_FROM, which) INFINITY;
}

/* Taylor's functions next to the cutoff: what the polynomial leaves of s^(-1/2) is t^(degree + 1),
 * t = 1 - s = 1 - r^2/a^2, times a series in t without a zero there. In its place polynomials of
 * smallest relative error, 2e-7 from outer_from() on: so nothing cancels, and no root is needed. */
static inline __attribute__((always_inline)) float outer_value(int which, float r2, const sphere *s)
{
    const float t = (s->cutoff2 - r2) * s->inverse_a2, t3 = s->inverse_a * t * t * t;
    if (which == LEY_PAIR_TAYLOR2)
        return t3 *
               (0.312500052f +
                t * (0.27342135f +
                     t * (0.246917266f +
                          t * (0.209634462f +
                               t * (0.361590788f +
                                    t * (-0.598482104f + t * (2.52892204f + t * (-3.5519505f + t * 2.79106122f))))))));
    if (which == LEY_PAIR_TAYLOR3)
        return t3 * t *
               (0.273437448f +
                t * (0.246111573f +
                     t * (0.224590335f +
                          t * (0.230783347f +
                               t * (-0.0318495525f +
                                    t * (1.56198276f +
                                         t * (-4.73513668f +
                                              t * (10.5204104f + t * (-11.9055424f + t * 6.35325666f)))))))));
    return t3 * (t * t) *
           (0.2460937f +
            t * (0.225603191f +
                 t * (0.20850799f +
                      t * (0.21704551f +
                           t * (-0.0359929027f +
                                t * (1.51265983f + t * (-4.60250049f +
                                                        t * (10.2206617f + t * (-11.5733628f + t * 6.17396629f)))))))));
}

static inline __attribute__((always_inline)) float inner_value(int which, float r2, const sphere *s)
{
    const float safe = LEY_MAX(r2, s->r_min2);
    return ley_pair_value(which, safe, root_of(which, safe), s->series, s->k, s->numbers[0], s->numbers[1],
                          s->numbers[2]);
}

/* A vector of points. */
static inline __attribute__((always_inline)) void
add_vector(int which, float x, float h, float across2, const sphere *s, bool inner, bool outer, float *restrict row)
{
    const float factor = LEY_BRINGS_OF(which) == LEY_BRINGS_CHARGE ? s->numbers[0] : 1;
    for (int32_t i = 0; i < VECTOR; i++) {
        const float dx = x + (float)i * h, r2 = dx * dx + across2;
        const float near = inner ? inner_value(which, r2, s) : 0, far = outer ? outer_value(which, r2, s) : 0;
        const float value = inner && outer ? (r2 < s->outer2 ? near : far) : inner ? near : far;
        row[i] += factor * (r2 < s->cutoff2 ? value : 0);
    }
}

/* Points of a row, whole vectors of them, from the one that is x from the atom along it: those of
 * the sphere and a few more, which count for nothing. So no remainder is left that would take
 * longer than the rest. */
static inline __attribute__((always_inline)) void add_row(int which, float x, float h, float across2, const sphere *s,
                                                          int32_t n, float *restrict row)
{
    const bool cancels = outer_from(which) < 1;
    for (int32_t i = 0; i < n; i += VECTOR) {
        const float low = x + (float)i * h, high = low + (VECTOR - 1) * h;
        const float low2 = low * low, high2 = high * high, least2 = low * high < 0 ? 0 : LEY_MIN(low2, high2);
        if (!cancels || LEY_MAX(low2, high2) + across2 < s->outer2)
            add_vector(which, low, h, across2, s, true, false, row + i);
        else if (least2 + across2 >= s->outer2)
            add_vector(which, low, h, across2, s, false, true, row + i);
        else
            add_vector(which, low, h, across2, s, true, true, row + i);
    }
}

/* The same of fewer points than a vector. */
static inline __attribute__((always_inline)) void add_rest(int which, float x, float h, float across2, const sphere *s,
                                                           int32_t n, float *restrict row)
{
    float whole[VECTOR] = {0};
    memcpy(whole, row, (size_t)n * sizeof *row);
    add_row(which, x, h, across2, s, VECTOR, whole);
    memcpy(row, whole, (size_t)n * sizeof *row);
}

/* The points 0, h, 2 h, ... nearer than `reach` to the place at * h + offset, and at most one more
 * at each end, or two where there are none. */
typedef struct stretch {
    int32_t low, end;
} stretch;

static inline __attribute__((always_inline)) stretch stretch_of(int32_t at, float offset, float reach, float per_h,
                                                                int32_t count)
{
    const int32_t low = at - (int32_t)((reach - offset) * per_h), end = at + (int32_t)((reach + offset) * per_h) + 1;
    return (stretch){low > 0 ? low : 0, end < count ? end : count};
}

/* An atom's sphere. Distances are whole steps, which are exact, and offsets. */
static inline __attribute__((always_inline)) void add_sphere(int which, const pair_terms *t, const pair_atom *j,
                                                             float *values)
{
    const double a = t->cutoff;
    const float cutoff = (float)a, cutoff2 = (float)(a * a);
    const sphere s = {.cutoff2 = cutoff2,
                      .r_min2 = (float)(t->r_min * t->r_min),
                      .inverse_a = (float)(1 / a),
                      .inverse_a2 = (float)(1 / (a * a)),
                      .outer2 = outer_from(which) * cutoff2,
                      .k = t->k,
                      .numbers = j->numbers,
                      .series = {t->series[0], t->series[1], t->series[2], t->series[3]}};
    const int32_t n_x = t->n[0], n_y = t->n[1], n_z = t->n[2];
    float h[3], per_h[3], offset[3];
    int32_t at[3];
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = (int32_t)rint(j->place[axis] / t->step[axis]);
        h[axis] = (float)t->step[axis];
        per_h[axis] = 1 / h[axis];
        offset[axis] = (float)(j->place[axis] - (double)at[axis] * t->step[axis]);
    }
    const stretch planes = stretch_of(at[2], offset[2], cutoff, per_h[2], n_z);
    for (int32_t z = planes.low; z < planes.end; z++) {
        const float dz = (float)(z - at[2]) * h[2] - offset[2], disc2 = cutoff2 - dz * dz;
        if (!(disc2 > 0))
            continue;
        const stretch rows = stretch_of(at[1], offset[1], sqrtf(disc2), per_h[1], n_y);
        for (int32_t y = rows.low; y < rows.end; y++) {
            const float dy = (float)(y - at[1]) * h[1] - offset[1], row2 = disc2 - dy * dy, across2 = dy * dy + dz * dz;
            if (!(row2 > 0))
                continue;
            const stretch chord = stretch_of(at[0], offset[0], sqrtf(row2), per_h[0], n_x);
            float *row = values + ((int64_t)z * n_y + y) * n_x;
            int32_t low = chord.low, count = (chord.end - low + VECTOR - 1) / VECTOR * VECTOR;
            if (chord.end <= low)
                continue;
            if (low + count > n_x && count <= n_x) /* not beyond the row's end: rather before */
                low = n_x - count;
            else if (low + count > n_x)
                count -= VECTOR;
            const float x = (float)(low - at[0]) * h[0] - offset[0];
            add_row(which, x, h[0], across2, &s, count, row + low);
            if (low + count < chord.end)
                add_rest(which, x + (float)count * h[0], h[0], across2, &s, chord.end - low - count, row + low + count);
        }
    }
}

typedef void add_function(const pair_terms *t, const pair_atom *atoms, size_t n, float *values);

#define ADD(name, number) \
    FOR_THIS_CPU static void name(const pair_terms *t, const pair_atom *atoms, size_t n, float *values) \
    { \
        for (size_t i = 0; i < n; i++) \
            add_sphere(number, t, &atoms[i], values); \
    }
#define ADD_ROW(of, number, NAME, ...) ADD(add_##NAME, number)
LEY_PAIR_FUNCTIONS(ADD_ROW, 0)

#define FUNCTION_ROW(of, number, NAME, ...) [number] = add_##NAME,
static add_function *const functions[] = {LEY_PAIR_FUNCTIONS(FUNCTION_ROW, 0)};

static pair_terms terms_of(const cutoff_problem *p)
{
    const double unit = p->unit_per_A;
    pair_terms t = {.cutoff = p->cutoff_A * unit, .r_min = cutoff_problem_r_min_A(p) * unit, .k = p->limits[2]};
    memcpy(t.series, p->series, sizeof t.series);
    for (int axis = 0; axis < 3; axis++) {
        t.n[axis] = (int32_t)p->grid.n[axis];
        t.step[axis] = p->grid.step_A[axis][axis] * unit;
    }
    return t;
}

ley_status serial_pairs_map(const cutoff_problem *p, ley_map *map, double *seconds, ley_error *error)
{
    const pair_terms terms = terms_of(p);
    const double *position_A = ley_atoms_positions_A(p->atoms);
    const size_t n = ley_atoms_count(p->atoms);
    pair_atom *atoms = calloc(n + 1, sizeof *atoms);
    if (atoms == NULL)
        return ley_fail_memory(error, (n + 1) * sizeof *atoms, "the host loop");
    for (size_t i = 0; i < n; i++) {
        for (size_t axis = 0; axis < 3; axis++)
            atoms[i].place[axis] = (position_A[3 * i + axis] - p->grid.origin_A[axis]) * p->unit_per_A;
        cutoff_problem_numbers(p, i, atoms[i].numbers);
    }
    memset(ley_map_values(map), 0, (size_t)ley_grid_points(&p->grid) * sizeof(float));
    const double start_s = ley_clock_s();
    functions[p->range->pair](&terms, atoms, n, ley_map_values(map));
    *seconds = ley_clock_s() - start_s;
    free(atoms);
    return LEY_OK;
}
