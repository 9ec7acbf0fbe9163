#include "methods/wavefunction/hermite.h"

#include "cancel.h"
#include "core/two_floats.h"
#include "error.h"
#include "memory.h"
#include "parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POWERS = LEY_MOST_MOMENTUM + 1, MOST_COEFFICIENTS = (POWERS + 0) * (POWERS + 1) * (POWERS + 2) / 6 };

/* A pair is a multipole from the square of sqrt(p) |r - P| on where this, in hartree/e, is left of
 * its Gaussian; so much farther for each degree of its polynomials. And what multipoles are off by,
 * in hartree/e: those of a cluster, and those of the molecule. */
static const double least_of_band[HERMITE_BANDS - 1] = {6, 1.2}; /* p in bohr^-2 */
static const double gaussian_left = 1e-9, more_t = 2.5, most_of_part = 1e-7, most_of_molecule = 1e-9;

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
    int32_t *nuclei;  /* [e->count]: each Gaussian's */
    pair_of *pairs[HERMITE_MULTIPOLES];
    hermite_charges *made;
    far_away *parts; /* [made->clusters] */
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

/* The one of the steeper Gaussian; of equally steep ones now this one's, now that one's. */
static int32_t cluster_of(const making *m, int32_t i, int32_t j)
{
    const double a = m->e->gaussians[i].exponent, b = m->e->gaussians[j].exponent;
    int band = 0;
    while (band < HERMITE_BANDS - 1 && a + b < least_of_band[band])
        band++;
    return HERMITE_BANDS * m->nuclei[a > b || (a == b && (i + j) % 2 == 0) ? i : j] + band;
}

/* Visits pairs that are not left out at first sight: counts them by their class and cluster, or
 * puts each behind others of these. */
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
            int32_t *at = &c->first[cluster_of(m, i, j) + 1];
            if (pairs != NULL)
                pairs[*at] = (pair_of){.a = i, .b = j};
            *at += 1;
        }
    return left_out;
}

/* From counts to where each cluster's pairs begin, one place farther back: while pairs are put
 * there, these become where they end. */
static void begin_lists(making *m)
{
    for (int l = 0; l < HERMITE_MULTIPOLES; l++) {
        hermite_class *c = &m->made->classes[l];
        c->count = 0;
        for (int32_t k = 1; k <= m->made->clusters; k++) {
            const int32_t n = c->first[k];
            c->first[k] = (int32_t)c->count;
            c->count += n;
        }
    }
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
        bound *= powers[axis] == 0 ? 1 : 1.09 * sqrt(ldexp(tgamma(powers[axis] + 1.0), powers[axis]));
    return bound;
}

static void put_place(const double centre[3], float *place)
{
    for (int axis = 0; axis < 3; axis++)
        two_floats(centre[axis], &place[axis], &place[4 + axis]);
}

/* h becomes derivatives by P. */
static void add_moments(const product *p, hermites h, double bound, far_away *to)
{
    const double t = fmax(log(bound / gaussian_left), 1) + more_t * p->l, root = sqrt(p->p);
    for (int i = 0; i <= p->l; i++)
        for (int j = 0; i + j <= p->l; j++)
            for (int k = 0; i + j + k <= p->l; k++)
                h[i][j][k] *= pow(root, -(i + j + k + 1));
    far_away_add(to, p->centre, &h[0][0][0], 2 * POWERS, p->l, sqrt(t) / root);
}

static void make_pair(const making *m, int l, size_t i, far_away *moments)
{
    const hermite_class *c = &m->made->classes[l];
    const int size = hermite_size(l);
    const product p = product_of(m, &m->pairs[l][i]);
    double exact[(2 * POWERS + 2) * (2 * POWERS + 1) * 2 * POWERS * (2 * POWERS - 1) / 24] = {0}, bound = 0;
    hermites h;
    fill_hermites(m, &p, h);
    for (int t = 0; t <= p.l; t++)
        for (int u = 0; t + u <= p.l; u++)
            for (int v = 0; t + u + v <= p.l; v++) {
                const int order = t + u + v;
                const double value = order % 2 == 0 ? h[t][u][v] : -h[t][u][v],
                             steeper = m->wish->has_field ? fmax(1, sqrt(2 * p.p * (order + 1))) : 1;
                if (value != 0)
                    bound += steeper * add_derivative(t, u, v, value, exact);
            }
    m->pairs[l][i].bound = bound;
    add_moments(&p, h, bound, moments);
    for (int k = 0; k < size; k++)
        c->coefficients[i * (size_t)size + (size_t)k] = (float)exact[k];
    float *place = c->places + HERMITE_PLACE * i;
    put_place(p.centre, place);
    place[3] = (float)sqrt(p.p);
}

