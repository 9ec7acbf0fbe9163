#include "numerics/cosines.h"

#include "cancel.h"
#include "error.h"
#include "for_this_cpu.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* So many transforms are made at once, so that loops over them are vectors; each of two lines, one
 * of which is the real part and one the imaginary part: the transform of an even line is real. */
enum { SIDE_BY_SIDE = 4, LINES = 2 * SIDE_BY_SIDE };

typedef double vector[SIDE_BY_SIDE];
typedef struct number {
    vector real, imaginary;
} number;

typedef struct root {
    double cosine, sine; /* of -2 pi i / n */
} root;

/* All lines along an axis; line q begins at start_of(q). */
typedef struct lines {
    double *values;
    const root *roots;
    int64_t n, half, stride, count; /* `half`: the last index; `stride`: as many lines begin next to each other */
    const atomic_bool *cancelled;
    atomic_bool is_out_of_memory, is_over;
} lines;

/* ---- One transform --------------------------------------------------------------------------- */

static inline void add_product(number *to, const number *from, root r)
{
    for (int i = 0; i < SIDE_BY_SIDE; i++) {
        to->real[i] += from->real[i] * r.cosine - from->imaginary[i] * r.sine;
        to->imaginary[i] += from->real[i] * r.sine + from->imaginary[i] * r.cosine;
    }
}

static inline void set_product(number *to, const number *from, root r)
{
    for (int i = 0; i < SIDE_BY_SIDE; i++) {
        const double real = from->real[i], imaginary = from->imaginary[i];
        to->real[i] = real * r.cosine - imaginary * r.sine;
        to->imaginary[i] = real * r.sine + imaginary * r.cosine;
    }
}

/* One step of Stockham's transform: n / stride values, `stride` of them side by side, by the factor
 * p of that. */
static inline __attribute__((always_inline)) void step(const lines *l, int64_t stride, int64_t p, const number *in,
                                                       number *out)
{
    const int64_t n = l->n / stride, m = n / p;
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0; k < p; k++) {
            const root turn = l->roots[i * k % n * stride];
            for (int64_t q = 0; q < stride; q++) {
                number sum = in[q + stride * i];
                for (int64_t j = 1; j < p; j++)
                    add_product(&sum, &in[q + stride * (i + j * m)], l->roots[j * k % p * (l->n / p)]);
                set_product(&out[q + stride * (p * i + k)], &sum, turn);
            }
        }
}

/* The same by 4, which takes no multiplications but for the turns. */
static inline __attribute__((always_inline)) void step_of_four(const lines *l, int64_t stride, const number *in,
                                                               number *out)
{
    const int64_t n = l->n / stride, m = n / 4;
    for (int64_t i = 0; i < m; i++) {
        const root *roots = l->roots,
                   turn[4] = {roots[0], roots[i * stride], roots[2 * i * stride], roots[3 * i % n * stride]};
        for (int64_t q = 0; q < stride; q++) {
            const number *a = &in[q + stride * i], *b = a + stride * m, *c = b + stride * m, *d = c + stride * m;
            number sum[4];
            for (int v = 0; v < SIDE_BY_SIDE; v++) {
                const double even = a->real[v] + c->real[v], even_i = a->imaginary[v] + c->imaginary[v],
                             less = a->real[v] - c->real[v], less_i = a->imaginary[v] - c->imaginary[v],
                             odd = b->real[v] + d->real[v], odd_i = b->imaginary[v] + d->imaginary[v],
                             turned = b->imaginary[v] - d->imaginary[v], turned_i = d->real[v] - b->real[v];
                sum[0].real[v] = even + odd;
                sum[0].imaginary[v] = even_i + odd_i;
                sum[1].real[v] = less + turned;
                sum[1].imaginary[v] = less_i + turned_i;
                sum[2].real[v] = even - odd;
                sum[2].imaginary[v] = even_i - odd_i;
                sum[3].real[v] = less - turned;
                sum[3].imaginary[v] = less_i - turned_i;
            }
            for (int k = 0; k < 4; k++)
                set_product(&out[q + stride * (4 * i + k)], &sum[k], turn[k]);
        }
    }
}

