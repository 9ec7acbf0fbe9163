#include "law/wavefunction.h"

#include "core/units.h"
#include "law/wavefunction_again.h"
#include "source/wavefunction.h"

#include <math.h>
#include <string.h>

/* Of a function, or of an orbital: the value, its gradient and its Laplacian; and bounds of them
 * that no cancelling makes small. */
enum { VALUE, X, Y, Z, LAPLACIAN, PARTS, BOUND = PARTS, SLOPE_BOUND, LAPLACIAN_BOUND, ALL };

/* The angular parts of a shell: polynomials, their gradients and Laplacians, and bounds of their
 * magnitudes and gradients. */
typedef struct angular {
    int count;
    double part[BASIS_MOST_FUNCTIONS][PARTS];
    double bound[BASIS_MOST_FUNCTIONS], slope_bound[BASIS_MOST_FUNCTIONS];
} angular;

static double odd_factorial(int n)
{
    return n <= 0 ? 1 : (2 * n - 1) * odd_factorial(n - 1);
}

static double power(double x, int n)
{
    return n < 0 ? 0 : n == 0 ? 1 : x * power(x, n - 1);
}

/* Monomials, each of the norm that x^l has. */
static void cartesian(int l, const double r[3], angular *to)
{
    for (int i = l; i >= 0; i--)
        for (int j = l - i; j >= 0; j--) {
            const int n[3] = {i, j, l - i - j}, f = to->count++;
            const double norm =
                sqrt(odd_factorial(l) / (odd_factorial(n[0]) * odd_factorial(n[1]) * odd_factorial(n[2])));
            to->part[f][VALUE] = norm * power(r[0], n[0]) * power(r[1], n[1]) * power(r[2], n[2]);
            to->part[f][LAPLACIAN] = to->slope_bound[f] = 0;
            for (int axis = 0; axis < 3; axis++) {
                const double others =
                    norm * power(r[(axis + 1) % 3], n[(axis + 1) % 3]) * power(r[(axis + 2) % 3], n[(axis + 2) % 3]);
                to->part[f][X + axis] = others * n[axis] * power(r[axis], n[axis] - 1);
                to->part[f][LAPLACIAN] += others * n[axis] * (n[axis] - 1) * power(r[axis], n[axis] - 2);
                to->slope_bound[f] += fabs(to->part[f][X + axis]);
            }
            to->bound[f] = fabs(to->part[f][VALUE]);
        }
}

/* A solid harmonic and its gradient. */
typedef struct harmonic {
    double s[4];
} harmonic;

/* f times the coordinate along an axis times a harmonic, added with its gradient. */
static void add_along(harmonic *to, double f, int axis, const double r[3], const harmonic *from)
{
    for (int k = 0; k < 4; k++)
        to->s[k] += f * r[axis] * from->s[k];
    to->s[1 + axis] += f * from->s[0];
}

static void add_square(harmonic *to, double f, const double r[3], const harmonic *from)
{
    const double r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    for (int k = 0; k < 4; k++)
        to->s[k] += f * r2 * from->s[k];
    for (int axis = 0; axis < 3; axis++)
        to->s[1 + axis] += f * 2 * r[axis] * from->s[0];
}

/* Real solid harmonics in Racah's normalisation, by the recurrences of Helgaker, Jorgensen and
 * Olsen (6.4.70) to (6.4.72): at[l][LEY_MOST_MOMENTUM + m]. */
static void harmonics(int most, const double r[3], harmonic at[LEY_MOST_MOMENTUM + 1][2 * LEY_MOST_MOMENTUM + 1])
{
    enum { ZERO = LEY_MOST_MOMENTUM };
    memset(at, 0, (LEY_MOST_MOMENTUM + 1) * sizeof *at);
    at[0][ZERO].s[0] = 1;
    for (int l = 0; l < most; l++) {
        const double rise = sqrt((l == 0 ? 2 : 1) * (2.0 * l + 1) / (2 * l + 2));
        add_along(&at[l + 1][ZERO + l + 1], rise, 0, r, &at[l][ZERO + l]);
        add_along(&at[l + 1][ZERO - l - 1], rise, 1, r, &at[l][ZERO + l]);
        if (l > 0) {
            add_along(&at[l + 1][ZERO + l + 1], -rise, 1, r, &at[l][ZERO - l]);
            add_along(&at[l + 1][ZERO - l - 1], rise, 0, r, &at[l][ZERO - l]);
        }
        for (int m = -l; m <= l; m++) {
            const double below = sqrt((double)(l + m + 1) * (l - m + 1));
            add_along(&at[l + 1][ZERO + m], (2 * l + 1) / below, 2, r, &at[l][ZERO + m]);
            if (l > 0 && m > -l && m < l)
                add_square(&at[l + 1][ZERO + m], -sqrt((double)(l + m) * (l - m)) / below, r, &at[l - 1][ZERO + m]);
        }
    }
}

