/* Benchmarks of what is done over many frames, and of ions. */
#ifndef LEY_METHODS_SUBJECTS_H
#define LEY_METHODS_SUBJECTS_H

#include "bench/bench.h"

extern const bench_subject bench_average, bench_series, bench_ions;

/* How many frames, `least` to `most`, take about half a second where `frames` have taken so many
 * seconds. */
size_t bench_frames_of(double seconds, size_t frames, size_t least, size_t most);

#endif
