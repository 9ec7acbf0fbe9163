#include "long_range/bench/lattice.h"
#include "methods/frontier.h"
#include "methods/subjects.h"
#include "methods/wavefunction/method.h"

const bench_subject *const bench_registry[] = {
    &bench_lattice, &bench_fft,   &bench_frontier, &bench_files, &bench_average, &bench_series,  &bench_ions,
    &bench_orbital, &bench_pairs, &bench_born,     &bench_ewald, &bench_fit,     &bench_of_gain, NULL};
