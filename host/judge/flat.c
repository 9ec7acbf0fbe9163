#include "judge/flat.h"

#include "error.h"
#include "judge/piecewise.h"

#include <math.h>
#include <stdlib.h>

/* A line: beta^2 rho^2 beyond which the Gaussian's edge is rounding; kappa rho beyond which nothing
 * is left; and how wide pieces are of functions of ln(1 + beta^2 rho^2). */
static const double gaussian_x = 45, screened_end = 60, piece = 0.125;

struct flat_part {
    flat_options o;
    double total_e;
    int axis; /* that is open, of a layer; that is periodic, of a line */
    /* A layer of this height, charges b above its middle: sums of q b, q b^2; of q (cosh - 1) and
     * q sinh of kappa b; of q exp(+- kappa b - kappa height / 2). */
    double middle_A, height_A, first, second, cosh_1, sinh, up, down;
    /* A line: see line_lack(). */
    double on_line;
    piecewise lack, slope;
};

/* ---- A layer --------------------------------------------------------------------------------- */

/* From this kappa height on, hyperbolic functions are exponentials. */
static const double steep = 100;

static void sum_layer(flat_part *f)
{
    const flat_options *o = &f->o;
    const double kappa = o->kappa_per_A;
    f->middle_A = (o->low_A[f->axis] + o->high_A[f->axis]) / 2;
    f->height_A = o->high_A[f->axis] - o->low_A[f->axis] + 2 * o->gap_A;
    const double half = kappa * f->height_A / 2;
    for (size_t j = 0; j < o->n; j++) {
        const double b_A = cell_dot(o->cell.vector_A[f->axis], o->position_A + 3 * j) - f->middle_A, x = kappa * b_A,
                     q_e = o->charge_e[j];
        f->first += q_e * b_A;
        f->second += q_e * b_A * b_A;
        if (half > steep / 2) {
            f->up += q_e * exp(x - half);
            f->down += q_e * exp(-x - half);
        } else {
            f->cosh_1 += q_e * 2 * pow(sinh(x / 2), 2);
            f->sinh += q_e * sinh(x);
        }
    }
}

/* 1/t exp(-k^2) - 1/(exp(t) - 1), t > 0. */
static double mean_of_layer(double t, double k)
{
    const double rest =
        t < 0.1 ? 0.5 - t / 12 + pow(t, 3) / 720 - pow(t, 5) / 30240 + pow(t, 7) / 1209600 : 1 / t - 1 / expm1(t);
    return rest + expm1(-k * k) / t;
}

/* Within the gap, a_A above the middle: a layer alone is -z, or exp(-kappa z)/kappa, times 2 pi q /
 * area; one with its images and a background z - z^2/h - h/6 more, or 2 cosh(kappa z) / (exp(kappa
 * h) - 1) / kappa more than that. The waves' mean is in here. */
static double layer_inside(const flat_part *f, double a_A)
{
    const double kappa = f->o.kappa_per_A, t = kappa * f->height_A, x = kappa * a_A, beta = f->o.beta_per_A;
    const double factor = 2 * M_PI / f->o.cell.measure;
    if (kappa == 0)
        return factor * (-(f->total_e * a_A * a_A - 2 * a_A * f->first + f->second) / f->height_A -
                         f->total_e * (f->height_A / 6 + 0.5 / (beta * beta * f->height_A)));
    if (t > steep)
        return 2 * factor / kappa *
               (f->total_e * exp(-pow(kappa / (2 * beta), 2)) / t -
                (exp(x - t / 2) * f->down + exp(-x - t / 2) * f->up) / 2);
    const double cosh_1 = 2 * pow(sinh(x / 2), 2);
    return 2 * factor / kappa *
           (f->total_e * mean_of_layer(t, kappa / (2 * beta)) -
            (cosh_1 * (f->cosh_1 + f->total_e) + f->cosh_1 - sinh(x) * f->sinh) / expm1(t));
}

static double layer_outside(const flat_part *f, double a_A)
{
    const double kappa = f->o.kappa_per_A, t = kappa * f->height_A, side = a_A < 0 ? -1 : 1,
                 factor = 2 * M_PI / f->o.cell.measure;
    if (kappa == 0)
        return -factor * side * (f->total_e * a_A - f->first);
    if (t > steep)
        return factor / kappa * exp(t / 2 - kappa * fabs(a_A)) * (a_A < 0 ? f->down : f->up);
    return factor / kappa * exp(-kappa * fabs(a_A)) * (f->total_e + f->cosh_1 + side * f->sinh);
}

