#include "numerics/splitting.h"

#include "error.h"
#include "numerics/quadrature.h"
#include "numerics/tables.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(
    (int)SPLITTING_PSWF == (int)TABLES_TAYLOR - 1,
    "taylor2 is the first, and the table has the last one: TAYLOR_DEGREE of derive_tables.py, which writes it");

static const char *const names[SPLITTING_COUNT] = {"taylor2", "taylor3", "taylor4", "taylor5", "taylor6",
                                                   "taylor7", "taylor8", "pswf",    "ewald",   "optimal"};

const char *splitting_name(splitting_kind kind)
{
    return (int)kind >= 0 && kind < SPLITTING_COUNT ? names[kind] : NULL;
}

static double polynomial(const double c[], int degree, double u)
{
    double value = c[degree];
    for (int k = degree - 1; k >= 0; k--)
        value = value * u + c[k];
    return value;
}

double splitting_whole(const splitting *s, double rho)
{
    return (s->kappa_a > 0 ? exp(-s->kappa_a * rho) : 1) / rho;
}

double splitting_gamma(const splitting *s, double rho)
{
    return rho < 1 ? polynomial(s->c, s->degree, (rho - 1) * (rho + 1)) : splitting_whole(s, rho);
}

double splitting_gamma_slope(const splitting *s, double rho)
{
    const double u = (rho - 1) * (rho + 1);
    double slope = 0;
    if (rho >= 1)
        return -(1 + s->kappa_a * rho) * splitting_whole(s, rho) / rho;
    for (int k = s->degree; k > 0; k--)
        slope = slope * u + k * s->c[k];
    return 2 * rho * slope;
}

/* ---- Taylor's -------------------------------------------------------------------------------- */

/* c_n = (-1/2)^n h_n / n!, h_n = K^(n+1) k_n(K) of the modified spherical Bessel functions, since
 * (1/x d/dx)^n exp(-x)/x = (-1)^n x^-n k_n(x): h_0 = exp(-K), h_1 = exp(-K) (1 + K), h_(n+1) = K^2
 * h_(n-1) + (2 n + 1) h_n. */
static void screened_taylor(splitting *s)
{
    const double K = s->kappa_a;
    double before = exp(-K), h = before * (1 + K), factor = -0.5;
    s->c[0] = before;
    for (int n = 1; n <= s->degree; n++) {
        s->c[n] = factor * h;
        factor *= -0.5 / (n + 1);
        const double next = K * K * before + (2 * n + 1) * h;
        before = h;
        h = next;
    }
}

static int taylor_degree(splitting_kind kind)
{
    return (int)kind - (int)SPLITTING_TAYLOR2 + 2;
}

static void make_taylor(splitting *s)
{
    s->degree = taylor_degree(s->kind);
    s->band = 0;
    if (s->kappa_a > 0)
        screened_taylor(s);
    else
        for (int k = 0; k <= s->degree; k++)
            s->c[k] = tables_taylor[k];
}

/* ---- Prolate spheroidal wave functions ------------------------------------------------------- */

/* psi_0 = sum_k b[k] P_2k, b[0] = 1. */
enum { PROLATE_TERMS = 64 };

/* The expansion in normalised Legendre polynomials is the eigenvector of a tridiagonal matrix with
 * the smallest eigenvalue (Xiao, Rokhlin, Yarvin 2001): inverse iteration. */
static void prolate_expansion(double c, double b[PROLATE_TERMS])
{
    double diagonal[PROLATE_TERMS], beside[PROLATE_TERMS] = {0}, pivot[PROLATE_TERMS] = {0};
    for (int i = 0; i < PROLATE_TERMS; i++) {
        const double k = 2 * i;
        diagonal[i] = k * (k + 1) + (2 * k * (k + 1) - 1) / ((2 * k + 3) * (2 * k - 1)) * c * c;
        beside[i] = (k + 2) * (k + 1) / ((2 * k + 3) * sqrt((2 * k + 1) * (2 * k + 5))) * c * c;
        pivot[i] = diagonal[i] - (i > 0 ? beside[i - 1] * beside[i - 1] / pivot[i - 1] : 0);
        b[i] = i == 0;
    }
    for (int turn = 0; turn < 100; turn++) {
        for (int i = 1; i < PROLATE_TERMS; i++)
            b[i] -= beside[i - 1] / pivot[i - 1] * b[i - 1];
        double norm = 0;
        for (int i = PROLATE_TERMS - 1; i >= 0; i--) {
            b[i] = (b[i] - (i + 1 < PROLATE_TERMS ? beside[i] * b[i + 1] : 0)) / pivot[i];
            norm += b[i] * b[i];
        }
        for (int i = 0; i < PROLATE_TERMS; i++)
            b[i] /= sqrt(norm);
    }
    /* Normalised polynomials are sqrt(k + 1/2) P_k. */
    for (int i = PROLATE_TERMS - 1; i >= 0; i--)
        b[i] *= sqrt((4 * i + 1) / (1.0)) / b[0];
}

