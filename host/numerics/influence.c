#include "numerics/influence.h"

#include "fft.h"
#include "numerics/quadrature.h"

#include <math.h>
#include <stddef.h>

double influence_factor(const window *w, int64_t m, int64_t n)
{
    if (w->is_nodal)
        return 1;
    const double theta = 2 * M_PI * (double)(2 * m > n ? m - n : m) / (double)n;
    const double own = window_transform(w, theta), all = window_aliases(w, theta);
    return own * own / (all * all);
}

/* ---- Open axes ------------------------------------------------------------------------------- */

/* Nodes beyond twice the mesh's, by how many axes are periodic: half of them on either side,
 * where the distance goes over into a constant. 1/r is nearly constant there; the kernels of wave
 * 0, -2 ln rho and -2 pi |z|, are not. With 8, the errors that are left had floors of 3e-6, 1e-6
 * and 1e-5 of the potential, from mesh to mesh; with these none was above 2e-7. */
static const int64_t extra_nodes[4] = {16, 24, 32, 0};

int64_t influence_padded(int64_t n, int dimensions)
{
    return (int64_t)fft_good_size((size_t)(2 * n + extra_nodes[dimensions]));
}

/* The distance from where it bends to half-way round, as parts of the way: its slope falls from 1
 * to 0, and goes on to -1 on the other side. How fast it falls is one bump over both sides,
 *
 *     c (1 - v^2)^BEND,  v = 1 - u,
 *
 * whose transform is next to nothing where the factor of B-splines is large. With a bump for each
 * side, half as wide, whose slope stays 0 in between, neutral boxes were off by up to 3e-6. */
enum { BEND = 6 };
static double bent(double u)
{
    static const double terms[BEND + 1] = {1, -6, 15, -20, 15, -6, 1}; /* of (1 - v^2)^BEND, by v^2 */
    const double v = 1 - u, v2 = v * v;
    double integral = 0, whole = 0, outside = 1;
    for (int k = BEND; k >= 0; k--) {
        integral = integral * v2 + terms[k] / (2 * k + 1);
        whole += terms[k] / (2 * k + 1);
        outside *= 1 - v2;
    }
    return 1 - (v2 * integral + outside / (2 * (BEND + 1))) / whole;
}

double influence_distance(int64_t i, int64_t n, int64_t padded)
{
    const double x = (double)(2 * i > padded ? padded - i : i), end = (double)padded / 2, last = (double)n;
    return x <= last ? x : last + (end - last) * bent((x - last) / (end - last));
}

/* ---- Kernels --------------------------------------------------------------------------------- */

double influence_wave(const splitting *s, double cutoff_A, double k_per_A)
{
    const double ka = k_per_A * cutoff_A, q2 = ka * ka + s->kappa_a * s->kappa_a, a2 = cutoff_A * cutoff_A;
    /* Without the neutralising background the integral would be infinite: with it, that of the
     * whole potential is 0. */
    if (q2 == 0)
        return -a2 * splitting_short_integral(s);
    return 4 * M_PI * a2 * splitting_sigma(s, ka) / q2;
}

void influence_table_make(const splitting *s, double cutoff_A, double most_per_A, influence_table *table)
{
    table->cutoff_A = cutoff_A;
    table->kappa_a = s->kappa_a;
    table->step = most_per_A * cutoff_A / INFLUENCE_STEPS;
    table->mean = influence_wave(s, cutoff_A, 0);
    for (int i = 0; i < INFLUENCE_STEPS + 2 * INFLUENCE_BESIDE; i++)
        table->sigma[i] = splitting_sigma(s, fabs(table->step * (i - INFLUENCE_BESIDE)));
}

double influence_table_wave(const influence_table *table, double k_per_A)
{
    static const double denominator[6] = {-120, 24, -12, 12, -24, 120};
    const double ka = k_per_A * table->cutoff_A, q2 = ka * ka + table->kappa_a * table->kappa_a;
    const double x = ka / table->step, first = fmin(floor(x), INFLUENCE_STEPS - 1), t = x - first + 2;
    const double *sigma = table->sigma + (int)first + INFLUENCE_BESIDE - 2;
    double sum = 0;
    for (int i = 0; i < 6; i++) {
        double product = sigma[i] / denominator[i];
        for (int j = 0; j < 6; j++)
            product *= j != i ? t - j : 1;
        sum += product;
    }
    return q2 == 0 ? table->mean : 4 * M_PI * table->cutoff_A * table->cutoff_A * sum / q2;
}

typedef struct kernel_context {
    const splitting *s;
    double ka, rho; /* in units of the cutoff */
} kernel_context;

/* rho times the short-range part. */
static double short_share(const splitting *s, double rho)
{
    return exp(-s->kappa_a * rho) - rho * splitting_gamma(s, rho);
}

static double plane_term(const void *context, double rho)
{
    const kernel_context *c = context;
    return short_share(c->s, rho) * j0(c->ka * sqrt(fmax(rho * rho - c->rho * c->rho, 0)));
}

static double plane_kernel(const splitting *s, double cutoff_A, double k_per_A, double z, double whole)
{
    const kernel_context context = {s, k_per_A * cutoff_A, z / cutoff_A};
    return z >= cutoff_A ? whole
                         : whole - 2 * M_PI * cutoff_A * quadrature(plane_term, &context, context.rho, 1, context.ka);
}

double influence_plane(const splitting *s, double cutoff_A, double k_per_A, double z_A)
{
    const double q = hypot(k_per_A, s->kappa_a / cutoff_A), z = fabs(z_A);
    return plane_kernel(s, cutoff_A, k_per_A, z, q > 0 ? 2 * M_PI / q * exp(-q * z) : -2 * M_PI * z);
}