/* Less their derivatives. */
static double layer_inside_slope(const flat_part *f, double a_A)
{
    const double kappa = f->o.kappa_per_A, t = kappa * f->height_A, x = kappa * a_A,
                 factor = 4 * M_PI / f->o.cell.measure;
    if (kappa == 0)
        return factor * (f->total_e * a_A - f->first) / f->height_A;
    if (t > steep)
        return factor * (exp(x - t / 2) * f->down - exp(-x - t / 2) * f->up) / 2;
    return factor * (sinh(x) * (f->total_e + f->cosh_1) - cosh(x) * f->sinh) / expm1(t);
}

static double layer_outside_slope(const flat_part *f, double a_A)
{
    const double side = a_A < 0 ? -1 : 1;
    return f->o.kappa_per_A == 0 ? 2 * M_PI / f->o.cell.measure * f->total_e * side
                                 : side * f->o.kappa_per_A * layer_outside(f, a_A);
}

/* ---- A line ---------------------------------------------------------------------------------- */

/* The integral of f(v) dv/v, v from exp(low) to 1, by Gauss and Legendre. */
static double integral(double (*f)(double v, double x, double c), double x, double c, double low)
{
    enum { HALF = 5 };
    static const double at[HALF] = {0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845,
                                    0.9739065285171717},
                        weight[HALF] = {0.2955242247147529, 0.2692667193099963, 0.2190863625159820, 0.1494513491505806,
                                        0.0666713443086881};
    const int panels = low < -0.5 ? (int)ceil(-low / 0.5) : 1;
    const double width = fmax(-low, 0.5) / panels;
    double sum = 0;
    for (int panel = 0; panel < panels; panel++)
        for (int i = 0; i < 2 * HALF; i++) {
            const double side = i < HALF ? at[i] : -at[i - HALF];
            sum += weight[i % HALF] * width / 2 * f(exp(-width * (panel + 0.5 + side / 2)), x, c);
        }
    return sum;
}

static double lack_at(double v, double x, double c)
{
    return -expm1(-x * v * v) * exp(-c * c / (v * v));
}

static double slope_at(double v, double x, double c)
{
    return v * v * exp(-x * v * v - c * c / (v * v));
}

static double constant_at(double v, double x, double c)
{
    (void)x;
    return exp(-c * c / (v * v));
}

/* Bessel's K of order 0 or 1. */
static double bessel(int order, double z)
{
    const double step = 0.125;
    double sum = 0.5 * exp(-z);
    for (double t = step; z * (cosh(t) - 1) < 45; t += step)
        sum += exp(-z * cosh(t)) * (order > 0 ? cosh(t) : 1);
    return step * sum;
}

/* A line's smooth part is 2/L times the integral of exp(-x v^2 - c^2/v^2) dv/v, v from 0 to 1,
 * x = beta^2 rho^2, c = kappa / (2 beta). What it lacks of that on the line itself, times L/2. */
static double line_lack(const void *context, double s)
{
    const flat_part *f = context;
    const double x = expm1(s), c = f->o.kappa_per_A / (2 * f->o.beta_per_A);
    if (x <= 0)
        return 0;
    if (x < gaussian_x)
        return integral(lack_at, x, c, fmax(-0.5 * log(x) - 20, c > 0 ? log(c / 7) : -200) - 1);
    return c == 0 ? 0.5 * (log(x) + 0.57721566490153286) : f->on_line - bessel(0, 2 * c * sqrt(x));
}

/* Its derivative by x, times 1 + x. */
static double line_slope(const void *context, double s)
{
    const flat_part *f = context;
    const double x = fmax(expm1(s), 0), c = f->o.kappa_per_A / (2 * f->o.beta_per_A), z = 2 * c * sqrt(x);
    if (x < gaussian_x)
        return (1 + x) * integral(slope_at, x, c, -20);
    return (1 + x) / (2 * x) * (c == 0 ? 1 : z * bessel(1, z));
}

static ley_status make_line(flat_part *f, ley_error *error)
{
    const double c = f->o.kappa_per_A / (2 * f->o.beta_per_A),
                 most = fmax(gaussian_x, c > 0 ? pow(screened_end / (2 * c), 2) : 0), end = log1p(most);
    const int pieces = (int)ceil(end / piece);
    if (c > 0)
        f->on_line = integral(constant_at, 0, c, log(c / 7) - 1);
    ley_status status = piecewise_make(0, end, pieces, line_lack, f, &f->lack, error);
    if (status == LEY_OK)
        status = piecewise_make(0, end, pieces, line_slope, f, &f->slope, error);
    return status;
}