/* Pairs of one cluster after the other, and its multipoles. */
static void make_pairs(void *context, size_t first, size_t last)
{
    const making *m = context;
    hermite_class *multipoles = &m->made->classes[HERMITE_MULTIPOLES];
    for (size_t k = first; k < last; k++) {
        for (int l = 0; l < HERMITE_MULTIPOLES; l++) {
            const hermite_class *c = &m->made->classes[l];
            for (int32_t i = c->first[k]; i < c->first[k + 1] && !cancel_is_asked(m->wish->cancelled); i++)
                make_pair(m, l, (size_t)i, &m->parts[k]);
        }
        float *reach = m->made->reaches + HERMITE_PLACE * k;
        far_away_finish(&m->parts[k], most_of_part);
        float *coefficients = multipoles->coefficients + FAR_COEFFICIENTS * k;
        far_away_coefficients(&m->parts[k], coefficients);
        memset(coefficients, 0, 4 * sizeof *coefficients);
        memcpy(m->made->poles + 4 * k,
               (const double[4]){m->parts[k].moments[0][0][0], m->parts[k].moments[1][0][0],
                                 m->parts[k].moments[0][1][0], m->parts[k].moments[0][0][1]},
               4 * sizeof(double));
        put_place(m->parts[k].centre, reach);
        reach[3] = (float)m->parts[k].reach;
        reach[7] = (float)(sqrt(3) * m->parts[k].reach);
        memcpy(multipoles->places + HERMITE_PLACE * k, reach, HERMITE_PLACE * sizeof *reach);
        multipoles->places[HERMITE_PLACE * k + 3] = (float)(1 / m->parts[k].reach);
    }
}

