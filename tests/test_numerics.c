/* Windows and splittings: tables derived once more, otherwise, and both against their
 * definitions. */
#include "near.h"

#include "numerics/hierarchy.h"
#include "numerics/influence.h"
#include "numerics/kaiser.h"
#include "numerics/quadrature.h"
#include "numerics/splitting.h"
#include "numerics/window.h"

#include <float.h>

/* ---- Windows --------------------------------------------------------------------------------- */

/* Lagrange's polynomial of node k among `count` nodes from `first` on. */
static double lagrange(int first, int count, int k, double x)
{
    double value = 1;
    for (int m = first; m < first + count; m++)
        if (m != k)
            value *= (x - m) / (k - m);
    return value;
}

/* phi of a nodal basis: what node 0 brings to the two interpolants about x, blended. */
static double nodal_basis(int degree, double x)
{
    const int left = (int)floor(x), first = left - (degree - 1) / 2;
    const double t = x - left;
    double value = 0;
    if (first <= 0 && 0 < first + degree)
        value += (1 - t) * lagrange(first, degree, 0, x);
    if (first + 1 <= 0 && 0 < first + 1 + degree)
        value += t * lagrange(first + 1, degree, 0, x);
    return value;
}

/* The B-spline by its powers, sum of (-1)^j binomial(P, j) (x + P/2 - j)_+^(P - 1) / (P - 1)!, in
 * long doubles, for they cancel. */
static double power_spline(int points, double x)
{
    long double sum = 0, binomial = 1, factorial = 1;
    const long double left = -fabsl((long double)x); /* where there are the fewest */
    for (int j = 0; j <= points; j++) {
        const long double y = left + points / 2.0L - j;
        sum += y > 0 ? binomial * powl(y, points - 1) : 0;
        binomial *= -(long double)(points - j) / (j + 1);
    }
    for (int j = 2; j < points; j++)
        factorial *= j;
    return (double)(sum / factorial);
}

static double defined_window(const window *w, double x)
{
    return w->is_nodal ? nodal_basis(w->points - 1, x) : power_spline(w->points, x);
}

static void test_windows_are_what_they_are_called(void **state)
{
    for (int kind = 0; kind < WINDOW_COUNT; kind++) {
        const window *w = window_get((window_kind)kind);
        for (int i = -600; i <= 600; i++) {
            const double x = i * 0.00917;
            assert_near(window_at(w, x), defined_window(w, x), 4e-15);
        }
        window_kind found;
        assert_true(window_find(w->name, &found));
        assert_int_equal(found, kind);
    }
    window_kind found;
    assert_false(window_find("nodal4", &found));
    assert_null(window_get(WINDOW_COUNT));
}

/* The papers' cubic basis, by their equation 7. */
static void test_the_papers_cubic(void **state)
{
    for (double x = -2.2; x < 2.2; x += 0.01) {
        const double a = fabs(x);
        const double value = a <= 1 ? (1 - a) * (1 + a - 1.5 * a * a) : a <= 2 ? -0.5 * (a - 1) * (2 - a) * (2 - a) : 0;
        assert_near(window_at(window_get(WINDOW_NODAL3), x), value, 1e-15);
    }
}

/* Sums of weights, and of weights times powers of the nodes' places: nodal bases interpolate
 * polynomials of degree p - 1; with B-splines the sum of (x - node)^k depends on nothing but k. */
static void test_polynomials_are_reproduced(void **state)
{
    for (int kind = 0; kind < WINDOW_COUNT; kind++) {
        const window *w = window_get((window_kind)kind);
        double weight[WINDOW_MOST_POINTS], first_moment[WINDOW_MOST_POINTS] = {0}, off = 0;
        for (int step = 0; step <= 20; step++) {
            const double t = step / 20.0;
            window_weights(w, t, weight);
            for (int k = 0; k <= w->reproduces + 1; k++) {
                double moment = 0;
                for (int i = 0; i < w->points; i++)
                    moment += weight[i] * pow(t - (i - w->points / 2 + 1), k);
                if (step == 0)
                    first_moment[k] = moment;
                if (k == 0)
                    assert_near(moment, 1, 2e-15);
                if (k > 0 && k <= w->reproduces)
                    assert_near(moment, w->is_nodal ? 0 : first_moment[k], 2e-15 * pow(5, k));
                if (k > w->reproduces)
                    off = fmax(off, fabs(moment - first_moment[k]));
            }
        }
        assert_true(off > 1e-3); /* and no more than that */
    }
}

