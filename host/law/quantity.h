/* What is wanted of a wavefunction. */
#ifndef LEY_LAW_QUANTITY_H
#define LEY_LAW_QUANTITY_H

#include "law/law.h"

#include <stdatomic.h>

/* The reduced gradient: number 5 among the derivatives. */
enum { WAVEFUNCTION_REDUCED = 5 };

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

/* Nearer to a nucleus than this its distance counts as this, in bohr; its field is 0 there. */
#define ESP_R_MIN_BOHR 1e-3

#endif
