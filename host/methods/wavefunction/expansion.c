#include "methods/wavefunction/expansion.h"

#include "error.h"
#include "law/wavefunction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Gaussians ------------------------------------------------------------------------------- */

/* A primitive, by which it is found which ones are of one centre and exponent. */
typedef struct primitive {
    int32_t atom, l;
    double exponent;
    int64_t number;
} primitive;

static int by_centre(const void *a, const void *b)
{
    const primitive *p = a, *q = b;
    if (p->atom != q->atom)
        return p->atom < q->atom ? -1 : 1;
    if (p->exponent != q->exponent)
        return p->exponent > q->exponent ? -1 : 1;
    return p->number < q->number ? -1 : p->number > q->number;
}

static void merge(expansion *e, const primitive *list, int64_t n)
{
    const ley_wavefunction_arrays *a = &e->wavefunction->arrays;
    for (int64_t i = 0; i < n; i++) {
        const bool is_new = i == 0 || list[i].atom != list[i - 1].atom || list[i].exponent != list[i - 1].exponent;
        if (i == 0 || list[i].atom != list[i - 1].atom)
            e->first_of[e->centres++] = e->count;
        e->count += is_new;
        expansion_gaussian *g = &e->gaussians[e->count - 1];
        if (is_new) {
            *g = (expansion_gaussian){.exponent = list[i].exponent};
            memcpy(g->centre, a->positions_bohr + 3 * list[i].atom, sizeof g->centre);
        }
        g->l = list[i].l > g->l ? list[i].l : g->l;
        e->gaussian_of[list[i].number] = e->count - 1;
    }
    e->first_of[e->centres] = e->count;
}

static ley_status number_rows(expansion *e, ley_error *error)
{
    int64_t rows = 0, coefficients = 0;
    for (int32_t i = 0; i < e->count; i++) {
        expansion_gaussian *g = &e->gaussians[i];
        g->first_row = (int32_t)rows;
        g->first_coefficient = (int32_t)coefficients;
        rows += g->l + 1;
        coefficients += expansion_each(e, g);
        e->most_l = g->l > e->most_l ? g->l : e->most_l;
        if (coefficients > INT32_MAX / 16)
            return ley_fail(error, LEY_ERROR_USAGE, "a basis of more Gaussians than kernels can number");
    }
    e->rows = (int32_t)rows;
    e->coefficients = (int32_t)coefficients;
    return LEY_OK;
}

ley_status expansion_create(const ley_wavefunction *w, expansion *made, ley_error *error)
{
    const int64_t n = w->arrays.primitives;
    primitive *list = calloc((size_t)n, sizeof *list);
    *made = (expansion){.wavefunction = w,
                        .gaussians = calloc((size_t)n, sizeof *made->gaussians),
                        .gaussian_of = calloc((size_t)n, sizeof *made->gaussian_of),
                        .first_of = calloc((size_t)n + 1, sizeof *made->first_of)};
    if (list == NULL || made->gaussians == NULL || made->gaussian_of == NULL || made->first_of == NULL) {
        free(list);
        expansion_destroy(made);
        return ley_fail_memory(error, (size_t)n * sizeof *list, "the basis");
    }
    for (int64_t s = 0; s < w->arrays.shells; s++)
        for (int64_t p = 0; p < w->shells[s].primitives; p++) {
            const int64_t number = w->shells[s].first_primitive + p;
            list[number] = (primitive){w->shells[s].atom, w->shells[s].l, w->arrays.exponents[number], number};
        }
    qsort(list, (size_t)n, sizeof *list, by_centre);
    merge(made, list, n);
    free(list);
    const ley_status status = number_rows(made, error);
    if (status != LEY_OK)
        expansion_destroy(made);
    return status;
}

void expansion_destroy(expansion *e)
{
    free(e->gaussians);
    free(e->gaussian_of);
    free(e->first_of);
    *e = (expansion){.count = 0};
}

/* A shell, by which it is found which ones are of one centre. */
typedef struct contraction {
    int32_t atom;
    double least;
    int64_t number;
} contraction;

static int by_atom(const void *a, const void *b)
{
    const contraction *p = a, *q = b;
    if (p->atom != q->atom)
        return p->atom < q->atom ? -1 : 1;
    if (p->least != q->least)
        return p->least > q->least ? -1 : 1;
    return p->number < q->number ? -1 : p->number > q->number;
}

