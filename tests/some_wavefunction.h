/* Wavefunctions for tests and measurements. */
#ifndef LEY_TESTS_SOME_WAVEFUNCTION_H
#define LEY_TESTS_SOME_WAVEFUNCTION_H

#include "leyden.h"

/* An s and a p function around each of these atoms, and a random orbital of them. */
ley_status some_wavefunction_of(const ley_atoms *atoms, ley_wavefunction **made, ley_error *error);

/* Random nuclei with shells of every angular momentum up to l, pure and Cartesian, in turn; random
 * orbitals, of which the first half has two electrons each, and the next one a single electron. */
ley_status some_wavefunction(int nuclei, int l, int orbitals, unsigned seed, ley_wavefunction **made, ley_error *error);

/* A nucleus with a steep and a wide s function, an orbital each. */
ley_status some_core(double charge_e, const double place_bohr[3], const double exponents[2],
                     const double occupations[2], ley_wavefunction **made, ley_error *error);
/* So many nuclei in a box of this width, in bohr, each with Cartesian shells of one Gaussian each,
 * of these exponents and angular momenta, and an orbital with coefficients between 0.5 and 1. */
ley_status gaussians_of(int64_t nuclei, double width, int64_t each, const double *exponents, const int32_t *l,
                        ley_wavefunction **made, ley_error *error);

/* A job, and what it works on: maps of a grid, or points. */
enum { WAVEFUNCTION_JOB_VALUES = 64 };
typedef struct wavefunction_job {
    ley_wavefunction_request request;
    size_t values;
    ley_map *maps[WAVEFUNCTION_JOB_VALUES];
    double *points, *found; /* the latter from calloc */
    ley_job *job;
    ley_status status;
    ley_error error;
} wavefunction_job;

int64_t wavefunction_job_points(const wavefunction_job *j);

/* A value at point i, and where that is, in bohr. */
double wavefunction_job_found(const wavefunction_job *j, size_t value, int64_t i, double place[3]);

/* Ends all but the points. */
void wavefunction_job_end(wavefunction_job *j);

#endif
