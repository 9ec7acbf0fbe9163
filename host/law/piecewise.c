#include "law/piecewise.h"

#include "error.h"

#include <math.h>
#include <stdlib.h>

/* Coefficients of powers of t, -1/2 to 1/2, from values at Chebyshev's nodes. */
static void find_powers(const double values[PIECEWISE_TERMS], double power[PIECEWISE_TERMS])
{
    enum { N = PIECEWISE_TERMS };
    double before[N] = {1}, now[N] = {0, 2}; /* Chebyshev's polynomials of 2 t */
    for (int k = 0; k < N; k++)
        power[k] = 0;
    for (int degree = 0; degree < N; degree++) {
        double share = 0, next[N] = {0};
        for (int i = 0; i < N; i++)
            share += values[i] * cos(M_PI * degree * (i + 0.5) / N) * (degree == 0 ? 1.0 : 2.0) / N;
        for (int k = 0; k < N; k++) {
            power[k] += share * before[k];
            next[k] = (k > 0 ? 4 * now[k - 1] : 0) - before[k];
        }
        for (int k = 0; k < N; k++) {
            before[k] = now[k];
            now[k] = next[k];
        }
    }
}

ley_status piecewise_make(double low, double high, int pieces, double (*f)(const void *context, double x),
                          const void *context, piecewise *made, ley_error *error)
{
    *made = (piecewise){.low = low, .per_step = pieces / (high - low), .pieces = pieces};
    made->coefficient = malloc((size_t)pieces * sizeof *made->coefficient);
    if (made->coefficient == NULL)
        return ley_fail_memory(error, (size_t)pieces * sizeof *made->coefficient, "the verification");
    for (int i = 0; i < pieces; i++) {
        double values[PIECEWISE_TERMS];
        for (int k = 0; k < PIECEWISE_TERMS; k++)
            values[k] = f(context, low + (i + 0.5 + 0.5 * cos(M_PI * (k + 0.5) / PIECEWISE_TERMS)) / made->per_step);
        find_powers(values, made->coefficient[i]);
    }
    return LEY_OK;
}

void piecewise_clear(piecewise *p)
{
    free(p->coefficient);
    *p = (piecewise){.pieces = 0};
}
