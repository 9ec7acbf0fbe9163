#include "numerics/lattice_sum.h"

#include "error.h"
#include "numerics/ewald.h"

#include <math.h>
#include <stdlib.h>

/* erfc() and exp(-x^2) of it are rounding; and so is exp(-x) of the other. */
static const double gaussian_end = 6.2, exponential_end = 38;
static const double most_images = 2e6;
/* Neighbours on either side that a line sums one by one. */
enum { LINE_NEIGHBOURS = 16 };

typedef struct wave {
    double k_per_A[3], length_per_A;
    double weight;          /* 3-D: that of a wave and its opposite */
    double real, imaginary; /* 3-D: of all charges */
} wave;

struct lattice_sum {
    lattice_sum_options o;
    size_t n;
    const double *position_A, *charge_e;
    double total_e;
    double beta_per_A; /* 0: no part of it in waves */
    double reach_A;    /* of images that are summed one by one; INFINITY: all that there are */
    size_t waves;
    wave *wave;
};

/* ---- Images one by one ----------------------------------------------------------------------- */

/* What a charge at distance r does, without what waves do. */
static double image_value(const lattice_sum *s, double r_A)
{
    const lattice_sum_options *o = &s->o;
    const double kappa = o->kappa_per_A, beta = s->beta_per_A;
    const double smooth =
        beta > 0 && (r_A < o->r_min_A || (o->far != NULL && r_A < o->cutoff_A)) ? ewald_smooth(r_A, kappa, beta) : 0;
    if (o->far != NULL && r_A < o->cutoff_A)
        return splitting_gamma(o->far, r_A / o->cutoff_A) / o->cutoff_A - smooth;
    if (r_A < o->r_min_A)
        return ewald_image(o->r_min_A, kappa, 0) - smooth;
    return ewald_image(r_A, kappa, beta);
}

typedef struct image_sum {
    const lattice_sum *s;
    double value;
} image_sum;

static void add_image(void *context, const double image_A[3])
{
    image_sum *sum = context;
    sum->value += image_value(sum->s, cell_length(image_A));
}

static double near_images(const lattice_sum *s, const double x_A[3])
{
    image_sum sum = {s, 0};
    if (isinf(s->reach_A))
        add_image(&sum, x_A);
    else
        cell_images(&s->o.cell, x_A, s->reach_A, add_image, &sum);
    return sum.value;
}

double lattice_sum_mean(const cell *c, double kappa_per_A)
{
    if (kappa_per_A == 0 || c->dimensions < 2)
        return 0;
    return (c->dimensions == 3 ? 4 * M_PI / (kappa_per_A * kappa_per_A) : 2 * M_PI / kappa_per_A) / c->measure;
}

/* ---- Waves: 3-D ------------------------------------------------------------------------------ */

static double phase(const wave *w, const double x_A[3])
{
    return cell_dot(w->k_per_A, x_A);
}

static double volume_waves(const lattice_sum *s, const double point_A[3])
{
    const double mean = s->o.without_mean ? ewald_mean_rest(s->o.kappa_per_A, s->beta_per_A)
                                          : ewald_mean(s->o.kappa_per_A, s->beta_per_A);
    double sum = s->total_e * mean / s->o.cell.measure;
    for (size_t i = 0; i < s->waves; i++) {
        const wave *w = &s->wave[i];
        sum += w->weight * (w->real * cos(phase(w, point_A)) + w->imaginary * sin(phase(w, point_A)));
    }
    return sum;
}

static void sum_charges(lattice_sum *s)
{
    for (size_t i = 0; i < s->waves; i++)
        for (size_t j = 0; j < s->n; j++) {
            s->wave[i].real += s->charge_e[j] * cos(phase(&s->wave[i], s->position_A + 3 * j));
            s->wave[i].imaginary += s->charge_e[j] * sin(phase(&s->wave[i], s->position_A + 3 * j));
        }
}

/* ---- Waves: 2-D ------------------------------------------------------------------------------ */