/* The way from a charge's line to a point, and beta^2 times its square. */
static double across_line(const flat_part *f, size_t j, const double point_A[3], double way_A[3])
{
    const cell *c = &f->o.cell;
    for (int axis = 0; axis < 3; axis++)
        way_A[axis] = point_A[axis] - f->o.position_A[3 * j + (size_t)axis];
    const double along = cell_dot(c->dual_per_A[f->axis], way_A);
    for (int axis = 0; axis < 3; axis++)
        way_A[axis] -= along * c->vector_A[f->axis][axis];
    return pow(f->o.beta_per_A, 2) * cell_dot(way_A, way_A);
}

static bool is_beyond(const flat_part *f, double s)
{
    return s >= f->lack.low + f->lack.pieces / f->lack.per_step;
}

static double line_at(const flat_part *f, const double point_A[3])
{
    double sum = f->total_e * f->on_line, way_A[3];
    for (size_t j = 0; j < f->o.n; j++) {
        const double x = across_line(f, j, point_A, way_A), s = log1p(x);
        const double lack = !is_beyond(f, s)        ? piecewise_at(&f->lack, s)
                            : f->o.kappa_per_A == 0 ? line_lack(f, s)
                                                    : f->on_line;
        sum -= f->o.charge_e[j] * lack;
    }
    return 2 / f->o.cell.measure * sum;
}

static void add_line_field(const flat_part *f, const double point_A[3], double field[3])
{
    const double factor = 4 / f->o.cell.measure * pow(f->o.beta_per_A, 2);
    for (size_t j = 0; j < f->o.n; j++) {
        double way_A[3];
        const double x = across_line(f, j, point_A, way_A), s = log1p(x);
        const double slope = !is_beyond(f, s)        ? piecewise_at(&f->slope, s)
                             : f->o.kappa_per_A == 0 ? line_slope(f, s)
                                                     : 0;
        for (int axis = 0; axis < 3; axis++)
            field[axis] += factor * f->o.charge_e[j] * slope / (1 + x) * way_A[axis];
    }
}

/* ---- Any of them ----------------------------------------------------------------------------- */

static bool is_layer(const flat_part *f)
{
    return f->o.cell.dimensions == 2;
}

static double above_middle(const flat_part *f, const double point_A[3])
{
    return cell_dot(f->o.cell.vector_A[f->axis], point_A) - f->middle_A;
}

ley_status flat_create(const flat_options *options, flat_part **made, ley_error *error)
{
    flat_part *f = calloc(1, sizeof *f);
    ley_status status = LEY_OK;
    if (f == NULL)
        return ley_fail_memory(error, sizeof *f, "a lattice sum");
    f->o = *options;
    while (f->axis < 2 && f->o.cell.periodic[f->axis] == is_layer(f))
        f->axis++;
    for (size_t j = 0; j < f->o.n; j++)
        f->total_e += f->o.charge_e[j];
    if (is_layer(f))
        sum_layer(f);
    else
        status = make_line(f, error);
    if (status == LEY_OK)
        *made = f;
    else
        flat_destroy(f);
    return status;
}

void flat_destroy(flat_part *f)
{
    if (f == NULL)
        return;
    piecewise_clear(&f->lack);
    piecewise_clear(&f->slope);
    free(f);
}

bool flat_is_all(const flat_part *f, const double point_A[3])
{
    const flat_options *o = &f->o;
    for (int i = 0; i < 3; i++) {
        const double at_A = cell_dot(o->cell.vector_A[i], point_A);
        if (!o->cell.periodic[i] && (at_A < o->low_A[i] - o->gap_A || at_A > o->high_A[i] + o->gap_A))
            return true;
    }
    return false;
}

double flat_at(const flat_part *f, const double point_A[3])
{
    if (!is_layer(f))
        return line_at(f, point_A);
    const double a_A = above_middle(f, point_A);
    return flat_is_all(f, point_A) ? layer_outside(f, a_A) : layer_inside(f, a_A);
}

void flat_add_field(const flat_part *f, const double point_A[3], double field[3])
{
    if (!is_layer(f)) {
        add_line_field(f, point_A, field);
        return;
    }
    const double a_A = above_middle(f, point_A),
                 slope = flat_is_all(f, point_A) ? layer_outside_slope(f, a_A) : layer_inside_slope(f, a_A);
    for (int axis = 0; axis < 3; axis++)
        field[axis] += slope * f->o.cell.vector_A[f->axis][axis];
}
