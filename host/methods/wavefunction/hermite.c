#include "methods/wavefunction/hermite.h"

#include "cancel.h"
#include "error.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POWERS = LEY_MOST_MOMENTUM + 1, MOST_COEFFICIENTS = (POWERS + 0) * (POWERS + 1) * (POWERS + 2) / 6 };

/* Pairs of a class are made in so many blocks, whoever makes them, so that sums have one order. And
 * the square of sqrt(p) |r - P| from which on a pair is a multipole, whatever L is. */
enum { BLOCKS = 64 };
static const double multipole_t = 60;

/* Of a Gaussian this share of the exponent bounds the polynomial in front. */
static const double bounding_share = 0.1;

/* ---- The density ----------------------------------------------------------------------------- */

typedef struct pair_of {
    int32_t a, b;
    double bound;
} pair_of;

typedef struct making {
    const expansion *e;
    const hermite_wish *wish;
    int64_t *used;
    int32_t used_count;
    double *orbitals; /* [e->coefficients][used_count] */
    double *squares;  /* [e->coefficients]: the density between a monomial and itself, or a bound of it */
    double *sizes;    /* [e->count]: bounds of what is in front of a Gaussian of a smaller exponent */
    pair_of *pairs[HERMITE_CLASSES];
    hermite_charges *made;
    int l;           /* the class at hand */
    far_away *parts; /* [BLOCKS]: of pairs that are made together */
} making;

static void fill_orbitals(void *context, size_t first, size_t last)
{
    const making *m = context;
    const size_t n = (size_t)m->e->coefficients;
    double *exact = malloc(n * sizeof *exact);
    for (size_t i = first; i < last && !cancel_is_asked(m->wish->cancelled); i++) {
        if (exact != NULL)
            expansion_fill_exact(m->e, m->used[i], exact);
        for (size_t k = 0; k < n; k++)
            m->orbitals[k * (size_t)m->used_count + i] = exact != NULL ? exact[k] : NAN;
    }
    free(exact);
}

/* The density between two monomials. */
static double density_of(const making *m, int64_t left, int64_t right)
{
    const double *a = m->orbitals + left * m->used_count, *b = m->orbitals + right * m->used_count;
    double sum = 0;
    for (int32_t i = 0; i < m->used_count; i++)
        sum += m->wish->weights[m->used[i]] * a[i] * b[i];
    return sum;
}

/* x^i exp(-share a x^2) is at most this. */
static double peak_of(int i, double a)
{
    return i == 0 ? 1 : pow(i / (2 * M_E * bounding_share * a), 0.5 * i);
}