/* Neighbouring cells agree in value and slope. */
static void test_windows_are_smooth(void **state)
{
    const double d = 1e-6;
    for (int kind = 0; kind < WINDOW_COUNT; kind++) {
        const window *w = window_get((window_kind)kind);
        for (int node = -w->points / 2; node <= w->points / 2; node++) {
            const double left = (window_at(w, node) - window_at(w, node - d)) / d,
                         right = (window_at(w, node + d) - window_at(w, node)) / d;
            assert_near(window_at(w, node - 1e-12), window_at(w, node), 1e-11);
            assert_near(left, right, 2e-5);
            if (w->is_nodal)
                assert_near(window_at(w, node), node == 0, 1e-15);
        }
    }
}

static void test_two_scales(void **state)
{
    for (int kind = 0; kind < WINDOW_COUNT; kind++) {
        const window *w = window_get((window_kind)kind);
        if (!w->is_nodal)
            continue;
        for (int j = -w->points - 1; j <= w->points + 1; j++)
            assert_near(window_two_scale(w, j), nodal_basis(w->points - 1, j / 2.0), 1e-15);
    }
}

static double window_cosine(const void *context, double x)
{
    const double *theta = context;
    const window *w = window_get((window_kind)(int)theta[1]);
    return window_at(w, x) * cos(theta[0] * x);
}

static void test_transforms_of_windows(void **state)
{
    for (int kind = WINDOW_BSPLINE4; kind < WINDOW_COUNT; kind++) {
        const window *w = window_get((window_kind)kind);
        for (double theta = 0; theta < 7; theta += 0.37) {
            const double context[2] = {theta, kind};
            double integral = 0, aliases = 0;
            for (int left = -w->points / 2; left < w->points / 2; left++)
                integral += quadrature(window_cosine, context, left, left + 1, theta);
            assert_near(window_transform(w, theta), integral, 1e-14);
            for (int m = -300; m <= 300; m++)
                aliases += pow(window_transform(w, theta + 2 * M_PI * m), 2);
            assert_near(window_aliases(w, theta), aliases, 1e-14);
        }
    }
}

static double kaiser_cosine(const void *context, double x)
{
    const kaiser_window *w = ((const void *const *)context)[0];
    const double *theta = ((const void *const *)context)[1], t = x - floor(x), u = t - 0.5;
    const int i = KAISER_POINTS / 2 - 1 - (int)floor(x); /* which of its place's nodes the one at 0 is */
    double weight = w->c[KAISER_COEFFICIENTS - 1][i];
    for (int k = KAISER_COEFFICIENTS - 2; k >= 0; k--)
        weight = weight * u + w->c[k][i];
    return weight * cos(*theta * x);
}

/* Its polynomials are off by 1e-9, and its transform is that of Kaiser and Bessel; beyond the band
 * there is next to nothing of it. */
static void test_kaiser_window(void **state)
{
    const double per_node = 0.2;
    kaiser_window w;
    kaiser_window_make(per_node, &w);
    for (double theta = 0; theta < 9; theta += 0.37) {
        const void *context[2] = {&w, &theta};
        double integral = 0;
        for (int left = -KAISER_POINTS / 2; left < KAISER_POINTS / 2; left++)
            integral += quadrature(kaiser_cosine, context, left, left + 1, theta);
        assert_near(kaiser_window_transform(&w, theta), integral, 1e-9);
    }
    assert_near(kaiser_window_transform(&w, 0), 1, 1e-12);
    for (double share = 0.1; share <= 1.01; share += 0.1) {
        const double theta = 2 * M_PI * per_node * share;
        double squares = 0;
        for (int m = -40; m <= 40; m++)
            squares += m == 0 ? 0 : pow(kaiser_window_transform(&w, theta + 2 * M_PI * m), 2);
        const double aliases = sqrt(squares) / kaiser_window_transform(&w, theta);
        if (aliases > (share > 0.55 ? 1.5e-7 : 1e-8))
            fail_msg("%.1f of the shortest waves: aliases of %g", share, aliases);
    }
}

