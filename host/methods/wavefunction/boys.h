/* Boys' function F_n(t) = int_0^1 s^2n exp(-t s^2) ds, and a polynomial by which kernels have it. */
#ifndef LEY_WAVEFUNCTION_BOYS_H
#define LEY_WAVEFUNCTION_BOYS_H

#include "spec.h"

/* For t from 0 to 100, by a series. */
double boys_function(int n, double t);

/* F_n(t) = (t + shift)^-(n + 1/2) P(middle + slope/(t + shift)) for t below t_most; from there on
 * F_n is sqrt(pi) (2n - 1)!!/2^(n + 1) t^-(n + 1/2), and so is every lower one, in floats. */
typedef struct boys_fit {
    double t_most, shift, middle, slope;
    float coefficients[LEY_BOYS_DEGREE + 1]; /* of P, the highest power first */
    double error;                            /* relative */
} boys_fit;

boys_fit boys_fit_make(int n);

#endif
