#include "law/flat.h"

#include "error.h"
#include "law/piecewise.h"
#include "law/wide.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A line: beta^2 rho^2 beyond which the Gaussian's edge is rounding, and kappa rho beyond which
 * nothing is left. */
static const double gaussian_x = 45, screened_end = 60;

/* Charges at a time; functions of u = 1 + beta^2 rho^2 have so many pieces from one power of two to
 * the next, up to this one. */
enum { BLOCK = 64, LANES = 8, PIECE_BITS = 4, MOST_OCTAVES = 64 };

struct flat_part {
    flat_options o;
    double total_e;
    int axis; /* that is open, of a layer; that is periodic, of a line */
    /* A layer of this height, charges b above its middle: sums of q b, q b^2; of q (cosh - 1) and
     * q sinh of kappa b; of q exp(+- kappa b - kappa height / 2). */
    double middle_A, height_A, first, second, cosh_1, sinh, up, down;
    /* A line: see line_lack(). Two directions across it, and charges: their components along these
     * times beta. */
    double on_line;
    double *lack, *slope; /* coefficients [octaves << PIECE_BITS][PIECEWISE_TERMS] */
    int octaves;
    double across[2][3];
    size_t blocks;
    double *at[2], *charge_e; /* [blocks * BLOCK] */
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
static double line_lack(const flat_part *f, double x)
{
    const double c = f->o.kappa_per_A / (2 * f->o.beta_per_A);
    if (x <= 0)
        return 0;
    if (x < gaussian_x)
        return integral(lack_at, x, c, fmax(-0.5 * log(x) - 20, c > 0 ? log(c / 7) : -200) - 1);
    return c == 0 ? 0.5 * (log(x) + 0.57721566490153286) : f->on_line - bessel(0, 2 * c * sqrt(x));
}

/* Its derivative by x. */
static double line_slope(const flat_part *f, double x)
{
    const double c = f->o.kappa_per_A / (2 * f->o.beta_per_A), z = 2 * c * sqrt(fmax(x, 0));
    if (x < gaussian_x)
        return integral(slope_at, fmax(x, 0), c, -20);
    return (c == 0 ? 1 : z * bessel(1, z)) / (2 * x);
}

/* An octave's pieces are equal parts of it. */
typedef struct octave_function {
    const flat_part *line;
    double (*of)(const flat_part *f, double x);
} octave_function;

static double at_u(const void *context, double u)
{
    const octave_function *f = context;
    return f->of(f->line, u - 1);
}

static ley_status make_octaves(const flat_part *f, double (*of)(const flat_part *, double), double **made,
                               ley_error *error)
{
    enum { PIECES = 1 << PIECE_BITS };
    const octave_function function = {f, of};
    const size_t octave_bytes = PIECES * sizeof(double[PIECEWISE_TERMS]), bytes = (size_t)f->octaves * octave_bytes;
    *made = malloc(bytes);
    ley_status status = *made == NULL ? ley_fail_memory(error, bytes, "the verification") : LEY_OK;
    for (int i = 0; i < f->octaves && status == LEY_OK; i++) {
        piecewise octave;
        status = piecewise_make(ldexp(1, i), ldexp(1, i + 1), PIECES, at_u, &function, &octave, error);
        if (status != LEY_OK)
            break;
        memcpy((char *)*made + (size_t)i * octave_bytes, octave.coefficient, octave_bytes);
        piecewise_clear(&octave);
    }
    return status;
}

/* Directions across the line, at right angles. */
static void find_across(flat_part *f)
{
    const double *along = f->o.cell.vector_A[f->axis], length = cell_length(along);
    double unit[3], *one = f->across[0], *other = f->across[1];
    int least = 0;
    for (int i = 0; i < 3; i++) {
        unit[i] = along[i] / length;
        least = fabs(unit[i]) < fabs(along[least] / length) ? i : least;
    }
    for (int i = 0; i < 3; i++)
        one[i] = (i == least ? 1 : 0) - unit[least] * unit[i];
    const double one_length = cell_length(one);
    for (int i = 0; i < 3; i++)
        one[i] /= one_length;
    for (int i = 0; i < 3; i++)
        other[i] = unit[(i + 1) % 3] * one[(i + 2) % 3] - unit[(i + 2) % 3] * one[(i + 1) % 3];
}

static double scaled_across(const flat_part *f, int which, const double place_A[3])
{
    return f->o.beta_per_A * cell_dot(f->across[which], place_A);
}

static ley_status place_charges(flat_part *f, ley_error *error)
{
    f->blocks = (f->o.n + BLOCK - 1) / BLOCK;
    const size_t count = f->blocks * BLOCK + 1; /* of none, too */
    find_across(f);
    f->at[0] = calloc(count, sizeof(double));
    f->at[1] = calloc(count, sizeof(double));
    f->charge_e = calloc(count, sizeof(double));
    if (f->at[0] == NULL || f->at[1] == NULL || f->charge_e == NULL)
        return ley_fail_memory(error, 3 * count * sizeof(double), "the verification");
    for (size_t j = 0; j < f->o.n; j++) {
        for (int which = 0; which < 2; which++)
            f->at[which][j] = scaled_across(f, which, f->o.position_A + 3 * j);
        f->charge_e[j] = f->o.charge_e[j];
    }
    return LEY_OK;
}

static ley_status make_line(flat_part *f, ley_error *error)
{
    const double c = f->o.kappa_per_A / (2 * f->o.beta_per_A);
    if (c > 0)
        f->on_line = integral(constant_at, 0, c, log(c / 7) - 1);
    f->octaves = MOST_OCTAVES;
    if (c > 0)
        f->octaves = (int)fmin(MOST_OCTAVES, 1 + ceil(log2(1 + fmax(gaussian_x, pow(screened_end / (2 * c), 2)))));
    ley_status status = place_charges(f, error);
    if (status == LEY_OK)
        status = make_octaves(f, line_lack, &f->lack, error);
    return status == LEY_OK ? make_octaves(f, line_slope, &f->slope, error) : status;
}

/* A function of u from its octaves: the exponent and the first digits of u are the piece's number,
 * its other digits the place within. What is beyond all of them is as at their end. */
static WIDE_INLINE double octaves_at(const double *coefficient, double end, double u)
{
    enum { REST = 52 - PIECE_BITS };
    const uint64_t one = (uint64_t)1023 << 52;
    const double safe = u < end ? u : end;
    uint64_t bits;
    memcpy(&bits, &safe, sizeof bits);
    const uint64_t rest = (bits << (64 - REST)) >> 12 | one;
    const double *c = coefficient + PIECEWISE_TERMS * ((bits - one) >> REST);
    double within;
    memcpy(&within, &rest, sizeof within);
    const double t = within - 1.5, t2 = t * t, t4 = t2 * t2;
    return c[0] + c[1] * t + (c[2] + c[3] * t) * t2 + (c[4] + c[5] * t + (c[6] + c[7] * t) * t2) * t4;
}

/* Sums over charges of what the line lacks; of its slopes, times the way across. */
typedef struct line_sums {
    double lack, slope[2];
} line_sums;

static WIDE_INLINE void add_blocks(const flat_part *f, const double at[2], bool slopes, line_sums *sums)
{
    const double end = nextafter(ldexp(1, f->octaves), 0), *coefficient = slopes ? f->slope : f->lack;
    double lane[2][LANES] = {{0}};
    for (size_t first = 0; first < f->blocks * BLOCK; first += BLOCK) {
        const double *a = f->at[0] + first, *b = f->at[1] + first, *q_e = f->charge_e + first;
        double x[BLOCK], term[BLOCK];
        for (int j = 0; j < BLOCK; j++) {
            const double da = at[0] - a[j], db = at[1] - b[j];
            x[j] = da * da + db * db;
        }
        for (int j = 0; j < BLOCK; j++)
            term[j] = q_e[j] * octaves_at(coefficient, end, 1 + x[j]);
        for (int j = 0; j < BLOCK; j += LANES)
            for (int i = 0; i < LANES; i++) {
                lane[0][i] += term[j + i] * (slopes ? at[0] - a[j + i] : 1);
                lane[1][i] += slopes ? term[j + i] * (at[1] - b[j + i]) : 0;
            }
    }
    for (int i = 0; i < LANES; i++) {
        sums->lack += slopes ? 0 : lane[0][i];
        sums->slope[0] += slopes ? lane[0][i] : 0;
        sums->slope[1] += lane[1][i];
    }
}

static WIDE_INLINE void add_lacks(const flat_part *f, const double at[2], line_sums *sums)
{
    add_blocks(f, at, false, sums);
}

static WIDE_INLINE void add_slopes(const flat_part *f, const double at[2], line_sums *sums)
{
    add_blocks(f, at, true, sums);
}

WIDE_VERSIONS(add_lacks, (const flat_part *f, const double at[2], line_sums *sums), (f, at, sums))
WIDE_VERSIONS(add_slopes, (const flat_part *f, const double at[2], line_sums *sums), (f, at, sums))

static double line_at(const flat_part *f, const double point_A[3])
{
    line_sums sums = {0};
    add_lacks_wide(f, (const double[]){scaled_across(f, 0, point_A), scaled_across(f, 1, point_A)}, &sums);
    return 2 / f->o.cell.measure * (f->total_e * f->on_line - sums.lack);
}

static void add_line_field(const flat_part *f, const double point_A[3], double field[3])
{
    const double factor = 4 / f->o.cell.measure * f->o.beta_per_A;
    line_sums sums = {0};
    add_slopes_wide(f, (const double[]){scaled_across(f, 0, point_A), scaled_across(f, 1, point_A)}, &sums);
    for (int axis = 0; axis < 3; axis++)
        field[axis] += factor * (sums.slope[0] * f->across[0][axis] + sums.slope[1] * f->across[1][axis]);
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
    free(f->lack);
    free(f->slope);
    free(f->at[0]);
    free(f->at[1]);
    free(f->charge_e);
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
