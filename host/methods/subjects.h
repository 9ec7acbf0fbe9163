/* Benchmarks of what is done over many frames, of energies, and of ions. */
#ifndef LEY_METHODS_SUBJECTS_H
#define LEY_METHODS_SUBJECTS_H

#include "bench/bench.h"

extern const bench_subject bench_average, bench_series, bench_ions, bench_of_gain, bench_pairs, bench_born, bench_ewald,
    bench_fit;

#endif
