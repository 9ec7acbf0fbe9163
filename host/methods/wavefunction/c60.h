/* Wavefunctions that benchmarks are made of: with the basis of real ones and made-up orbitals. */
#ifndef LEY_WAVEFUNCTION_C60_H
#define LEY_WAVEFUNCTION_C60_H

#include "leyden.h"

/* The papers' C60 in 6-31G*, Cartesian: 900 functions, 181 orbitals, of which 180 are occupied. */
ley_status c60_create(ley_wavefunction **made, ley_error *error);

/* In the same basis, as large as threonine: 8 carbon and 9 hydrogen atoms, 32 occupied orbitals;
 * and as caffeine: 14 and 10, 51. */
ley_status c60_small(ley_wavefunction **made, ley_error *error);
ley_status c60_caffeine(ley_wavefunction **made, ley_error *error);

#endif
