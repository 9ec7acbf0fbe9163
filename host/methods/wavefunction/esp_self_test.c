/* The kernel is wrong in corners: of one power, of one F_n, near charges or far from them, in a
 * vector that has points of both kinds, in the second launch. So there are random charges with
 * every coefficient, whose values are those of the formula in hermite.cl, term by term in double
 * precision, with Boys' function by its series. */
#include "methods/wavefunction/esp_self_test.h"
#include "error.h"
#include "verify/self_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 300, CHARGES = 37, CLUSTERS = 3, MOST_N = HERMITE_MULTIPOLES + 1, MOST_WIDTH = 16, END = 75 };
static const double tolerance = SELF_TEST_FLOAT, series_t = 60;

/* From next to the charges, among which they begin, to far away: in each vector of the first ones
 * and of some others, while vectors between these lie on both sides of where charges end, or within
 * it. */
static void place_of(const void *context, int64_t i, double place[3])
{
    uint32_t state = (uint32_t)i * 2654435761u + 5u;
    const bool is_mixed = i / MOST_WIDTH % 2 == 0;
    const double scale = i % 3 == 0 || !is_mixed ? 1.5 : i % 3 == 1 ? 6 : 40;
    (void)context;
    for (int axis = 0; axis < 3; axis++)
        place[axis] = scale * (2 * self_test_fraction(&state) - 1) + 11;
    if (!is_mixed)
        place[i / MOST_WIDTH / 2 % 3] +=
            END * (0.7 + 0.4 * self_test_fraction(&state) * (double)(i / MOST_WIDTH % 4 == 1));
}

static bool is_beyond(const double place[3])
{
    double r2 = 0;
    for (int axis = 0; axis < 3; axis++)
        r2 += (place[axis] - 11) * (place[axis] - 11);
    return r2 > END * END;
}

/* Some points are near all of the clusters, some near none. */
static ley_status make_clusters(hermite_charges *charges, ley_error *error)
{
    static const float reaches[CLUSTERS][HERMITE_PLACE] = {{11, 10.5f, 11, 5, 0, 0, 0, 8.66f},
                                                           {10.25f, 11, 11.5f, 7, 1e-7f, 0, 0, 12.1f},
                                                           {11, 11, 12, 14, 0, 0, 0, 24.2f}};
    charges->clusters = CLUSTERS;
    charges->reaches = malloc(sizeof reaches);
    if (charges->reaches == NULL)
        return ley_fail_memory(error, sizeof reaches, "the self-test");
    memcpy(charges->reaches, reaches, sizeof reaches);
    return LEY_OK;
}

static ley_status make_charges(int l, hermite_class *c, ley_error *error)
{
    uint32_t state = 1978;
    const int size = hermite_size(l);
    c->count = self_test_less(CHARGES);
    c->places = calloc((size_t)c->count, HERMITE_PLACE * sizeof(float));
    c->coefficients = calloc((size_t)c->count, (size_t)size * sizeof(float));
    c->first = calloc(CLUSTERS + 1, sizeof *c->first);
    if (c->places == NULL || c->coefficients == NULL || c->first == NULL)
        return ley_fail_memory(error, (size_t)size * sizeof(float), "the self-test");
    for (int k = 1; k <= CLUSTERS; k++)
        c->first[k] = (int32_t)(c->count * k * k / (CLUSTERS * CLUSTERS));
    for (int64_t i = 0; i < c->count; i++) {
        float *place = c->places + HERMITE_PLACE * i;
        for (int axis = 0; axis < 3; axis++) {
            place[axis] = (float)(2 * self_test_fraction(&state) + 10);
            place[4 + axis] = (float)(1e-7 * self_test_fraction(&state));
        }
        place[3] = (float)(0.5 * pow(8, self_test_fraction(&state)));
        for (int k = 0; k < size; k++)
            c->coefficients[i * size + k] = (float)(2 * self_test_fraction(&state) - 1);
    }
    return LEY_OK;
}

/* F_0 to F_most. */
static void boys_of(int most, double t, bool is_multipole, double f[MOST_N])
{
    for (int n = 0; n <= most; n++) {
        const bool is_near = t < series_t && !is_multipole;
        double far = 1 / sqrt(t);
        for (int k = 1; k <= n; k++)
            far *= (k - 0.5) / t;
        f[n] = is_near ? M_2_SQRTPI * boys_function(n, t) : far;
    }
}

static double power(double x, int n)
{
    return n <= 0 ? 1 : x * power(x, n - 1);
}

