/* Orbitals and densities as a method; and potentials as another one, of the same task. */
#ifndef LEY_WAVEFUNCTION_METHOD_H
#define LEY_WAVEFUNCTION_METHOD_H

#include "schedule/method.h"

extern const method method_wavefunction, method_esp;

#endif