static void list_shells(expansion *e, contraction *list)
{
    const ley_wavefunction *w = e->wavefunction;
    e->count = (int32_t)w->arrays.shells;
    for (int64_t s = 0; s < w->arrays.shells; s++) {
        const basis_shell *shell = &w->shells[s];
        list[s] = (contraction){shell->atom, INFINITY, s};
        for (int64_t p = shell->first_primitive; p < shell->first_primitive + shell->primitives; p++)
            list[s].least = fmin(list[s].least, w->arrays.exponents[p]);
    }
    qsort(list, (size_t)e->count, sizeof *list, by_atom);
    for (int32_t i = 0; i < e->count; i++) {
        if (i == 0 || list[i].atom != list[i - 1].atom)
            e->first_of[e->centres++] = i;
        e->gaussians[i] =
            (expansion_gaussian){.exponent = list[i].least, .l = w->shells[list[i].number].l, .shell = list[i].number};
        memcpy(e->gaussians[i].centre, w->arrays.positions_bohr + 3 * list[i].atom, sizeof e->gaussians[i].centre);
    }
    e->first_of[e->centres] = e->count;
}

ley_status expansion_create_contracted(const ley_wavefunction *w, expansion *made, ley_error *error)
{
    const size_t n = (size_t)w->arrays.shells;
    contraction *list = calloc(n, sizeof *list);
    *made = (expansion){.wavefunction = w,
                        .is_contracted = true,
                        .gaussians = calloc(n, sizeof *made->gaussians),
                        .first_of = calloc(n + 1, sizeof *made->first_of)};
    const bool has_room = list != NULL && made->gaussians != NULL && made->first_of != NULL;
    if (has_room)
        list_shells(made, list);
    free(list);
    const ley_status status =
        has_room ? number_rows(made, error) : ley_fail_memory(error, n * sizeof *list, "the basis");
    if (status != LEY_OK)
        expansion_destroy(made);
    return status;
}

/* ---- Orbitals -------------------------------------------------------------------------------- */

/* Coefficients of y^j z^k with j + k <= n. */
static int triangle(int n)
{
    return (n + 1) * (n + 2) / 2;
}

int expansion_place(int l, int i)
{
    int place = 0;
    for (int k = 0; k < i; k++)
        place += triangle(l - k);
    return place;
}

/* x^i y^j z^k among the coefficients of a polynomial of degree l. */
static int place_of(int l, int i, int j, int k)
{
    int place = expansion_place(l, i);
    for (int m = 0; m < j; m++)
        place += l - i - m + 1;
    return place + k;
}

/* An orbital's polynomial of one shell, without its radial part: a factor for each monomial. */
static bool shell_polynomial(const basis_shell *s, const double *c, double sums[BASIS_MOST_MONOMIALS])
{
    double factors[BASIS_MOST_MONOMIALS];
    const int functions = basis_shell_functions(s->l, s->is_pure), monomials = basis_shell_functions(s->l, false);
    bool is_any = false;
    memset(sums, 0, BASIS_MOST_MONOMIALS * sizeof *sums);
    for (int f = 0; f < functions; f++) {
        if (c[f] == 0)
            continue;
        is_any = true;
        basis_polynomial(s->l, s->is_pure, f, factors);
        for (int m = 0; m < monomials; m++)
            sums[m] += c[f] * factors[m];
    }
    return is_any;
}

void expansion_fill_exact(const expansion *e, int64_t orbital, double *exact)
{
    const ley_wavefunction *w = e->wavefunction;
    double sums[BASIS_MOST_MONOMIALS];
    memset(exact, 0, (size_t)e->coefficients * sizeof *exact);
    for (int32_t g = 0; e->is_contracted && g < e->count; g++) {
        const expansion_gaussian *own = &e->gaussians[g];
        if (shell_polynomial(
                &w->shells[own->shell],
                w->arrays.orbital_coefficients + orbital * w->functions + w->shells[own->shell].first_function, sums))
            memcpy(exact + own->first_coefficient, sums, (size_t)expansion_each(e, own) * sizeof *sums);
    }
    for (int64_t s = 0; !e->is_contracted && s < w->arrays.shells; s++) {
        const basis_shell *shell = &w->shells[s];
        if (!shell_polynomial(shell, w->arrays.orbital_coefficients + orbital * w->functions + shell->first_function,
                              sums))
            continue;
        for (int64_t p = shell->first_primitive; p < shell->first_primitive + shell->primitives; p++) {
            const expansion_gaussian *g = &e->gaussians[e->gaussian_of[p]];
            const double radial = w->arrays.coefficients[p] * basis_radial_norm(g->exponent, shell->l);
            for (int i = shell->l; i >= 0; i--)
                for (int j = shell->l - i; j >= 0; j--)
                    exact[g->first_coefficient + place_of(g->l, i, j, shell->l - i - j)] +=
                        radial * sums[basis_monomial(shell->l, i, j)];
        }
    }
}