static double power_term(const void *context, double x)
{
    return pow(x, *(const int *)context);
}

/* Gauss's rule of 32 points has no error for powers up to 63. */
static void test_quadrature(void **state)
{
    for (int power = 0; power < 64; power++) {
        const double integral = quadrature(power_term, &power, -1, 1, 0),
                     right = power % 2 == 0 ? 2.0 / (power + 1) : 0;
        assert_near(integral, right, 2e-15);
        assert_near(quadrature(power_term, &power, 0.5, 2, 100),
                    (pow(2, power + 1) - pow(0.5, power + 1)) / (power + 1), 1e-14 * pow(2, power));
    }
}

/* ---- Splittings ------------------------------------------------------------------------------ */

static splitting made(splitting_kind kind, int degree, double band, double kappa_a)
{
    splitting s;
    ley_error error = {0};
    assert_ok(splitting_make(kind, degree, band, kappa_a, &s, &error));
    return s;
}

/* Derivatives of exp(-K sqrt(s))/sqrt(s) at s = 1 over factorials, by a contour integral: on a
 * circle about 1 the trapezoidal rule is exact to rounding. */
static double contour_coefficient(double K, int k)
{
    enum { STEPS = 128 };
    const double radius = 0.5;
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        const double angle = 2 * M_PI * i / STEPS, a = 1 + radius * cos(angle), b = radius * sin(angle);
        /* The root of a + i b, and exp(-K root)/root. */
        const double modulus = sqrt(hypot(a, b)), half = atan2(b, a) / 2;
        const double real = modulus * cos(half), imaginary = modulus * sin(half);
        sum += exp(-K * real) / modulus * cos(-K * imaginary - half - k * angle);
    }
    return sum / STEPS / pow(radius, k);
}

static void test_taylor(void **state)
{
    const double screens[] = {0, 0.3, 1, 4};
    for (int kind = 0; kind < SPLITTING_PSWF; kind++)
        for (int i = 0; i < 4; i++) {
            const splitting s = made((splitting_kind)kind, 0, 0, screens[i]);
            assert_int_equal(s.degree, kind + 2);
            for (int k = 0; k <= s.degree; k++)
                assert_near(s.c[k], contour_coefficient(screens[i], k), 1e-13 * (1 + fabs(s.c[k])) * pow(2, k));
        }
    /* As the papers have it. */
    const splitting two = made(SPLITTING_TAYLOR2, 0, 0, 0);
    for (double rho = 0; rho < 1; rho += 0.1)
        assert_near(splitting_gamma(&two, rho), 15.0 / 8 - 5.0 / 4 * rho * rho + 3.0 / 8 * pow(rho, 4), 1e-15);
}

/* psi_0 is the function without zeros that the transform over [-1, 1] multiplies by a number: the
 * integral of cos(c x t) psi(t) over t = number psi(x). With F its integral from 0, that of both
 * sides is 2 [sin(c X) F(1) / c - the integral of F(t) d/dt (sin(c X t) / (c t)) from 0 to 1] =
 * number F(X). */
typedef struct prolate {
    const splitting *s;
    double cX;
} prolate;

static double prolate_term(const void *context, double t)
{
    const prolate *p = context;
    const double x = p->cX * t;
    return t * splitting_exact(p->s, t) * (x * cos(x) - sin(x)) / (p->s->band * t * t);
}

static void test_prolate(void **state)
{
    const double bands[] = {2, 7, 9.3, 12.4, 20};
    for (int i = 0; i < 5; i++) {
        const double c = bands[i];
        const splitting s = made(SPLITTING_PSWF, 20, c, 0);
        double number = 0, last = 0;
        assert_near(splitting_exact(&s, 1), 1, 1e-15);
        for (double X = 1; X > 0.02; X -= 0.049) {
            const prolate context = {&s, c * X};
            const double integral = X * splitting_exact(&s, X),
                         ratio = 2 * (sin(c * X) / c - quadrature(prolate_term, &context, 0, 1, c)) / integral;
            if (X == 1)
                number = ratio;
            assert_near(ratio, number, 1e-12);
            assert_true(X == 1 || integral < last);
            last = integral;
        }
        /* The transform keeps what it can keep: nearly all, where c is large. */
        assert_true(c < 5 || fabs(number / sqrt(2 * M_PI / c) - 1) < 1e-3);
    }
}

