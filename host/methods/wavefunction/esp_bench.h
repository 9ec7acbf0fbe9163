/* The rows of potentials in the benchmark of orbitals: the kernel over a grid, or over points of no
 * order, of a molecule as large as caffeine in 6-31G*. */
#ifndef LEY_WAVEFUNCTION_ESP_BENCH_H
#define LEY_WAVEFUNCTION_ESP_BENCH_H

#include "bench/bench.h"

typedef struct esp_bench {
    const ley_wavefunction *wavefunction;
    const ley_grid *grid;
    bool is_scattered; /* points are in no order */
} esp_bench;

/* What was found: errors relative to what the law says is absolute, and multiply-adds of pairs and
 * multipoles that are summed. */
typedef struct esp_bench_found {
    size_t judged;
    double worst, error2, right2, multiply_adds, exponentials;
    const char *exp, *root;
} esp_bench_found;

ley_status esp_bench_measure(worker *w, const ley_bench_options *o, const esp_bench *p, bench_row *b,
                             esp_bench_found *found, ley_error *error);

#endif
