/* Boys' function, F_n(t) = int_0^1 s^2n exp(-t s^2) ds, and how kernels have it: polynomials. */
#ifndef LEY_WAVEFUNCTION_BOYS_H
#define LEY_WAVEFUNCTION_BOYS_H

#include "spec.h"

/* For t from 0 to 100, by a series. */
double boys_function(int n, double t);

/* 2/sqrt(pi) F_n(t) = (t + shift)^-(n + 1/2) P(middle + slope/(t + shift)) from one piece's
 * beginning to the next one's, and at last to t_most; from there on it is (2n - 1)!!/2^n
 * t^-(n + 1/2), and so is every lower one, in floats. */
enum { BOYS_MOST_PIECES = 6 };
typedef struct boys_piece {
    float begin, shift, middle, slope;
    float coefficients[LEY_BOYS_DEGREE + 1]; /* of P, the highest power first */
} boys_piece;

typedef struct boys_fit {
    int count;
    float t_most;
    boys_piece pieces[BOYS_MOST_PIECES];
    double error; /* relative */
} boys_fit;

/* As few pieces as it takes for floats. */
boys_fit boys_fit_make(int n);

#endif
