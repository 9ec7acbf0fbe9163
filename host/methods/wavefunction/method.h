/* Orbitals and densities as a method. */
#ifndef LEY_WAVEFUNCTION_METHOD_H
#define LEY_WAVEFUNCTION_METHOD_H

#include "schedule/method.h"

extern const method method_wavefunction;

#endif