static void bound_gaussians(void *context, size_t first, size_t last)
{
    const making *m = context;
    for (size_t g = first; g < last && !cancel_is_asked(m->wish->cancelled); g++) {
        const expansion_gaussian *of = &m->e->gaussians[g];
        int64_t at = of->first_coefficient;
        m->sizes[g] = 0;
        for (int i = 0; i <= of->l; i++)
            for (int j = 0; i + j <= of->l; j++)
                for (int k = 0; i + j + k <= of->l; k++, at++) {
                    double sum = 0;
                    for (int32_t o = 0; o < m->used_count; o++)
                        sum += fabs(m->wish->weights[m->used[o]]) * pow(m->orbitals[at * m->used_count + o], 2);
                    m->squares[at] = sum;
                    m->sizes[g] +=
                        sqrt(sum) * peak_of(i, of->exponent) * peak_of(j, of->exponent) * peak_of(k, of->exponent);
                }
    }
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* The share of exp(-decay) that a pair's product has in front. */
static double decay_of(const expansion_gaussian *a, const expansion_gaussian *b)
{
    double r2 = 0;
    for (int axis = 0; axis < 3; axis++)
        r2 += pow(a->centre[axis] - b->centre[axis], 2);
    return a->exponent * b->exponent / (a->exponent + b->exponent) * r2;
}

/* A pair's potential is no larger; with its field, which is steeper by a length of the Gaussian. */
static double quick_bound(const making *m, int32_t i, int32_t j)
{
    const expansion_gaussian *a = &m->e->gaussians[i], *b = &m->e->gaussians[j];
    const double p = a->exponent + b->exponent, share = 1 - bounding_share;
    return 2 * m->sizes[i] * m->sizes[j] * 2 * M_PI / (share * p) * exp(-share * decay_of(a, b)) *
           (m->wish->has_field ? fmax(1, sqrt(p)) : 1);
}

/* Visits pairs that are not left out at first sight; counts them by their class. */
static double list_pairs(making *m, double each)
{
    double left_out = 0;
    for (int32_t i = 0; i < m->e->count && !cancel_is_asked(m->wish->cancelled); i++)
        for (int32_t j = 0; j <= i; j++) {
            hermite_class *c = &m->made->classes[m->e->gaussians[i].l + m->e->gaussians[j].l];
            pair_of *pairs = m->pairs[m->e->gaussians[i].l + m->e->gaussians[j].l];
            const double bound = quick_bound(m, i, j);
            if (bound <= each) {
                left_out += bound;
                continue;
            }
            if (pairs != NULL)
                pairs[c->count] = (pair_of){.a = i, .b = j};
            c->count++;
        }
    return left_out;
}

/* E_t of x_a^i x_b^j, in units in which the product's exponent is 1. */
typedef double expansion_table[POWERS][POWERS][2 * POWERS];

static void fill_expansion(double to_a, double to_b, int l_a, int l_b, expansion_table e)
{
    memset(e, 0, sizeof(expansion_table));
    e[0][0][0] = 1;
    for (int i = 0; i <= l_a; i++)
        for (int j = i == 0; j <= l_b; j++) {
            const bool is_first = j == 0; /* from i - 1, else from j - 1 */
            const double *from = is_first ? e[i - 1][0] : e[i][j - 1], to = is_first ? to_a : to_b;
            for (int t = 0; t <= i + j; t++)
                e[i][j][t] = (t > 0 ? 0.5 * from[t - 1] : 0) + to * from[t] + (t + 1) * from[t + 1];
        }
}

typedef double hermites[2 * POWERS][2 * POWERS][2 * POWERS];

typedef struct product {
    const expansion_gaussian *a, *b;
    double p, centre[3], factor;
    int l;
    expansion_table e[3];
} product;

static product product_of(const making *m, const pair_of *pair)
{
    product made = {.a = &m->e->gaussians[pair->a], .b = &m->e->gaussians[pair->b]};
    made.p = made.a->exponent + made.b->exponent;
    made.l = made.a->l + made.b->l;
    made.factor = -(pair->a == pair->b ? 1 : 2) * pow(M_PI, 1.5) / made.p * exp(-decay_of(made.a, made.b));
    for (int axis = 0; axis < 3; axis++) {
        const double a = made.a->centre[axis], b = made.b->centre[axis], root = sqrt(made.p);
        made.centre[axis] = (made.a->exponent * a + made.b->exponent * b) / made.p;
        fill_expansion(root * (made.centre[axis] - a), root * (made.centre[axis] - b), made.a->l, made.b->l,
                       made.e[axis]);
    }
    return made;
}

static void add_monomials(const product *p, const int a[3], const int b[3], double density, hermites h)
{
    for (int t = 0; t <= a[0] + b[0]; t++)
        for (int u = 0; u <= a[1] + b[1]; u++) {
            const double left = density * p->e[0][a[0]][b[0]][t] * p->e[1][a[1]][b[1]][u];
            for (int v = 0; v <= a[2] + b[2]; v++)
                h[t][u][v] += left * p->e[2][a[2]][b[2]][v];
        }
}

/* Monomials of the two Gaussians' polynomials, those that have a part in the density. */
typedef struct monomials {
    int count, powers[MOST_COEFFICIENTS][3];
    int64_t at[MOST_COEFFICIENTS];
} monomials;

static monomials monomials_of(const making *m, const expansion_gaussian *g)
{
    monomials made = {.count = 0};
    int64_t at = g->first_coefficient;
    for (int i = 0; i <= g->l; i++)
        for (int j = 0; i + j <= g->l; j++)
            for (int k = 0; i + j + k <= g->l; k++, at++)
                if (m->squares[at] > 0) {
                    const int powers[3] = {i, j, k};
                    memcpy(made.powers[made.count], powers, sizeof powers);
                    made.at[made.count++] = at;
                }
    return made;
}

/* Coefficients of derivatives of F_0 by sqrt(p) P, t, u and v times along x, y and z; x^i goes with
 * p^(-i/2). */
static void fill_hermites(const making *m, const product *p, hermites h)
{
    const monomials left = monomials_of(m, p->a), right = monomials_of(m, p->b);
    memset(h, 0, sizeof(hermites));
    for (int i = 0; i < left.count; i++)
        for (int j = 0; j < right.count; j++) {
            const int *a = left.powers[i], *b = right.powers[j], degree = a[0] + a[1] + a[2] + b[0] + b[1] + b[2];
            add_monomials(p, a, b, density_of(m, left.at[i], right.at[j]) * p->factor * pow(p->p, -0.5 * degree), h);
        }
}

/* ---- Polynomials ----------------------------------------------------------------------------- */

/* The t-th derivative of f(x^2) by x is the sum over k of this times x^(t - 2k) f^(t - k). */
static double chain(int t, int k)
{
    double made = 1;
    for (int i = t - 2 * k + 1; i <= t; i++)
        made *= i;
    for (int i = 2; i <= k; i++)
        made /= i;
    return ldexp(made, t - 2 * k);
}

static int place_in(int n, int i, int j, int k)
{
    return hermite_size(n - 1) + expansion_place(n, i) + j * (n - i + 1) - j * (j - 1) / 2 + k;
}

/* What a derivative of F_0 is of F_n; and what it is at most, of the bound of Cramer:
 * |H_t(x)| exp(-x^2/2) <= 1.09 2^(t/2) sqrt(t!). */
static double add_derivative(int t, int u, int v, double h, double *to)
{
    for (int i = 0; 2 * i <= t; i++)
        for (int j = 0; 2 * j <= u; j++)
            for (int k = 0; 2 * k <= v; k++) {
                const int n = t + u + v - i - j - k;
                to[place_in(n, t - 2 * i, u - 2 * j, v - 2 * k)] +=
                    (n % 2 == 0 ? h : -h) * chain(t, i) * chain(u, j) * chain(v, k);
            }
    const int powers[3] = {t, u, v};
    double bound = fabs(h) / (t + u + v + 1);
    for (int axis = 0; axis < 3; axis++)
        bound *= powers[axis] == 0 ? 1 : 1.09 * sqrt(ldexp(factorial_of(powers[axis]), powers[axis]));
    return bound;
}

/* Moments of exp(-p (x - P)^2) derived t times by sqrt(p) P, about a centre so far from P:
 * i!/(i - t)! p^(-t/2) times the mean of x^(i - t) over a normal distribution. */
typedef double axis_moments[FAR_POWERS][FAR_POWERS]; /* [i][t] */

static void fill_moments(double way, double p, axis_moments made)
{
    const double root = sqrt(p);
    double means[FAR_POWERS] = {1, way};
    for (int i = 2; i < FAR_POWERS; i++)
        means[i] = way * means[i - 1] + (i - 1) / (2 * p) * means[i - 2];
    for (int i = 0; i < FAR_POWERS; i++) {
        double factor = 1;
        for (int t = 0; t <= i; t++, factor *= (i + 1 - t) / root)
            made[i][t] = factor * means[i - t];
    }
}

/* What a pair adds to the moments of the molecule, from the coefficients of derivatives of F_0. */
static void add_moments(const product *p, hermites h, far_away *to)
{
    axis_moments m[3];
    double r2 = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double way = p->centre[axis] - to->centre[axis];
        r2 += way * way;
        fill_moments(way, p->p, m[axis]);
    }
    to->extent = fmax(to->extent, sqrt(r2));
    to->beyond = fmax(to->beyond, sqrt(r2) + sqrt(multipole_t / p->p));
    for (int t = 0; t <= p->l && t < FAR_POWERS; t++)
        for (int u = 0; t + u <= p->l && t + u < FAR_POWERS; u++)
            for (int v = 0; t + u + v <= p->l && t + u + v < FAR_POWERS; v++)
                for (int i = t; i < FAR_POWERS && h[t][u][v] != 0; i++)
                    for (int j = u; i + j < FAR_POWERS; j++)
                        for (int k = v; i + j + k < FAR_POWERS; k++)
                            to->moments[i][j][k] += h[t][u][v] / sqrt(p->p) * m[0][i][t] * m[1][j][u] * m[2][k][v];
}