/* F(rho) / (rho F(1)): the integral of P_2k from 0 is (P_(2k+1) - P_(2k-1)) / (4k + 1), and that
 * from 0 to 1 vanishes but for k = 0. */
static double prolate_gamma(const double b[PROLATE_TERMS], double rho)
{
    const double x = fmax(rho, 1e-9);
    double even = 1, odd = x, sum = x;
    for (int k = 1; k < PROLATE_TERMS; k++) {
        const double next_even = ((4 * k - 1) * x * odd - (2 * k - 1) * even) / (2 * k),
                     next_odd = ((4 * k + 1) * x * next_even - 2 * k * odd) / (2 * k + 1);
        sum += b[k] * (next_odd - odd) / (4 * k + 1);
        even = next_even;
        odd = next_odd;
    }
    return sum / x;
}

static double gauss_gamma(double beta, double rho)
{
    const double x = fmax(rho, 1e-9);
    return erf(beta * x) / (x * erf(beta));
}

double splitting_exact(const splitting *s, double rho)
{
    double b[PROLATE_TERMS];
    if (s->kind == SPLITTING_EWALD)
        return gauss_gamma(s->band, rho);
    if (s->kind != SPLITTING_PSWF)
        return splitting_gamma(s, rho);
    prolate_expansion(s->band, b);
    return prolate_gamma(b, rho);
}

/* ---- Polynomials ----------------------------------------------------------------------------- */

enum { LEAST_DEGREE = 3, FIT_ROWS = 160, MOST_COLUMNS = SPLITTING_MOST_DEGREE, PANELS = 4 };
enum { NODES = PANELS * 2 * TABLES_GAUSS };

/* The polynomial of u that comes nearest to what is wanted, in the mean square of some rows. */
typedef struct fit {
    int given;                                /* coefficients, from c[0] on; each other term has u^given */
    double wanted[FIT_ROWS];                  /* what these, and later the columns, leave */
    double column[MOST_COLUMNS][FIT_ROWS];    /* rows of polynomials, made orthonormal, */
    double power[MOST_COLUMNS][MOST_COLUMNS]; /* and their coefficients, of u^(given + j) */
    double u[FIT_ROWS];                       /* rows that are values: where */
    double rho[NODES];                        /* rows that are waves: places in the ball, */
    double share[FIT_ROWS][NODES];            /* what the charge there adds to a wave, */
    double on_sphere[FIT_ROWS];               /* and what a charge of 1 on the sphere does */
} fit;

static double product(const double a[FIT_ROWS], const double b[FIT_ROWS])
{
    double sum = 0;
    for (int i = 0; i < FIT_ROWS; i++)
        sum += a[i] * b[i];
    return sum;
}

static double sinc(double x)
{
    return fabs(x) < 1e-4 ? 1 - x * x / 6 : sin(x) / x;
}

/* Values of a function at Chebyshev's points of [-1, 0]; at the cutoff it and its slope are
 * given. */
static void begin_values(fit *f, const splitting *s)
{
    double b[PROLATE_TERMS] = {0};
    if (s->kind == SPLITTING_PSWF)
        prolate_expansion(s->band, b);
    f->given = 2;
    for (int i = 0; i < FIT_ROWS; i++) {
        f->u[i] = (cos(M_PI * (i + 0.5) / FIT_ROWS) - 1) / 2;
        const double rho = sqrt(1 + f->u[i]);
        f->wanted[i] = (s->kind == SPLITTING_PSWF ? prolate_gamma(b, rho) : gauss_gamma(s->band, rho)) -
                       (tables_taylor[0] + tables_taylor[1] * f->u[i]);
    }
}