/* Of wave 0, without hierarchy's mean: what is left of it does not grow as kappa becomes small. */
static double kernel_of_mean(const hierarchy *h, double r_A)
{
    const hierarchy_level *level = &h->level[0];
    const double a_A = level->cutoff_A, kappa = h->kappa_per_A;
    return h->cell.dimensions == 3 ? -a_A * a_A * splitting_short_integral(&level->split)
                                   : plane_kernel(&level->split, a_A, 0, r_A, 2 * M_PI / kappa * expm1(-kappa * r_A));
}

/* K_0(x): the integral of exp(-x cosh t), by the trapezoidal rule, which is exact to rounding for
 * what ends so fast. Cosines by cosh((i + 1) s) = 2 cosh(s) cosh(i s) - cosh((i - 1) s). Beyond 60,
 * as for most waves of a mesh, it is nothing, also beside what a wave has nearby. */
static double bessel_k0(double x)
{
    const double step = 0.25, twice = 2.0628261997591464;
    if (x > 60)
        return 0;
    double sum = exp(-x) / 2, term = sum, before = 1, here = twice / 2;
    while (term > 1e-17 * sum) {
        term = exp(-x * here);
        sum += term;
        const double next = twice * here - before;
        before = here;
        here = next;
    }
    return step * sum;
}

/* Along the line, at rho sinh(t). */
static double line_term(const void *context, double t)
{
    const kernel_context *c = context;
    return short_share(c->s, fmin(c->rho * cosh(t), 1)) * cos(c->ka * c->rho * sinh(t));
}

double influence_line(const splitting *s, double cutoff_A, double k_per_A, double rho_A)
{
    /* The kernel is smooth at 0: the whole and the short-range part are both infinite there. */
    const double q = hypot(k_per_A, s->kappa_a / cutoff_A), rho = fmax(rho_A / cutoff_A, 1e-7);
    const double whole = q > 0 ? 2 * bessel_k0(q * rho * cutoff_A) : -2 * log(rho * cutoff_A);
    const kernel_context context = {s, k_per_A * cutoff_A, rho};
    if (rho >= 1)
        return whole;
    /* In t the integrand is as smooth as it is in the distance, where that grows by a factor of
     * e^4. */
    const double end = acosh(1 / rho);
    return whole - 2 * quadrature(line_term, &context, 0, end, 5 * end + 2 * context.ka);
}

/* ---- Of a mesh ---------------------------------------------------------------------------- */

void influence_extent(const hierarchy *h, int64_t n[3])
{
    for (int m = 0; m < 3; m++)
        n[m] = h->cell.periodic[m] ? h->level[0].n[m] : influence_padded(h->level[0].n[m], h->cell.dimensions);
}

void influence_wave_vector(const hierarchy *h, const int64_t n[3], const int64_t m[3], double k_per_A[3])
{
    for (int i = 0; i < 3; i++)
        k_per_A[i] = 0;
    for (int axis = 0; axis < 3; axis++)
        if (h->cell.periodic[axis])
            for (int i = 0; i < 3; i++)
                k_per_A[i] += 2 * M_PI * (double)(2 * m[axis] > n[axis] ? m[axis] - n[axis] : m[axis]) *
                              h->cell.dual_per_A[axis][i];
}

/* The length of the displacement along open axes, as far as it counts. */
static double open_distance_A(const hierarchy *h, const int64_t n[3], const int64_t m[3])
{
    double i[3], d_A[3];
    for (int axis = 0; axis < 3; axis++)
        i[axis] = h->cell.periodic[axis] ? 0 : influence_distance(m[axis], h->level[0].n[axis], n[axis]);
    hierarchy_displacement(h, 0, i, d_A);
    return cell_length(d_A);
}

static double kernel_of_wave(const influence_table *waves, const hierarchy *h, const int64_t n[3], const int64_t m[3])
{
    const hierarchy_level *level = &h->level[0];
    double k_per_A[3], nodes = 1;
    influence_wave_vector(h, n, m, k_per_A);
    for (int axis = 0; axis < 3; axis++)
        if (h->cell.periodic[axis])
            nodes *= (double)n[axis];
    const double k = cell_length(k_per_A), r_A = open_distance_A(h, n, m), scale = nodes / h->cell.measure;
    if (h->mean_per_A > 0 && k == 0)
        return scale * kernel_of_mean(h, r_A);
    switch (h->cell.dimensions) {
    case 0:
        return hierarchy_weight(h, 0, r_A);
    case 1:
        return scale * influence_line(&level->split, level->cutoff_A, k, r_A);
    case 2:
        return scale * influence_plane(&level->split, level->cutoff_A, k, r_A);
    default:
        return scale *
               (waves != NULL ? influence_table_wave(waves, k) : influence_wave(&level->split, level->cutoff_A, k));
    }
}

double influence_kernel_from(const influence_table *waves, const hierarchy *h, const int64_t n[3], const int64_t m[3])
{
    /* Half-way round, m stands for -m as well. In an oblique cell the two waves have different
     * lengths: the mean of them keeps the potential real. */
    int64_t opposite[3];
    bool halfway = false;
    for (int axis = 0; axis < 3; axis++) {
        const bool own = h->cell.periodic[axis] && 2 * m[axis] == n[axis];
        opposite[axis] = h->cell.periodic[axis] && !own ? (n[axis] - m[axis]) % n[axis] : m[axis];
        halfway = halfway || own;
    }
    const double kernel = kernel_of_wave(waves, h, n, m);
    return halfway ? (kernel + kernel_of_wave(waves, h, n, opposite)) / 2 : kernel;
}

double influence_kernel(const hierarchy *h, const int64_t n[3], const int64_t m[3])
{
    return influence_kernel_from(NULL, h, n, m);
}