static void make_pair(const making *m, size_t i, far_away *moments)
{
    const hermite_class *c = &m->made->classes[m->l];
    const int size = hermite_size(m->l);
    const product p = product_of(m, &m->pairs[m->l][i]);
    double exact[(2 * POWERS + 2) * (2 * POWERS + 1) * 2 * POWERS * (2 * POWERS - 1) / 24] = {0}, bound = 0;
    hermites h;
    fill_hermites(m, &p, h);
    add_moments(&p, h, moments);
    for (int t = 0; t <= p.l; t++)
        for (int u = 0; t + u <= p.l; u++)
            for (int v = 0; t + u + v <= p.l; v++) {
                const int order = t + u + v;
                const double value = order % 2 == 0 ? h[t][u][v] : -h[t][u][v],
                             steeper = m->wish->has_field ? fmax(1, sqrt(2 * p.p * (order + 1))) : 1;
                if (value != 0)
                    bound += steeper * add_derivative(t, u, v, value, exact);
            }
    m->pairs[m->l][i].bound = bound;
    for (int k = 0; k < size; k++)
        c->coefficients[i * (size_t)size + (size_t)k] = (float)exact[k];
    float *place = c->places + HERMITE_PLACE * i;
    for (int axis = 0; axis < 3; axis++) {
        const volatile float high = (float)p.centre[axis]; /* gcc 12 takes vectors of the difference for 0 */
        place[axis] = high;
        place[4 + axis] = (float)(p.centre[axis] - (double)high);
    }
    place[3] = (float)sqrt(p.p);
}