static double plane_waves(const lattice_sum *s, const double x_A[3], double z_A)
{
    const double kappa = s->o.kappa_per_A, beta = s->beta_per_A, z = fabs(z_A);
    double sum = kappa > 0 ? (s->o.without_mean ? ewald_plane_rest : ewald_plane)(kappa, beta, z)
                           : -2 * sqrt(M_PI) * (exp(-beta * beta * z * z) / beta + sqrt(M_PI) * z * erf(beta * z));
    for (size_t i = 0; i < s->waves; i++) {
        const wave *w = &s->wave[i];
        sum += 2 * cos(phase(w, x_A)) * ewald_plane(hypot(w->length_per_A, kappa), beta, z);
    }
    return sum / s->o.cell.measure;
}

/* ---- A line ---------------------------------------------------------------------------------- */

/* Sum over n >= 0 of f((n + 1/2) L + y), f(t) = 1/sqrt(t^2 + rho^2), less ln(2 t)/L at its end t:
 * its integral and the Euler-Maclaurin terms, with the derivatives n! P_n(-t/r) / r^(n+1). */
static double line_tail(double y_A, double rho2_A2, double period_A)
{
    static const double factor[3] = {1.0 / 24, -7.0 / 5760, 31.0 / 967680};
    const double r = sqrt(y_A * y_A + rho2_A2), x = -y_A / r;
    double sum = -log(y_A + r) / period_A, before = 1, p = x, derivative = 1 / r, step = 1;
    for (int n = 1; n <= 5; n++) {
        derivative *= n / r;
        step *= period_A;
        if (n % 2 == 1)
            sum += factor[n / 2] * step * derivative * p;
        const double next = ((2 * n + 1) * x * p - n * before) / (n + 1);
        before = p;
        p = next;
    }
    return sum;
}

/* Less the derivatives of both tails along the line and across it. They are smooth on the scale of
 * all neighbours together: differences lose nothing. */
static void line_tail_field(double nearest, double rho_A, int count, double period_A, double *along, double *across)
{
    static const double weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}, at[4] = {-2, -1, 1, 2};
    const double end_A = (count + 0.5) * period_A, step_A = 0.01 * end_A;
    *along = *across = 0;
    for (int i = 0; i < 4; i++) {
        const double y_A = nearest * period_A + at[i] * step_A, rho2 = pow(rho_A + at[i] * step_A, 2),
                     here_A = nearest * period_A;
        *along -= weight[i] / step_A *
                  (line_tail(end_A - y_A, rho_A * rho_A, period_A) + line_tail(end_A + y_A, rho_A * rho_A, period_A));
        *across -= weight[i] / step_A *
                   (line_tail(end_A - here_A, rho2, period_A) + line_tail(end_A + here_A, rho2, period_A));
    }
}

static void add_line_field(const lattice_sum *s, const double x_A[3], int axis, double charge_e, double field[3])
{
    const double *v = s->o.cell.vector_A[axis], period_A = s->o.cell.measure;
    const double along = cell_dot(s->o.cell.dual_per_A[axis], x_A), nearest = along - floor(along + 0.5);
    double rho_A[3], tail_along, tail_across;
    for (int i = 0; i < 3; i++)
        rho_A[i] = x_A[i] - along * v[i];
    const double rho = cell_length(rho_A);
    line_tail_field(nearest, rho, LINE_NEIGHBOURS, period_A, &tail_along, &tail_across);
    for (int n = -LINE_NEIGHBOURS; n <= LINE_NEIGHBOURS; n++) {
        const double t = (nearest - n) * period_A, r = sqrt(t * t + rho * rho);
        for (int i = 0; i < 3 && r >= s->o.r_min_A; i++)
            field[i] += charge_e * (rho_A[i] + t * v[i] / period_A) / (r * r * r);
    }
    for (int i = 0; i < 3; i++)
        field[i] += charge_e * (tail_along * v[i] / period_A + (rho > 0 ? tail_across * rho_A[i] / rho : 0));
}