/* The first polynomial is u^given, the next one the last times 2 u + 1. */
static void put_values(fit *f, int n)
{
    double *power = f->power[n];
    for (int i = 0; i < FIT_ROWS; i++)
        f->column[n][i] = n == 0 ? pow(f->u[i], f->given) : f->column[n - 1][i] * (2 * f->u[i] + 1);
    power[0] = n == 0 ? 1 : f->power[n - 1][0];
    for (int j = 1; j <= n; j++)
        power[j] = (j < n ? f->power[n - 1][j] : 0) + 2 * f->power[n - 1][j - 1];
}

/* Rows are sigma(k)/k of waves beyond the band: the sum of their squares is the energy there. What
 * is `beyond` the band's end and shorter has next to none of it. With c[0] alone there is a charge
 * of 1 on the sphere at the cutoff. */
static void begin_waves(fit *f, const splitting *s)
{
    const double beyond = 40, half = 0.5 / PANELS;
    double weight[NODES];
    for (int j = 0; j < NODES; j++) {
        const double *gauss = tables_gauss[j / 2 % TABLES_GAUSS], side = j % 2 == 0 ? -1 : 1;
        f->rho[j] = (2 * (j / 2 / TABLES_GAUSS) + 1 + side * gauss[0]) * half;
        weight[j] = half * gauss[1];
    }
    f->given = 1;
    for (int i = 0; i < FIT_ROWS; i++) {
        const double k = s->band + beyond * (i + 0.5) / FIT_ROWS;
        for (int j = 0; j < NODES; j++)
            f->share[i][j] = weight[j] * sinc(k * f->rho[j]) / k;
        f->on_sphere[i] = sinc(k) / k;
        f->wanted[i] = -f->on_sphere[i];
    }
}

/* The charge of u T_n(2 u + 1), T_n Chebyshev's polynomial, times rho^2: see density(). */
static double density_of_chebyshev(int n, double rho)
{
    const double u = rho * rho - 1, x = 2 * u + 1;
    double t[3] = {1, x}, slope[3] = {0, 2}, bend[3] = {0, 0}; /* T_i, T_(i + 1); their derivatives by u */
    for (int i = 0; i < n; i++) {
        t[2] = 2 * x * t[1] - t[0];
        slope[2] = 4 * t[1] + 2 * x * slope[1] - slope[0];
        bend[2] = 8 * slope[1] + 2 * x * bend[1] - bend[0];
        for (int j = 0; j < 2; j++) {
            t[j] = t[j + 1];
            slope[j] = slope[j + 1];
            bend[j] = bend[j + 1];
        }
    }
    return -rho * rho * (6 * (t[0] + u * slope[0]) + 4 * rho * rho * (2 * slope[0] + u * bend[0]));
}

/* T_n(2 u + 1) by powers of u. */
static void put_chebyshev(int n, double power[MOST_COLUMNS])
{
    power[0] = 1;
    for (int j = 0; j < n; j++)
        power[j + 1] = power[j] * 4 * (n + j) * (n - j) / ((2 * j + 2) * (2 * j + 1));
}

static void put_waves(fit *f, int n)
{
    double density[NODES];
    for (int j = 0; j < NODES; j++)
        density[j] = density_of_chebyshev(n, f->rho[j]);
    for (int i = 0; i < FIT_ROWS; i++) {
        f->column[n][i] = 2 * f->on_sphere[i]; /* the step of its slope */
        for (int j = 0; j < NODES; j++)
            f->column[n][i] += f->share[i][j] * density[j];
    }
    put_chebyshev(n, f->power[n]);
}

/* Takes what a polynomial's rows and coefficients have of the others' away, twice. */
static void make_orthonormal(fit *f, int n)
{
    double *own = f->column[n], *power = f->power[n];
    for (int turn = 0; turn < 2; turn++)
        for (int m = 0; m < n; m++) {
            const double share = product(own, f->column[m]);
            for (int i = 0; i < FIT_ROWS; i++)
                own[i] -= share * f->column[m][i];
            for (int j = 0; j <= m; j++)
                power[j] -= share * f->power[m][j];
        }
    const double norm = sqrt(product(own, own));
    for (int i = 0; i < FIT_ROWS; i++)
        own[i] /= norm;
    for (int j = 0; j <= n; j++)
        power[j] /= norm;
}