static void pure(int l, const double r[3], angular *to)
{
    harmonic at[LEY_MOST_MOMENTUM + 1][2 * LEY_MOST_MOMENTUM + 1];
    const double length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    harmonics(l, r, at);
    for (int f = 0; f < 2 * l + 1; f++) {
        const int m = f % 2 == 1 ? (f + 1) / 2 : -(f / 2); /* 0, +1, -1, +2, -2, ... */
        memcpy(to->part[f], at[l][LEY_MOST_MOMENTUM + m].s, 4 * sizeof(double));
        to->part[f][LAPLACIAN] = 0;
        to->bound[f] = power(length, l);
        to->slope_bound[f] = l * power(length, l - 1);
    }
    to->count = 2 * l + 1;
}

/* The radial parts of a shell's functions: sums of g = d N exp(-a r^2), of a g and of a^2 g; and of
 * their magnitudes. */
typedef struct radial {
    double sum[3], bound[3];
} radial;

static radial sum_radial(const ley_wavefunction_arrays *a, const basis_shell *s, double r2)
{
    radial made = {{0}, {0}};
    for (int64_t p = s->first_primitive; p < s->first_primitive + s->primitives; p++) {
        const double alpha = a->exponents[p],
                     norm = pow(2 * alpha / M_PI, 0.75) * sqrt(pow(4 * alpha, s->l) / odd_factorial(s->l));
        double g = a->coefficients[p] * norm * exp(-alpha * r2);
        for (int k = 0; k < 3; k++, g *= alpha) {
            made.sum[k] += g;
            made.bound[k] += fabs(g);
        }
    }
    return made;
}

/* What a function of a shell adds to an orbital, for a coefficient of 1. */
static void value_function(const angular *p, int f, int l, const radial *g, const double r[3], double r2,
                           double made[ALL])
{
    const double value = p->part[f][VALUE], length = sqrt(r2);
    made[VALUE] = value * g->sum[0];
    for (int axis = 0; axis < 3; axis++)
        made[X + axis] = p->part[f][X + axis] * g->sum[0] - 2 * r[axis] * value * g->sum[1];
    made[LAPLACIAN] = p->part[f][LAPLACIAN] * g->sum[0] - (4 * l + 6) * value * g->sum[1] + 4 * r2 * value * g->sum[2];
    made[BOUND] = p->bound[f] * g->bound[0];
    made[SLOPE_BOUND] = p->slope_bound[f] * g->bound[0] + 2 * length * p->bound[f] * g->bound[1];
    made[LAPLACIAN_BOUND] = fabs(p->part[f][LAPLACIAN]) * g->bound[0] + (4 * l + 6) * p->bound[f] * g->bound[1] +
                            4 * r2 * p->bound[f] * g->bound[2];
}

/* Adds c times that. */
static void add_function(double c, const double of[ALL], bool has_derivatives, double sums[ALL])
{
    sums[VALUE] += c * of[VALUE];
    sums[BOUND] += fabs(c) * of[BOUND];
    for (int k = X; k < PARTS && has_derivatives; k++)
        sums[k] += c * of[k];
    for (int k = SLOPE_BOUND; k < ALL && has_derivatives; k++)
        sums[k] += fabs(c) * of[k];
}

/* Adds a shell's part to each of the orbitals that count: sums[orbital - first]. */
static void add_shell(const wavefunction_quantity *q, const basis_shell *s, const double point[3], int64_t first,
                      int64_t count, double (*sums)[ALL])
{
    const ley_wavefunction *w = q->wavefunction;
    double r[3], r2 = 0;
    for (int axis = 0; axis < 3; axis++) {
        r[axis] = point[axis] - w->arrays.positions_bohr[3 * s->atom + axis];
        r2 += r[axis] * r[axis];
    }
    const radial g = sum_radial(&w->arrays, s, r2);
    angular p = {.count = 0};
    if (g.bound[0] == 0)
        return;
    if (s->is_pure)
        pure(s->l, r, &p);
    else
        cartesian(s->l, r, &p);
    double functions[BASIS_MOST_FUNCTIONS][ALL];
    for (int f = 0; f < p.count; f++)
        value_function(&p, f, s->l, &g, r, r2, functions[f]);
    for (int64_t i = 0; i < count; i++) {
        const double *c = w->arrays.orbital_coefficients + (first + i) * w->functions + s->first_function;
        for (int f = 0; f < p.count && (q->weights == NULL || q->weights[first + i] != 0); f++)
            if (c[f] != 0)
                add_function(c[f], functions[f], q->derivative != 0, sums[i]);
    }
}

/* What a density, or a derivative of it, changes by where an orbital and each of its derivatives
 * change by no more than `by`. */
static double change_of(int d, const double sums[ALL], double by)
{
    double size = 0;
    for (int k = VALUE; k < PARTS; k++)
        size += fabs(sums[k]);
    return d == 0           ? by * (2 * fabs(sums[VALUE]) + by)
           : d == LAPLACIAN ? 6 * by * (size + 2 * by)
                            : 2 * by * (size + by);
}

