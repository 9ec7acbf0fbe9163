#include "methods/frontier.h"
#include "methods/msm/lattice_bench.h"

const bench_subject *const bench_registry[] = {&bench_lattice, &bench_fft, &bench_frontier, &bench_files, NULL};