/* Takes the part along polynomial n from what is wanted into the splitting; returns the largest row
 * that is left. */
static double take_column(fit *f, int n, splitting *s)
{
    const double share = product(f->wanted, f->column[n]);
    double left = 0;
    for (int j = 0; j <= n; j++)
        s->c[f->given + j] += share * f->power[n][j];
    for (int i = 0; i < FIT_ROWS; i++) {
        f->wanted[i] -= share * f->column[n][i];
        left = fmax(left, fabs(f->wanted[i]));
    }
    return left;
}

/* How near a polynomial of the degree that nobody chose comes: a share of the step that the
 * function's slope has at the cutoff, which the mesh cannot resolve. */
static double near_enough(const splitting *s)
{
    return s->kind == SPLITTING_PSWF ? 0.5 * exp(-s->band) : 0.05 * exp(-s->band * s->band);
}

/* Of optimal: higher ones take next to nothing more from beyond the band. */
static int degree_of_band(double band)
{
    return (int)fmin(fmax(round(3 + band / 3), LEAST_DEGREE), SPLITTING_MOST_DEGREE);
}

static void fit_to(splitting *s, int degree, fit *f)
{
    const bool is_waves = s->kind == SPLITTING_OPTIMAL;
    const int last = degree > 0 ? degree : is_waves ? degree_of_band(s->band) : SPLITTING_MOST_DEGREE;
    if (is_waves)
        begin_waves(f, s);
    else
        begin_values(f, s);
    for (int k = 0; k < f->given; k++)
        s->c[k] = tables_taylor[k];
    for (s->degree = f->given; s->degree <= last; s->degree++) {
        const int n = s->degree - f->given;
        if (is_waves)
            put_waves(f, n);
        else
            put_values(f, n);
        make_orthonormal(f, n);
        const double left = take_column(f, n, s);
        if (s->degree == last || (degree == 0 && !is_waves && left < near_enough(s)))
            return;
    }
}