void expansion_fill(const expansion *e, int64_t orbital, float *coefficients, double *kept)
{
    double *exact = kept != NULL ? kept : malloc((size_t)e->coefficients * sizeof *exact);
    if (exact != NULL)
        expansion_fill_exact(e, orbital, exact);
    for (int32_t i = 0; i < e->coefficients; i++)
        coefficients[i] = exact != NULL ? (float)exact[i] : NAN;
    if (kept != NULL)
        return;
    free(exact);
}

double expansion_factor(const expansion *e, const expansion_gaussian *g, int64_t number)
{
    const ley_wavefunction_arrays *a = &e->wavefunction->arrays;
    const int64_t p = e->wavefunction->shells[g->shell].first_primitive + number;
    return a->coefficients[p] * basis_radial_norm(a->exponents[p], g->l);
}

/* A term of degree l is at most r^l e^(-a r^2), each derivative adds a factor of l + 1 + 2 a r at
 * most. How many times as large as its threshold the largest one is, in logarithms, and where that
 * is brought down to 1: by a step that comes nearer from above. */
static double reach_step(const expansion_gaussian *g, double excess, int derivatives, double r2)
{
    const double r = sqrt(fmax(r2, 1)), slope = fmax(1, g->l + 1 + 2 * g->exponent * r);
    return (excess + g->l * log(r) + derivatives * log(slope)) / g->exponent;
}

/* Of a shell the sum of its factors' magnitudes: no more than that times the widest of its
 * Gaussians. */
static double expansion_most_radial(const expansion *e, const expansion_gaussian *g)
{
    const basis_shell *shell = &e->wavefunction->shells[g->shell];
    double sum = 0;
    for (int64_t p = 0; e->is_contracted && p < shell->primitives; p++)
        sum += fabs(expansion_factor(e, g, p));
    return e->is_contracted ? fmax(sum, 1e-300) : 1;
}

double expansion_reach2(const expansion *e, const expansion_gaussian *g, const float *coefficients,
                        const double *thresholds, int32_t orbitals, int derivatives)
{
    enum { STEPS = 6 };
    const double peak2 = (g->l + derivatives) / (2 * g->exponent), least = 1e-37; /* of floats */
    double most = 0;
    for (int32_t o = 0; o < orbitals; o++) {
        const float *c = coefficients + (size_t)o * (size_t)e->coefficients + g->first_coefficient;
        double sum = 0;
        for (int i = 0; i < expansion_each(e, g); i++)
            sum += fabs((double)c[i]);
        most = fmax(most, sum / fmax(thresholds[o], least));
    }
    if (most == 0)
        return 0;
    const double excess = log(most) + log(expansion_most_radial(e, g));
    double r2 = fmax(peak2, 1 / g->exponent);
    while (reach_step(g, excess, derivatives, r2) > r2)
        r2 *= 2;
    for (int i = 0; i < STEPS; i++)
        r2 = fmax(peak2, reach_step(g, excess, derivatives, r2));
    return r2;
}

double expansion_largest(const ley_wavefunction *w, int64_t orbital)
{
    /* Not along the axes, where many functions are 0. */
    static const double beside[][3] = {{0, 0, 0},           {0.45, 0.35, 0.55},  {-0.35, 0.55, 0.45},
                                       {0.55, -0.45, 0.35}, {0.45, 0.55, -0.35}, {-0.9, -0.7, 0.6},
                                       {-0.6, 0.9, -0.7},   {0.7, -0.6, -0.9},   {-0.25, -0.2, -0.3}};
    const wavefunction_quantity q = {.wavefunction = w, .orbital = orbital};
    const double *c = w->arrays.orbital_coefficients + orbital * w->functions;
    const basis_shell *most = w->shells;
    double largest = 0, value = 0;
    for (int64_t s = 0; s < w->arrays.shells; s++)
        for (int f = 0; f < basis_shell_functions(w->shells[s].l, w->shells[s].is_pure); f++)
            if (fabs(c[w->shells[s].first_function + f]) > largest) {
                largest = fabs(c[w->shells[s].first_function + f]);
                most = &w->shells[s];
            }
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        double point[3];
        for (int axis = 0; axis < 3; axis++)
            point[axis] = w->arrays.positions_bohr[3 * most->atom + axis] + beside[i][axis];
        value = fmax(value, fabs(wavefunction_value(&q, point).value));
    }
    return value;
}