/* A nucleus is of the cluster of its steepest pairs. */
static void begin_clusters(const making *m)
{
    const ley_wavefunction *w = m->e->wavefunction;
    far_away *all = &m->made->far_away;
    for (int32_t k = 0; k < m->made->clusters; k++) {
        const double bare = 1; /* bohr: from there on a nucleus may be taken for a multipole */
        const int64_t nucleus = k / HERMITE_BANDS;
        far_away *part = &m->parts[k];
        memcpy(part->centre, w->arrays.positions_bohr + 3 * nucleus, sizeof part->centre);
        if (k % HERMITE_BANDS == 0)
            far_away_add(part, part->centre, &w->arrays.charges[nucleus], 1, 0, bare);
        for (int axis = 0; axis < 3; axis++)
            all->centre[axis] += part->centre[axis] / m->made->clusters;
    }
    for (const basis_shell *s = w->shells; s < w->shells + w->arrays.shells; s++)
        for (int64_t p = 0; p < s->primitives; p++)
            m->nuclei[m->e->gaussian_of[s->first_primitive + p]] = s->atom;
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
    for (int l = 0; l < HERMITE_MULTIPOLES; l++)
        n += (size_t)m->made->classes[l].count;
    double *bounds = malloc((n + 1) * sizeof *bounds);
    if (bounds == NULL)
        return ley_fail_memory(error, n * sizeof *bounds, "the electrons");
    for (int l = 0; l < HERMITE_MULTIPOLES; l++)
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
    int32_t kept = 0, i = 0;
    for (int32_t cluster = 1; cluster <= m->made->clusters; cluster++) {
        for (; i < c->first[cluster]; i++) {
            if (m->pairs[l][i].bound <= cut)
                continue;
            memmove(c->places + HERMITE_PLACE * kept, c->places + HERMITE_PLACE * i, HERMITE_PLACE * sizeof(float));
            memmove(c->coefficients + size * (size_t)kept, c->coefficients + size * (size_t)i, size * sizeof(float));
            kept++;
        }
        c->first[cluster] = kept;
    }
    c->count = kept;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static ley_status allocate(making *m, double each, ley_error *error)
{
    hermite_class *const classes = m->made->classes;
    const size_t clusters = (size_t)m->made->clusters;
    double bytes = 0;
    for (int l = 0; l < HERMITE_CLASSES; l++) {
        classes[l].first = calloc(clusters + 1, sizeof *classes[l].first);
        if (classes[l].first == NULL)
            return ley_fail_memory(error, clusters * sizeof *classes[l].first, "the electrons");
    }
    list_pairs(m, each);
    begin_lists(m);
    for (int32_t k = 0; k < m->made->clusters; k++)
        classes[HERMITE_MULTIPOLES].first[k + 1] = k + 1;
    classes[HERMITE_MULTIPOLES].count = m->made->clusters;
    for (int l = 0; l < HERMITE_CLASSES; l++)
        bytes +=
            (double)classes[l].count * (sizeof(pair_of) + (HERMITE_PLACE + (double)hermite_size(l)) * sizeof(float));
    const ley_status status = memory_check_one("the electrons", bytes, "fewer functions", error);
    for (int l = 0; l < HERMITE_CLASSES && status == LEY_OK; l++) {
        hermite_class *c = &classes[l];
        const size_t n = (size_t)c->count + 1;
        if (l < HERMITE_MULTIPOLES)
            m->pairs[l] = calloc(n, sizeof *m->pairs[l]);
        c->places = calloc(n, HERMITE_PLACE * sizeof *c->places);
        c->coefficients = malloc(n * (size_t)hermite_size(l) * sizeof *c->coefficients);
        if ((l < HERMITE_MULTIPOLES && m->pairs[l] == NULL) || c->places == NULL || c->coefficients == NULL)
            return ley_fail_memory(error, (size_t)bytes, "the electrons");
    }
    return status;
}

static ley_status make_charges(making *m, double most, ley_error *error)
{
    const double pairs = 0.5 * m->e->count * (m->e->count + 1.0), each = 0.5 * most / pairs;
    double cut;
    if (pairs > INT32_MAX)
        return ley_fail(error, LEY_ERROR_USAGE, "%.3g pairs of Gaussians are more than can be numbered", pairs);
    begin_clusters(m);
    parallel_ranges((size_t)m->used_count, fill_orbitals, m);
    parallel_ranges((size_t)m->e->count, bound_gaussians, m);
    ley_status status = allocate(m, each, error);
    if (status != LEY_OK)
        return status;
    m->made->left_out = list_pairs(m, each);
    parallel_ranges((size_t)m->made->clusters, make_pairs, m);
    for (int32_t k = 0; k < m->made->clusters; k++)
        far_away_join(&m->made->far_away, &m->parts[k]);
    far_away_finish(&m->made->far_away, most_of_molecule);
    if (cancel_is_asked(m->wish->cancelled))
        return ley_fail(error, LEY_CANCELLED, "cancelled");
    status = find_cut(m, most, &cut, &m->made->left_out, error);
    for (int l = 0; l < HERMITE_MULTIPOLES && status == LEY_OK; l++)
        keep_above(m, l, cut);
    return status;
}

ley_status hermite_create(const expansion *e, const hermite_wish *wish, hermite_charges *made, ley_error *error)
{
    const int64_t n = e->wavefunction->arrays.orbitals;
    const size_t coefficients = (size_t)e->coefficients;
    making m = {.e = e, .wish = wish, .made = made};
    *made = (hermite_charges){.clusters = HERMITE_BANDS * (int32_t)e->wavefunction->arrays.nuclei};
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
        m.nuclei = calloc((size_t)e->count, sizeof *m.nuclei);
        m.parts = calloc((size_t)made->clusters, sizeof *m.parts);
        made->reaches = calloc((size_t)made->clusters, HERMITE_PLACE * sizeof *made->reaches);
        made->poles = calloc((size_t)made->clusters, 4 * sizeof *made->poles);
        status = m.used == NULL || m.orbitals == NULL || m.squares == NULL || m.sizes == NULL || m.nuclei == NULL ||
                         m.parts == NULL || made->reaches == NULL || made->poles == NULL
                     ? ley_fail_memory(error, (size_t)bytes, "the density matrix")
                     : make_charges(&m, wish->most_left_out, error);
    }
    for (int l = 0; l < HERMITE_MULTIPOLES; l++)
        free(m.pairs[l]);
    free(m.used);
    free(m.orbitals);
    free(m.squares);
    free(m.sizes);
    free(m.nuclei);
    free(m.parts);
    if (status != LEY_OK)
        hermite_destroy(made);
    return status;
}

void hermite_destroy(hermite_charges *charges)
{
    for (int l = 0; l < HERMITE_CLASSES; l++) {
        free(charges->classes[l].first);
        free(charges->classes[l].places);
        free(charges->classes[l].coefficients);
    }
    free(charges->reaches);
    free(charges->poles);
    *charges = (hermite_charges){.left_out = 0};
}