/* How far polynomials are from what they stand for, by degree: ever less, down to what the given
 * value and slope at the cutoff leave. */
static void test_polynomials_of_splittings(void **state)
{
    const struct {
        splitting_kind kind;
        double band, least[4]; /* of degree 4, 6, 8, 10: no further off than this */
    } cases[] = {{SPLITTING_PSWF, 7, {2e-3, 3e-4, 3e-4, 3e-4}},
                 {SPLITTING_PSWF, 12.4, {4e-2, 3e-3, 1e-4, 2e-6}},
                 {SPLITTING_EWALD, 2.6, {2e-2, 2e-3, 2e-4, 2e-4}}};
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 4; d++) {
            const splitting s = made(cases[i].kind, 4 + 2 * d, cases[i].band, 0);
            double off = 0;
            for (double rho = 0; rho <= 1; rho += 0.001)
                off = fmax(off, fabs(splitting_gamma(&s, rho) - splitting_exact(&s, rho)));
            print_message("%s %g, degree %d: off by %.1e\n", splitting_name(s.kind), s.band, s.degree, off);
            assert_true(off < cases[i].least[d]);
            assert_near(s.c[0], 1, 0);
            assert_near(s.c[1], -0.5, 0);
        }
}

/* What a splitting has beyond a band, by its transform. */
static double energy_beyond(const splitting *s, double band)
{
    const double step = 0.1;
    double sum = 0;
    for (double k = band + step / 2; k < band + 40; k += step)
        sum += step * pow(splitting_sigma(s, k) / k, 2);
    return sum;
}

/* optimal has the least of it of all polynomials of its degree, and less with each degree. */
static void test_energy_beyond_the_band(void **state)
{
    const double bands[] = {6, 12, 21};
    for (int i = 0; i < 3; i++) {
        double last = INFINITY;
        for (int degree = 3; degree <= 9; degree++) {
            const splitting s = made(SPLITTING_OPTIMAL, degree, bands[i], 0);
            const double least = energy_beyond(&s, bands[i]);
            assert_near(s.c[0], 1, 0);
            for (int k = 1; k <= degree; k++)
                for (int step = -8; step <= 8; step += 4) {
                    splitting other = s;
                    other.c[k] += step * sqrt(least);
                    assert_true(energy_beyond(&other, bands[i]) > 0.99 * least);
                }
            print_message("band %g, degree %d: %.1e\n", bands[i], degree, sqrt(least));
            assert_true(least < last);
            last = least;
        }
    }
}

/* Short-range and smooth part, and the lattice cutoffs of all levels, sum to what was split; and no
 * step is where they meet, nor a kink but for a small one of optimal. */
static void test_parts_sum_to_the_whole(void **state)
{
    for (int kind = 0; kind < SPLITTING_COUNT; kind++)
        for (int screened = 0; screened <= (kind < SPLITTING_PSWF); screened++) {
            const hierarchy_options options = {.splitting = (splitting_kind)kind,
                                               .window = WINDOW_NODAL5,
                                               .levels = 4,
                                               .cutoff_A = 5,
                                               .spacing_A = 1,
                                               .kappa_per_A = 0.07 * screened};
            const double low[3] = {0}, high[3] = {30, 30, 30};
            hierarchy h;
            ley_error error = {0};
            assert_ok(hierarchy_make(&options, low, high, &h, &error));
            for (double r = 0.01; r < 120; r *= 1.01) {
                const splitting *s = &h.level[0].split;
                const double whole = exp(-options.kappa_per_A * r) / r;
                double sum = r < 5 ? (splitting_whole(s, r / 5) - splitting_gamma(s, r / 5)) / 5 : 0;
                for (int k = 0; k < h.levels; k++)
                    sum += hierarchy_weight(&h, k, r);
                assert_near(sum, whole, 2e-15 * (1 / r + 1));
            }
            const splitting *s = &h.level[0].split;
            const double d = 1e-5;
            assert_near(splitting_gamma(s, 1 - d / 1e6), splitting_gamma(s, 1), 1e-10);
            assert_near((splitting_gamma(s, 1 - d) - splitting_gamma(s, 1)) / d,
                        (splitting_gamma(s, 1) - splitting_gamma(s, 1 + d)) / d,
                        kind == SPLITTING_OPTIMAL ? 2e-2 : 2e-3);
        }
}