/* What one coefficient adds: a term of the potential, and of the field. */
static void add_monomial(const int powers[3], const double x[3], const double f[2], double root, double c,
                         double sums[4], double absolute[4])
{
    const double value = c * power(x[0], powers[0]) * power(x[1], powers[1]) * power(x[2], powers[2]);
    sums[0] += f[0] * value;
    absolute[0] += fabs(f[0] * value);
    for (int axis = 0; axis < 3; axis++) {
        const int *n = powers, a = (axis + 1) % 3, b = (axis + 2) % 3;
        const double steeper = 2 * root * f[1] * x[axis] * value, slope = root * f[0] * c * n[axis] *
                                                                          power(x[axis], n[axis] - 1) *
                                                                          power(x[a], n[a]) * power(x[b], n[b]);
        sums[1 + axis] += steeper - slope;
        absolute[1 + axis] += fabs(steeper) + fabs(slope);
    }
}

static void add_charge(int l, const float *place, const float *c, const double at[3], double sums[4],
                       double absolute[4])
{
    double x[3], t = 0, f[MOST_N];
    const double root = (double)place[3];
    for (int axis = 0; axis < 3; axis++) {
        x[axis] = root * (at[axis] - (double)place[axis] - (double)place[4 + axis]);
        t += x[axis] * x[axis];
    }
    const bool is_multipole = l == HERMITE_MULTIPOLES;
    boys_of(hermite_momentum(l) + 1, t, is_multipole, f);
    for (int n = 0; n <= hermite_momentum(l); n++)
        for (int i = 0; i <= n; i++)
            for (int j = 0; i + j <= n; j++)
                for (int k = is_multipole ? n - i - j : 0; i + j + k <= n; k++) {
                    const int powers[3] = {i, j, k};
                    add_monomial(powers, x, f + n, root, (double)*c++, sums, absolute);
                }
}

static ley_status judge(const esp_run *run, int l, const hermite_class *c, ley_error *error)
{
    for (int64_t i = 0; i < run->count; i++) {
        double at[3], sums[4] = {0}, absolute[4] = {0};
        place_of(NULL, i, at);
        if (is_beyond(at))
            continue;
        for (int cluster = 0; cluster < CLUSTERS; cluster++) {
            const bool is_used =
                hermite_cluster_is_near(run->kernel->problem.charges, cluster, at) == (l != HERMITE_MULTIPOLES);
            for (int32_t k = c->first[cluster]; is_used && k < c->first[cluster + 1]; k++)
                add_charge(l, c->places + HERMITE_PLACE * k, c->coefficients + hermite_size(l) * k, at, sums, absolute);
        }
        for (int d = 0; d < LEY_COMPONENTS(run->kernel->problem.has_field); d++) {
            const double found = esp_run_value(run, d, i), off = fabs(found - sums[d]) / fmax(absolute[d], 1e-30);
            self_test_note(off, tolerance, absolute[d], found, sums[d]);
            if (!(off <= tolerance))
                return ley_fail(error, LEY_ERROR_WRONG_RESULT, "component %d of point %lld is %g, not %g, of %g", d,
                                (long long)i, found, sums[d], absolute[d]);
        }
    }
    return LEY_OK;
}

ley_status esp_self_test(const esp_kernel *kernel, int l, ley_error *error)
{
    esp_kernel trial = *kernel;
    hermite_charges charges = {.left_out = 0};
    esp_run run = {.kernel = NULL};
    const esp_problem problem = {
        .charges = &charges, .has_field = kernel->classes[l].spec.field, .centre = {11, 11, 11}, .reach = END};
    ley_status status = make_clusters(&charges, error);
    if (status == LEY_OK)
        status = make_charges(l, &charges.classes[l], error);
    if (status == LEY_OK)
        status = esp_kernel_load(&trial, &problem, error);
    if (status == LEY_OK)
        status = esp_run_create(&run, &trial, self_test_less(POINTS), error);
    run.most = CHARGES / 2;
    if (status == LEY_OK)
        status = esp_run_begin(&run, place_of, NULL, self_test_less(POINTS), NULL, error);
    if (status == LEY_OK)
        status = esp_run_finish(&run, error);
    if (status == LEY_OK)
        status = judge(&run, l, &charges.classes[l], error);
    esp_run_destroy(&run);
    trial.classes[l].kernel.program = NULL; /* the caller's */
    esp_kernel_destroy(&trial);
    hermite_destroy(&charges);
    return status;
}