static void make_pairs(void *context, size_t first, size_t last)
{
    const making *m = context;
    const size_t n = (size_t)m->made->classes[m->l].count;
    for (size_t block = first; block < last; block++)
        for (size_t i = parallel_first(n, BLOCKS, block), end = parallel_first(n, BLOCKS, block + 1);
             i < end && !cancel_is_asked(m->wish->cancelled); i++)
            make_pair(m, i, &m->parts[block]);
}

static void add_parts(const making *m)
{
    far_away *to = &m->made->far_away;
    for (int block = 0; block < BLOCKS; block++) {
        const far_away *part = &m->parts[block];
        to->extent = fmax(to->extent, part->extent);
        to->beyond = fmax(to->beyond, part->beyond);
        for (size_t k = 0; k < sizeof to->moments / sizeof(double); k++)
            ((double *)to->moments)[k] += ((const double *)part->moments)[k];
    }
    far_away_finish(m->e->wavefunction, to);
}

/* ---- What is left out ------------------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The largest bound whose pairs, with all smaller ones, add up to no more than `most`. */
static ley_status find_cut(const making *m, double most, double *cut, double *left_out, ley_error *error)
{
    size_t n = 0, at = 0;
    *cut = 0;
    for (int l = 0; l < HERMITE_CLASSES; l++)
        n += (size_t)m->made->classes[l].count;
    double *bounds = malloc((n + 1) * sizeof *bounds);
    if (bounds == NULL)
        return ley_fail_memory(error, n * sizeof *bounds, "the electrons");
    for (int l = 0; l < HERMITE_CLASSES; l++)
        for (int64_t i = 0; i < m->made->classes[l].count; i++)
            bounds[at++] = m->pairs[l][i].bound;
    qsort(bounds, n, sizeof *bounds, ascending);
    for (size_t i = 0; i < n && *left_out + bounds[i] <= most; i++) {
        *left_out += bounds[i];
        *cut = bounds[i];
    }
    free(bounds);
    return LEY_OK;
}