typedef struct radial {
    const splitting *s;
    double k;
} radial;

static double radial_term(const void *context, double r)
{
    const radial *c = context;
    const double x = c->k * r;
    return 4 * M_PI * r * r * splitting_gamma(c->s, r) * (x < 1e-6 ? 1 : sin(x) / x);
}

/* sigma against the integral of gamma over space: below 1 by quadrature; beyond it that of
 * exp(-K r)/r sin(k r)/(k r), which is elementary. */
static void test_transforms_of_splittings(void **state)
{
    for (int kind = 0; kind < SPLITTING_COUNT; kind++)
        for (int screened = 0; screened <= (kind < SPLITTING_PSWF); screened++) {
            const double K = screened * 0.8;
            const splitting s = made((splitting_kind)kind, 0, kind == SPLITTING_EWALD ? 2.6 : 9.3, K);
            for (double k = 0.05; k < 45; k *= 1.31) {
                const radial context = {&s, k};
                const double inside = quadrature(radial_term, &context, 0, 1, k),
                             outside = 4 * M_PI / k * exp(-K) * (K * sin(k) + k * cos(k)) / (K * K + k * k);
                assert_near(4 * M_PI * splitting_sigma(&s, k) / (k * k + K * K), inside + outside, 1e-12 / k);
            }
            if (K == 0)
                assert_near(splitting_sigma(&s, 0), 1, 1e-13);
        }
}

/* The constant of k = 0 is what the transform tends to without its pole. */
static void test_the_mean_of_short_ranges(void **state)
{
    for (int kind = 0; kind < SPLITTING_COUNT; kind++) {
        const splitting s = made((splitting_kind)kind, 0, kind == SPLITTING_EWALD ? 2.6 : 9.3, 0);
        const double k = 1e-2;
        assert_near(influence_wave(&s, 3, 0), influence_wave(&s, 3, k) - 4 * M_PI / (k * k), 1e-3);
    }
}

static void test_splittings_that_cannot_be(void **state)
{
    const struct {
        splitting_kind kind;
        int degree;
        double band, kappa_a;
        const char *message;
    } cases[] = {{SPLITTING_PSWF, 0, 0.5, 0, "band"},       {SPLITTING_PSWF, 0, NAN, 0, "band"},
                 {SPLITTING_EWALD, 0, 7, 0, "band"},        {SPLITTING_PSWF, 2, 9, 0, "degree"},
                 {SPLITTING_EWALD, 21, 3, 0, "degree"},     {SPLITTING_PSWF, 0, 9, 0.1, "taylor2"},
                 {SPLITTING_OPTIMAL, 2, 9, 0, "degree"},    {SPLITTING_OPTIMAL, 0, 41, 0, "band"},
                 {SPLITTING_OPTIMAL, 0, 9, 0.1, "taylor2"}, {SPLITTING_TAYLOR2, 0, 0, -1, "kappa a"},
                 {SPLITTING_TAYLOR2, 0, 0, NAN, "kappa a"}, {SPLITTING_COUNT, 0, 0, 0, "there is no number"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        splitting s;
        ley_error error = {0};
        assert_int_equal(splitting_make(cases[i].kind, cases[i].degree, cases[i].band, cases[i].kappa_a, &s, &error),
                         LEY_ERROR_USAGE);
        assert_non_null(strstr(error.message, cases[i].message));
    }
}

/* Sums in floats, and what is compared with kernels, rely on it. */
static void test_floats_are_computed_in_float(void **state)
{
    assert_int_equal(FLT_EVAL_METHOD, 0);
    assert_true(1.403797f == (float)1.403797);
}

int main(void)
{
    return RUN_TESTS(test_floats_are_computed_in_float, test_windows_are_what_they_are_called, test_the_papers_cubic,
                     test_polynomials_are_reproduced, test_windows_are_smooth, test_two_scales,
                     test_transforms_of_windows, test_kaiser_window, test_quadrature, test_taylor, test_prolate,
                     test_polynomials_of_splittings, test_energy_beyond_the_band, test_parts_sum_to_the_whole,
                     test_transforms_of_splittings, test_the_mean_of_short_ranges, test_splittings_that_cannot_be);
}
