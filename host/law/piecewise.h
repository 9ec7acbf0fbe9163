/* A smooth function of one variable by polynomials of degree 7 on equal pieces, made from its
 * formula: with pieces that suit it no less exact than doubles, and many times as fast. */
#ifndef LEY_LAW_PIECEWISE_H
#define LEY_LAW_PIECEWISE_H

#include "leyden_status.h"

enum { PIECEWISE_TERMS = 8 };

typedef struct piecewise {
    double low, per_step; /* pieces for each unit of x */
    int pieces;
    double (*coefficient)[PIECEWISE_TERMS];
} piecewise;

/* Of f(context, x), low <= x <= high. Errors: LEY_ERROR_MEMORY, when there is nothing to clear. */
ley_status piecewise_make(double low, double high, int pieces, double (*f)(const void *context, double x),
                          const void *context, piecewise *made, ley_error *error);
void piecewise_clear(piecewise *p);

/* For x within them. */
static inline double piecewise_at(const piecewise *p, double x)
{
    const double at = (x - p->low) * p->per_step;
    const int i = at < p->pieces ? (int)at : p->pieces - 1;
    const double t = at - i - 0.5, t2 = t * t, t4 = t2 * t2, *c = p->coefficient[i];
    return c[0] + c[1] * t + (c[2] + c[3] * t) * t2 + (c[4] + c[5] * t + (c[6] + c[7] * t) * t2) * t4;
}

#endif
