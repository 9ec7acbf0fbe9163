#include "numerics/fourier.h"

#include "error.h"
#include "for_this_cpu.h"
#include "parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Lines are transformed side by side, so that loops over them are loops over vectors. */
enum { LINES = 8, MOST_FACTORS = 64 };

typedef struct line_plan {
    size_t n;
    int factors, factor[MOST_FACTORS]; /* their product is n */
    double (*root)[2];                 /* [n] exp(-2 pi i j / n) */
} line_plan;

typedef double line_values[LINES];

static ley_status plan_lines(size_t n, line_plan *plan, ley_error *error)
{
    *plan = (line_plan){.n = n, .root = malloc(n * sizeof *plan->root)};
    if (plan->root == NULL)
        return ley_fail_memory(error, n * sizeof *plan->root, "a Fourier transform");
    for (size_t left = n, f = 4; left > 1;) {
        if (left % f == 0) {
            plan->factor[plan->factors++] = (int)f;
            left /= f;
        } else {
            f = f == 4 ? 2 : f == 2 ? 3 : f * f > left ? left : f + 2;
        }
    }
    for (size_t j = 0; j < n; j++) {
        const double angle = -2 * M_PI * (double)j / (double)n;
        plan->root[j][0] = cos(angle);
        plan->root[j][1] = sin(angle);
    }
    return LEY_OK;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* One step by Stockham: from [radix][m][s] to [m][radix][s] with its roots, n = radix m s. Real
 * parts of line l of value j are at [2 j][l], imaginary parts at [2 j + 1][l]. */
typedef struct step {
    const line_plan *plan;
    size_t radix, m, s;
    double sign; /* of imaginary parts of roots */
} step;

/* j is less than n. */
static inline void root_of(const step *t, size_t j, double root[2])
{
    root[0] = t->plan->root[j][0];
    root[1] = t->sign * t->plan->root[j][1];
}

static inline void rotate(const double root[2], line_values from[2], line_values to[2])
{
    for (int l = 0; l < LINES; l++) {
        const double re = from[0][l], im = from[1][l];
        to[0][l] = re * root[0] - im * root[1];
        to[1][l] = re * root[1] + im * root[0];
    }
}

static inline void two(const step *t, const double root[2], line_values *a, line_values *b, line_values *to)
{
    line_values less[2];
    for (int part = 0; part < 2; part++)
        for (int l = 0; l < LINES; l++) {
            to[part][l] = a[part][l] + b[part][l];
            less[part][l] = a[part][l] - b[part][l];
        }
    rotate(root, less, to + 2 * t->s);
}

static inline void four(const step *t, double roots[3][2], line_values *const from[4], line_values *to)
{
    line_values made[3][2];
    const double turn = -t->sign;
    for (int l = 0; l < LINES; l++) {
        const double sum_re = from[0][0][l] + from[2][0][l], sum_im = from[0][1][l] + from[2][1][l],
                     less_re = from[0][0][l] - from[2][0][l], less_im = from[0][1][l] - from[2][1][l],
                     odd_re = from[1][0][l] + from[3][0][l], odd_im = from[1][1][l] + from[3][1][l],
                     odd_less_re = from[1][0][l] - from[3][0][l], odd_less_im = from[1][1][l] - from[3][1][l];
        to[0][l] = sum_re + odd_re;
        to[1][l] = sum_im + odd_im;
        made[1][0][l] = sum_re - odd_re;
        made[1][1][l] = sum_im - odd_im;
        made[0][0][l] = less_re - turn * odd_less_im;
        made[0][1][l] = less_im + turn * odd_less_re;
        made[2][0][l] = less_re + turn * odd_less_im;
        made[2][1][l] = less_im - turn * odd_less_re;
    }
    for (int c = 0; c < 3; c++)
        rotate(roots[c], made[c], to + 2 * t->s * (size_t)(c + 1));
}

/* Any odd radix, by its definition: terms a and radix - a have conjugate roots, as have results c
 * and radix - c. */
static inline __attribute__((always_inline)) void any(const step *t, size_t p, line_values *from, size_t apart,
                                                      line_values *to)
{
    double root[2];
    for (size_t c = 0; c <= t->radix / 2; c++) {
        line_values even[2], odd[2] = {{0}}, made[2][2];
        memcpy(even, from, sizeof even);
        for (size_t a = 1, turns = c; a <= t->radix / 2; a++, turns += turns + c < t->radix ? c : c - t->radix) {
            line_values *x = from + a * apart, *y = from + (t->radix - a) * apart;
            root_of(t, turns * t->m * t->s, root);
            for (int part = 0; part < 2; part++)
                for (int l = 0; l < LINES; l++) {
                    even[part][l] += (x[part][l] + y[part][l]) * root[0];
                    odd[part][l] += (x[part][l] - y[part][l]) * root[1];
                }
        }
        for (int l = 0; l < LINES; l++) {
            made[0][0][l] = even[0][l] - odd[1][l];
            made[0][1][l] = even[1][l] + odd[0][l];
            made[1][0][l] = even[0][l] + odd[1][l];
            made[1][1][l] = even[1][l] - odd[0][l];
        }
        root_of(t, p * c * t->s, root);
        rotate(root, made[0], to + 2 * t->s * c);
        if (c == 0)
            continue;
        root_of(t, p * (t->radix - c) * t->s, root);
        rotate(root, made[1], to + 2 * t->s * (t->radix - c));
    }
}

FOR_THIS_CPU static void do_step(const step *t, line_values *from, line_values *to)
{
    const size_t apart = 2 * t->m * t->s;
    for (size_t p = 0; p < t->m; p++) {
        double roots[3][2];
        for (size_t c = 0; c < 3 && c + 1 < t->radix; c++)
            root_of(t, p * (c + 1) * t->s, roots[c]);
        for (size_t q = 0; q < t->s; q++) {
            line_values *at = from + 2 * (p * t->s + q);
            line_values *made = to + 2 * (p * t->radix * t->s + q);
            if (t->radix == 2)
                two(t, roots[0], at, at + apart, made);
            else if (t->radix == 4)
                four(t, roots, (line_values *const[]){at, at + apart, at + 2 * apart, at + 3 * apart}, made);
            else
                any(t, p, at, apart, made);
        }
    }
}

/* The lines' transforms, there by the sign +1, back by -1: in `a`, or in `b`, which is returned. */
static line_values *transform_lines(const line_plan *plan, double sign, line_values *a, line_values *b)
{
    size_t s = 1;
    for (int i = 0; i < plan->factors; i++) {
        const size_t radix = (size_t)plan->factor[i];
        const step t = {plan, radix, plan->n / s / radix, s, sign};
        do_step(&t, a, b);
        line_values *const other = a;
        a = b;
        b = other;
        s *= radix;
    }
    return a;
}

/* ---- Axes ------------------------------------------------------------------------------------ */

typedef struct pass {
    line_plan plan;
    double sign;
    double *spectrum, *mesh;            /* the latter along x alone */
    size_t waves_x, lines, stride, n_y; /* lines, and what is between two values of one */
    int axis;
    atomic_bool is_out_of_memory;
} pass;

/* Where a complex line begins: along y there is one for each x and z, along z for each x and y. */
static double *line_at(const pass *p, size_t line)
{
    if (p->axis == 2)
        return p->spectrum + 2 * line;
    return p->spectrum + 2 * (line / p->waves_x * p->waves_x * p->plan.n + line % p->waves_x);
}

static void do_complex(void *context, size_t first, size_t last)
{
    pass *p = context;
    const size_t n = p->plan.n;
    line_values *room = malloc(4 * n * sizeof *room);
    if (room == NULL) {
        atomic_store(&p->is_out_of_memory, true);
        return;
    }
    for (size_t at = first * LINES; at < last * LINES && at < p->lines; at += LINES) {
        const size_t count = p->lines - at < LINES ? p->lines - at : LINES;
        if (count < LINES)
            memset(room, 0, 2 * n * sizeof *room);
        double *line[LINES];
        for (size_t l = 0; l < count; l++)
            line[l] = line_at(p, at + l);
        bool is_zero = true;
        for (size_t j = 0; j < n; j++)
            for (size_t l = 0; l < count; l++) {
                room[2 * j][l] = line[l][2 * j * p->stride];
                room[2 * j + 1][l] = line[l][2 * j * p->stride + 1];
                is_zero = is_zero && room[2 * j][l] == 0 && room[2 * j + 1][l] == 0;
            }
        if (is_zero) /* as where a mesh has no such waves */
            continue;
        line_values *made = transform_lines(&p->plan, p->sign, room, room + 2 * n);
        for (size_t j = 0; j < n; j++)
            for (size_t l = 0; l < count; l++) {
                line[l][2 * j * p->stride] = made[2 * j][l];
                line[l][2 * j * p->stride + 1] = made[2 * j + 1][l];
            }
    }
    free(room);
}

/* Two real lines are one complex line. */
static void split_pair(line_values *made, size_t l, size_t n, double *a, double *b)
{
    for (size_t j = 0; j <= n / 2; j++) {
        const size_t k = (n - j) % n;
        const double re = made[2 * j][l], im = made[2 * j + 1][l], re_k = made[2 * k][l], im_k = made[2 * k + 1][l];
        a[2 * j] = (re + re_k) / 2;
        a[2 * j + 1] = (im - im_k) / 2;
        if (b != NULL) {
            b[2 * j] = (im + im_k) / 2;
            b[2 * j + 1] = (re_k - re) / 2;
        }
    }
}

static void join_pair(line_values *made, size_t l, size_t n, const double *a, const double *b)
{
    for (size_t j = 0; j < n; j++) {
        const size_t k = j <= n / 2 ? j : n - j;
        const double conj = j <= n / 2 ? 1 : -1, is_real = k == 0 || 2 * k == n ? 0 : conj;
        made[2 * j][l] = a[2 * k] - (b != NULL ? is_real * b[2 * k + 1] : 0);
        made[2 * j + 1][l] = is_real * a[2 * k + 1] + (b != NULL ? b[2 * k] : 0);
    }
}

static void do_real(void *context, size_t first, size_t last)
{
    pass *p = context;
    const size_t n = p->plan.n, rows = p->lines;
    line_values *room = malloc(4 * n * sizeof *room);
    if (room == NULL) {
        atomic_store(&p->is_out_of_memory, true);
        return;
    }
    for (size_t at = first * 2 * LINES; at < last * 2 * LINES && at < rows; at += 2 * LINES) {
        memset(room, 0, 2 * n * sizeof *room);
        for (size_t l = 0; l < LINES && at + 2 * l < rows; l++) {
            const size_t row = at + 2 * l, next = row + 1;
            if (p->sign > 0)
                for (size_t j = 0; j < n; j++) {
                    room[2 * j][l] = p->mesh[row * n + j];
                    room[2 * j + 1][l] = next < rows ? p->mesh[next * n + j] : 0;
                }
            else
                join_pair(room, l, n, p->spectrum + 2 * row * p->waves_x,
                          next < rows ? p->spectrum + 2 * next * p->waves_x : NULL);
        }
        line_values *made = transform_lines(&p->plan, p->sign, room, room + 2 * n);
        for (size_t l = 0; l < LINES && at + 2 * l < rows; l++) {
            const size_t row = at + 2 * l, next = row + 1;
            if (p->sign > 0)
                split_pair(made, l, n, p->spectrum + 2 * row * p->waves_x,
                           next < rows ? p->spectrum + 2 * next * p->waves_x : NULL);
            else
                for (size_t j = 0; j < n; j++) {
                    p->mesh[row * n + j] = made[2 * j][l];
                    if (next < rows)
                        p->mesh[next * n + j] = made[2 * j + 1][l];
                }
        }
    }
    free(room);
}

static ley_status do_axis(const int64_t n[3], int axis, double sign, double *spectrum, double *mesh, ley_error *error)
{
    const size_t x = (size_t)n[0], y = (size_t)n[1], z = (size_t)n[2], waves = x / 2 + 1;
    pass p = {.sign = sign, .spectrum = spectrum, .mesh = mesh, .waves_x = waves, .axis = axis};
    ley_status status = plan_lines((size_t)n[axis], &p.plan, error);
    if (status != LEY_OK)
        return status;
    p.lines = axis == 0 ? y * z : axis == 1 ? waves * z : waves * y;
    p.stride = axis == 1 ? waves : waves * y;
    const size_t bundle = axis == 0 ? 2 * LINES : LINES;
    parallel_ranges((p.lines + bundle - 1) / bundle, axis == 0 ? do_real : do_complex, &p);
    free(p.plan.root);
    return atomic_load(&p.is_out_of_memory) ? ley_fail_memory(error, (size_t)n[axis] * 256, "a Fourier transform")
                                            : LEY_OK;
}

int64_t fourier_waves(const int64_t n[3])
{
    return (n[0] / 2 + 1) * n[1] * n[2];
}

ley_status fourier_forward(const int64_t n[3], const double *mesh, double *spectrum, ley_error *error)
{
    ley_status status = LEY_OK;
    for (int axis = 0; axis < 3 && status == LEY_OK; axis++)
        status = do_axis(n, axis, 1, spectrum, (double *)(uintptr_t)mesh, error);
    return status;
}

ley_status fourier_back(const int64_t n[3], double *spectrum, double *mesh, ley_error *error)
{
    ley_status status = LEY_OK;
    for (int axis = 2; axis >= 0 && status == LEY_OK; axis--)
        status = do_axis(n, axis, -1, spectrum, mesh, error);
    return status;
}