static void add_density(int d, double weight, const double sums[ALL], reference_value *to)
{
    const double slope2 = sums[X] * sums[X] + sums[Y] * sums[Y] + sums[Z] * sums[Z];
    to->value += weight * (d == 0           ? sums[VALUE] * sums[VALUE]
                           : d == LAPLACIAN ? 2 * (slope2 + sums[VALUE] * sums[LAPLACIAN])
                                            : 2 * sums[VALUE] * sums[d]);
    to->absolute +=
        fabs(weight) * (d == 0 ? sums[BOUND] * sums[BOUND]
                        : d == LAPLACIAN
                            ? 2 * (sums[SLOPE_BOUND] * sums[SLOPE_BOUND] + sums[BOUND] * sums[LAPLACIAN_BOUND])
                            : 2 * sums[BOUND] * sums[SLOPE_BOUND]);
}

/* Of rho and a magnitude of its gradient. */
static double reduced(double rho, double slope)
{
    const double s = slope / (2 * pow(3 * M_PI * M_PI, 1.0 / 3) * pow(rho, 4.0 / 3));
    return s < LEY_MOST_REDUCED_GRADIENT ? s : LEY_MOST_REDUCED_GRADIENT;
}

/* The reduced gradient of the density and its derivatives; absolute is what allows as much as these
 * change it by where each of them is off by what is promised. */
static reference_value reduced_gradient(const reference_value parts[4], double promise)
{
    double slope2 = 0, off2 = 0;
    for (int axis = 0; axis < 3; axis++) {
        slope2 += pow(parts[X + axis].value, 2);
        off2 += pow(promise * parts[X + axis].absolute, 2);
    }
    const double rho = fabs(parts[VALUE].value), off = promise * parts[VALUE].absolute, slope = sqrt(slope2),
                 s = reduced(rho, slope), low = reduced(rho + off, fmax(slope - sqrt(off2), 0)),
                 high = reduced(fmax(rho - off, 0), slope + sqrt(off2));
    return (reference_value){.value = s, .absolute = promise > 0 ? fmax(s, fmax(s - low, high - s) / promise) : s};
}

/* Adds what the orbitals of a block have in the density, or in each of the parts of its reduced
 * gradient. */
static void add_block(const wavefunction_quantity *q, int64_t first, int64_t count, double (*sums)[ALL],
                      reference_value parts[PARTS])
{
    const bool is_reduced = q->derivative == WAVEFUNCTION_REDUCED;
    for (int64_t i = 0; i < count; i++)
        for (int d = is_reduced ? VALUE : q->derivative; d <= (is_reduced ? Z : q->derivative); d++) {
            const double weight = q->weights[first + i];
            add_density(d, weight, sums[i], &parts[d]);
            if (q->left_out != NULL && weight != 0)
                parts[d].absolute += fabs(weight) * change_of(d, sums[i], q->left_out[first + i]) / q->promise;
        }
}

reference_value wavefunction_value(const wavefunction_quantity *q, const double point_bohr[3])
{
    enum { BLOCK = 64 };
    const ley_wavefunction *w = q->wavefunction;
    const int64_t first = q->weights == NULL ? q->orbital : 0,
                  end = q->weights == NULL ? q->orbital + 1 : w->arrays.orbitals;
    double sums[BLOCK][ALL];
    reference_value made = {0}, parts[PARTS] = {{0}};
    for (int64_t block = first; block < end; block += BLOCK) {
        const int64_t count = end - block < BLOCK ? end - block : BLOCK;
        memset(sums, 0, sizeof sums);
        for (int64_t s = 0; s < w->arrays.shells; s++)
            add_shell(q, &w->shells[s], point_bohr, block, count, sums);
        if (q->weights != NULL)
            add_block(q, block, count, sums, parts);
        if (q->weights == NULL) {
            made.value = sums[0][q->derivative];
            made.absolute = sums[0][q->derivative == 0           ? BOUND
                                    : q->derivative == LAPLACIAN ? LAPLACIAN_BOUND
                                                                 : SLOPE_BOUND];
        }
    }
    for (int d = VALUE; d < PARTS; d++)
        parts[d].absolute += q->least;
    if (q->weights != NULL)
        return q->derivative == WAVEFUNCTION_REDUCED ? reduced_gradient(parts, q->promise) : parts[q->derivative];
    made.absolute += q->least;
    return made;
}

static reference_value value_A(const reference_terms *terms, const double point_A[3])
{
    const double point[3] = {point_A[0] / units_bohr_A, point_A[1] / units_bohr_A, point_A[2] / units_bohr_A};
    return wavefunction_value(terms->quantity, point);
}

const law law_wavefunction = {.name = "wavefunction", .value = value_A, .again = wavefunction_again};
