/* The potential of a pair of primitives of exponents a and b around A and B, by a quadrature. With
 * 1/r = 2/sqrt(pi) int_0^inf exp(-u^2 r^2) du, p = a + b and u^2 = p s^2/(1 - s^2) it is, at C,
 *
 *     2 pi/p exp(-ab/p |A - B|^2) int_0^1 exp(-p |P - C|^2 s^2) X(s) Y(s) Z(s) ds
 *
 * where P = (a A + b B)/p, and X is the mean of (x - A)^i (x - B)^j over a normal distribution
 * around P + s^2 (C - P) of variance (1 - s^2)/(2p), a polynomial in s^2 of the degree of the pair.
 * The integrand is even, so that half of a rule of Gauss and Legendre does, of as many nodes as the
 * Gaussian's exponent takes for 12 digits. Where the Gaussian ends long before s = 1 the integral
 * may as well go on to infinity, and is what half of a rule of Gauss and Hermite says, without an
 * error: the pair is a multipole. */
#include "law/esp.h"

#include "cancel.h"
#include "core/units.h"
#include "law/esp_again.h"
#include "source/wavefunction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 24, RULES = 6, FAR_RULES = LEY_MOST_MOMENTUM + 2, POWERS = LEY_MOST_MOMENTUM + 1, MOST_POINTS = 32 };

/* Pairs whose Gaussian product is no larger do not count: exp(-decay); nor those that add less to
 * the potential, in hartree/e. And from which exponent on,
 * at s = 1, the Gaussian has ended, with so much more for each degree of the polynomial. */
static const double largest_decay = 34, least_pair = 1e-13, far_t = 32, far_t_more = 2.5, more_nodes_t = 1.5,
                    multipole_t = 60;

/* Nodes of rules, and up to which exponent each one does, of s-functions. */
static const struct {
    int count;
    double most_t;
} usual[RULES] = {{10, 7}, {12, 14}, {14, 21}, {16, 30}, {20, 50}, {NODES, INFINITY}};

/* ---- Rules ----------------------------------------------------------------------------------- */

/* Positive nodes of a rule of twice as many points. */
typedef struct rule {
    int count;
    double s[NODES], weight[NODES];
} rule;

enum { STEPS = 12 /* of Newton's */ };

/* For integrals over [0, 1]. */
static rule legendre(int count)
{
    const int points = 2 * count;
    rule made = {.count = count};
    for (int k = 0; k < count; k++) {
        double x = cos(M_PI * (k + 0.75) / (points + 0.5)), slope = 1;
        for (int step = 0; step < STEPS; step++) {
            double last = 1, value = x;
            for (int n = 2; n <= points; n++) {
                const double next = ((2 * n - 1) * x * value - (n - 1) * last) / n;
                last = value;
                value = next;
            }
            slope = points * (x * value - last) / (x * x - 1);
            x -= value / slope;
        }
        made.s[k] = x;
        made.weight[k] = 2 / ((1 - x * x) * slope * slope);
    }
    return made;
}

/* For integrals of exp(-s^2) f(s) from 0 to infinity, the largest node first; first guesses are
 * those of Press et al., Numerical Recipes, section 4.5. */
static rule hermite(int count)
{
    const int points = 2 * count;
    rule made = {.count = count};
    double x = sqrt(2.0 * points + 1) - 1.85575 * pow(2.0 * points + 1, -0.16667);
    for (int k = 0; k < count; k++) {
        double slope = 1;
        if (k == 1)
            x -= 1.14 * pow(points, 0.426) / x;
        else if (k == 2)
            x = 1.86 * x - 0.86 * made.s[0];
        else if (k == 3)
            x = 1.91 * x - 0.91 * made.s[1];
        else if (k > 3)
            x = 2 * x - made.s[k - 2];
        for (int step = 0; step < STEPS; step++) {
            double last = 0, value = pow(M_PI, -0.25);
            for (int n = 1; n <= points; n++) {
                const double next = x * sqrt(2.0 / n) * value - sqrt((n - 1.0) / n) * last;
                last = value;
                value = next;
            }
            slope = sqrt(2.0 * points) * last;
            x -= value / slope;
        }
        made.s[k] = x;
        made.weight[k] = 2 / (slope * slope);
    }
    return made;
}

/* Near a pair; and far from one, by the number of nodes. */
typedef struct rules {
    rule near[RULES], far[FAR_RULES];
} rules;

static rules make_rules(void)
{
    rules made;
    for (int i = 0; i < RULES; i++)
        made.near[i] = legendre(usual[i].count);
    for (int count = 1; count < FAR_RULES; count++)
        made.far[count] = hermite(count);
    return made;
}

