#include "methods/wavefunction/boys.h"

#include <math.h>

enum { NODES = 48, DEGREE = LEY_BOYS_DEGREE, JUDGED = 200 };

/* From where on the rest is no part of a float; and what a piece may be off by. */
static const double digit = 3e-8, wanted_error = 1.7e-7;

double boys_function(int n, double t)
{
    double term = 1.0 / (2 * n + 1), sum = term;
    for (int k = 1; term > 1e-17 * sum; k++) {
        term *= 2 * t / (2 * n + 2 * k + 1);
        sum += term;
    }
    return exp(-t) * sum;
}

/* As t goes to infinity. */
static double far_away(int n, double t)
{
    double made = 0.5 * sqrt(M_PI / t);
    for (int k = 1; k <= n; k++)
        made *= (k - 0.5) / t;
    return made;
}

static double find_most(int n)
{
    double t = 8;
    while (fabs(boys_function(n, t) / far_away(n, t) - 1) > digit)
        t += 0.5;
    return t;
}

/* What P is to be at y from -1 to 1, where 1/(t + shift) is from its least to its largest value. */
static double wanted(int n, const boys_piece *f, double y)
{
    const double sum = (double)f->slope / (y - (double)f->middle);
    return M_2_SQRTPI * boys_function(n, fmax(sum - (double)f->shift, 0)) * pow(sum, n + 0.5);
}

/* By Chebyshev's polynomials, which then become powers of y. */
static void interpolate(int n, boys_piece *f)
{
    double last[DEGREE + 1] = {1}, now[DEGREE + 1] = {0, 1}, powers[DEGREE + 1] = {0}, values[NODES];
    for (int i = 0; i < NODES; i++)
        values[i] = wanted(n, f, cos(M_PI * (i + 0.5) / NODES));
    for (int k = 0; k <= DEGREE; k++) {
        double sum = 0;
        for (int i = 0; i < NODES; i++)
            sum += values[i] * cos(M_PI * k * (i + 0.5) / NODES) * (k == 0 ? 1 : 2) / NODES;
        for (int i = 0; i <= DEGREE; i++)
            powers[i] += sum * (k == 0 ? last[i] : now[i]);
        for (int i = DEGREE; i >= 0 && k > 0; i--) { /* T_(k+1) = 2 y T_k - T_(k-1) */
            const double next = (i > 0 ? 2 * now[i - 1] : 0) - last[i];
            last[i] = now[i];
            now[i] = next;
        }
    }
    for (int i = 0; i <= DEGREE; i++)
        f->coefficients[i] = (float)powers[DEGREE - i];
}

/* In floats, as kernels compute it. */
static double error_of(int n, const boys_piece *f)
{
    double worst = 0;
    for (int i = 0; i <= JUDGED; i++) {
        const double y = -1 + 2.0 * i / JUDGED, right = wanted(n, f, y);
        float sum = 0;
        for (int k = 0; k <= DEGREE; k++)
            sum = fmaf(sum, (float)y, f->coefficients[k]);
        worst = fmax(worst, fabs((double)sum / right - 1));
    }
    return worst;
}

/* The piece with the best shift. */
static double make_piece(int n, double begin, double end, boys_piece *best)
{
    double least_error = INFINITY;
    for (double shift = begin > 0 ? 0.01 : 1; shift < 4 * end; shift *= 1.5) {
        const double least = 1 / (end + shift), most = 1 / (begin + shift);
        boys_piece f = {.begin = (float)begin,
                        .shift = (float)shift,
                        .middle = (float)(-(most + least) / (most - least)),
                        .slope = (float)(2 / (most - least))};
        interpolate(n, &f);
        const double error = error_of(n, &f);
        if (error < least_error) {
            least_error = error;
            *best = f;
        }
    }
    return least_error;
}

boys_fit boys_fit_make(int n)
{
    boys_fit f = {.t_most = (float)find_most(n), .error = INFINITY};
    for (f.count = 1; f.count <= BOYS_MOST_PIECES; f.count++) {
        f.error = 0;
        for (int k = 0; k < f.count; k++) {
            const double begin = (double)f.t_most * k / f.count, end = (double)f.t_most * (k + 1) / f.count;
            f.error = fmax(f.error, make_piece(n, begin, end, &f.pieces[k]));
        }
        if (f.error < wanted_error || f.count == BOYS_MOST_PIECES)
            return f;
    }
    return f;
}
