/* Orbitals and densities as a method, and their benchmark. */
#ifndef LEY_WAVEFUNCTION_METHOD_H
#define LEY_WAVEFUNCTION_METHOD_H

#include "bench/bench.h"
#include "schedule/method.h"

extern const method method_wavefunction;
extern const bench_subject bench_orbital;

#endif