/* With derivatives the polynomial has one more degree in s^2; so many nodes are right for
 * 4 count - 1 in s. */
static const rule *rule_of(const rules *all, int degree, double t, bool *is_far)
{
    int i = 0;
    *is_far = t > far_t + far_t_more * degree;
    while (t + more_nodes_t * degree > usual[i].most_t)
        i++;
    return *is_far ? &all->far[(degree + 3) / 2] : &all->near[i];
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

typedef double block[BASIS_MOST_MONOMIALS][BASIS_MOST_MONOMIALS];

/* Two shells, and the density between their monomials, without the radial parts. */
typedef struct shell_pair {
    const ley_wavefunction *w;
    const basis_shell *a, *b;
    const double *at_a, *at_b;
    double distance2, size; /* the sum of magnitudes in: */
    block density;
} shell_pair;

/* The density between the functions of a shell and all functions up to its last one. */
static void make_rows(const wavefunction_quantity *q, const basis_shell *a, double *rows)
{
    const ley_wavefunction *w = q->wavefunction;
    const int n_a = basis_shell_functions(a->l, a->is_pure);
    const int64_t n = a->first_function + n_a;
    memset(rows, 0, (size_t)(n_a * n) * sizeof *rows);
    for (int64_t i = 0; i < w->arrays.orbitals; i++) {
        const double *c = w->arrays.orbital_coefficients + i * w->functions;
        for (int f = 0; f < n_a && q->weights[i] != 0; f++) {
            const double left = q->weights[i] * c[a->first_function + f];
            double *row = rows + f * n;
            int64_t g = 0;
            for (; g + 4 <= n; g += 4) /* a compiler makes vectors of it */
                for (int k = 0; k < 4; k++)
                    row[g + k] += left * c[g + k];
            for (; g < n; g++)
                row[g] += left * c[g];
        }
    }
}

/* sum over functions f, g of D_fg times their polynomials. */
static void make_density(const double *rows, shell_pair *s)
{
    const int n_a = basis_shell_functions(s->a->l, s->a->is_pure), n_b = basis_shell_functions(s->b->l, s->b->is_pure),
              m_a = basis_shell_functions(s->a->l, false), m_b = basis_shell_functions(s->b->l, false);
    const int64_t n = s->a->first_function + n_a;
    block half = {{0}};
    double factors[BASIS_MOST_MONOMIALS];
    memset(s->density, 0, sizeof s->density);
    for (int g = 0; g < n_b; g++) {
        basis_polynomial(s->b->l, s->b->is_pure, g, factors);
        for (int f = 0; f < n_a; f++)
            for (int m = 0; m < m_b; m++)
                half[f][m] += rows[f * n + s->b->first_function + g] * factors[m];
    }
    for (int f = 0; f < n_a; f++) {
        basis_polynomial(s->a->l, s->a->is_pure, f, factors);
        for (int k = 0; k < m_a; k++)
            for (int m = 0; m < m_b; m++)
                s->density[k][m] += factors[k] * half[f][m];
    }
    s->size = 0;
    for (int k = 0; k < m_a; k++)
        for (int m = 0; m < m_b; m++)
            s->size += fabs(s->density[k][m]);
}

/* Means of (x - A)^i (x - B)^j, for all i and j. */
typedef double means[POWERS][POWERS];

static void fill_means(double to_a, double to_b, double variance, int l_a, int l_b, means x)
{
    x[0][0] = 1;
    for (int i = 0; i < l_a; i++)
        x[i + 1][0] = to_a * x[i][0] + (i > 0 ? variance * i * x[i - 1][0] : 0);
    for (int j = 0; j < l_b; j++)
        for (int i = 0; i <= l_a; i++)
            x[i][j + 1] = to_b * x[i][j] + variance * ((i > 0 ? i * x[i - 1][j] : 0) + (j > 0 ? j * x[i][j - 1] : 0));
}

/* Their derivatives by where C is, with that of the Gaussian in front. */
static void fill_slopes(double way, double s2, double p, int l_a, int l_b, means x, means slopes)
{
    for (int i = 0; i <= l_a; i++)
        for (int j = 0; j <= l_b; j++)
            slopes[i][j] = s2 * (2 * p * way * x[i][j] + (i > 0 ? i * x[i - 1][j] : 0) + (j > 0 ? j * x[i][j - 1] : 0));
}

static double product(const shell_pair *s, means x, means y, means z)
{
    double sum = 0;
    for (int i = s->a->l, m = 0; i >= 0; i--)
        for (int j = s->a->l - i; j >= 0; j--, m++)
            for (int k = s->b->l, n = 0; k >= 0; k--)
                for (int h = s->b->l - k; h >= 0; h--, n++)
                    sum += s->density[m][n] * x[i][k] * y[j][h] * z[s->a->l - i - j][s->b->l - k - h];
    return sum;
}

/* What something adds to the potential, and to the field along the wanted axis. */
typedef struct addend {
    double v, slope;
} addend;

/* What a pair of primitives adds; whether it is a multipole without doubt; and the square of the
 * length of the field over that of the potential, about. */
static addend add_primitives(const shell_pair *s, const rules *all, double a, double b, int derivative,
                             const double at[3], bool *is_multipole, double *steepness)
{
    const double p = a + b;
    addend sum = {0};
    double centre[3], t = 0;
    for (int k = 0; k < 3; k++) {
        centre[k] = (a * s->at_a[k] + b * s->at_b[k]) / p;
        t += p * (centre[k] - at[k]) * (centre[k] - at[k]);
    }
    bool is_far;
    const rule *r = rule_of(all, s->a->l + s->b->l, t, &is_far);
    const double scale = is_far ? 1 / sqrt(t) : 1;
    *steepness = p / (1 + t);
    *is_multipole = t > multipole_t + far_t_more * (s->a->l + s->b->l);
    for (int node = 0; node < r->count; node++) {
        const double y = scale * r->s[node], s2 = y * y, weight = scale * r->weight[node] * (is_far ? 1 : exp(-t * s2));
        means x[3], slopes;
        for (int k = 0; k < 3; k++) {
            const double middle = centre[k] + s2 * (at[k] - centre[k]);
            fill_means(middle - s->at_a[k], middle - s->at_b[k], (1 - s2) / (2 * p), s->a->l, s->b->l, x[k]);
        }
        sum.v += weight * product(s, x[0], x[1], x[2]);
        if (derivative > 0) {
            const int k = derivative - 1;
            fill_slopes(centre[k] - at[k], s2, p, s->a->l, s->b->l, x[k], slopes);
            memcpy(x[k], slopes, sizeof slopes);
            sum.slope += weight * product(s, x[0], x[1], x[2]);
        }
    }
    return sum;
}

/* How much more a pair of a high degree counts: in front of Boys' functions stand polynomials whose
 * terms cancel the more, the higher it is, and floats lose as many digits. */
static double weight_of(int degree)
{
    enum { SURE_DEGREE = 6 };
    return degree > SURE_DEGREE ? ldexp(1, degree - SURE_DEGREE) : 1;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

typedef struct sums {
    const wavefunction_quantity *q;
    rules rules;
    size_t n;
    const double (*point)[3];
    reference_value *values; /* what is absolute as a sum of squares, until the end */
    addend *atoms;           /* [nuclei][n]: of each nucleus and its pairs that are multipoles */
    double *rows;
} sums;

static double square_of(const sums *to, addend a, double steepness)
{
    return to->q->derivative > 0 ? a.v * a.v * steepness + a.slope * a.slope : a.v * a.v;
}

static void add_pair(const sums *to, const shell_pair *s, double a, double b, double factor)
{
    for (size_t k = 0; k < to->n; k++) {
        bool is_multipole;
        double steepness;
        addend of = add_primitives(s, &to->rules, a, b, to->q->derivative, to->point[k], &is_multipole, &steepness);
        of = (addend){-factor * of.v, factor * of.slope};
        to->values[k].value += to->q->derivative > 0 ? of.slope : of.v;
        if (is_multipole) {
            addend *atom = &to->atoms[(size_t)(a >= b ? s->a : s->b)->atom * to->n + k];
            *atom = (addend){atom->v + of.v, atom->slope + of.slope};
        } else
            to->values[k].absolute += pow(weight_of(s->a->l + s->b->l), 2) * square_of(to, of, steepness);
    }
}

static void add_shells(const sums *to, shell_pair *s)
{
    const ley_wavefunction_arrays *from = &s->w->arrays;
    bool is_made = false;
    for (int64_t i = s->a->first_primitive; i < s->a->first_primitive + s->a->primitives; i++)
        for (int64_t j = s->b->first_primitive; j < s->b->first_primitive + s->b->primitives; j++) {
            const double a = from->exponents[i], b = from->exponents[j], decay = a * b / (a + b) * s->distance2;
            if (decay > largest_decay)
                continue;
            if (!is_made)
                make_density(to->rows, s);
            is_made = true;
            const double factor = (s->a == s->b ? 1 : 2) * 2 * M_PI / (a + b) * exp(-decay) * from->coefficients[i] *
                                  from->coefficients[j] * basis_radial_norm(a, s->a->l) * basis_radial_norm(b, s->b->l),
                         width = 1 + sqrt(s->distance2) + 3 / sqrt(a + b);
            if (fabs(factor) * s->size * pow(width, s->a->l + s->b->l) > least_pair)
                add_pair(to, s, a, b, factor);
        }
}

/* Nuclei, with their multipoles. */
static void add_nuclei(const sums *to)
{
    const ley_wavefunction_arrays *a = &to->q->wavefunction->arrays;
    const int axis = to->q->derivative - 1;
    for (size_t k = 0; k < to->n; k++)
        for (int64_t i = 0; i < a->nuclei; i++) {
            double way[3], r2 = 0;
            for (int d = 0; d < 3; d++) {
                way[d] = to->point[k][d] - a->positions_bohr[3 * i + d];
                r2 += way[d] * way[d];
            }
            const double r = fmax(sqrt(r2), ESP_R_MIN_BOHR), value = a->charges[i] / r,
                         slope = axis >= 0 && r > ESP_R_MIN_BOHR ? value / r2 * way[axis] : 0;
            const addend *atom = &to->atoms[(size_t)i * to->n + k];
            to->values[k].value += axis < 0 ? value : slope;
            to->values[k].absolute += square_of(to, (addend){atom->v + value, atom->slope + slope}, 1 / (r * r));
        }
}

static void sum_some(const sums *to)
{
    const ley_wavefunction *w = to->q->wavefunction;
    shell_pair s = {.w = w};
    for (size_t k = 0; k < to->n; k++)
        to->values[k] = (reference_value){0};
    memset(to->atoms, 0, (size_t)w->arrays.nuclei * to->n * sizeof *to->atoms);
    for (int64_t i = 0; i < w->arrays.shells; i++) {
        s.a = &w->shells[i];
        s.at_a = w->arrays.positions_bohr + 3 * s.a->atom;
        make_rows(to->q, s.a, to->rows);
        for (int64_t j = 0; j <= i && !cancel_is_asked(to->q->cancelled); j++) {
            s.b = &w->shells[j];
            s.at_b = w->arrays.positions_bohr + 3 * s.b->atom;
            s.distance2 = 0;
            for (int d = 0; d < 3; d++)
                s.distance2 += (s.at_a[d] - s.at_b[d]) * (s.at_a[d] - s.at_b[d]);
            add_shells(to, &s);
        }
    }
    add_nuclei(to);
    for (size_t k = 0; k < to->n && cancel_is_asked(to->q->cancelled); k++)
        to->values[k].value = NAN;
    for (size_t k = 0; k < to->n; k++)
        to->values[k].absolute = fabs(to->values[k].value) + sqrt(to->values[k].absolute) + to->q->least;
}

void esp_values(const wavefunction_quantity *q, size_t n, const double (*point)[3], reference_value *values)
{
    const ley_wavefunction *w = q->wavefunction;
    sums to = {.q = q,
               .rules = make_rules(),
               .atoms = malloc(((size_t)w->arrays.nuclei + 1) * MOST_POINTS * sizeof *to.atoms),
               .rows = malloc(((size_t)w->functions + 1) * BASIS_MOST_MONOMIALS * sizeof *to.rows)};
    for (size_t first = 0; first < n; first += to.n) {
        to.n = n - first < MOST_POINTS ? n - first : MOST_POINTS;
        to.point = point + first;
        to.values = values + first;
        if (to.atoms != NULL && to.rows != NULL)
            sum_some(&to);
        for (size_t k = 0; k < to.n && (to.atoms == NULL || to.rows == NULL); k++)
            to.values[k] = (reference_value){.value = NAN, .absolute = NAN};
    }
    free(to.atoms);
    free(to.rows);
}

/* ---- The law --------------------------------------------------------------------------------- */

static void values_A(const reference_terms *terms, size_t n, const double (*point_A)[3], reference_value *values)
{
    double point[MOST_POINTS][3];
    for (size_t first = 0, count; first < n; first += count) {
        count = n - first < MOST_POINTS ? n - first : MOST_POINTS;
        for (size_t k = 0; k < count; k++)
            for (int axis = 0; axis < 3; axis++)
                point[k][axis] = point_A[first + k][axis] / units_bohr_A;
        esp_values(terms->quantity, count, (const double(*)[3])point, values + first);
        for (size_t k = first; k < first + count; k++) {
            values[k].value *= terms->constant;
            values[k].absolute *= fabs(terms->constant);
        }
    }
}

static reference_value value_A(const reference_terms *terms, const double point_A[3])
{
    const double places[1][3] = {{point_A[0], point_A[1], point_A[2]}};
    reference_value made;
    values_A(terms, 1, places, &made);
    return made;
}

const law law_esp = {.name = "esp", .value = value_A, .values = values_A, .again = esp_again};
