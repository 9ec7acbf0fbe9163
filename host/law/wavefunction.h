/* Orbitals and densities at a point, in plain double precision, from the formulas of
 * leyden_wavefunction.h: the judge of the kernels. */
#ifndef LEY_LAW_WAVEFUNCTION_H
#define LEY_LAW_WAVEFUNCTION_H

#include "law/law.h"

#include <stdatomic.h>

/* The reduced gradient: number 5 among the derivatives. */
enum { WAVEFUNCTION_REDUCED = 5 };

/* What is wanted of a wavefunction. */
typedef struct wavefunction_quantity {
    const ley_wavefunction *wavefunction;
    const double *weights; /* [orbitals]: in the density; NULL: it is an orbital's value */
    int64_t orbital;
    double promise; /* of densities: what these and their derivatives may be off by, relative to what is absolute */
    const double *left_out; /* [orbitals], of a density: what is left out of each and of each of its derivatives, at
                               most; NULL: nothing */
    double least;   /* is added to what is absolute: for where all functions are small, and terms are left out */
    int derivative; /* 0 the value, 1 to 3 its derivative along x, y, z, 4 its Laplacian, in bohr; of a density also
                       WAVEFUNCTION_REDUCED */
    const atomic_bool *cancelled; /* of potentials, whose sums last: then they are not numbers; NULL: never */
} wavefunction_quantity;

/* Its row for verification; what is absolute are the sums of the magnitudes of all functions. */
extern const law law_wavefunction;

/* The value at a point, bohr. */
reference_value wavefunction_value(const wavefunction_quantity *q, const double point_bohr[3]);

#endif
