/* Charges and meshes whose long waves are known: what holds waves against the sums that they are,
 * whoever has put the charges into their mesh. */
#ifndef LEY_TESTS_SOME_CHARGES_H
#define LEY_TESTS_SOME_CHARGES_H

#include "long_range/fourier/long_wavelengths.h"

enum { LONG_ATOMS = 9000 }; /* of which two threads have some each */

typedef struct some_charges {
    double position_A[LONG_ATOMS][3], charge_e[LONG_ATOMS], square_e2;
} some_charges;

/* From malloc. Neutral, within a box and, where it is periodic, far outside as well. */
some_charges *some_charges_make(double edge_A, bool is_periodic);

/* Of transforms with this window; "xz" is periodic along x and z. */
hierarchy some_grid(window_kind of, const char *periodic, const double cell_A[3][3], double long_per_A);

/* Of a transform of n nodes: the sum itself. */
void some_wave(const hierarchy *h, const some_charges *c, const int64_t n[3], const int64_t wave[3], double sum[2]);

/* In open space and cells, with each spline, few waves and many, of charges that `put` puts into
 * their grid: fails where waves are off by more than they may be. */
void some_charges_check(void (*put)(const hierarchy *h, const some_charges *c, long_charges *made));

#endif
