/* Integrals of smooth functions. */
#ifndef LEY_QUADRATURE_H
#define LEY_QUADRATURE_H

typedef double quadrature_function(const void *context, double x);

/* The integral from `from` to `to` of a function that turns by at most `turns` radians on the way
 * and is otherwise smooth: Gauss's rule of 32 points on as many panels as that takes. */
double quadrature(quadrature_function *f, const void *context, double from, double to, double turns);

#endif