/* What is fitted takes more than some stacks have. */
static ley_status make_fitted(splitting *s, int degree, ley_error *error)
{
    fit *f = malloc(sizeof *f);
    if (f == NULL)
        return ley_fail_memory(error, sizeof *f, "a splitting");
    fit_to(s, degree, f);
    free(f);
    return LEY_OK;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static double least_band(splitting_kind kind)
{
    return kind == SPLITTING_EWALD ? 0.5 : 1;
}

static double most_band(splitting_kind kind)
{
    return kind == SPLITTING_EWALD ? 6 : 40;
}

ley_status splitting_make(splitting_kind kind, int degree, double band, double kappa_a, splitting *made,
                          ley_error *error)
{
    if (splitting_name(kind) == NULL)
        return ley_fail(error, LEY_ERROR_USAGE, "splitting: there is no number %d", (int)kind);
    if (!(kappa_a >= 0 && kappa_a <= SPLITTING_MOST_KAPPA_A))
        return ley_fail(error, LEY_ERROR_USAGE, "splitting: kappa a is %g, must be 0 to %d", kappa_a,
                        SPLITTING_MOST_KAPPA_A);
    splitting s = {.kind = kind, .band = band, .kappa_a = kappa_a};
    if (kind < SPLITTING_PSWF)
        make_taylor(&s);
    else {
        const double least = least_band(kind), most = most_band(kind);
        if (kappa_a > 0)
            return ley_fail(error, LEY_ERROR_USAGE,
                            "splitting: %s is of 1/r alone: screened sums take taylor2 to taylor8", names[kind]);
        if (!(band >= least && band <= most))
            return ley_fail(error, LEY_ERROR_USAGE, "splitting: the band parameter of %s is %g, must be %g to %g",
                            names[kind], band, least, most);
        if (degree != 0 && (degree < LEAST_DEGREE || degree > SPLITTING_MOST_DEGREE))
            return ley_fail(error, LEY_ERROR_USAGE, "splitting: degree %d of %s, must be %d to %d", degree, names[kind],
                            LEAST_DEGREE, SPLITTING_MOST_DEGREE);
        const ley_status status = make_fitted(&s, degree, error);
        if (status != LEY_OK)
            return status;
    }
    *made = s;
    return LEY_OK;
}

bool splitting_has_far(const splitting *s)
{
    return splitting_gamma(s, 0) >= 1e-7;
}

/* In units of 1/a the shortest wave of a mesh is pi a/h: the best band ends a little before. */
static const double band_by_ratio = 3;

/* Of the others, measured at these a/h for B-splines of 4, 6 and 8 points. */
enum { BANDS = 7 };
static const double band_at[BANDS] = {3, 4, 5, 6, 8, 10, 12};
static const double prolate_bands[3][BANDS] = {{6.3, 7.5, 8.6, 9.0, 9.0, 9.1, 9.3},
                                               {7.4, 8.8, 10.3, 11.6, 13.0, 14.1, 14.8},
                                               {8.2, 10.2, 11.6, 13.0, 15.4, 17.0, 18.0}};
static const double gauss_bands[3][BANDS] = {{1.75, 2.05, 2.25, 2.35, 2.5, 2.55, 2.55},
                                             {2.05, 2.25, 2.45, 2.65, 2.95, 3.15, 3.25},
                                             {2.15, 2.4, 2.65, 2.8, 3.1, 3.35, 3.5}};

double splitting_band(splitting_kind kind, double cutoff_by_spacing, int points)
{
    if (kind < SPLITTING_PSWF)
        return 0;
    if (kind == SPLITTING_OPTIMAL)
        return fmin(fmax(band_by_ratio * cutoff_by_spacing, least_band(kind)), most_band(kind));
    const int row = points <= 4 ? 0 : points <= 6 ? 1 : 2;
    const double *bands = kind == SPLITTING_PSWF ? prolate_bands[row] : gauss_bands[row];
    const double x = fmin(fmax(cutoff_by_spacing, band_at[0]), band_at[BANDS - 1]);
    int i = 0;
    while (i < BANDS - 2 && x > band_at[i + 1])
        i++;
    return bands[i] + (bands[i + 1] - bands[i]) * (x - band_at[i]) / (band_at[i + 1] - band_at[i]);
}

int splitting_degree(splitting_kind kind, double cutoff_by_spacing, int points)
{
    const double x = cutoff_by_spacing;
    if (kind < SPLITTING_PSWF)
        return taylor_degree(kind);
    if (kind < SPLITTING_OPTIMAL)
        return 0;
    return points <= 4 ? 3 : points <= 6 ? (x < 4.75 ? 4 : 5) : x < 2.75 ? 4 : x < 3.75 ? 5 : x < 6.5 ? 6 : 7;
}

/* ---- Transforms ------------------------------------------------------------------------------ */

/* The charge density that makes gamma, 4 pi times it, times rho^2: (kappa^2 - Laplace) gamma, with
 * Laplace f(u) = 6 f' + 4 rho^2 f''. */
static double density(const splitting *s, double rho)
{
    const double u = (rho - 1) * (rho + 1);
    double value = 0, slope = 0, bend = 0; /* bend: half the second derivative */
    for (int k = s->degree; k >= 0; k--) {
        bend = bend * u + slope;
        slope = slope * u + value;
        value = value * u + s->c[k];
    }
    return rho * rho * (s->kappa_a * s->kappa_a * value - 6 * slope - 8 * rho * rho * bend);
}

typedef struct sigma_context {
    const splitting *s;
    double ka;
} sigma_context;

static double sigma_term(const void *context, double rho)
{
    const sigma_context *c = context;
    return density(c->s, rho) * sinc(c->ka * rho);
}

double splitting_sigma(const splitting *s, double ka)
{
    /* On the sphere at the cutoff is what the slope's step there stands for. */
    const double on_sphere = s->kappa_a > 0 ? 0 : 1 + 2 * s->c[1];
    const sigma_context context = {s, ka};
    return quadrature(sigma_term, &context, 0, 1, ka) + on_sphere * sinc(ka);
}

static double short_term(const void *context, double rho)
{
    const splitting *s = context;
    return rho * (exp(-s->kappa_a * rho) - rho * splitting_gamma(s, rho));
}

double splitting_short_integral(const splitting *s)
{
    return 4 * M_PI * quadrature(short_term, s, 0, 1, 0);
}
