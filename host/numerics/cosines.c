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

/* So many transforms are made at once, in vectors; each of two lines, one of which is the real part
 * and one the imaginary part: the transform of an even line is real. Rounding lets either see a
 * little of the other, so who is whose partner stays the same however many there are at once: a
 * line without one has the first line of its GROUP for it. */
enum { SIDE_BY_SIDE = 8, LINES = 2 * SIDE_BY_SIDE, GROUP = 8 };

typedef double vector __attribute__((vector_size(SIDE_BY_SIDE * sizeof(double))));
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

static inline __attribute__((always_inline)) void add_product(number *to, const number *from, root r)
{
    to->real += from->real * r.cosine - from->imaginary * r.sine;
    to->imaginary += from->real * r.sine + from->imaginary * r.cosine;
}

static inline __attribute__((always_inline)) void set_product(number *to, const number *from, root r)
{
    const vector real = from->real, imaginary = from->imaginary;
    to->real = real * r.cosine - imaginary * r.sine;
    to->imaginary = real * r.sine + imaginary * r.cosine;
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

enum { MOST_SMALL = 7 };

/* The same by a small factor that the compiler knows: values are read once, and roots looked up
 * once. */
static inline __attribute__((always_inline)) void small_step(const lines *l, int64_t stride, const int p,
                                                             const number *in, number *out)
{
    const int64_t n = l->n / stride, m = n / p;
    root roots[MOST_SMALL];
    for (int j = 0; j < p; j++)
        roots[j] = l->roots[j * (l->n / p)];
    for (int64_t i = 0; i < m; i++) {
        root turn[MOST_SMALL];
        for (int k = 0; k < p; k++)
            turn[k] = l->roots[i * k % n * stride];
        for (int64_t q = 0; q < stride; q++) {
            const number *from = &in[q + stride * i];
            number value[MOST_SMALL];
            for (int j = 0; j < p; j++)
                value[j] = from[stride * m * j];
            for (int k = 0; k < p; k++) {
                number sum = value[0];
                for (int j = 1; j < p; j++)
                    add_product(&sum, &value[j], roots[j * k % p]);
                set_product(&out[q + stride * (p * i + k)], &sum, turn[k]);
            }
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
            const vector even = a->real + c->real, even_i = a->imaginary + c->imaginary, less = a->real - c->real,
                         less_i = a->imaginary - c->imaginary, odd = b->real + d->real,
                         odd_i = b->imaginary + d->imaginary, turned = b->imaginary - d->imaginary,
                         turned_i = d->real - b->real;
            const number sum[4] = {{even + odd, even_i + odd_i},
                                   {less + turned, less_i + turned_i},
                                   {even - odd, even_i - odd_i},
                                   {less - turned, less_i - turned_i}};
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
        switch (p) {
        case 2:
            small_step(l, stride, 2, a, b);
            break;
        case 3:
            small_step(l, stride, 3, a, b);
            break;
        case 4:
            step_of_four(l, stride, a, b);
            break;
        case 5:
            small_step(l, stride, 5, a, b);
            break;
        case 7:
            small_step(l, stride, 7, a, b);
            break;
        default:
            step(l, stride, p, a, b);
        }
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

/* Lines [first, first + count), LINES at most; of those that are missing one that is there
 * again. A group that is missing altogether is not written: it would have other partners. */
FOR_THIS_CPU static void make_some(const lines *l, int64_t first, int64_t count, number *a, number *b)
{
    double *start[LINES];
    for (int64_t i = 0; i < LINES; i++)
        start[i] = start_of(l, first + (i < count ? i : i / GROUP * GROUP < count ? i / GROUP * GROUP : 0));
    for (int64_t i = 0; i <= l->half; i++) {
        for (int v = 0; v < SIDE_BY_SIDE; v++) {
            a[i].real[v] = start[2 * v][i * l->stride];
            a[i].imaginary[v] = start[2 * v + 1][i * l->stride];
        }
        if (i > 0)
            a[l->n - i] = a[i];
    }
    const number *made = transform(l, a, b);
    const int wanted = (int)((count + GROUP - 1) / GROUP * GROUP / 2);
    for (int64_t i = 0; i <= l->half; i++)
        for (int v = 0; v < wanted; v++) {
            start[2 * v][i * l->stride] = made[i].real[v];
            start[2 * v + 1][i * l->stride] = made[i].imaginary[v];
        }
}

/* Some of the groups of lines. */
static void make_lines(void *context, size_t first, size_t last)
{
    lines *l = context;
    number *a = aligned_alloc(sizeof(vector), 2 * (size_t)l->n * sizeof *a);
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
