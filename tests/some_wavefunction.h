/* Wavefunctions for tests and measurements. */
#ifndef LEY_TESTS_SOME_WAVEFUNCTION_H
#define LEY_TESTS_SOME_WAVEFUNCTION_H

#include "leyden.h"

/* 60 carbon atoms on a sphere of C60's radius in 6-31G*, Cartesian d functions, 180 orbitals with
 * two electrons and one without, of random coefficients. */
ley_status some_c60(ley_wavefunction **made, ley_error *error);

/* Random nuclei with shells of every angular momentum up to l, pure and Cartesian, in turn; random
 * orbitals, of which the first half has two electrons each, and the next one a single electron. */
ley_status some_wavefunction(int nuclei, int l, int orbitals, unsigned seed, ley_wavefunction **made, ley_error *error);

#endif