/* Returns which of the two has the result. */
static inline __attribute__((always_inline)) number *transform(const lines *l, number *a, number *b)
{
    for (int64_t stride = 1, p; stride < l->n; stride *= p) {
        const int64_t left = l->n / stride;
        for (p = left % 4 == 0 ? 4 : 2; left % p != 0;)
            p++;
        if (p == 4)
            step_of_four(l, stride, a, b);
        else
            step(l, stride, p, a, b);
        number *made = b;
        b = a;
        a = made;
    }
    return a;
}

/* ---- All lines ------------------------------------------------------------------------------- */

static double *start_of(const lines *l, int64_t q)
{
    return l->values + q / l->stride * l->stride * (l->half + 1) + q % l->stride;
}

/* Lines [first, first + count), LINES at most; of those that are missing the first one again. */
FOR_THIS_CPU static void make_some(const lines *l, int64_t first, int64_t count, number *a, number *b)
{
    double *start[LINES];
    for (int64_t i = 0; i < LINES; i++)
        start[i] = start_of(l, first + (i < count ? i : 0));
    for (int64_t i = 0; i <= l->half; i++) {
        for (int v = 0; v < SIDE_BY_SIDE; v++) {
            a[i].real[v] = start[2 * v][i * l->stride];
            a[i].imaginary[v] = start[2 * v + 1][i * l->stride];
        }
        if (i > 0)
            a[l->n - i] = a[i];
    }
    const number *made = transform(l, a, b);
    for (int64_t i = 0; i <= l->half; i++)
        for (int v = 0; v < SIDE_BY_SIDE; v++) {
            start[2 * v][i * l->stride] = made[i].real[v];
            start[2 * v + 1][i * l->stride] = made[i].imaginary[v];
        }
}

/* Some of the groups of lines. */
static void make_lines(void *context, size_t first, size_t last)
{
    lines *l = context;
    number *a = malloc(2 * (size_t)l->n * sizeof *a);
    if (a == NULL)
        atomic_store(&l->is_out_of_memory, true);
    for (size_t group = first; group < last && a != NULL && !atomic_load(&l->is_over); group++) {
        const int64_t line = (int64_t)group * LINES, left = l->count - line;
        make_some(l, line, left < LINES ? left : LINES, a, a + l->n);
        if (cancel_is_asked(l->cancelled))
            atomic_store(&l->is_over, true);
    }
    free(a);
}

static root *make_roots(int64_t n)
{
    root *made = malloc((size_t)n * sizeof *made);
    for (int64_t i = 0; made != NULL && i < n; i++)
        made[i] = (root){cos(2 * M_PI * (double)i / (double)n), -sin(2 * M_PI * (double)i / (double)n)};
    return made;
}

ley_status cosines_transform(double *values, const int64_t count[3], int axis, const atomic_bool *cancelled,
                             ley_error *error)
{
    const int64_t n = 2 * (count[axis] - 1), all = count[0] * count[1] * count[2];
    lines l = {.values = values,
               .roots = make_roots(n),
               .n = n,
               .half = n / 2,
               .stride = axis == 0   ? 1
                         : axis == 1 ? count[0]
                                     : count[0] * count[1],
               .count = all / count[axis],
               .cancelled = cancelled};
    if (l.roots == NULL)
        return ley_fail_memory(error, (size_t)n * sizeof *l.roots, "a transform");
    parallel_ranges((size_t)((l.count + LINES - 1) / LINES), make_lines, &l);
    memory_free(l.roots);
    if (l.is_out_of_memory)
        return ley_fail_memory(error, 2 * (size_t)n * sizeof(number), "a transform");
    return l.is_over ? ley_fail(error, LEY_CANCELLED, "cancelled") : LEY_OK;
}