static double line_images(const lattice_sum *s, const double x_A[3], int axis)
{
    const double *v = s->o.cell.vector_A[axis], period_A = s->o.cell.measure;
    const double along = cell_dot(s->o.cell.dual_per_A[axis], x_A), nearest = along - floor(along + 0.5);
    /* Those that differ from 1/r must be among the neighbours. */
    const int count = LINE_NEIGHBOURS + (s->o.far != NULL ? (int)ceil(s->o.cutoff_A / period_A) : 0);
    double rho_A[3], sum = 0;
    for (int i = 0; i < 3; i++)
        rho_A[i] = x_A[i] - along * v[i];
    const double rho2 = cell_dot(rho_A, rho_A);
    for (int n = -count; n <= count; n++) {
        const double t = (nearest - n) * period_A;
        sum += image_value(s, sqrt(t * t + rho2));
    }
    return sum + line_tail((count + 0.5 - nearest) * period_A, rho2, period_A) +
           line_tail((count + 0.5 + nearest) * period_A, rho2, period_A);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int periodic_axis(const cell *c, bool wanted)
{
    int axis = 0;
    while (axis < 2 && c->periodic[axis] != wanted)
        axis++;
    return axis;
}

static double one_charge(const lattice_sum *s, const double x_A[3])
{
    const cell *c = &s->o.cell;
    if (c->dimensions == 1 && s->o.kappa_per_A == 0)
        return line_images(s, x_A, periodic_axis(c, true));
    double near = near_images(s, x_A);
    if (s->o.without_mean && s->beta_per_A == 0) /* no wave has it */
        near -= lattice_sum_mean(c, s->o.kappa_per_A);
    if (c->dimensions != 2 || s->beta_per_A == 0)
        return near;
    return near + plane_waves(s, x_A, cell_dot(c->vector_A[periodic_axis(c, false)], x_A));
}

double lattice_sum_at(const lattice_sum *s, const double point_A[3])
{
    double sum = 0;
    for (size_t j = 0; j < s->n; j++) {
        double x_A[3];
        for (int i = 0; i < 3; i++)
            x_A[i] = point_A[i] - s->position_A[3 * j + (size_t)i];
        sum += s->charge_e[j] * one_charge(s, x_A);
    }
    return s->o.cell.dimensions == 3 && s->beta_per_A > 0 ? sum + volume_waves(s, point_A) : sum;
}

void lattice_sum_line_field(const lattice_sum *s, const double point_A[3], double field[3])
{
    field[0] = field[1] = field[2] = 0;
    for (size_t j = 0; j < s->n; j++) {
        double x_A[3];
        for (int i = 0; i < 3; i++)
            x_A[i] = point_A[i] - s->position_A[3 * j + (size_t)i];
        add_line_field(s, x_A, periodic_axis(&s->o.cell, true), s->charge_e[j], field);
    }
}

/* ---- Making it ------------------------------------------------------------------------------- */

/* One of each pair of opposite waves; only counts them without a place to put them. */
static size_t list_waves(const lattice_sum *s, wave *list)
{
    const cell *c = &s->o.cell;
    const double longest = 2 * s->beta_per_A * gaussian_end;
    int64_t most[3];
    size_t count = 0;
    for (int i = 0; i < 3; i++)
        most[i] = c->periodic[i] ? (int64_t)(longest * cell_length(c->vector_A[i]) / (2 * M_PI)) : 0;
    for (int64_t l = 0; l <= most[2]; l++)
        for (int64_t k = l > 0 ? -most[1] : 0; k <= most[1]; k++)
            for (int64_t i = l > 0 || k > 0 ? -most[0] : 1; i <= most[0]; i++) {
                wave w = {{0}, 0, 0, 0, 0};
                for (int axis = 0; axis < 3; axis++)
                    w.k_per_A[axis] = 2 * M_PI *
                                      ((double)i * c->dual_per_A[0][axis] + (double)k * c->dual_per_A[1][axis] +
                                       (double)l * c->dual_per_A[2][axis]);
                w.length_per_A = cell_length(w.k_per_A);
                w.weight = 2 / c->measure * ewald_wave(pow(w.length_per_A, 2), s->o.kappa_per_A, s->beta_per_A);
                if (w.length_per_A > longest)
                    continue;
                if (list != NULL)
                    list[count] = w;
                count++;
            }
    return count;
}

static ley_status make_waves(lattice_sum *s, ley_error *error)
{
    s->waves = list_waves(s, NULL);
    s->wave = calloc(s->waves + 1, sizeof *s->wave);
    if (s->wave == NULL)
        return ley_fail_memory(error, s->waves * sizeof *s->wave, "waves of an Ewald sum");
    list_waves(s, s->wave);
    if (s->o.cell.dimensions == 3)
        sum_charges(s);
    return LEY_OK;
}

/* How far images go one by one. */
static ley_status divide(lattice_sum *s, ley_error *error)
{
    const cell *c = &s->o.cell;
    const double nearby = s->o.far != NULL ? s->o.cutoff_A : s->o.r_min_A;
    s->reach_A = INFINITY;
    if (c->dimensions == 0)
        return LEY_OK;
    if (c->dimensions == 1 && s->o.kappa_per_A == 0)
        return LEY_OK;
    if (c->dimensions >= 2) {
        /* In 3-D waves are summed once for all charges: the more there are, the more is left to
         * waves. */
        const double crowd = c->dimensions == 3 ? pow((double)s->n, 1.0 / 6) : 1;
        s->beta_per_A = (s->o.beta > 0 ? s->o.beta : 1) * crowd * sqrt(M_PI) / pow(c->measure, 1.0 / c->dimensions);
        s->reach_A = fmax(gaussian_end / s->beta_per_A, nearby);
    }
    if (s->o.kappa_per_A * s->reach_A > exponential_end || c->dimensions == 1) { /* images alone are no more */
        s->beta_per_A = 0;
        s->reach_A = fmax(exponential_end / s->o.kappa_per_A, nearby);
    }
    if (pow(2 * s->reach_A, c->dimensions) / c->measure > most_images)
        return ley_fail(error, LEY_ERROR_USAGE,
                        "lattice sum: there are too many images within %g A, where they are still to be counted",
                        s->reach_A);
    return LEY_OK;
}

ley_status lattice_sum_create(const lattice_sum_options *options, size_t n, const double *position_A,
                              const double *charge_e, lattice_sum **made, ley_error *error)
{
    lattice_sum *s = calloc(1, sizeof *s);
    double magnitude = 0;
    if (s == NULL)
        return ley_fail_memory(error, sizeof *s, "a lattice sum");
    *s = (lattice_sum){.o = *options, .n = n, .position_A = position_A, .charge_e = charge_e};
    for (size_t j = 0; j < n; j++) {
        s->total_e += charge_e[j];
        magnitude += fabs(charge_e[j]);
    }
    ley_status status = LEY_OK;
    const int dimensions = options->cell.dimensions;
    if ((dimensions == 1 || dimensions == 2) && options->kappa_per_A == 0 && options->far == NULL &&
        fabs(s->total_e) > 1e-9 * magnitude)
        status = ley_fail(error, LEY_ERROR_INPUT,
                          "a net charge of %g e that is repeated along %s has no potential: it must be 0", s->total_e,
                          dimensions == 1 ? "one axis" : "two axes");
    if (status == LEY_OK)
        status = divide(s, error);
    if (status == LEY_OK && s->beta_per_A > 0)
        status = make_waves(s, error);
    if (status == LEY_OK)
        *made = s;
    else
        lattice_sum_destroy(s);
    return status;
}

void lattice_sum_destroy(lattice_sum *s)
{
    if (s == NULL)
        return;
    free(s->wave);
    free(s);
}