static void keep_above(const making *m, int l, double cut)
{
    hermite_class *c = &m->made->classes[l];
    const size_t size = (size_t)hermite_size(l);
    int64_t kept = 0;
    for (int64_t i = 0; i < c->count; i++) {
        if (m->pairs[l][i].bound <= cut)
            continue;
        memmove(c->places + HERMITE_PLACE * kept, c->places + HERMITE_PLACE * i, HERMITE_PLACE * sizeof(float));
        memmove(c->coefficients + size * (size_t)kept, c->coefficients + size * (size_t)i, size * sizeof(float));
        kept++;
    }
    c->count = kept;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static ley_status allocate(making *m, double each, ley_error *error)
{
    double bytes = 0;
    list_pairs(m, each);
    for (int l = 0; l < HERMITE_CLASSES; l++)
        bytes += (double)m->made->classes[l].count *
                 (sizeof(pair_of) + (HERMITE_PLACE + (double)hermite_size(l)) * sizeof(float));
    const ley_status status = memory_check_one("the electrons", bytes, "fewer functions", error);
    for (int l = 0; l < HERMITE_CLASSES && status == LEY_OK; l++) {
        hermite_class *c = &m->made->classes[l];
        const size_t n = (size_t)c->count + 1;
        m->pairs[l] = calloc(n, sizeof *m->pairs[l]);
        c->places = calloc(n, HERMITE_PLACE * sizeof *c->places);
        c->coefficients = malloc(n * (size_t)hermite_size(l) * sizeof *c->coefficients);
        c->count = 0;
        if (m->pairs[l] == NULL || c->places == NULL || c->coefficients == NULL)
            return ley_fail_memory(error, (size_t)bytes, "the electrons");
    }
    return status;
}

static ley_status make_charges(making *m, double most, ley_error *error)
{
    const double pairs = 0.5 * m->e->count * (m->e->count + 1.0), each = 0.5 * most / pairs;
    double cut;
    parallel_ranges((size_t)m->used_count, fill_orbitals, m);
    parallel_ranges((size_t)m->e->count, bound_gaussians, m);
    ley_status status = allocate(m, each, error);
    if (status != LEY_OK)
        return status;
    m->made->left_out = list_pairs(m, each);
    for (int block = 0; block < BLOCKS; block++)
        m->parts[block] = m->made->far_away;
    for (m->l = 0; m->l < HERMITE_CLASSES; m->l++)
        parallel_ranges(BLOCKS, make_pairs, m);
    add_parts(m);
    if (cancel_is_asked(m->wish->cancelled))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    status = find_cut(m, most, &cut, &m->made->left_out, error);
    for (int l = 0; l < HERMITE_CLASSES && status == LEY_OK; l++)
        keep_above(m, l, cut);
    return status;
}

ley_status hermite_create(const expansion *e, const hermite_wish *wish, hermite_charges *made, ley_error *error)
{
    const int64_t n = e->wavefunction->arrays.orbitals;
    const size_t coefficients = (size_t)e->coefficients;
    making m = {.e = e, .wish = wish, .made = made};
    *made = (hermite_charges){.far_away = far_away_begin(e->wavefunction)};
    m.used = calloc((size_t)n, sizeof *m.used);
    for (int64_t i = 0; i < n && m.used != NULL; i++)
        if (wish->weights[i] != 0)
            m.used[m.used_count++] = i;
    const double bytes = (double)coefficients * ((double)m.used_count + 1) * sizeof(double);
    ley_status status = memory_check_one("the density matrix", bytes, "fewer functions", error);
    if (status == LEY_OK) {
        m.orbitals = malloc((size_t)bytes);
        m.squares = calloc(coefficients, sizeof *m.squares);
        m.sizes = calloc((size_t)e->count, sizeof *m.sizes);
        m.parts = calloc(BLOCKS, sizeof *m.parts);
        status = m.used == NULL || m.orbitals == NULL || m.squares == NULL || m.sizes == NULL || m.parts == NULL
                     ? ley_fail_memory(error, (size_t)bytes, "the density matrix")
                     : make_charges(&m, wish->most_left_out, error);
    }
    for (int l = 0; l < HERMITE_CLASSES; l++)
        free(m.pairs[l]);
    free(m.used);
    free(m.orbitals);
    free(m.squares);
    free(m.sizes);
    free(m.parts);
    if (status != LEY_OK)
        hermite_destroy(made);
    return status;
}

void hermite_destroy(hermite_charges *charges)
{
    for (int l = 0; l < HERMITE_CLASSES; l++) {
        free(charges->classes[l].places);
        free(charges->classes[l].coefficients);
    }
    *charges = (hermite_charges){.left_out = 0};
}
