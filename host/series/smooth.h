/* What the waves of Ewald's sum bring of a unit charge, erf(beta r) / r, as a polynomial in r^2
 * within the cutoff: analytic there, so that a loop over charges takes neither exp nor erfc. */
#ifndef LEY_SERIES_SMOOTH_H
#define LEY_SERIES_SMOOTH_H

enum { SMOOTH_TERMS = 24 };

/* erf(beta r) / r = sum_i value[i] t^i, and its derivative by r^2 the sum of slope[i] t^i, with
 * t = 2 r^2 / rc^2 - 1. Of beta rc up to 5 they are exact to 1e-10 of the value at 0, up to 6 to
 * 1e-8. */
typedef struct smooth_part {
    double cutoff_A, beta_per_A;
    double value[SMOOTH_TERMS], slope[SMOOTH_TERMS];
} smooth_part;

/* s = beta rc. */
smooth_part smooth_make(double s, double cutoff_A);

/* erf(beta r) / r and its derivative by r^2, also at 0 and beyond the cutoff. */
double smooth_value(double r2_A2, double beta_per_A);
double smooth_slope(double r2_A2, double beta_per_A);

#endif
