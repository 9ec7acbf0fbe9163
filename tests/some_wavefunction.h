/* Wavefunctions for tests and measurements. */
#ifndef LEY_TESTS_SOME_WAVEFUNCTION_H
#define LEY_TESTS_SOME_WAVEFUNCTION_H

#include "leyden.h"

/* An s and a p function around each of these atoms, and a random orbital of them. */
ley_status some_wavefunction_of(const ley_atoms *atoms, ley_wavefunction **made, ley_error *error);

/* Random nuclei with shells of every angular momentum up to l, pure and Cartesian, in turn; random
 * orbitals, of which the first half has two electrons each, and the next one a single electron. */
ley_status some_wavefunction(int nuclei, int l, int orbitals, unsigned seed, ley_wavefunction **made, ley_error *error);

#endif
