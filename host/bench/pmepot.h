/* The algorithm of VMD's PMEPot as a plain loop in C on one thread, in double precision: what
 * averages of potentials are compared with.
 *
 * Each frame's charges are spread by cardinal B-splines of order 4 onto the map's own grid, which
 * is transformed, multiplied by
 *
 *     exp(-pi^2 m^2 / beta^2) / (pi V m^2) / product over d of ((4 + 2 cos(2 pi m_d / n_d)) / 6)^2,
 *
 * beta = 0.25 per A, transformed back and added. The factor is made once. Coordinates are taken
 * from the grid's first point, which is half of all steps below the cell's centre, 0. Sources:
 * PMEPot of VMD's plugins; Aksimentiev and Schulten, Biophys. J. 88, 3745 (2005). */
#ifndef LEY_BENCH_PMEPOT_H
#define LEY_BENCH_PMEPOT_H

#include "leyden.h"

typedef struct pmepot pmepot;

/* Of n points in an orthogonal cell with these edges. */
ley_status pmepot_create(const int64_t n[3], const double edge_A[3], pmepot **made, ley_error *error);

/* A frame: float32 [atoms][3]. The calling thread is kept on one processor meanwhile. */
ley_status pmepot_add(pmepot *p, size_t atoms, const double *charge_e, const float *position_A, ley_error *error);

/* The mean of the frames so far at point i, x fastest, in e / A. */
double pmepot_mean(const pmepot *p, size_t i);
void pmepot_destroy(pmepot *p);

#endif
